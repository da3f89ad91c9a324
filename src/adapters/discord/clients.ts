/**
 * Discord's REST client for one token. Two of them: `rest` for everything that may take a while, `fast` for answers to clicks, which carry their own
 * token and must not stand behind messages.
 * Invariant: no client repeats a call or sleeps through a rate limit by itself (the outbox decides about both), every call has a time limit that
 * includes reading the answer, and all calls of the process share one count of invalid requests.
 */

import type { REST as DiscordRest, RESTOptions } from "discord.js";
import { REST } from "discord.js";
import type { InvalidRequests } from "./invalid-requests.ts";
import { CALL_TIMEOUT_MS, FAST_TIMEOUT_MS, UPLOAD_TIMEOUT_MS } from "./limits.ts";

/** A file to upload: bytes, never a path or an address. */
export interface UploadFile {
  readonly name: string;
  readonly data: Buffer;
  readonly contentType: string;
}

/** What goes along with a call. */
export interface CallOptions {
  readonly body?: unknown;
  readonly files?: readonly UploadFile[];
  readonly query?: Readonly<Record<string, string>>;
}

/** An HTTP method Discord uses. */
export type Method = "get" | "post" | "patch" | "put" | "delete";

/** The calls of one bot. Both reject with the client's errors; `problemOf` reads them. */
export interface DiscordCalls {
  /** A call with the bot's token. `path` begins with "/" and holds no user text that is not encoded. */
  call(method: Method, path: string, options?: CallOptions): Promise<unknown>;
  /** An answer to an interaction: its own token in the path, no queue. */
  answer(method: Method, path: string, body?: unknown): Promise<unknown>;
  /** The client for the gateway's own questions. */
  readonly rest: DiscordRest;
  close(): void;
}

/** Creates the clients of one token. `apiUrl` has no version and no slash at its end. */
export function createCalls(apiUrl: string, token: string, invalid: InvalidRequests): DiscordCalls {
  const rest = new REST(optionsFor(apiUrl, invalid, CALL_TIMEOUT_MS)).setToken(token);
  const uploads = new REST(optionsFor(apiUrl, invalid, UPLOAD_TIMEOUT_MS)).setToken(token);
  const fast = new REST(optionsFor(apiUrl, invalid, FAST_TIMEOUT_MS));
  const all = [rest, uploads, fast];
  return {
    rest,
    call: (method, path, options = {}) =>
      (options.files?.length ? uploads : rest)[method](asRoute(path), toRequest(options)),
    answer: (method, path, body) =>
      fast[method](asRoute(path), { auth: false, ...(body === undefined ? {} : { body }) }),
    close() {
      for (const one of all) {
        one.clearHandlerSweeper();
        one.clearHashSweeper();
      }
    },
  };
}

function asRoute(path: string): `/${string}` {
  return `/${path.replace(/^\//, "")}`;
}

function toRequest({ body, files, query }: CallOptions) {
  return {
    ...(body === undefined ? {} : { body }),
    ...(query === undefined ? {} : { query: new URLSearchParams(query) }),
    ...(files === undefined
      ? {}
      : { files: files.map(({ name, data, contentType }) => ({ name, data, contentType })) }),
  };
}

function optionsFor(apiUrl: string, invalid: InvalidRequests, timeout: number): Partial<RESTOptions> {
  return {
    api: apiUrl,
    version: "10",
    retries: 0,
    timeout,
    rejectOnRateLimit: () => true,
    makeRequest: (url, init) => request(url, init as unknown as RequestInit, invalid, timeout),
  };
}

type ResponseLike = Awaited<ReturnType<RESTOptions["makeRequest"]>>;

/**
 * The platform's own fetch: the HTTP library that comes with the client cannot send forms once another version of it was used in the process. The
 * body is read here, because the client's time limit ends with the headers.
 */
async function request(
  url: string,
  init: RequestInit,
  invalid: InvalidRequests,
  limitMs: number,
): Promise<ResponseLike> {
  invalid.check();
  const { method, headers, body, signal } = init;
  const limit = AbortSignal.timeout(limitMs);
  const answer = await fetch(url, {
    redirect: "error",
    signal: signal ? AbortSignal.any([signal, limit]) : limit,
    ...(method === undefined ? {} : { method }),
    ...(headers === undefined ? {} : { headers }),
    ...(body === undefined ? {} : { body }),
  });
  const bytes = await answer.arrayBuffer();
  invalid.count(answer.status, answer.headers.get("x-ratelimit-scope") ?? "");
  const isEmpty = [101, 204, 205, 304].includes(answer.status);
  const { status, statusText } = answer;
  return new Response(isEmpty ? null : bytes, {
    status,
    statusText,
    headers: answer.headers,
  }) as unknown as ResponseLike;
}
