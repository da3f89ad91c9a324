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

/** The kind to store the bytes as, or why they are refused. */
export function decideKind(facts: ByteFacts, claim: FileClaim): FileKind {
  const named = extensionOf(claim.fileName ?? "") || extensionForType(claim.mediaType ?? "");
  if (facts.size === 0) return decideEmpty(named);
  const isText = looksLikeText(facts.head);
  if (isText && startsLikePage(facts.head)) return decidePage(named);
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

function looksLikeText(head: Uint8Array): boolean {
  if (head.includes(0)) return false;
  for (let i = 0; i < head.length; i += 1) {
    const byte = head[i] ?? 0;
    // Control characters other than tab, line ends, form feed, escape (terminal logs) and Ctrl-Z (old DOS files) do not occur in text.
    if (byte < 32 && ![8, 9, 10, 12, 13, 26, 27].includes(byte)) return false;
  }
  return isUtf8(head) || !isMostlyHigh(head);
}

function isUtf8(head: Uint8Array): boolean {
  try {
    // `stream` tolerates a character cut in two at the end of the sample.
    new TextDecoder("utf-8", { fatal: true }).decode(head, { stream: true });
    return true;
  } catch {
    // Not UTF-8: an answer, not a fault.
    return false;
  }
}

/** Old 8-bit encodings have some bytes above 127, compressed data about half. */
function isMostlyHigh(head: Uint8Array): boolean {
  return head.reduce((count, byte) => count + (byte > 127 ? 1 : 0), 0) > head.length * 0.3;
}

function startsLikePage(head: Uint8Array): boolean {
  const start = new TextDecoder("utf-8").decode(head.subarray(0, 4096));
  const body = start.replace(/^(?:\s|<!--[\s\S]*?-->|<\?xml[^>]*\?>)+/, "");
  return /^<(?:!doctype\s+html|html|head|body|script|iframe|title)(?=[\s>])/i.test(body);
}
