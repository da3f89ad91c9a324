/**
 * Requests to our own server. A refusal of the server is an ApiError with its words; no answer at all is one with status 0, which callers take as
 * "try again later". Every request has a time limit.
 */

/** What went wrong, in words a person can read. `status` is 0 when the server was not reached. */
export class ApiError extends Error {
  readonly status: number;
  constructor(status: number, message: string) {
    super(message);
    this.status = status;
  }
  /** True when repeating the same request may help. */
  get temporary(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

const PATIENCE_MS = 20_000;
const UPLOAD_PATIENCE_MS = 300_000;

/** GET as JSON. */
export function read<T>(path: string): Promise<T> {
  return request<T>(path, { method: "GET" }, PATIENCE_MS);
}

/** POST of a JSON body. */
export function post<T>(path: string, body: unknown): Promise<T> {
  const init = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  return request<T>(path, init, PATIENCE_MS);
}

/** Sends a file's bytes; the answer names the upload. */
export function upload(file: File): Promise<{ uploadId: string; name: string; size: number }> {
  const headers = {
    "content-type": file.type || "application/octet-stream",
    "x-file-name": encodeURIComponent(file.name),
  };
  return request("/api/files", { method: "POST", headers, body: file }, UPLOAD_PATIENCE_MS);
}

async function request<T>(path: string, init: RequestInit, patience: number): Promise<T> {
  let response: Response;
  try {
    response = await fetch(path, { ...init, signal: AbortSignal.timeout(patience) });
  } catch {
    throw new ApiError(0, "The server cannot be reached.");
  }
  const body: unknown = await response.json().catch(() => null); // Not JSON: a proxy answered; the status says enough.
  if (!response.ok) throw new ApiError(response.status, errorText(body) ?? `The server answered ${response.status}.`);
  return body as T;
}

function errorText(body: unknown): string | undefined {
  if (typeof body !== "object" || body === null || !("error" in body)) return undefined;
  return typeof body.error === "string" ? body.error : undefined;
}
