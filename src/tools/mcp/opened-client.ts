/** The contract between a connection and the SDK behind it: what is asked for when one is opened, and what an open one can do. Types only, and one error. */

import type { GuardedHttp, Log } from "../../engine/index.ts";
import type { ServerAddress } from "./definitions.ts";

/** A tool as its server lists it; nothing in it is trusted. */
export interface ListedTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
  readonly isReadOnly: boolean;
  /** The server says that it may destroy something, and not that it only reads. */
  readonly isDestructive: boolean;
}

/** A result of a tool or resource, checked for form only. */
export type RawResult = Readonly<Record<string, unknown>>;

/** What opening needs. `values` are env or headers with their secrets filled in; they go nowhere else. */
export interface OpenRequest {
  readonly id: string;
  readonly address: ServerAddress;
  readonly values: Readonly<Record<string, string>>;
  readonly roots: readonly string[];
  readonly http: GuardedHttp;
  /** The SDK's client provider for a person's tokens; absent where nobody signs in. */
  readonly auth?: unknown;
  readonly signal: AbortSignal;
  readonly log: Log;
  onListChanged(): void;
  /** Contract: always answers, never throws. */
  onElicitation(params: unknown, signal: AbortSignal): Promise<ElicitationReply>;
  /** Absent = sampling is not announced and therefore refused. May throw: the server gets an error. */
  readonly onSampling?: ((params: unknown, signal: AbortSignal) => Promise<SamplingReply>) | undefined;
}

/** What a server hears when it asked a person. */
export interface ElicitationReply {
  readonly action: "accept" | "decline" | "cancel";
  readonly content?: Record<string, string | number | boolean | string[]>;
  readonly [key: string]: unknown;
}

/** What a server hears when it asked for a model's words. */
export interface SamplingReply {
  readonly role: "assistant";
  readonly content: { readonly type: "text"; readonly text: string };
  readonly model: string;
  readonly stopReason?: string;
  readonly [key: string]: unknown;
}

/** Progress of a call as its server tells it. */
export interface CallProgress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** An open connection. Calls reject when the server answers with an error, or goes away. */
export interface OpenedClient {
  /** Resolves when the connection has ended, whoever ended it. */
  readonly closed: Promise<void>;
  /** What the server says of itself and its tools, one line; absent when it says nothing. Its words, never trusted. */
  readonly instructions?: string;
  listTools(signal: AbortSignal): Promise<{ readonly tools: readonly ListedTool[]; readonly omitted: number }>;
  callTool(
    name: string,
    args: Record<string, unknown>,
    options: { readonly signal: AbortSignal; readonly onProgress: (progress: CallProgress) => void },
  ): Promise<RawResult>;
  readResource(uri: string, signal: AbortSignal): Promise<RawResult>;
  ping(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}

/** Opens connections; the SDK behind it is loaded with the first. */
export type OpenClient = (request: OpenRequest) => Promise<OpenedClient>;

/** The server cannot be reached under this session any more; another has to be begun. */
export class ConnectionLostError extends Error {
  override readonly name = "ConnectionLostError";
  /** True: the request was not taken, so nothing was done. */
  readonly isUndone: boolean;
  constructor(isUndone: boolean, options: { readonly cause?: unknown } = {}) {
    super("The connection was lost.", options);
    this.isUndone = isUndone;
  }
}

/** A remote server answered a request with nothing of use: whether it did what it was asked is not known. The message is ours. */
export class AnswerLostError extends Error {
  override readonly name = "AnswerLostError";
}

/** A person must sign in before this server can be used. */
export class SignInNeededError extends Error {
  override readonly name = "SignInNeededError";
  constructor(options: { readonly cause?: unknown } = {}) {
    super("A person must sign in first.", options);
  }
}
