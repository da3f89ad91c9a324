/**
 * Cuts long Markdown into pieces a platform accepts. What "fits" is the platform's business (characters, rendered blocks) and is passed in.
 * Invariant: no word is lost and no piece is empty; a code fence is closed and opened again with its language, a table's header is repeated,
 * and nothing is cut inside a link, token, entity, inline code or visible character unless a single one of them is too long by itself.
 */

import { codeRanges, openFence } from "./markdown-code.ts";

/** Contract: true for the empty string, and false for every text longer than one it is false for (about). */
export type Fits = (piece: string) => boolean;

const ATOMS =
  /!?\[[^\]\n]{0,500}\]\([^()\s]{0,2000}\)|<[^<>\n]{1,500}>|&(?:#\d{1,7}|#x[\da-f]{1,6}|[a-z][a-z\d]{1,31});|https?:\/\/[^\s<>]{1,2000}/gi;
const SENTENCE = /[.!?…](?:["'”’)\]]*)\s|[。！？]/g;
const TABLE_RULE = /^\s*\|?\s*:?-{1,}:?\s*(\|\s*:?-{1,}:?\s*)*\|?\s*$/;

/** Splits into pieces that fit. Text that fits is returned as it is. */
export function splitText(text: string, fits: Fits): readonly string[] {
  const pieces: string[] = [];
  let rest = text;
  while (rest.trim() !== "") {
    if (fits(rest)) {
      pieces.push(rest);
      break;
    }
    const [head, tail] = cut(rest, fits);
    pieces.push(head);
    rest = tail;
  }
  return pieces;
}

/** The first `limit` characters or a little less, cut as `splitText` would; the text itself when it is short enough. */
export function firstPart(text: string, limit: number): string {
  return splitText(text, (piece) => piece.length <= limit)[0] ?? "";
}

function cut(text: string, fits: Fits): [string, string] {
  const longest = longestPrefix(text, fits);
  const at = bestCut(text, longest);
  const raw = text.slice(0, at);
  const fence = openFence(raw);
  if (fence) return cutInFence(text, at, fence.marker, fence.info);
  const header = tableHeader(raw, text.slice(at));
  const head = raw.trimEnd();
  const tail = text.slice(at).replace(/^[ \t]*\n+|^[ \t]+(?=\S)/, "");
  const repeat = header && header.length < at / 2 ? header : "";
  return [head === "" ? raw : head, repeat + tail];
}

function cutInFence(text: string, at: number, marker: string, info: string): [string, string] {
  const isLineEnd = text.charAt(at - 1) === "\n";
  const head = isLineEnd ? text.slice(0, at - 1) : text.slice(0, at);
  // After a whole line the next one begins here; it may be empty, and code keeps its empty lines.
  const tail = isLineEnd ? text.slice(at) : text.slice(at).replace(/^\n/, "");
  const opening = `${marker}${info.length < at / 2 ? info : ""}`;
  // Nothing but the opening line would remain: the fence itself moves to the next piece.
  return [`${head}\n${marker}`, onlyCloses(tail, marker) ? afterFence(tail) : `${opening}\n${tail}`];
}

function onlyCloses(tail: string, marker: string): boolean {
  return tail.split("\n", 1)[0]?.trim() === marker;
}

function afterFence(tail: string): string {
  const newline = tail.indexOf("\n");
  return newline < 0 ? "" : tail.slice(newline + 1).replace(/^\n+/, "");
}

/** Length of the longest prefix that fits with its fence closed; at least one character, so that cutting always ends. */
function longestPrefix(text: string, fits: Fits): number {
  let low = 1;
  let high = text.length;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (fits(closed(text.slice(0, middle)))) low = middle;
    else high = middle - 1;
  }
  return low;
}

function closed(head: string): string {
  const fence = openFence(head);
  return fence ? `${head}\n${fence.marker}` : head;
}

function bestCut(text: string, limit: number): number {
  const window = text.slice(0, limit);
  const least = Math.floor(limit / 3);
  const code = codeRanges(window);
  const inFence = (at: number) => code.some((range) => range.fenced && at > range.start && at < range.end);
  const blank = lastIndex(window, /\n[ \t]*\n/g, (at) => at >= least && !inFence(at));
  if (blank > 0) return blank;
  const line = lastIndex(window, /\n/g, (at) => at >= least && !startsFence(window, at));
  if (line > 0) return line;
  const inSpan = (at: number) => code.some((range) => !range.fenced && at > range.start && at < range.end);
  const free = (at: number) => at >= least && !inSpan(at) && !insideAtom(text, at);
  const sentence = lastIndex(window, SENTENCE, free);
  if (sentence > 0) return sentence;
  const space = lastIndex(window, /\s/g, free);
  if (space > 0) return space;
  return graphemeCut(text, beforeAtom(text, limit));
}

/** End of the last match that is acceptable; 0 when there is none. */
function lastIndex(text: string, pattern: RegExp, accept: (at: number) => boolean): number {
  const ends = [...text.matchAll(pattern)].map((match) => match.index + match[0].length);
  return ends.findLast((at) => at <= text.length && accept(at)) ?? 0;
}

/** A fence line must not be left alone at the end of a piece. */
function startsFence(window: string, at: number): boolean {
  const lineStart = window.lastIndexOf("\n", at - 2) + 1;
  const line = window.slice(lineStart, at - 1);
  const opens = openFence(window.slice(0, at)) !== undefined && openFence(window.slice(0, lineStart)) === undefined;
  return /^[ \t>]*(`{3,}|~{3,})/.test(line) && opens;
}

function atomAt(text: string, at: number): { start: number; end: number } | undefined {
  const from = Math.max(0, at - 2600);
  for (const match of text.slice(from, at + 2600).matchAll(ATOMS)) {
    const start = from + match.index;
    const end = start + match[0].length;
    if (start < at && end > at) return { start, end };
    if (start >= at) return undefined;
  }
  return undefined;
}

function insideAtom(text: string, at: number): boolean {
  return atomAt(text, at) !== undefined;
}

function beforeAtom(text: string, at: number): number {
  const atom = atomAt(text, at);
  return atom && atom.start > 0 ? atom.start : at;
}

/** The last border between visible characters at or before `limit`. */
function graphemeCut(text: string, limit: number): number {
  if (limit >= text.length) return text.length;
  const from = Math.max(0, limit - 200);
  const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text.slice(from, limit + 100));
  let border = 0;
  for (const { index } of segments) {
    if (from + index > limit) break;
    border = from + index;
  }
  return border > 0 ? border : limit;
}

/** Header and rule line of the table that the cut goes through, to be repeated; "" when it goes through none. */
function tableHeader(head: string, tail: string): string {
  if (!/^\s*\|/.test(tail.replace(/^\n/, "").split("\n", 1)[0] ?? "")) return "";
  const lines = head.trimEnd().split("\n");
  let first = lines.length;
  while (first > 0 && /^\s*\|/.test(lines[first - 1] ?? "")) first -= 1;
  const [title, rule] = lines.slice(first, first + 2);
  return title !== undefined && rule !== undefined && TABLE_RULE.test(rule) ? `${title}\n${rule}\n` : "";
}
