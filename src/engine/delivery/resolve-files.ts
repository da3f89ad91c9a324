/**
 * Turns the addresses a model names into stored bytes (SPEC M5, M6): `file://` inside the roots, `https://` on public hosts. A file that cannot
 * be read or fetched is an error for the model, never a dead link reported as success. What is only a web page becomes a link.
 */

import type { BubbleContent, FileAddress } from "../bubble.ts";
import type { GuardedFetch } from "../download.ts";
import { type FileRef, isImage, readAttachmentUrl } from "../file-ref.ts";
import { type Blobs, MAX_FILE_BYTES, MAX_VIDEO_BYTES } from "../store/blobs.ts";
import { toFileLabel } from "../store/file-names.ts";
import type { FileRoots } from "./file-roots.ts";

/** Stored bytes, a page to link to, or why neither; `text` is for the model. */
export type ResolvedFile =
  | { readonly ok: true; readonly file: FileRef }
  /** Not a file: the address of a page, to be written as a link. */
  | { readonly ok: true; readonly link: string }
  | { readonly ok: false; readonly text: string };

/** Stores what a bubble names. */
export interface FileResolver {
  /** One file; `what` names the field in error texts. */
  resolve(address: FileAddress, what: string, signal: AbortSignal): Promise<ResolvedFile>;
  /** Stores text as a file of its own (SPEC M2). */
  storeText(text: string, name: string): Promise<FileRef>;
}

const FETCH_MS = 60_000;
const PAGE_TYPES: ReadonlySet<string> = new Set(["text/html", "application/xhtml+xml"]);

/** A resolver over the bot's roots, the download guard and the blob store. */
export function createFileResolver(parts: {
  readonly roots: FileRoots;
  readonly guardedFetch: GuardedFetch;
  readonly blobs: Blobs;
}): FileResolver {
  return {
    resolve: (address, what, signal) =>
      readAttachmentUrl(address.url)
        ? fromAttachments(parts.blobs, address, what)
        : /^file:/i.test(address.url)
          ? fromRoots(parts, address, what)
          : fromWeb(parts, address, what, signal),
    async storeText(text, name) {
      const source = (async function* () {
        yield new TextEncoder().encode(text);
      })();
      const put = await parts.blobs.put(source, { maxBytes: MAX_FILE_BYTES, fileName: name });
      if (!put.ok) throw new Error(`The text could not be stored as a file: ${put.text}`);
      return { ...put.file, name };
    },
  };
}

/** Bytes that are stored already, such as a picture that a connector returned. */
async function fromAttachments(blobs: Blobs, address: FileAddress, what: string): Promise<ResolvedFile> {
  const id = readAttachmentUrl(address.url);
  const found = id && (await blobs.stat(id));
  if (!id || !found)
    return { ok: false, text: `${what}: there is no such attachment. Use its address as you were given it.` };
  const name = toFileLabel(address.alt || "attachment", id.ext);
  return { ok: true, file: { ...id, ...found, name, ...(address.alt ? { alt: address.alt } : {}) } };
}

async function fromRoots(
  parts: { readonly roots: FileRoots; readonly blobs: Blobs },
  address: FileAddress,
  what: string,
): Promise<ResolvedFile> {
  const opened = await parts.roots.open(address.url, { maxBytes: MAX_VIDEO_BYTES });
  if (!opened.ok) return { ok: false, text: `${what}: ${opened.text}` };
  return store(parts.blobs, opened.stream, opened.fileName, address, what);
}

async function fromWeb(
  parts: { readonly guardedFetch: GuardedFetch; readonly blobs: Blobs },
  address: FileAddress,
  what: string,
  signal: AbortSignal,
): Promise<ResolvedFile> {
  const answer = await parts.guardedFetch(address.url, { maxBytes: MAX_VIDEO_BYTES, timeoutMs: FETCH_MS, signal });
  if (!answer.ok) return { ok: false, text: `${what}: ${answer.text}` };
  if (PAGE_TYPES.has(answer.mediaType)) {
    answer.cancel();
    return { ok: true, link: address.url };
  }
  return store(parts.blobs, answer.body, nameOf(address.url), address, what, answer.mediaType);
}

async function store(
  blobs: Blobs,
  source: AsyncIterable<Uint8Array>,
  name: string,
  address: FileAddress,
  what: string,
  mediaType?: string,
): Promise<ResolvedFile> {
  const put = await blobs.put(source, {
    maxBytes: MAX_FILE_BYTES,
    maxVideoBytes: MAX_VIDEO_BYTES,
    fileName: name,
    mediaType,
  });
  if (!put.ok) return { ok: false, text: `${what}: ${put.text}` };
  return {
    ok: true,
    file: { ...put.file, name: toFileLabel(name, put.file.ext), ...(address.alt ? { alt: address.alt } : {}) },
  };
}

/** Last part of the path as a label; never used as a path. */
function nameOf(url: string): string {
  const last = URL.canParse(url) ? (new URL(url).pathname.split("/").pop() ?? "") : "";
  try {
    return decodeURIComponent(last) || "file";
  } catch {
    // A badly encoded name is still a usable label as it stands.
    return last || "file";
  }
}

/** A text or attachment bubble with its files stored, or every problem in one text. */
export async function resolveContent(
  resolver: FileResolver,
  bubble:
    | { readonly type: "text"; readonly content: string; readonly images: readonly FileAddress[] }
    | { readonly type: "attachment"; readonly file: FileAddress },
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly content: BubbleContent } | { readonly ok: false; readonly text: string }> {
  if (bubble.type === "attachment") {
    const found = await resolver.resolve(bubble.file, "url", signal);
    if (!found.ok) return found;
    if ("file" in found) return { ok: true, content: { type: "attachment", file: found.file } };
    const label = bubble.file.alt ? `${bubble.file.alt}: ${found.link}` : found.link;
    return { ok: true, content: { type: "text", content: label, images: [] } };
  }
  const found = await Promise.all(bubble.images.map((image, i) => resolver.resolve(image, `images[${i}].url`, signal)));
  const problems = found.flatMap((item, i) => problemOf(item, i));
  if (problems.length > 0) return { ok: false, text: problems.join("\n") };
  const images = found.flatMap((item) => (item.ok && "file" in item ? [item.file] : []));
  return { ok: true, content: { type: "text", content: bubble.content, images } };
}

function problemOf(item: ResolvedFile, i: number): string[] {
  if (!item.ok) return [item.text];
  if ("file" in item && isImage(item.file)) return [];
  const seen = "file" in item ? item.file.mediaType : "a web page";
  return [`images[${i}].url is ${seen}, not a picture. Send files with type "attachment" and links inside content.`];
}
