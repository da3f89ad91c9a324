/**
 * The contract for stored bytes (SPEC M6, W1): content-addressed by SHA-256 and extension, streamed in and out, never whole in memory.
 * Invariant: what `put` has returned is whole, durable and is what its extension says; names are labels and never become paths. The folder behind it is
 * left to folder-blobs, which names refer to which bytes to the store.
 */
import type { Readable } from "node:stream";

/** Most bytes of an ordinary file and of a video (SPEC M6). Platforms' own, lower limits are checked when sending. */
export const MAX_FILE_BYTES = 25 * 1024 * 1024;
/** See MAX_FILE_BYTES. */
export const MAX_VIDEO_BYTES = 200 * 1024 * 1024;

/** Names one stored content. */
export interface BlobId {
  /** 64 hex digits, lower case. */
  readonly sha256: string;
  /** Without dot. */
  readonly ext: string;
}

/** One stored content; fits a FileRef. */
export interface StoredBlob extends BlobId {
  readonly size: number;
  readonly mediaType: string;
}

/** Limits and claims of one `put`. */
export interface PutOptions {
  readonly maxBytes: number;
  /** When given, files whose first bytes are a video may be this large instead. */
  readonly maxVideoBytes?: number;
  /** The sender's name for it; only its extension is looked at, as a claim. */
  readonly fileName?: string | undefined;
  /** The sender's claim, used when there is no name. */
  readonly mediaType?: string | undefined;
}

/**
 * too-large · mismatch (not what name or claim say) · empty · storage (disk full or not writable) · source (the bytes stopped coming); a source that
 * throws a TransferError passes its own reason and text through.
 */
export type PutResult =
  | { readonly ok: true; readonly file: StoredBlob }
  | { readonly ok: false; readonly reason: string; readonly text: string };

/** An open content. The stream must be read or destroyed, it holds a file open. */
export interface OpenBlob {
  /** Bytes of the whole content, also when a range was asked for. */
  readonly size: number;
  readonly stream: Readable;
}

/**
 * Contract: `put` never rejects for bad bytes or a broken source, closes the source when it stops early, may run many times at once and stores equal
 * content once. The others answer null (or do nothing) for ids that are malformed or unknown. `remove` is for redaction; the caller knows of no other use.
 */
export interface Blobs {
  put(source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<PutResult>;
  /** `range` is in bytes, both ends included, as HTTP has it. */
  open(id: BlobId, range?: { readonly start: number; readonly end?: number }): Promise<OpenBlob | null>;
  stat(id: BlobId): Promise<{ readonly size: number; readonly mediaType: string } | null>;
  remove(id: BlobId): Promise<void>;
}

/** Whether an id has the shape of one; the first guard against ids that are really paths. */
export function isBlobId(id: BlobId): boolean {
  return /^[0-9a-f]{64}$/.test(id.sha256) && /^[a-z0-9]{1,10}$/.test(id.ext);
}
