/**
 * The one web server: health, readiness, metrics, and whatever routes the adapters asked for, on one port (SPEC O1, O3).
 * Invariant: a route marked guarded is reachable only with the password when one is set, and only under this machine's own names when none is; platform
 * callbacks and one-time forms carry their own proof. Errors never show internals.
 */
import { createHash, timingSafeEqual } from "node:crypto";
import { once } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { serve } from "@hono/node-server";
import { Hono } from "hono";
import type { AdapterRoute, Log } from "./engine/index.ts";

/** What the server serves. */
export interface WebServerParts {
  readonly host: string;
  readonly port: number;
  /** "" = no password. */
  readonly password: string;
  /** Read at each request: adapters may still be starting. */
  readonly routes: () => readonly AdapterRoute[];
  readonly health: () => Promise<Readonly<Record<string, unknown>>>;
  readonly readiness: () => { readonly ready: boolean; readonly body: Readonly<Record<string, unknown>> };
  readonly metrics: () => Promise<{ readonly contentType: string; readonly body: string }>;
  readonly log: Log;
}

/** A listening server. */
export interface WebServer {
  readonly port: number;
  /** Stops listening and ends open streams. */
  close(): Promise<void>;
}

/** Listens; rejects when the port is taken, with the fix in words. */
export async function startWebServer(parts: WebServerParts): Promise<WebServer> {
  const app = createApp(parts);
  const inFlight = new Set<ServerResponse>();
  return new Promise((resolve, reject) => {
    const server = serve({ fetch: app.fetch, hostname: parts.host, port: parts.port }, (address) => {
      server.off("error", reject);
      server.on("error", (error) => parts.log.warn({ error: error.message }, "web server error"));
      resolve({ port: address.port, close: () => close(server, inFlight) });
    });
    server.once("error", reject);
    server.on("request", (_request: IncomingMessage, response: ServerResponse) => {
      inFlight.add(response);
      response.once("close", () => inFlight.delete(response));
    });
  });
}

type Server = ReturnType<typeof serve>;

/** How long requests that are being worked on may take when the server closes, ms; open streams are cut at once after them. */
const FINISH_MS = 2_000;

/** Requests under way are finished first: what they use is closed after the server. */
async function close(server: Server, inFlight: ReadonlySet<ServerResponse>): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  const late = new AbortController();
  const patience = delay(FINISH_MS, undefined, { signal: late.signal }).catch(() => undefined);
  const isStream = (response: ServerResponse) => /event-stream/.test(String(response.getHeader("content-type")));
  const awaited = [...inFlight].filter((response) => !isStream(response));
  await Promise.race([Promise.all(awaited.map((response) => once(response, "close"))), patience]);
  late.abort();
  if ("closeAllConnections" in server) server.closeAllConnections();
  await closed;
}

function createApp(parts: WebServerParts): Hono {
  const app = new Hono();
  app.get("/healthz", async (context) => {
    const health = await parts.health();
    return context.json(health, health.status === "ok" ? 200 : 503);
  });
  app.get("/readyz", (context) => {
    const { ready, body } = parts.readiness();
    return context.json(body, ready ? 200 : 503);
  });
  app.get("/metrics", async (context) => {
    const refused = guard(parts, context.req.raw);
    if (refused) return refused;
    const page = await parts.metrics();
    return context.body(page.body, 200, { "content-type": page.contentType });
  });
  app.all("*", (context) => dispatch(parts, context.req.raw));
  app.onError((error) => failed(parts.log, "", error));
  return app;
}

async function dispatch(parts: WebServerParts, request: Request): Promise<Response> {
  const { pathname } = new URL(request.url);
  const method = request.method === "HEAD" ? "GET" : request.method;
  let wrongMethod = false;
  for (const route of parts.routes()) {
    const parameters = matchPath(route.path, pathname);
    if (!parameters) continue;
    if (route.method !== method) {
      wrongMethod = true;
      continue;
    }
    const refused = route.guarded ? guard(parts, request) : undefined;
    return refused ?? handle(parts, route, request, parameters);
  }
  return problem(
    wrongMethod ? 405 : 404,
    wrongMethod ? "This address does not take that method." : "There is nothing at this address.",
  );
}

/** Runs a route. What it throws is logged under the route's pattern: a path may hold a token that no log should have. */
async function handle(
  parts: WebServerParts,
  route: AdapterRoute,
  request: Request,
  parameters: Readonly<Record<string, string>>,
): Promise<Response> {
  const tooLarge = () => problem(413, `The body is larger than ${route.maxBody} bytes.`);
  if (Number(request.headers.get("content-length") ?? 0) > route.maxBody) return tooLarge();
  const limited = limitBody(request, route.maxBody);
  try {
    const response = await route.handle(limited.request, parameters);
    // A handler may have taken the cut-off body for a broken one.
    return limited.isExceeded() ? tooLarge() : response;
  } catch (error) {
    if (limited.isExceeded()) return tooLarge();
    return failed(parts.log, route.path, error);
  }
}

function failed(log: Log, path: string, error: unknown): Response {
  const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
  log.error({ path, message, stack }, "request failed");
  return problem(500, "Something went wrong on this side; the log says what.");
}

/** Values of the `:name` parts, or undefined when the path does not fit. */
export function matchPath(pattern: string, path: string): Record<string, string> | undefined {
  const [wanted, given] = [pattern.split("/"), path.split("/")];
  if (wanted.length !== given.length) return undefined;
  const parameters: Record<string, string> = {};
  for (const [i, part] of wanted.entries()) {
    const value = given[i] ?? "";
    if (!part.startsWith(":")) {
      if (part !== value) return undefined;
      continue;
    }
    const decoded = decode(value);
    if (!decoded) return undefined;
    parameters[part.slice(1)] = decoded;
  }
  return parameters;
}

function decode(value: string): string | undefined {
  try {
    return decodeURIComponent(value);
  } catch {
    // A badly encoded path names nothing we have.
    return undefined;
  }
}

/** The refusal for a guarded route, if any. */
function guard(parts: WebServerParts, request: Request): Response | undefined {
  if (parts.password) return hasPassword(request, parts.password) ? undefined : askForPassword();
  // Without a password only this machine is served; checking the name it was asked for keeps other sites' pages from reaching in through DNS.
  return isOwnName(parts, request)
    ? undefined
    : problem(
        403,
        "Open this page under http://127.0.0.1 or http://localhost, or set a password to open it elsewhere.",
      );
}

/** The public address is not among them: what is reachable from elsewhere needs a password. */
function isOwnName(parts: WebServerParts, request: Request): boolean {
  const name = new URL(request.url).hostname.replace(/^\[|\]$/g, "");
  return ["127.0.0.1", "localhost", "::1", parts.host].includes(name);
}

function hasPassword(request: Request, password: string): boolean {
  const [scheme, given = ""] = (request.headers.get("authorization") ?? "").split(" ");
  if (scheme?.toLowerCase() !== "basic") return false;
  const text = Buffer.from(given, "base64").toString("utf8");
  return timingSafeEqual(digest(text.slice(text.indexOf(":") + 1)), digest(password));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}

function askForPassword(): Response {
  return new Response("A password is needed.", {
    status: 401,
    headers: {
      "www-authenticate": 'Basic realm="Parley", charset="UTF-8"',
      "content-type": "text/plain; charset=utf-8",
    },
  });
}

function problem(status: number, text: string): Response {
  return Response.json({ error: text }, { status });
}

/** The request with a body that breaks off when it grows beyond the limit, whatever its headers say. */
function limitBody(request: Request, maxBytes: number): { readonly request: Request; isExceeded(): boolean } {
  if (!request.body) return { request, isExceeded: () => false };
  let seen = 0;
  const limit = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      seen += chunk.byteLength;
      if (seen > maxBytes) controller.error(new RangeError(`The body is larger than ${maxBytes} bytes.`));
      else controller.enqueue(chunk);
    },
  });
  const { method, headers, url, signal } = request;
  const body = request.body.pipeThrough(limit);
  const limited = new Request(url, { method, headers, signal, body, duplex: "half" } as RequestInit);
  return { request: limited, isExceeded: () => seen > maxBytes };
}
