/** The engine's side of an adapter in the Slack tests: it remembers everything it is given, and answers as a test says. */

import {
  type AdapterContext,
  type AdapterRoute,
  createSystemClock,
  type FileRef,
  type GuardedFetch,
  type InboundEvent,
  type Reception,
  type SecretValue,
} from "../../src/engine/index.ts";
import { createMemoryKv } from "../support/memory-kv.ts";

type Answer = (event: InboundEvent) => Promise<Reception>;

/** One id per app and workspace, as the store gives them. */
export function installationOf(appId: string, workspaceId: string): string {
  return `i-${appId}-${workspaceId}`;
}

/** A context with what came through it. */
export function createSlackContext() {
  const seen = { received: [] as InboundEvent[], logs: [] as string[], metrics: [] as string[] };
  const routes: AdapterRoute[] = [];
  const credentials = new Map<string, SecretValue>();
  const files = createFiles();
  const clock = createShiftedClock();
  let guard: GuardedFetch = () => Promise.resolve({ ok: false, reason: "private-address", text: "not here" });
  let answer: Answer = () => Promise.resolve({ status: "accepted" });
  const context: AdapterContext = {
    receive: (event) => {
      seen.received.push(event);
      return answer(event);
    },
    kv: createMemoryKv(),
    guardedFetch: (url, request) => guard(url, request),
    clock: clock.clock,
    log: createLog(seen.logs),
    metrics: { count: (name) => void seen.metrics.push(name), observe: () => undefined },
    route: (route) => void routes.push(route),
    identify: async ({ botId }, facts) => {
      const id = installationOf(facts.appId, facts.workspaceId);
      return { id, botId, platform: "slack", orgId: "o", ...facts };
    },
    openFile: files.open,
    storeFile: () => Promise.resolve({ ok: false, text: "not here" }),
    publicUrl: "",
    readSecretLink: () => Promise.resolve(null),
    storeCredential: async (key, value) => void credentials.set(key, value),
    readCredential: async (key) => credentials.get(key) ?? null,
    forgetCredential: async (key) => void credentials.delete(key),
  };
  return {
    ...seen,
    context,
    routes,
    credentials,
    file: files.add,
    later: clock.later,
    route: () => routes[0],
    guardWith: (next: GuardedFetch) => {
      guard = next;
    },
    receiveWith: (next: Answer) => {
      answer = next;
    },
  };
}

function createLog(lines: string[]): AdapterContext["log"] {
  const write = (fields: object, msg: string) => void lines.push(`${msg} ${JSON.stringify(fields)}`);
  const log: AdapterContext["log"] = { debug: write, info: write, warn: write, error: write, child: () => log };
  return log;
}

function createShiftedClock() {
  const system = createSystemClock();
  let ahead = 0;
  const clock: AdapterContext["clock"] = {
    now: () => system.now() + ahead,
    delay: (ms, signal) => system.delay(ms, signal),
  };
  const later = (ms: number) => {
    ahead += ms;
  };
  return { clock, later };
}

function createFiles() {
  const stored = new Map<string, string>();
  const add = (name: string, mediaType: string, bytes: string): FileRef => {
    const sha256 = Buffer.from(name).toString("hex").padEnd(64, "0");
    stored.set(sha256, bytes);
    const ext = name.split(".").at(-1) ?? "";
    return { sha256, ext, name, mediaType, size: Buffer.byteLength(bytes), alt: `the file ${name}` };
  };
  return { add, open: async (file: FileRef) => bytesOf(stored.get(file.sha256) ?? "") };
}

async function* bytesOf(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}
