/**
 * The playground without an engine: the real web adapter and its real page behind a loopback server, an in-memory store, and a `receive` that the
 * test writes. Everything posted goes through render and deliver, as the engine's outbox does it.
 */

import { createHash, randomUUID } from "node:crypto";
import type { AddressInfo } from "node:net";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import { createWebAdapter } from "../../src/adapters/web/index.ts";
import {
  type Adapter,
  type AdapterContext,
  type AdapterRoute,
  type BubbleContent,
  type CardOutcome,
  type ConversationRef,
  createSystemClock,
  type Delivery,
  type FileRef,
  type HostCard,
  type InboundEvent,
  type KeyValueStore,
  type Log,
  type Place,
  type Receipt,
  type Reception,
  type SecretLinkView,
} from "../../src/engine/index.ts";
import { createMemoryKv } from "./memory-kv.ts";

/** A running playground. */
export interface WebWorld {
  readonly address: string;
  readonly adapter: Adapter;
  readonly kv: KeyValueStore;
  readonly events: InboundEvent[];
  readonly files: Map<string, Uint8Array>;
  /** What the next events are answered with; replace at will. */
  onEvent: (event: InboundEvent) => Reception | Promise<Reception>;
  readonly links: Map<string, SecretLinkView>;
  /** Posts as a bot; the same id posts once. */
  post(botId: string, ref: ConversationRef, content: BubbleContent | HostCard, options?: PostOptions): Promise<Posted>;
  settle(posted: Posted, outcome: Omit<CardOutcome, "cardId">): Promise<void>;
  place(botId: string, ref: ConversationRef): Place;
  addFile(name: string, mediaType: string, bytes: Uint8Array, alt?: string): FileRef;
  close(): Promise<void>;
}

export interface PostOptions {
  readonly id?: string;
  readonly cardId?: string;
  readonly nativeReplyTo?: string;
}

export interface Posted {
  readonly delivery: Delivery;
  readonly place: Place;
  readonly receipt: Receipt;
}

export interface WebWorldOptions {
  readonly kv?: KeyValueStore;
  readonly publicFolder?: string;
  readonly port?: number;
  /** Runs before the first request can arrive: sets what events are answered with. */
  readonly prepare?: (world: WebWorld) => void;
  readonly bots?: readonly { id: string; name: string; role: string; model: string }[];
}

const BOTS = [
  { id: "ada", name: "Ada", role: "Research teammate. Finds sources and compares them.", model: "demo" },
  { id: "bo", name: "Bo", role: "Planner. Turns talk into dates and tasks.", model: "demo" },
];

/** Starts the adapter with its bots and a server on a port of the system's choice. */
export async function startWebWorld(options: WebWorldOptions = {}): Promise<WebWorld> {
  const kv = options.kv ?? createMemoryKv();
  const adapter = createWebAdapter(options.publicFolder ? { publicFolder: options.publicFolder } : {});
  const routes: AdapterRoute[] = [];
  const world = createWorld(adapter, kv);
  options.prepare?.(world);
  const context = createContext(world, routes);
  for (const { id, name, role, model } of options.bots ?? BOTS) {
    await adapter.start({ botId: id, name, role, model, settings: {} }, context);
  }
  const server = await listen(routes, options.port ?? 0);
  return Object.assign(world, {
    address: `http://127.0.0.1:${server.port}`,
    close: async () => {
      await adapter.stop();
      await server.close();
    },
  });
}

function createWorld(adapter: Adapter, kv: KeyValueStore): WebWorld {
  const files = new Map<string, Uint8Array>();
  return {
    address: "",
    adapter,
    kv,
    events: [],
    files,
    links: new Map(),
    onEvent: () => ({ status: "accepted" }),
    place: placeOf,
    addFile: (name, mediaType, bytes, alt) => keep(files, name, mediaType, bytes, alt),
    close: async () => undefined,
    async post(botId, ref, content, given = {}) {
      const id = given.id ?? randomUUID();
      const place = { ...placeOf(botId, ref), ...(given.nativeReplyTo ? { nativeReplyTo: given.nativeReplyTo } : {}) };
      const delivery = toDelivery(id, botId, content, given.cardId);
      const [rendered] = adapter.render(delivery, place);
      const piece = { id, index: 0, place, content: rendered, progress: null, attempts: 1 };
      const receipt = await adapter.deliver(piece, async () => undefined);
      return { delivery, place, receipt };
    },
    async settle({ delivery, place, receipt }, outcome) {
      await adapter.settle(delivery, place, [receipt], { ...outcome, cardId: delivery.cardId ?? "" });
    },
  };
}

function toDelivery(entryId: string, botId: string, content: BubbleContent | HostCard, cardId?: string): Delivery {
  const botName = botId.replace(/^./, (first) => first.toUpperCase());
  const card = cardId ? { cardId } : {};
  if ("controls" in content) return { kind: "host-card", entryId, botName, card: content, ...card };
  return { kind: "bubble", entryId, botName, content, mentionable: [], ...card };
}

function createContext(world: WebWorld, routes: AdapterRoute[]): AdapterContext {
  return {
    receive: async (event) => {
      world.events.push(event);
      return world.onEvent(event);
    },
    kv: world.kv,
    guardedFetch: async () => {
      throw new Error("The playground downloads nothing.");
    },
    clock: createSystemClock(),
    log: silentLog(),
    metrics: { count: () => undefined, observe: () => undefined },
    route: (route) => void routes.push(route),
    identify: async (account, facts) => ({
      id: `web-${account.botId}`,
      botId: account.botId,
      platform: "web",
      orgId: "org",
      ...facts,
    }),
    openFile: async (file) => chunks(world.files.get(file.sha256) ?? new Uint8Array()),
    storeFile: async (source, facts) => {
      const parts: Uint8Array[] = [];
      for await (const part of source) parts.push(part);
      return {
        ok: true,
        file: keep(world.files, facts.name, facts.mediaType ?? "application/octet-stream", Buffer.concat(parts)),
      };
    },
    readSecretLink: async (token) => world.links.get(token) ?? null,
    publicUrl: "",
    storeCredential: () => Promise.reject(new Error("the web keeps no credentials")),
    readCredential: async () => null,
    forgetCredential: async () => undefined,
  };
}

function placeOf(botId: string, ref: ConversationRef): Place {
  return { installationId: `web-${botId}`, ref };
}

function keep(
  files: Map<string, Uint8Array>,
  name: string,
  mediaType: string,
  bytes: Uint8Array,
  alt?: string,
): FileRef {
  const sha256 = createHash("sha256").update(bytes).digest("hex");
  files.set(sha256, bytes);
  const ext = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? "bin";
  return { sha256, ext, name, mediaType, size: bytes.length, ...(alt ? { alt } : {}) };
}

async function* chunks(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  for (let offset = 0; offset < bytes.length; offset += 16_384) yield bytes.subarray(offset, offset + 16_384);
}

async function listen(
  routes: readonly AdapterRoute[],
  port: number,
): Promise<{ port: number; close: () => Promise<void> }> {
  const app = new Hono();
  for (const route of routes) app.on(route.method, route.path, (c) => route.handle(c.req.raw, c.req.param()));
  return new Promise((resolve) => {
    const server = serve({ fetch: app.fetch, hostname: "127.0.0.1", port }, (info: AddressInfo) =>
      resolve({
        port: info.port,
        close: () =>
          new Promise((done) => {
            server.close(() => done());
            if ("closeAllConnections" in server) server.closeAllConnections();
          }),
      }),
    );
  });
}

function silentLog(): Log {
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: () => undefined,
    error: () => undefined,
    child: () => log,
  };
  return log;
}
