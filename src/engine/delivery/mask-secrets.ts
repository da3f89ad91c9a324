/**
 * Blacks out known secrets in anything that leaves the engine: bubbles, tool results, log lines (SPEC C6).
 * It knows exact values, not patterns, and finds each one plain, in base64 (standard and URL alphabet, at every alignment), URL-encoded and JSON-escaped.
 * Invariant: overlapping finds are blacked out together, so no tail of one secret survives inside another. Which values apply is left to the caller.
 */
import { MIN_SECRET_CHARS } from "../secret-value.ts";

/** Replaces every known secret in a text by `[secret]`. */
export type Mask = (text: string) => string;

interface Pattern {
  readonly text: string;
  /** base64 characters before and after `text` that hold a few bits of the secret mixed with its neighbours. */
  readonly before: number;
  readonly after: number;
}

interface Span {
  readonly start: number;
  end: number;
}

const SHOWN = "[secret]";
/** Patterns are found by their first characters; none is shorter (short values are not accepted, and encodings only grow). */
const WINDOW = MIN_SECRET_CHARS;
const FILTER_SIZE = 65_536;

/**
 * Builds a mask; build a new one when the set of secrets changes. Values shorter than 8 characters are left out: they are refused when stored, and
 * blacking them out would garble ordinary text. Time to mask grows with the length of the text, not with the number of values.
 */
export function createMask(values: readonly string[]): Mask {
  const index = buildIndex(values);
  if (index.size === 0) return (text) => text;
  const filter = buildFilter(index.keys());
  return (text) => replaceSpans(text, findSpans(text, index, filter));
}

function buildIndex(values: readonly string[]): Map<string, Pattern[]> {
  const index = new Map<string, Pattern[]>();
  const known = new Set<string>();
  for (const pattern of values.flatMap(toPatterns)) {
    if (pattern.text.length < WINDOW || known.has(pattern.text)) continue;
    known.add(pattern.text);
    const head = pattern.text.slice(0, WINDOW);
    const bucket = index.get(head);
    if (bucket === undefined) index.set(head, [pattern]);
    else bucket.push(pattern);
  }
  return index;
}

function toPatterns(value: string): Pattern[] {
  return spellings(value)
    .filter((spelling) => spelling.length >= MIN_SECRET_CHARS)
    .flatMap((spelling) => [
      ...escapings(spelling).map((text) => ({ text, before: 0, after: 0 })),
      ...base64Patterns(spelling),
    ]);
}

/** The value as typed, without surrounding space, and with either kind of line end (key files are pasted from everywhere). */
function spellings(value: string): string[] {
  const unix = value.replace(/\r\n/g, "\n");
  return [...new Set([value, value.trim(), unix.trim(), unix.trim().replace(/\n/g, "\r\n")])];
}

function escapings(value: string): string[] {
  const json = escapeJson(value);
  const slashed = json.replaceAll("/", "\\/");
  const ascii = json.replace(/[^\x20-\x7e]/g, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
  return [value, json, slashed, ascii, escapeJson(json), ...urlEncodings(value), ...urlEncodings(json)];
}

function escapeJson(value: string): string {
  return JSON.stringify(value).slice(1, -1);
}

function urlEncodings(value: string): string[] {
  const sound = Buffer.from(value, "utf8").toString("utf8"); // half a surrogate pair would make the encoder throw
  const component = encodeURIComponent(sound);
  const strict = component.replace(/[!'()*~]/g, (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`);
  const form = new URLSearchParams({ v: sound }).toString().slice(2);
  const all = [component, strict, strict.replaceAll("%7E", "~"), form, encodeURI(sound)];
  return [
    ...all,
    ...all.map((text) => text.replace(/%[0-9A-F]{2}/g, (hex) => hex.toLowerCase())),
    encodeURIComponent(component),
  ];
}

/** What stays the same of the value's base64 whatever stands before and after it, for each of the three alignments and both alphabets. */
function base64Patterns(value: string): Pattern[] {
  const bytes = Buffer.from(value, "utf8");
  return [0, 1, 2].flatMap((shift) => {
    const encoded = Buffer.concat([Buffer.alloc(shift), bytes])
      .toString("base64")
      .replace(/=+$/, "");
    const isCut = (shift + bytes.length) % 3 !== 0;
    const start = shift === 0 ? 0 : shift + 1;
    const text = encoded.slice(start, isCut ? encoded.length - 1 : encoded.length);
    const edges = { before: shift === 0 ? 0 : 1, after: isCut ? 1 : 0 };
    const url = text.replaceAll("+", "-").replaceAll("/", "_");
    const percent = text.replaceAll("+", "%2B").replaceAll("/", "%2F");
    return [text, url, percent, percent.replace(/%../g, (hex) => hex.toLowerCase()), text.replaceAll("/", "\\/")].map(
      (spelled) => ({ text: spelled, ...edges }),
    );
  });
}

/** One bit per hash of a head: most positions of a text are ruled out without touching the map. */
function buildFilter(heads: Iterable<string>): Uint8Array {
  const filter = new Uint8Array(FILTER_SIZE);
  for (const head of heads) filter[hashAt(head, 0)] = 1;
  return filter;
}

function hashAt(text: string, at: number): number {
  let hash = 0;
  for (let i = at; i < at + WINDOW; i += 1) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return (hash ^ (hash >>> 16)) & (FILTER_SIZE - 1);
}

function findSpans(text: string, index: ReadonlyMap<string, readonly Pattern[]>, filter: Uint8Array): Span[] {
  const spans: Span[] = [];
  for (let at = 0; at + WINDOW <= text.length; at += 1) {
    if (filter[hashAt(text, at)] !== 1) continue;
    const found = longestAt(text, at, index.get(text.slice(at, at + WINDOW)) ?? []);
    if (found !== null) addSpan(spans, found);
  }
  return spans;
}

function longestAt(text: string, at: number, patterns: readonly Pattern[]): Span | null {
  let longest: Span | null = null;
  for (const pattern of patterns) {
    if (!text.startsWith(pattern.text, at)) continue;
    const end = at + pattern.text.length;
    const span = {
      start: pattern.before > 0 && isBase64(text.charAt(at - 1)) ? at - 1 : at,
      end: pattern.after > 0 && isBase64(text.charAt(end)) ? end + 1 : end,
    };
    if (longest === null || span.end > longest.end) longest = span;
  }
  return longest;
}

/** Spans arrive in order of position; what overlaps becomes one. */
function addSpan(spans: Span[], span: Span): void {
  const last = spans.at(-1);
  if (last === undefined || span.start >= last.end) spans.push(span);
  else last.end = Math.max(last.end, span.end);
}

function replaceSpans(text: string, spans: readonly Span[]): string {
  if (spans.length === 0) return text;
  let masked = "";
  let from = 0;
  for (const { start, end } of spans) {
    masked += text.slice(from, start) + SHOWN;
    from = end;
  }
  return masked + text.slice(from);
}

function isBase64(char: string): boolean {
  return /^[A-Za-z0-9+/_-]$/.test(char);
}
