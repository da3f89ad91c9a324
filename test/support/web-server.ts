/** The product's web server by itself, with routes of the test's choice, and plain HTTP to ask it; servers end with their test. */
import { request as httpRequest } from "node:http";
import { afterEach, beforeEach } from "vitest";
import type { AdapterRoute, Log } from "../../src/engine/index.ts";
import { startWebServer, type WebServer, type WebServerParts } from "../../src/main-web.ts";

/** What came back. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** The newest last. */
export const servers: WebServer[] = [];
/** Errors the server logged in this test. */
export const logged: { fields: object; msg: string }[] = [];

beforeEach(() => {
  servers.length = 0;
  logged.length = 0;
});
afterEach(async () => {
  for (const server of servers) await server.close();
});

/** Does nothing. */
export const nothing = () => undefined;
function log(): Log {
  const keep = (fields: object, msg: string) => void logged.push({ fields, msg });
  return { debug: nothing, info: nothing, warn: nothing, error: keep, child: log };
}

/** A route that echoes its parameters. */
export function route(more: Partial<AdapterRoute> = {}): AdapterRoute {
  return {
    method: "GET",
    path: "/open/:name",
    guarded: false,
    maxBody: 100,
    handle: async (_request, parameters) => Response.json(parameters, { headers: { "x-route": "yes" } }),
    ...more,
  };
}

/** Answers with the body it got. */
export const echo = route({
  method: "POST",
  path: "/echo",
  handle: async (request) => new Response(await request.text()),
});
/** Asks for the password. */
export const inner = route({ path: "/inner", guarded: true });

/** Starts a server; returns its port. */
export async function start(routes: readonly AdapterRoute[], more: Partial<WebServerParts> = {}): Promise<number> {
  const server = await startWebServer({
    host: "127.0.0.1",
    port: 0,
    password: "",
    routes: () => routes,
    health: async () => ({ status: "ok" }),
    readiness: () => ({ ready: true, body: { bots: [] } }),
    metrics: async () => ({ contentType: "text/plain", body: "up 1" }),
    log: log(),
    ...more,
  });
  servers.push(server);
  return server.port;
}

/** Plain HTTP, so that Host, content-length and method are ours to choose. Chunks are sent one by one without a length. */
export function ask(
  port: number,
  path: string,
  options: { method?: string; headers?: Record<string, string>; chunks?: readonly string[] } = {},
): Promise<Answer> {
  const { method = "GET", headers = {}, chunks = [] } = options;
  return new Promise((resolve, reject) => {
    const call = httpRequest({ port, host: "127.0.0.1", path, method, headers }, (response) => {
      const parts: Buffer[] = [];
      response.on("data", (part: Buffer) => parts.push(part));
      response.on("end", () => {
        const body = Buffer.concat(parts).toString();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      });
    });
    call.on("error", reject);
    for (const chunk of chunks) call.write(chunk);
    call.end();
  });
}
