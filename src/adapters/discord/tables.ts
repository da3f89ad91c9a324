/**
 * Markdown tables, which Discord does not know: narrow ones become a code block with aligned columns, wide ones a list. Tables inside fences stay as
 * they are. Widths are counted in columns of a screen: signs of East Asian scripts and emoji take two.
 * Invariant: every cell's words are kept.
 */

import { codeRanges } from "../shared/markdown-code.ts";

/** A code block wider than this wraps on a phone. */
const MAX_COLUMNS = 56;
const RULE = /^\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*$/;
const WIDE =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}|\ufe0f/u;

/** Replaces every table outside code. */
export function convertTables(markdown: string): string {
  if (!markdown.includes("|")) return markdown;
  const fenced = codeRanges(markdown).filter((range) => range.fenced);
  const lines = markdown.split("\n");
  const starts = startsOf(lines);
  const inFence = (line: number) =>
    fenced.some((range) => (starts[line] ?? 0) >= range.start && (starts[line] ?? 0) < range.end);
  const out: string[] = [];
  for (let at = 0; at < lines.length; ) {
    const end = inFence(at) ? at : tableEnd(lines, at);
    if (end > at) out.push(...showTable(lines.slice(at, end)));
    else out.push(lines[at] ?? "");
    at = Math.max(end, at + 1);
  }
  return out.join("\n");
}

function startsOf(lines: readonly string[]): readonly number[] {
  let at = 0;
  return lines.map((line) => {
    const start = at;
    at += line.length + 1;
    return start;
  });
}

/** Index after the table that begins here, or the same index when none does. */
function tableEnd(lines: readonly string[], at: number): number {
  const header = lines[at] ?? "";
  const rule = lines[at + 1] ?? "";
  const isTable =
    header.includes("|") && rule.includes("-") && RULE.test(rule) && cells(rule).length === cells(header).length;
  if (!isTable || (cells(header).length < 2 && !header.trim().startsWith("|"))) return at;
  let end = at + 2;
  while (end < lines.length && (lines[end] ?? "").includes("|") && (lines[end] ?? "").trim() !== "") end += 1;
  return end;
}

/** The cells of a row; an escaped bar belongs to its cell. */
function cells(row: string): readonly string[] {
  const inner = row
    .trim()
    .replace(/^\|/, "")
    .replace(/(?<!\\)\|$/, "");
  return inner.split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
}

function showTable(lines: readonly string[]): readonly string[] {
  const [header = [], , ...rows] = lines.map(cells);
  const plain = [header, ...rows].map((row) => header.map((_, column) => plainCell(row[column] ?? "")));
  const widths = header.map((_, column) => Math.max(...plain.map((row) => screenWidth(row[column] ?? ""))));
  const total = widths.reduce((sum, width) => sum + width + 2, -2);
  return total <= MAX_COLUMNS ? asCode(plain, widths) : asList(header, rows);
}

/** In a code block markup would be shown as it is typed. */
function plainCell(cell: string): string {
  return cell
    .replace(/\[([^\]]+)\]\((\S+?)\)/g, "$1 ($2)")
    .replace(/(\*\*|__|~~|`)(.+?)\1/g, "$2")
    .replace(/<br\s*\/?>/gi, " ");
}

function asCode(rows: readonly (readonly string[])[], widths: readonly number[]): readonly string[] {
  const line = (row: readonly string[]) =>
    row
      .map((cell, column) => cell + " ".repeat(Math.max(0, (widths[column] ?? 0) - screenWidth(cell))))
      .join("  ")
      .trimEnd()
      .replaceAll("```", "'''");
  const [header = [], ...body] = rows;
  return [
    "```",
    line(header),
    widths.map((width) => "─".repeat(Math.max(width, 1))).join("  "),
    ...body.map(line),
    "```",
  ];
}

/** The first cell names the row; the others follow with the names of their columns. */
function asList(header: readonly string[], rows: readonly (readonly string[])[]): readonly string[] {
  if (rows.length === 0) return [header.filter((cell) => cell !== "").join(" · ")];
  return rows.map((row) => {
    const [first = "", ...others] = header.map((_, column) => row[column] ?? "");
    const named = others.map((cell, index) => (cell === "" ? "" : `${header[index + 1] ?? ""}: ${cell}`));
    const title = first === "" ? [] : [`**${first.replaceAll("**", "")}**`];
    return `- ${[...title, ...named.filter((cell) => cell !== "")].join(" · ")}`;
  });
}

/** Columns a text takes on a screen. */
export function screenWidth(text: string): number {
  let width = 0;
  for (const { segment } of new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text)) {
    width += WIDE.test(segment) ? 2 : 1;
  }
  return width;
}
