/**
 * Text on its way out: Markdown as Discord shows it. What Discord cannot show (tables, pictures, deep headings, rules, reference links, other fences)
 * is turned into what it can; code stays byte for byte as it is.
 * Invariant: formatting never decides who is pinged; that is `allowed_mentions` beside every text. The only live mentions written here are those of
 * people the host allows.
 */

import type { PersonRef } from "../../engine/index.ts";
import { codeRanges } from "../shared/markdown-code.ts";
import { type Fits, splitText } from "../shared/split-text.ts";
import { CONTENT_CODE_POINTS, codePoints } from "./limits.ts";
import { convertTables } from "./tables.ts";

/** Text as Discord may hold it, and the ids of people it pings. */
export interface Formatted {
  readonly text: string;
  readonly users: readonly string[];
}

const ZERO_WIDTH = "\u200b";
/** Discord pings at most this many people by id. */
const MAX_PINGS = 100;

/** Markdown as Discord shows it, the allowed people's "@Name" as live mentions. */
export function toDiscordMarkdown(markdown: string, mentionable: readonly PersonRef[] = []): Formatted {
  const mentions = mentionPattern(mentionable);
  const users = new Set<string>();
  const text = mapParts(
    convertTables(markdown),
    (words) => mentions.apply(convertWords(words), users),
    (code) => code,
  );
  const compact = text.replace(/\n{3,}/g, keepInCode(text));
  // Discord takes no empty message: a text that is nothing but a rule stays as it was typed.
  return { text: compact.trim() === "" ? markdown : compact, users: [...users].slice(0, MAX_PINGS) };
}

/** Splits Markdown into texts that fit one plain message each once they are formatted; `limit` counts code points. */
export function splitForDiscord(
  markdown: string,
  mentionable: readonly PersonRef[] = [],
  limit = CONTENT_CODE_POINTS,
): readonly string[] {
  const fits: Fits = (piece) => codePoints(toDiscordMarkdown(piece, mentionable).text) <= limit;
  return splitText(inlineReferences(markdown), fits);
}

/** Words somebody else chose (a name, a label) as literal text inside Markdown. */
export function escapeWords(words: string): string {
  return words.replace(/[\\*_~`|>#[\]<@]/g, "\\$&");
}

function keepInCode(text: string): (match: string, at: number) => string {
  const code = codeRanges(text);
  return (match, at) => (code.some((range) => at >= range.start && at < range.end) ? match : "\n\n");
}

/** Applies one function to everything that is not code, another to fences and spans after they were made Discord's own. */
function mapParts(text: string, words: (part: string) => string, code: (part: string) => string): string {
  let out = "";
  let from = 0;
  for (const range of codeRanges(text)) {
    out += words(text.slice(from, range.start));
    const part = text.slice(range.start, range.end);
    out += code(range.fenced ? toDiscordFence(part) : part);
    from = range.end;
  }
  return out + words(text.slice(from));
}

/** Discord knows only fences of three backticks; three backticks inside are broken by an invisible sign. */
function toDiscordFence(fence: string): string {
  const lines = fence.split("\n");
  const opening = /^([ \t>]*)(`{3,}|~{3,})\s*([^\s`]*)/.exec(lines[0] ?? "");
  if (!opening || opening[2] === "```") return fence;
  const [, indent = "", marker = "", info = ""] = opening;
  const last =
    lines
      .at(-1)
      ?.replace(/^[ \t>]*/, "")
      .trimEnd() ?? "";
  const isClosed = lines.length > 1 && last.length >= marker.length && last.replaceAll(marker.charAt(0), "") === "";
  const body = lines.slice(1, isClosed ? -1 : undefined).map((line) => line.replaceAll("```", `\`\`${ZERO_WIDTH}\``));
  return [`${indent}\`\`\`${info}`, ...body, ...(isClosed ? [`${indent}\`\`\``] : [])].join("\n");
}

function convertWords(words: string): string {
  return words.split("\n").map(convertLine).join("\n");
}

function convertLine(line: string): string {
  if (/^ {0,3}([-*_])(?:[ \t]*\1){2,}[ \t]*$/.test(line)) return "";
  const shown = line
    .replace(
      /^( {0,3})#{4,6}[ \t]+(.*?)[ \t]*#*[ \t]*$/,
      (_all, indent: string, title: string) => `${indent}**${title.replaceAll("**", "")}**`,
    )
    .replace(/^(\s*)(>[ \t]*){2,}/, "$1> ")
    .replace(/^(\s*[-*+] )\[ \] /, "$1☐ ")
    .replace(/^(\s*[-*+] )\[[xX]\] /, "$1☑ ")
    .replace(/<br\s*\/?>/gi, "\n")
    .replace(/<\/?(?:p|div|span|b|i|u|em|strong|center|details|summary|sub|sup|kbd)(?:\s[^<>]*)?>/gi, "")
    .replace(
      /!\[([^\]\n]*)\]\((\S+?)(?:[ \t]+"[^"\n]*")?\)/g,
      (_all, alt: string, url: string) => `[${alt || "picture"}](${url})`,
    )
    .replace(/(\[[^\]\n]+\]\(\S+?)[ \t]+"[^"\n]*"\)/g, "$1)")
    .replace(/(?<![\w\\_])__(?=\S)([^\n]*?\S)__(?![\w_])/g, "**$1**");
  return shown;
}

/** `[text][1]` with `[1]: address` at the end of a text become links in place, because Discord does not know such lists. */
function inlineReferences(markdown: string): string {
  const known = new Map<string, string>();
  const definition = /^ {0,3}\[([^\]\n^]+)\]:[ \t]+<?(https?:\/\/[^\s>]+)>?(?:[ \t]+["'(][^\n]*)?$/gm;
  const outside = (text: string, change: (part: string) => string) => mapPlain(text, change);
  const rest = outside(markdown, (part) =>
    part.replace(definition, (_all, name: string, url: string) => {
      known.set(name.toLowerCase(), url);
      return "";
    }),
  );
  if (known.size === 0) return markdown;
  return outside(rest, (part) =>
    part.replace(/(?<!!)\[([^\]\n]+)\](?:\[([^\]\n]*)\])(?!\()/g, (all, text: string, name: string) => {
      const url = known.get((name || text).toLowerCase());
      return url === undefined ? all : `[${text}](${url})`;
    }),
  );
}

function mapPlain(text: string, change: (part: string) => string): string {
  let out = "";
  let from = 0;
  for (const range of codeRanges(text)) {
    out += change(text.slice(from, range.start)) + text.slice(range.start, range.end);
    from = range.end;
  }
  return out + change(text.slice(from));
}

function mentionPattern(people: readonly PersonRef[]): { apply(text: string, pinged: Set<string>): string } {
  const byName = new Map<string, string>();
  for (const person of people) {
    if (/^\d{15,21}$/.test(person.platformId) && person.name.trim() !== "")
      byName.set(person.name.trim(), person.platformId);
  }
  if (byName.size === 0) return { apply: (text) => text };
  const names = [...byName.keys()].sort((left, right) => right.length - left.length);
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}_./\\\\@[:=<-])@(${names.map(escapeRegExp).join("|")})(?![\\p{L}\\p{N}_@]|[.-][\\p{L}\\p{N}])`,
    "gu",
  );
  return {
    apply: (text, pinged) =>
      text.replace(pattern, (_all, name: string) => {
        const id = byName.get(name) ?? "";
        pinged.add(id);
        return `<@${id}>`;
      }),
  };
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
