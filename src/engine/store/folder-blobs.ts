/**
 * Blobs in a folder: `<first two digits>/<sha256>.<ext>`, written to `.incoming` first, synced, then renamed.
 * Invariant: no path is ever built from a sender's words, and links planted inside the folder are not followed. Several processes may share the folder.
 * Deciding what a file is, is left to file-kinds.
 */
import { createHash, randomBytes } from "node:crypto";
import { constants, promises as fs } from "node:fs";
import { join } from "node:path";
import { Readable } from "node:stream";
import { TransferError } from "../download.ts";
import { type BlobId, type Blobs, isBlobId, type OpenBlob, type PutOptions, type PutResult } from "./blobs.ts";
import { decideKind } from "./file-kinds.ts";
import { mediaTypeFor } from "./file-names.ts";
import { sniffFile, sniffHead } from "./sniff.ts";

/** A running transfer writes more often than this (its pace is watched), so an older draft was left by a crash. */
const STALE_DRAFT_MS = 10 * 60_000;
const HEAD_BYTES = 64 * 1024;

interface Draft {
  readonly path: string;
  readonly handle: fs.FileHandle;
}

interface Received {
  readonly sha256: string;
  readonly size: number;
  readonly head: Uint8Array;
}

class TooLargeError extends Error {}

class SourceError extends Error {}

/** Opens (and makes) the folder and clears drafts a crash left behind. Rejects when the folder cannot be made or written. */
export async function createFolderBlobs(options: { readonly dir: string }): Promise<Blobs> {
  await fs.mkdir(join(options.dir, ".incoming"), { recursive: true, mode: 0o700 });
  const root = await fs.realpath(options.dir);
  await clearStaleDrafts(join(root, ".incoming"));
  return {
    put: (source, limits) => put(root, source, limits),
    open: (id, range) => open(root, id, range),
    async stat(id) {
      const handle = await openBlob(root, id);
      if (handle === null) return null;
      const { size } = await handle.stat();
      await handle.close();
      return { size, mediaType: mediaTypeFor(id.ext) };
    },
    async remove(id) {
      if (isBlobId(id) && (await isRealFolder(shardOf(root, id.sha256))))
        await fs.rm(pathOf(root, id), { force: true });
    },
  };
}

async function put(root: string, source: AsyncIterable<Uint8Array>, options: PutOptions): Promise<PutResult> {
  let draft: Draft | undefined;
  try {
    draft = await createDraft(root);
    const received = await receive(source, draft.handle, options);
    await draft.handle.sync();
    const kind = decideKind({ ...received, sniffed: await sniffFile(draft.path) }, options);
    if (!kind.ok) return kind;
    const id = { sha256: received.sha256, ext: kind.ext };
    await settle(root, draft.path, id, received.size);
    return { ok: true, file: { ...id, size: received.size, mediaType: kind.mediaType } };
  } catch (error) {
    return toRefusal(error, options);
  } finally {
    // A source that was never begun (the draft could not be made) would keep its file open.
    if (source instanceof Readable) source.destroy();
    await draft?.handle.close();
    if (draft !== undefined) await fs.rm(draft.path, { force: true });
  }
}

async function createDraft(root: string): Promise<Draft> {
  const path = join(root, ".incoming", `${randomBytes(16).toString("hex")}.part`);
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
  return { path, handle: await fs.open(path, flags, 0o600) };
}

async function receive(
  source: AsyncIterable<Uint8Array>,
  handle: fs.FileHandle,
  options: PutOptions,
): Promise<Received> {
  const hash = createHash("sha256");
  const head: Uint8Array[] = [];
  let size = 0;
  let headSize = 0;
  let limit = options.maxBytes;
  for await (const chunk of guardSource(source)) {
    size += chunk.byteLength;
    if (headSize < HEAD_BYTES) {
      head.push(chunk.slice(0, HEAD_BYTES - headSize));
      headSize += Math.min(chunk.byteLength, HEAD_BYTES - headSize);
    }
    if (size > limit) limit = await raiseLimit(Buffer.concat(head), options);
    if (size > limit) throw new TooLargeError();
    hash.update(chunk);
    await handle.writeFile(chunk);
  }
  return { sha256: hash.digest("hex"), size, head: Buffer.concat(head) };
}

/** Tells failures of the source from failures of the disk: only the latter are the operator's business. */
async function* guardSource(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of source) yield chunk;
  } catch (error) {
    throw error instanceof TransferError ? error : new SourceError("the source broke off", { cause: error });
  }
}

/** Only what really is a video gets a video's limit, however it is called. */
async function raiseLimit(head: Uint8Array, options: PutOptions): Promise<number> {
  const maxVideoBytes = options.maxVideoBytes ?? options.maxBytes;
  if (maxVideoBytes <= options.maxBytes) return options.maxBytes;
  const sniffed = await sniffHead(head);
  return sniffed?.mediaType.startsWith("video/") === true ? maxVideoBytes : options.maxBytes;
}

async function settle(root: string, draft: string, id: BlobId, size: number): Promise<void> {
  const shard = shardOf(root, id.sha256);
  const isNew = (await fs.mkdir(shard, { recursive: true, mode: 0o700 })) !== undefined;
  if (!(await isRealFolder(shard))) throw new Error(`${shard} is not a folder of the blob store`);
  const path = pathOf(root, id);
  const there = await fs.lstat(path).catch(() => null); // Missing is the usual case; anything worse shows at the rename.
  if (there?.isFile() === true && there.size === size) return;
  await fs.rename(draft, path);
  await syncFolder(shard);
  if (isNew) await syncFolder(root);
}

async function open(
  root: string,
  id: BlobId,
  range?: { readonly start: number; readonly end?: number },
): Promise<OpenBlob | null> {
  const handle = await openBlob(root, id);
  if (handle === null) return null;
  const { size } = await handle.stat();
  return { size, stream: handle.createReadStream({ ...(range ?? {}), highWaterMark: HEAD_BYTES }) };
}

async function openBlob(root: string, id: BlobId): Promise<fs.FileHandle | null> {
  if (!isBlobId(id) || !(await isRealFolder(shardOf(root, id.sha256)))) return null;
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  const handle = await fs.open(pathOf(root, id), flags).catch((error: unknown) => {
    if (isCode(error, "ENOENT", "ELOOP", "EMLINK")) return null; // Unknown, or a link that was planted there.
    throw error;
  });
  if (handle === null || (await handle.stat()).isFile()) return handle;
  await handle.close();
  return null;
}

async function clearStaleDrafts(folder: string): Promise<void> {
  for (const name of await fs.readdir(folder)) {
    const path = join(folder, name);
    const stat = await fs.lstat(path).catch(() => null); // Another process may have finished with it just now.
    if (stat !== null && !stat.isDirectory() && Date.now() - stat.mtimeMs > STALE_DRAFT_MS)
      await fs.rm(path, { force: true });
  }
}

function toRefusal(error: unknown, options: PutOptions): PutResult {
  if (error instanceof TransferError) return { ok: false, reason: error.reason, text: error.text };
  if (error instanceof TooLargeError) {
    const video = options.maxVideoBytes === undefined ? "" : ` (${toMiB(options.maxVideoBytes)} for a video)`;
    return {
      ok: false,
      reason: "too-large",
      text: `The file is larger than the ${toMiB(options.maxBytes)} allowed${video}. Send a smaller one, or a link.`,
    };
  }
  if (error instanceof SourceError)
    return { ok: false, reason: "source", text: "The file broke off while it was being read. Try again." };
  if (isCode(error, "ENOSPC", "EDQUOT"))
    return { ok: false, reason: "storage", text: "The file could not be stored: the disk is full. Tell the operator." };
  return { ok: false, reason: "storage", text: `The file could not be stored (${codeOf(error)}). Tell the operator.` };
}

function shardOf(root: string, sha256: string): string {
  return join(root, sha256.slice(0, 2));
}

function pathOf(root: string, id: BlobId): string {
  return join(shardOf(root, id.sha256), `${id.sha256}.${id.ext}`);
}

async function isRealFolder(path: string): Promise<boolean> {
  return (await fs.lstat(path).catch(() => null))?.isDirectory() === true; // lstat: a link to a folder does not count.
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, constants.O_RDONLY);
  await handle.sync().finally(() => handle.close());
}

function toMiB(bytes: number): string {
  return bytes >= 1024 * 1024 ? `${Math.round(bytes / 1024 / 1024)} MiB` : `${bytes} bytes`;
}

function codeOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "unknown error";
}

function isCode(error: unknown, ...codes: string[]): boolean {
  return codes.includes(codeOf(error));
}
