/**
 * The doctor's look at connectors: the running Parley is asked what became of each; without one, remote servers are greeted and programs looked for.
 * Invariant: nothing is started, no header that may hold a secret is sent, and every question has a time limit.
 */
import { existsSync } from "node:fs";
import type { Config } from "../config.ts";
import type { Finding } from "./command-line.ts";

const ASK_MS = 5000;
const GREETING = {
  jsonrpc: "2.0",
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-06-18", capabilities: {}, clientInfo: { name: "parley-doctor", version: "1" } },
};

interface RunningConnector {
  readonly connector: string;
  readonly state: string;
  readonly tools: number;
  readonly remedy?: string;
}

/** One finding per connector; none without any. */
export async function checkConnectors(config: Config, ask: typeof fetch): Promise<Finding[]> {
  const servers = Object.entries(config.mcp.servers);
  if (servers.length === 0) return [];
  const running = await askRunning(config, ask);
  if (running) return running.map(toFinding);
  return Promise.all(servers.map(([name, server]) => checkServer(name, server, ask)));
}

/** What the Parley of these settings says about its connectors; undefined when it does not run. */
async function askRunning({ web }: Config, ask: typeof fetch): Promise<readonly RunningConnector[] | undefined> {
  try {
    const host = web.host === "0.0.0.0" ? "127.0.0.1" : web.host;
    const answer = await ask(`http://${host}:${web.port}/readyz`, { signal: AbortSignal.timeout(ASK_MS) });
    const body = (await answer.json()) as { readonly connectors?: readonly RunningConnector[] };
    return Array.isArray(body.connectors) ? body.connectors : undefined;
  } catch {
    // Not running, or something else listens there: then each server is looked at from here.
    return undefined;
  }
}

function toFinding({ connector, state, tools, remedy }: RunningConnector): Finding {
  if (state === "connected") return { state: "ok", what: `connector ${connector}: connected, ${tools} tools` };
  const isFine = state === "needs-sign-in" || state === "off" || state === "starting";
  return {
    state: isFine ? "ok" : "fault",
    what: `connector ${connector}: ${state}`,
    ...(remedy ? { fix: remedy } : {}),
  };
}

async function checkServer(
  name: string,
  server: Config["mcp"]["servers"][string],
  ask: typeof fetch,
): Promise<Finding> {
  const { command, url } = server;
  if (url) return greet(name, url, ask);
  if (command?.includes("/") && !existsSync(command)) {
    const fix = `Check mcp.servers.${name}.command.`;
    return { state: "fault", what: `connector ${name}: its program ${command} is not there`, fix };
  }
  return {
    state: "ok",
    what: `connector ${name}: ${command} is started with Parley; run doctor beside it to see its state`,
  };
}

/** Any answer of HTTP shows that the server is there; what it wants to see first is no fault. */
async function greet(name: string, url: string, ask: typeof fetch): Promise<Finding> {
  try {
    const answer = await ask(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      body: JSON.stringify(GREETING),
      signal: AbortSignal.timeout(ASK_MS),
      redirect: "manual",
    });
    await answer.body?.cancel();
    if (answer.status >= 500) throw new Error(`status ${answer.status}`);
    const asks = answer.status === 401 ? ", and asks for a sign-in or a header" : "";
    return { state: "ok", what: `connector ${name}: ${new URL(url).host} answers${asks}` };
  } catch {
    // Refused, unknown, slow and broken have one remedy.
    const fix = `Check mcp.servers.${name}.url and that the server runs.`;
    return { state: "fault", what: `connector ${name}: ${new URL(url).host} does not answer`, fix };
  }
}
