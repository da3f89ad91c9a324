/**
 * What a provider API has to say for itself: how it checks and reads a request, writes an answer or a stream, and
 * words its errors. One file per API implements it; the server knows none of them.
 * Contract: `check` returns null or the provider's complaint and never throws on odd input; `read` is only called for
 * a checked body.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Fields } from "../loopback.ts";
import type { ReplyCall } from "./reply.ts";
import type { DialectName, LlmRequest, ReadRequest } from "./request.ts";

/** An error before or instead of an answer. */
export interface Complaint {
  readonly status: number;
  readonly message: string;
  readonly code?: string;
}

/** An answer ready to be written: the script's reply after tool choice, with ids and tokens filled in. */
export interface Answer {
  readonly text: string;
  readonly thinking: string;
  readonly calls: readonly (ReplyCall & { id: string; json: string })[];
  readonly finish: "stop" | "length" | "calls" | "filter";
  readonly tokens: {
    readonly input: number;
    readonly output: number;
    readonly cached: number;
    readonly cacheWritten: number;
  };
}

/** One server-sent event. `event` null = only a data line. */
export interface StreamEvent {
  readonly event: string | null;
  readonly data: unknown;
}

/** What the server remembers between requests. */
export interface Memory {
  /** Items of the Responses API that later requests may refer to by id. */
  readonly items: Map<string, Fields>;
  /** Signatures of thinking blocks handed out. */
  readonly signatures: Map<string, string>;
  /** Prompts seen, per model, newest last. */
  readonly prompts: Map<string, string[]>;
}

/** One provider API. */
export interface Dialect {
  readonly name: DialectName;
  /** The model named in the address, "" when the body names it; null = not an address of this API. */
  matches(path: string): string | null;
  /** Missing or wrong key → complaint. `key` null accepts any. */
  authorize(headers: IncomingHttpHeaders, key: string | null): Complaint | null;
  check(body: Fields, memory: Memory): Complaint | null;
  read(body: Fields, path: string, memory: Memory): ReadRequest;
  /** The prompt in caching order: tools, system, messages. */
  prompt(body: Fields): string;
  write(answer: Answer, request: LlmRequest, memory: Memory): Fields;
  stream(answer: Answer, request: LlmRequest, memory: Memory): StreamEvent[];
  /** The last line of a stream, or "". */
  readonly streamEnd: string;
  error(complaint: Complaint): Fields;
  contextLength(request: LlmRequest): Complaint;
}

/** A short random id. */
export function shortId(prefix: string): string {
  return prefix + crypto.randomUUID().replaceAll("-", "").slice(0, 24);
}

/** Cuts a text into pieces of a stream. */
export function pieces(text: string, size = 24): string[] {
  return text.match(new RegExp(`[\\s\\S]{1,${size}}`, "g")) ?? [];
}

/** The bearer token of a request, or null. */
export function bearer(headers: IncomingHttpHeaders): string | null {
  return /^Bearer (\S+)$/i.exec(headers.authorization ?? "")?.[1] ?? null;
}
