/**
 * Finds the code in Markdown text: fenced blocks and inline spans. Names, links and tokens inside code address nobody and are shown as typed,
 * so formatting, splitting and reading of mentions all ask here first.
 * Invariant: ranges are in order and never overlap; an unclosed fence runs to the end of the text, as platforms show it.
 */

/** One stretch of code, markers included. `end` is exclusive. */
export interface CodeRange {
  readonly start: number;
  readonly end: number;
  readonly fenced: boolean;
}

/** An open code fence: how to close it and how to open it again. */
export interface OpenFence {
  readonly marker: string;
  readonly info: string;
}

interface Line {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

const FENCE = /^[ \t>]*(`{3,}|~{3,})([^\n]*)$/;

/** Every stretch of code in the text. */
export function codeRanges(text: string): readonly CodeRange[] {
  const ranges: CodeRange[] = [];
  let plainFrom = 0;
  let open: { start: number; fence: OpenFence } | undefined;
  for (const line of linesOf(text)) {
    if (open) {
      if (!closes(line.text, open.fence)) continue;
      ranges.push({ start: open.start, end: line.end, fenced: true });
      plainFrom = line.end;
      open = undefined;
      continue;
    }
    const fence = opens(line.text);
    if (!fence) continue;
    ranges.push(...spans(text, plainFrom, line.start));
    open = { start: line.start, fence };
  }
  if (open) ranges.push({ start: open.start, end: text.length, fenced: true });
  else ranges.push(...spans(text, plainFrom, text.length));
  return ranges;
}

/** The fence that is still open at the end of the text, if any. */
export function openFence(text: string): OpenFence | undefined {
  let open: OpenFence | undefined;
  for (const line of linesOf(text)) {
    if (open) open = closes(line.text, open) ? undefined : open;
    else open = opens(line.text);
  }
  return open;
}

/** Applies one function to the code and another to everything else, in order. */
export function mapCode(text: string, onText: (part: string) => string, onCode: (part: string) => string): string {
  let at = 0;
  let out = "";
  for (const range of codeRanges(text)) {
    if (range.start > at) out += onText(text.slice(at, range.start));
    out += onCode(text.slice(range.start, range.end));
    at = range.end;
  }
  return at < text.length ? out + onText(text.slice(at)) : out;
}

function* linesOf(text: string): Generator<Line> {
  let start = 0;
  while (start <= text.length) {
    const newline = text.indexOf("\n", start);
    const end = newline < 0 ? text.length : newline;
    yield { start, end, text: text.slice(start, end) };
    if (newline < 0) return;
    start = newline + 1;
  }
}

function opens(line: string): OpenFence | undefined {
  const match = FENCE.exec(line);
  if (!match) return undefined;
  const [, marker = "", info = ""] = match;
  // A backtick in the info string makes it an inline span, not a fence.
  return marker.startsWith("`") && info.includes("`") ? undefined : { marker, info: info.trim() };
}

function closes(line: string, fence: OpenFence): boolean {
  const bare = line.replace(/^[ \t>]*/, "").trimEnd();
  return bare.length >= fence.marker.length && bare.replaceAll(fence.marker.charAt(0), "") === "";
}

function spans(text: string, from: number, to: number): CodeRange[] {
  const found: CodeRange[] = [];
  const runs = [...text.slice(from, to).matchAll(/`+/g)].map((run) => ({ at: from + run.index, size: run[0].length }));
  let next = 0;
  while (next < runs.length) {
    const open = runs[next];
    next += 1;
    if (!open || text.charAt(open.at - 1) === "\\") continue;
    const closeIndex = runs.findIndex((run, i) => i >= next && run.size === open.size);
    const close = runs[closeIndex];
    if (!close || /\n[ \t]*\n/.test(text.slice(open.at, close.at))) continue;
    found.push({ start: open.at, end: close.at + close.size, fenced: false });
    next = closeIndex + 1;
  }
  return found;
}
