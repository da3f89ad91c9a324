/**
 * The contract for downloading from addresses that a model, a person or a platform named (SPEC M5): engine/net implements it, adapters and tools
 * are handed it. Failures are values whose text a model can act on; once the body flows, a failure is thrown by the iteration as a `TransferError`.
 * Invariant: texts name the host at most, never a path or query, because signed addresses carry secrets there.
 */

/**
 * Why a download did not happen or broke off.
 * bad-url · not-https · credentials (user:password@ in the address) · private-address · host-not-listed · unknown-host (DNS) · redirects ·
 * status (not 2xx) · tls · connection · encoding (compressed in a way we do not read) · too-large · too-slow · timeout · cancelled.
 */
export type DownloadReason =
  | "bad-url"
  | "not-https"
  | "credentials"
  | "private-address"
  | "host-not-listed"
  | "unknown-host"
  | "redirects"
  | "status"
  | "tls"
  | "connection"
  | "encoding"
  | "too-large"
  | "too-slow"
  | "timeout"
  | "cancelled";

/** Thrown while a stream of bytes is read, when it ends for a reason worth telling. `text` is plain words for the model or person. */
export class TransferError extends Error {
  override readonly name = "TransferError";
  readonly reason: DownloadReason;
  constructor(reason: DownloadReason, text: string, options: { cause?: unknown } = {}) {
    super(text, { cause: options.cause });
    this.reason = reason;
  }
  /** The same words as `message`, under the name result values use. */
  get text(): string {
    return this.message;
  }
}

/** One download's limits and its optional credentials. */
export interface DownloadRequest {
  /** Default GET. HEAD gives an empty body. */
  readonly method?: "GET" | "HEAD";
  /** Sent to the first origin only: they never follow a redirect to another host, port or scheme. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Most bytes of body, counted after decompression; one more and the iteration throws `too-large`. */
  readonly maxBytes: number;
  /** Most milliseconds for everything: names, redirects and the whole body. */
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
  /** When given, the address and every redirect must be on one of these hosts (`files.example.com`, or `*.example.com` for its subdomains). */
  readonly allowedHosts?: readonly string[];
  /** Default 5. */
  readonly maxRedirects?: number;
}

/** A 2xx answer whose body has not been read yet. */
export interface Download {
  readonly ok: true;
  readonly status: number;
  /** Lower-case names; repeated headers joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  /** Lower case without parameters; `application/octet-stream` when the server does not say. It is the server's claim only. */
  readonly mediaType: string;
  /** Where the last redirect led. May hold a signature: not for logs. */
  readonly finalUrl: string;
  /** Can be iterated once; throws `TransferError`. Leaving the loop early closes the connection. */
  readonly body: AsyncIterable<Uint8Array>;
  /** Closes the connection when the body is not wanted; harmless after reading. Forgotten, the time limit closes it. */
  cancel(): void;
}

/** No bytes; `text` says why and what to do. `status` and `retryAfterMs` are set when the server answered with something other than 2xx. */
export interface DownloadFailure {
  readonly ok: false;
  readonly reason: DownloadReason;
  readonly text: string;
  readonly status?: number;
  readonly retryAfterMs?: number;
}

/** Contract: never throws before the body is iterated, follows redirects itself, and checks every address it connects to. */
export type GuardedFetch = (url: string, request: DownloadRequest) => Promise<Download | DownloadFailure>;
