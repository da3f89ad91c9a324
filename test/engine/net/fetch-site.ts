/**
 * Two https servers on loopback with their own certificate authority, and a download guard that may reach them: what the guarded-fetch tests share.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { DownloadRequest } from "../../../src/engine/download.ts";
import { TransferError } from "../../../src/engine/download.ts";
import { createGuardedFetch, type GuardedFetchSettings } from "../../../src/engine/net/guarded-fetch.ts";
import { makeCertificate, startHttpsHost } from "./https-host.ts";

/** Limits that no well-behaved answer of these tests reaches. */
export const LIMITS: DownloadRequest = { maxBytes: 100_000, timeoutMs: 5_000 };

/** Answers one address. */
export type Route = (request: IncomingMessage, response: ServerResponse) => void;

/** Starts both servers; `close` them when the tests end. */
export async function startFetchSite() {
  const certificate = makeCertificate();
  const routes = new Map<string, Route>();
  let requests: IncomingMessage[] = [];
  const answer: Route = (request, response) => {
    requests.push(request);
    const route = routes.get(request.url ?? "");
    if (route === undefined) response.writeHead(404).end("nothing");
    else route(request, response);
  };
  const host = await startHttpsHost(certificate, answer);
  const other = await startHttpsHost(certificate, answer);
  /** A guard that may reach the tests' own servers under 127.0.0.1. */
  const guard = (settings: Partial<GuardedFetchSettings> = {}) =>
    createGuardedFetch({ allowPrivateHosts: ["127.0.0.1"], ca: certificate.cert, ...settings });
  /** Serves `route` once under a fresh address. */
  const serve = (route: Route, from = host): string => {
    const path = `/${routes.size}`;
    routes.set(path, route);
    requests = [];
    return `https://127.0.0.1:${from.port}${path}`;
  };
  const open = async (
    url: string,
    request: Partial<DownloadRequest> = {},
    settings: Partial<GuardedFetchSettings> = {},
  ) => {
    const result = await guard(settings)(url, { ...LIMITS, ...request });
    if (!result.ok) throw new Error(`${result.reason}: ${result.text}`);
    return result;
  };
  const close = async () => {
    await host.close();
    await other.close();
  };
  /** Forgets the requests seen so far. */
  const forget = () => {
    requests = [];
  };
  return { certificate, host, other, routes, guard, serve, open, close, forget, requests: () => requests };
}

/** Redirects to another address. */
export function redirectTo(location: string): Route {
  return (_request, response) => response.writeHead(302, { location }).end("moved");
}

/** The whole body. */
export async function readAll(body: AsyncIterable<Uint8Array>): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of body) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** How many bytes came before the body broke off, and why it did. */
export async function readUntilError(
  body: AsyncIterable<Uint8Array>,
): Promise<{ bytes: number; error: TransferError }> {
  let bytes = 0;
  try {
    for await (const chunk of body) bytes += chunk.byteLength;
  } catch (error) {
    if (error instanceof TransferError) return { bytes, error };
    throw error;
  }
  throw new Error("the body ended without an error");
}
