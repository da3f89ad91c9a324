/**
 * Reads a response body under limits: bytes (as sent and after decompression) and pace. A server that drips or stalls is cut off, time the consumer
 * takes does not count against the server.
 * Invariant: at most one decompression buffer beyond the cap is ever produced, so a compressed bomb costs nothing. The overall time limit is left to
 * guarded-fetch, whose signal destroys the raw body.
 */
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { TransferError } from "../download.ts";

/** Limits of one body. */
export interface BodyLimits {
  readonly maxBytes: number;
  /** Milliseconds of waiting in which at least `MIN_BYTES_PER_WINDOW` must arrive. */
  readonly idleMs: number;
  readonly host: string;
}

/** Slower than this per `idleMs` of waiting is a drip, not a download. */
export const MIN_BYTES_PER_WINDOW = 1024;

/** The bytes within the limits, decompressed if the server insisted on compressing. Throws TransferError; leaving early destroys `raw`. */
export async function* limitBody(raw: Readable, encoding: string, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  const paced = keepPace(raw, limits);
  const chunks = encoding === "" || encoding === "identity" ? paced : decompress(paced, encoding, limits);
  let received = 0;
  for await (const chunk of chunks) {
    received += chunk.byteLength;
    if (received > limits.maxBytes) throw tooLarge(limits);
    yield chunk;
  }
}

/** The failure for a body over its cap, announced or found while reading. */
export function tooLarge(limits: Pick<BodyLimits, "maxBytes" | "host">): TransferError {
  return new TransferError(
    "too-large",
    `The file at ${limits.host} is larger than the ${describeSize(limits.maxBytes)} allowed here.`,
  );
}

/** Whether `limitBody` can read this content-encoding (empty means none). */
export function isReadableEncoding(encoding: string): boolean {
  return ["", "identity", "gzip", "x-gzip", "deflate", "br"].includes(encoding);
}

async function* keepPace(raw: Readable, limits: BodyLimits): AsyncGenerator<Uint8Array> {
  const iterator: AsyncIterator<Uint8Array> = raw[Symbol.asyncIterator]();
  let windowBytes = 0;
  let windowWaitMs = 0;
  let sent = 0;
  try {
    for (;;) {
      const began = performance.now();
      const { done, value } = await nextOrCut(raw, iterator, limits, limits.idleMs - windowWaitMs);
      if (done === true) return;
      windowWaitMs += performance.now() - began;
      windowBytes += value.byteLength;
      sent += value.byteLength;
      if (windowBytes >= MIN_BYTES_PER_WINDOW) {
        windowBytes = 0;
        windowWaitMs = 0;
      }
      if (sent > limits.maxBytes) throw tooLarge(limits);
      yield value;
    }
  } finally {
    raw.destroy();
  }
}

async function nextOrCut(raw: Readable, iterator: AsyncIterator<Uint8Array>, limits: BodyLimits, waitMs: number) {
  const timer = setTimeout(
    () => {
      raw.destroy(
        new TransferError(
          "too-slow",
          `${limits.host} sent almost nothing for ${Math.ceil(limits.idleMs / 1000)} s; the download was stopped.`,
        ),
      );
    },
    Math.max(waitMs, 1),
  );
  try {
    return await iterator.next();
  } finally {
    clearTimeout(timer);
  }
}

async function* decompress(
  source: AsyncIterable<Uint8Array>,
  encoding: string,
  limits: BodyLimits,
): AsyncGenerator<Uint8Array> {
  const decoder = createDecoder(encoding);
  const piped = pipeline(Readable.from(source, { objectMode: false }), decoder);
  // The same error reaches the loop below through the decoder; this only keeps it from being reported a second time as unhandled.
  piped.catch(() => undefined);
  try {
    for await (const chunk of decoder) yield chunk as Uint8Array;
  } catch (error) {
    if (!isDataError(error)) throw error;
    throw new TransferError("encoding", `${limits.host} sent a compressed body that cannot be read.`, { cause: error });
  }
}

function createDecoder(encoding: string) {
  if (encoding === "br") return createBrotliDecompress();
  return encoding === "deflate" ? createInflate() : createGunzip();
}

function isDataError(error: unknown): boolean {
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return /^(Z_|ERR_BROTLI|ERR__ERROR_|ERR_PADDING|ERR_ZLIB)/.test(code);
}

function describeSize(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.round((bytes / 1024 / 1024) * 10) / 10} MiB` : `${bytes} bytes`;
}
