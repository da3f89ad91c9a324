/**
 * The small pieces every emulator stands on: an HTTP server on 127.0.0.1 with the port picked by the system, request
 * bodies, answers, and waiting for a condition.
 * Invariant: closing a server ends its open connections, so a test leaves nothing behind. What the requests mean is
 * left to each emulator.
 */
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerResponse } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A JSON object whose content nobody has looked at yet. */
export type Fields = Record<string, unknown>;

/** What arrives: the parsed address and the whole body. */
export interface Arrived {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly url: URL;
  readonly body: Buffer;
  readonly headers: IncomingHttpHeaders;
}

/** A listening server; `close` resolves when the port is free again. */
export interface Loopback {
  readonly server: Server;
  readonly port: number;
  readonly base: string;
  close(): Promise<void>;
}

/** Starts a server on 127.0.0.1 (port 0: the system picks). A handler that throws answers 500 with the error's text. */
export async function startLoopback(handle: (arrived: Arrived) => Promise<void>, port = 0): Promise<Loopback> {
  const server = createServer((request, response) => {
    answer(handle, request, response).catch((error: unknown) => {
      if (!response.headersSent) response.writeHead(500, { "content-type": "text/plain" });
      response.end(`emulator failed: ${error instanceof Error ? error.stack : String(error)}`);
    });
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
  const actual = (server.address() as AddressInfo).port;
  return { server, port: actual, base: `http://127.0.0.1:${actual}`, close: () => closeServer(server) };
}

async function answer(handle: (arrived: Arrived) => Promise<void>, request: IncomingMessage, response: ServerResponse) {
  const body = await readBody(request);
  if (body === null) return;
  const url = new URL(request.url ?? "/", "http://127.0.0.1");
  await handle({ request, response, url, body, headers: request.headers });
}

/** Null when the sender went away in the middle: nobody is left to be answered. */
function readBody(request: IncomingMessage): Promise<Buffer | null> {
  return new Promise((resolve) => {
    const parts: Buffer[] = [];
    request.on("data", (chunk: Buffer) => parts.push(chunk));
    request.on("end", () => resolve(Buffer.concat(parts)));
    request.on("error", () => resolve(null));
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    server.close(() => resolve());
    server.closeAllConnections();
  });
}

/** Answers with JSON; does nothing when the other side has hung up. */
export function sendJson(response: ServerResponse, status: number, value: unknown, headers: Fields = {}): void {
  if (response.destroyed) return;
  const extra = Object.fromEntries(Object.entries(headers).map(([name, text]) => [name, String(text)]));
  response.writeHead(status, { "content-type": "application/json; charset=utf-8", ...extra });
  response.end(JSON.stringify(value));
}

/** Answers with text; `type` defaults to plain text. */
export function sendText(response: ServerResponse, status: number, text: string, type = "text/plain"): void {
  if (response.destroyed) return;
  response.writeHead(status, { "content-type": `${type}; charset=utf-8` });
  response.end(text);
}

/** Resolves after `ms`; only for delays a test asked the emulator to make. */
export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

/** Looks every 5 ms until `look` gives something; throws naming `what` after `ms`. */
export async function waitUntil<T>(look: () => T | null | undefined | false, what: string | (() => string), ms = 5000) {
  const end = Date.now() + ms;
  for (;;) {
    const found = look();
    if (found !== null && found !== undefined && found !== false) return found as T;
    if (Date.now() > end) throw new Error(`nothing after ${ms} ms: ${typeof what === "string" ? what : what()}`);
    await pause(5);
  }
}

/** A field as an object, or an empty one. */
export function asFields(value: unknown): Fields {
  return isFields(value) ? value : {};
}

/** True for a JSON object (not a list, not null). */
export function isFields(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A field as a list, or an empty one. */
export function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

/** A field as text, or "". */
export function asText(value: unknown): string {
  return typeof value === "string" ? value : "";
}
