/**
 * Decides what a stored file is, from its bytes, its name and what the sender claims (SPEC M6, W8). Pure: reading the bytes is left to sniff and blobs.
 * Invariant: bytes win over names. A web page under another name (a sign-in page where a picture should be) and text or rubbish under the name of a
 * picture, document or video are refused, so nothing is delivered as something it is not.
 */
import {
  BINARY_TYPES,
  EXTENSION_ALIASES,
  extensionForType,
  extensionOf,
  mediaTypeFor,
  OCTETS,
  TEXT_TYPES,
} from "./file-names.ts";

/** What is known about the bytes. */
export interface ByteFacts {
  /** From magic numbers; null when unknown. */
  readonly sniffed: { readonly ext: string; readonly mediaType: string } | null;
  /** The first bytes (up to 64 KiB). */
  readonly head: Uint8Array;
  readonly size: number;
}

/** What was said about them. */
export interface FileClaim {
  readonly fileName?: string | undefined;
  readonly mediaType?: string | undefined;
}

/** Extension without dot and media type, or why the file is not what it says. */
export type FileKind =
  | { readonly ok: true; readonly ext: string; readonly mediaType: string }
  | { readonly ok: false; readonly reason: "mismatch" | "empty"; readonly text: string };

/** Every genuine file of these kinds is recognised by its bytes, so an unrecognised one is damaged or something else. */
const ALWAYS_SNIFFED: ReadonlySet<string> = new Set([
  "png",
  "jpg",
  "gif",
  "webp",
  "avif",
  "pdf",
  "zip",
  "docx",
  "xlsx",
  "pptx",
  "mp4",
  "mov",
  "webm",
]);
/** Packages that are plain zip or OLE containers to a sniffer; the name tells them apart and the container is confirmed. */
const ZIP_PACKAGES: ReadonlySet<string> = new Set([
  "pages",
  "numbers",
  "sketch",
  "fig",
  "whl",
  "nupkg",
  "vsix",
  "kmz",
  "usdz",
  "cbz",
  "jar",
  "apk",
  "ipa",
  "xpi",
]);
const OLE_DOCUMENTS: ReadonlySet<string> = new Set(["doc", "xls", "ppt", "msg", "vsd", "pub", "msi"]);
/** Text files that may rightly begin like a web page. */
const PAGE_TEMPLATES: ReadonlySet<string> = new Set([
  "php",
  "vue",
  "svelte",
  "astro",
  "jsp",
  "erb",
  "ejs",
  "hbs",
  "j2",
  "tmpl",
  "mustache",
  "xhtml",
  "html",
]);
/** Formats that are pure text and yet have a magic number worth believing over a text name. */
const TEXTUAL_BINARIES: ReadonlySet<string> = new Set(["pdf", "rtf"]);

const TEXT_CONTROLS: ReadonlySet<number> = new Set([8, 9, 10, 12, 13, 26, 27]);

/** The kind to store the bytes as, or why they are refused. */
export function decideKind(facts: ByteFacts, claim: FileClaim): FileKind {
  const named = extensionOf(claim.fileName ?? "") || extensionForType(claim.mediaType ?? "");
  if (facts.size === 0) return decideEmpty(named);
  const text = toText(facts.head);
  const isText = text !== null;
  if (isText && startsLikePage(text)) return decidePage(named);
  const sniffed = facts.sniffed;
  const textName = named === "" || TEXT_TYPES.has(named);
  if (sniffed !== null && !(isText && textName && named !== "" && !TEXTUAL_BINARIES.has(sniffed.ext)))
    return decideSniffed(sniffed, named);
  if (isText) return decideText(named);
  return decideUnknown(named);
}

function decideEmpty(named: string): FileKind {
  if (named !== "" && !TEXT_TYPES.has(named))
    return {
      ok: false,
      reason: "empty",
      text: `The file is empty (0 bytes), so it is no ${named} file. Create it again.`,
    };
  return { ok: true, ext: named || "txt", mediaType: mediaTypeFor(named || "txt") };
}

function decidePage(named: string): FileKind {
  if (PAGE_TEMPLATES.has(named)) return { ok: true, ext: named, mediaType: mediaTypeFor(named) };
  if (named === "" || named === "txt" || named === "md") return { ok: true, ext: "html", mediaType: "text/html" };
  return mismatch(
    `This is a web page, not a ${named} file; often it is a sign-in or error page. Use an address that gives the file itself.`,
  );
}

function decideSniffed(sniffed: { ext: string; mediaType: string }, named: string): FileKind {
  const ext = EXTENSION_ALIASES.get(sniffed.ext) ?? sniffed.ext;
  if (ext === "zip" && ZIP_PACKAGES.has(named)) return { ok: true, ext: named, mediaType: "application/zip" };
  if (ext === "cfb" && OLE_DOCUMENTS.has(named)) return { ok: true, ext: named, mediaType: mediaTypeFor(named) };
  const safe = /^[a-z0-9]{1,10}$/.test(ext) ? ext : "bin";
  const known = mediaTypeFor(safe);
  return { ok: true, ext: safe, mediaType: known === OCTETS ? (sniffed.mediaType.split(";")[0] ?? OCTETS) : known };
}

function decideText(named: string): FileKind {
  if (BINARY_TYPES.has(named))
    return mismatch(
      `This is plain text, not a ${named} file. Create the ${named} file again, or send the text under a .txt name.`,
    );
  const ext = named || "txt";
  return { ok: true, ext, mediaType: TEXT_TYPES.get(ext) ?? "text/plain" };
}

function decideUnknown(named: string): FileKind {
  if (ALWAYS_SNIFFED.has(named))
    return mismatch(`This is not a readable ${named} file: it is damaged or something else. Create it again.`);
  const ext = named === "" || TEXT_TYPES.has(named) ? "bin" : named;
  return { ok: true, ext, mediaType: OCTETS };
}

function mismatch(text: string): FileKind {
  return { ok: false, reason: "mismatch", text };
}

/** The sample as text, or null when it is none. */
function toText(head: Uint8Array): string | null {
  const text = decodeMarked(head) ?? decode(head, "utf-8") ?? (isMostlyHigh(head) ? null : decode(head, "latin1"));
  return text === null || hasControls(text) ? null : text;
}

/** Backspace, tab, line ends, form feed, Ctrl-Z (old DOS files) and escape (terminal logs) occur in text; other control characters do not. */
function hasControls(text: string): boolean {
  for (let i = 0; i < text.length; i += 1) {
    const code = text.charCodeAt(i);
    if (code < 32 && !TEXT_CONTROLS.has(code)) return true;
  }
  return false;
}

/** UTF-16 with its mark, as spreadsheets export it. */
function decodeMarked(head: Uint8Array): string | null {
  const even = head.subarray(0, head.length - (head.length % 2));
  if (head[0] === 0xff && head[1] === 0xfe) return decode(even, "utf-16le");
  return head[0] === 0xfe && head[1] === 0xff ? decode(even, "utf-16be") : null;
}

function decode(head: Uint8Array, encoding: string): string | null {
  try {
    // `stream` tolerates a character cut in two at the end of the sample.
    return new TextDecoder(encoding, { fatal: true }).decode(head, { stream: true });
  } catch {
    // Not this encoding: an answer, not a fault.
    return null;
  }
}

/** Old 8-bit encodings have some bytes above 127, compressed data about half. */
function isMostlyHigh(head: Uint8Array): boolean {
  return head.reduce((count, byte) => count + (byte > 127 ? 1 : 0), 0) > head.length * 0.3;
}

function startsLikePage(text: string): boolean {
  const body = text.slice(0, 4096).replace(/^(?:\s|<!--[\s\S]*?-->|<\?xml[^>]*\?>)+/, "");
  return /^<(?:!doctype\s+html|html|head|body|script|iframe|title)(?=[\s>])/i.test(body);
}
