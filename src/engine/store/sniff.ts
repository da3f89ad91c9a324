/**
 * Recognises files by their magic numbers; the home of the file-type package, which is loaded on first use.
 * Invariant: hostile bytes cost at most a second and never an exception; what is not recognised is null. Judging the answer is left to file-kinds.
 */

/** What the magic numbers say. */
export interface Sniffed {
  readonly ext: string;
  readonly mediaType: string;
}

const TIME_LIMIT_MS = 1000;

/** Looks at a whole file, which tells office documents from plain zip archives wherever their marks lie. */
export async function sniffFile(path: string): Promise<Sniffed | null> {
  return toSniffed((await createParser()).fromFile(path));
}

/** Looks at the first bytes only; enough to tell video from everything else. */
export async function sniffHead(head: Uint8Array): Promise<Sniffed | null> {
  return toSniffed((await createParser()).fromBuffer(head));
}

async function createParser() {
  const { FileTypeParser } = await import("file-type");
  return new FileTypeParser({ signal: AbortSignal.timeout(TIME_LIMIT_MS) });
}

async function toSniffed(found: Promise<{ ext: string; mime: string } | undefined>): Promise<Sniffed | null> {
  try {
    const type = await found;
    return type === undefined ? null : { ext: type.ext, mediaType: type.mime };
  } catch {
    // Truncated or malformed on purpose: the same as not recognised, and file-kinds refuses it where that matters.
    return null;
  }
}
