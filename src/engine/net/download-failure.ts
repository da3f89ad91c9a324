/**
 * Puts what can go wrong in a download into words: refused answers, broken connections, bad certificates (SPEC M5).
 * Invariant: a text names the host only and says what to do next. Deciding when something has gone wrong is left to guarded-fetch and guarded-body.
 */
import { type DownloadFailure, type DownloadReason, TransferError } from "../download.ts";

/** An answer other than 2xx. */
export class StatusError extends TransferError {
  readonly status: number;
  readonly retryAfterMs: number | undefined;
  constructor(host: string, status: number, retryAfter: string | undefined) {
    super("status", `${host} answered ${status} instead of the file${STATUS_HINTS.get(status) ?? ""}.`);
    this.status = status;
    this.retryAfterMs =
      retryAfter !== undefined && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) * 1000 : undefined;
  }
}

const STATUS_HINTS: ReadonlyMap<number, string> = new Map([
  [401, " (it wants a sign-in)"],
  [403, " (access is not allowed, or the link has expired)"],
  [404, " (there is nothing at this address)"],
  [410, " (it was removed)"],
  [429, " (too many requests; wait before trying again)"],
]);

/** The failure value for whatever was thrown before the body began. */
export function toFailure(error: unknown, host: string): DownloadFailure {
  const known = toTransferError(error, host);
  const failure = { ok: false, reason: known.reason, text: known.text } as const;
  if (!(known instanceof StatusError)) return failure;
  return {
    ...failure,
    status: known.status,
    ...(known.retryAfterMs === undefined ? {} : { retryAfterMs: known.retryAfterMs }),
  };
}

/** The error itself when it is already in words, else the words for its code. */
export function toTransferError(error: unknown, host: string): TransferError {
  if (error instanceof TransferError) return error;
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  const [reason, text] = describeCode(code, host);
  return new TransferError(reason, text, { cause: error });
}

function describeCode(code: string, host: string): [DownloadReason, string] {
  if (/CERT|SELF_SIGNED|UNABLE_TO_|ERR_SSL|ERR_TLS|EPROTO/.test(code)) {
    return ["tls", `The certificate of ${host} cannot be trusted (${code}), so nothing was fetched.`];
  }
  if (code === "UND_ERR_HEADERS_TIMEOUT" || code === "UND_ERR_CONNECT_TIMEOUT" || code === "ETIMEDOUT") {
    return ["too-slow", `${host} did not answer in time.`];
  }
  return [
    "connection",
    `The connection to ${host} failed or broke off${code === "" ? "" : ` (${code})`}. Trying again later may help.`,
  ];
}
