/**
 * Requests with a body and streamed answers, for connectors: the Fetch API over the download guard's connections, so that no socket is opened to an
 * address the rules have not passed (SPEC M5, P2). Invariant: one answer, or one event of a stream, has at most `maxMessageBytes`.
 */

import { fetch as send } from "undici";
import { TransferError } from "../download.ts";
import { createGuardedAgent } from "./guarded-agent.ts";
import { createHostRules } from "./host-rules.ts";

/** Settings of one guard. */
export interface GuardedHttpSettings {
  /** Host names or IPs, no port, that are let through besides public ones, over plain http too. */
  readonly allowPrivateHosts: readonly string[];
  readonly maxMessageBytes: number;
}

/** Sends a request as `fetch` does; rejects with TransferError for addresses that are refused and answers that are too large. */
export type GuardedHttp = (url: string | URL, init?: RequestInit) => Promise<Response>;

const NO_BODY: ReadonlySet<number> = new Set([101, 103, 204, 205, 304]);

/** Makes a guard with a connection pool of its own. Time limits are the caller's, by `signal`. */
export function createGuardedHttp(settings: GuardedHttpSettings): GuardedHttp {
  const rules = createHostRules(settings.allowPrivateHosts);
  const dispatcher = createGuardedAgent(rules);
  return async (address, init = {}) => {
    const url = new URL(address);
    if (url.protocol !== "https:" && !(url.protocol === "http:" && rules.isListed(url.hostname)))
      throw new TransferError("not-https", `Only https:// addresses may be asked, not ${url.protocol}//${url.host}.`);
    rules.checkLiteral(url.hostname);
    // The package's fetch and Node's own speak the same language, but their types do not know each other.
    const answer = (await send(url, { ...init, dispatcher } as unknown as Parameters<typeof send>[1]).catch(
      (error: unknown) => {
        throw unwrapped(error);
      },
    )) as unknown as Response;
    const isStream = /^text\/event-stream/i.test(answer.headers.get("content-type") ?? "");
    const body =
      answer.body && !NO_BODY.has(answer.status) ? limit(answer.body, settings.maxMessageBytes, isStream) : null;
    return new Response(body, { status: answer.status, statusText: answer.statusText, headers: [...answer.headers] });
  };
}

/** The reason under fetch's "fetch failed". */
function unwrapped(error: unknown): unknown {
  return error instanceof Error && error.cause instanceof TransferError ? error.cause : error;
}

/** The body up to the limit; of a stream of events each event counts for itself. */
function limit(body: ReadableStream<Uint8Array>, maxBytes: number, isStream: boolean): ReadableStream<Uint8Array> {
  let seen = 0;
  return body.pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        const ends = isStream ? eventEnds(chunk) : undefined;
        if (seen + (ends?.first ?? chunk.byteLength) > maxBytes) {
          controller.error(new TransferError("too-large", `The answer is larger than ${maxBytes} bytes.`));
          return;
        }
        seen = ends ? chunk.byteLength - ends.last : seen + chunk.byteLength;
        controller.enqueue(chunk);
      },
    }),
  );
}

/** Where the first and the last empty line of a chunk are; undefined when no event ends in it. */
function eventEnds(chunk: Uint8Array): { readonly first: number; readonly last: number } | undefined {
  const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  const firsts = [bytes.indexOf("\n\n"), bytes.indexOf("\r\n\r\n")].filter((at) => at >= 0);
  if (firsts.length === 0) return undefined;
  return { first: Math.min(...firsts), last: Math.max(bytes.lastIndexOf("\n\n"), bytes.lastIndexOf("\r\n\r\n")) };
}
