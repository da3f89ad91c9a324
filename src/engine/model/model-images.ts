/**
 * Chooses which pictures of a request go to the model and loads their bytes. Providers refuse whole requests over one bad picture, so
 * what is too large, too many, of an unknown type or unreadable is left out with a note in its place; the text always goes.
 * Storage is the caller's: bytes come from an injected `readImage`.
 */

import type { FileRef } from "../file-ref.ts";
import type { ModelMessage } from "./model.ts";

/** Reads a stored picture; null when it is not there (any more). */
export type ReadImage = (file: FileRef) => Promise<Uint8Array | null>;

/** A picture to show, or the note that stands in its place. */
export type LoadedImage =
  | { readonly bytes: Uint8Array; readonly mediaType: string }
  /** Why the picture is not shown, in words for the model. */
  | { readonly note: string };

/** Pictures by message index and position, as given by `imageKey`. */
export type LoadedImages = ReadonlyMap<string, LoadedImage>;

/** Anthropic refuses pictures over 5 MiB of base64; that is the smallest limit among the providers. Bytes. */
const MAX_IMAGE_BYTES = Math.floor((5 * 1024 * 1024 * 3) / 4);
/** Keeps the request under Anthropic's 32 MB and Google's 20 MB. Bytes. */
const MAX_TOTAL_BYTES = 14 * 1024 * 1024;
/** Above 20 pictures Anthropic applies stricter size rules. */
const MAX_IMAGES = 20;
/** Old pictures drop out in blocks, so that the cached prefix does not change with every new one. */
const DROP_BLOCK = 10;
const SHOWN_TYPES = ["image/png", "image/jpeg", "image/gif", "image/webp"];

interface Candidate {
  readonly key: string;
  readonly file: FileRef;
}

/** The key of picture `position` of message `index` in a `LoadedImages` map. */
export function imageKey(index: number, position: number): string {
  return `${index}:${position}`;
}

/** Loads what may be shown, newest first as far as limits go. With `blind` nothing is loaded and every picture gets a note. */
export async function loadImages(
  messages: readonly ModelMessage[],
  readImage: ReadImage,
  blind: boolean,
): Promise<LoadedImages> {
  const candidates = messages.flatMap((message, index) =>
    message.role === "user"
      ? (message.images ?? []).map((file, i): Candidate => ({ key: imageKey(index, i), file }))
      : [],
  );
  if (blind)
    return new Map(candidates.map(({ key, file }) => [key, leftOut(file, "this model does not see pictures")]));
  const usable = candidates.filter(({ file }) => problemOf(file) === undefined);
  const surplus = usable.length - MAX_IMAGES;
  const dropped = new Set(usable.slice(0, surplus > 0 ? Math.ceil(surplus / DROP_BLOCK) * DROP_BLOCK : 0));
  const chosen = withinTotal(usable.filter((candidate) => !dropped.has(candidate)));
  const loaded = await Promise.all(
    candidates.map(async (candidate): Promise<[string, LoadedImage]> => {
      const problem =
        problemOf(candidate.file) ?? (chosen.has(candidate) ? undefined : "newer pictures have taken its place");
      return [candidate.key, problem ? leftOut(candidate.file, problem) : await load(candidate.file, readImage)];
    }),
  );
  return new Map(loaded);
}

function problemOf(file: FileRef): string | undefined {
  if (file.state === "pending") return "it has not arrived yet";
  if (file.state === "failed") return "it could not be fetched";
  if (!SHOWN_TYPES.includes(file.mediaType)) return `models cannot see ${file.mediaType}`;
  if (file.size > MAX_IMAGE_BYTES) return "it is larger than 3.7 MB";
  return undefined;
}

function withinTotal(candidates: readonly Candidate[]): ReadonlySet<Candidate> {
  const chosen = new Set<Candidate>();
  let total = 0;
  for (const candidate of candidates.toReversed()) {
    total += candidate.file.size;
    if (total > MAX_TOTAL_BYTES) break;
    chosen.add(candidate);
  }
  return chosen;
}

async function load(file: FileRef, readImage: ReadImage): Promise<LoadedImage> {
  // A storage error must not fail the step: the model is told that the picture is missing.
  const bytes = await readImage(file).catch(() => null);
  if (bytes === null || bytes.length === 0) return leftOut(file, "it could not be read");
  if (bytes.length > MAX_IMAGE_BYTES) return leftOut(file, "it is larger than 3.7 MB");
  return { bytes, mediaType: file.mediaType };
}

function leftOut(file: FileRef, why: string): LoadedImage {
  return { note: `[Picture ${JSON.stringify(file.name)} is left out: ${why}.]` };
}
