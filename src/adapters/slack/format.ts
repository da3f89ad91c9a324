/**
 * Text on its way out: Markdown made safe for Slack's markdown block, and plain words for its `text` field.
 * Invariant: nothing a model writes becomes a live `<…>` token. Slack reads its tokens before it looks at formatting, so those inside code are
 * broken too; the only mentions that live are the ones put in here, for the people the host allows.
 */

import type { PersonRef } from "../../engine/index.ts";
import { mapCode } from "../shared/markdown-code.ts";
import { type Fits, splitText } from "../shared/split-text.ts";
import { clip, estimateBlocks, FALLBACK_CHARS, MARKDOWN_CHARS, RENDERED_BLOCKS } from "./limits.ts";

const WORD_JOINER = "\u2060";
const TOKEN_START = /<(?=[@#][A-Z0-9]|!(?:channel|here|everyone|group|subteam|date)|(?:https?|mailto|tel|slack):)/gi;
const AUTOLINK = /<((?:https?:\/\/|mailto:)[^\s<>|]+)>/gi;
const EMAIL_AUTOLINK = /<([\w.+-]+@[\w-]+(?:\.[\w-]+)+)>/g;
const ANGLED_TARGET = /\]\(<((?:https?:\/\/|mailto:)[^<>\n]*)>/gi;

/** Markdown as a markdown block may hold it: tokens defused, the allowed people's "@Name" as live mentions. */
export function toSlackMarkdown(markdown: string, mentionable: readonly PersonRef[] = []): string {
  const mentions = mentionPattern(mentionable);
  return mapCode(
    markdown,
    (text) => mentions.apply(escapeAngles(linkAutolinks(text))),
    (code) => code.replace(TOKEN_START, `<${WORD_JOINER}`),
  );
}

/** Splits Markdown into texts that fit one message each once they are formatted. */
export function splitForSlack(markdown: string, mentionable: readonly PersonRef[] = []): readonly string[] {
  const fits: Fits = (piece) =>
    piece.length <= MARKDOWN_CHARS &&
    toSlackMarkdown(piece, mentionable).length <= MARKDOWN_CHARS &&
    estimateBlocks(piece) <= RENDERED_BLOCKS;
  return splitText(markdown, fits);
}

/** Words for the `text` field, notifications and initial comments: nothing in it is markup. `limit` counts the escaped form. */
export function toPlainText(words: string, limit = FALLBACK_CHARS): string {
  let kept = clip(words, limit);
  while (escapeAll(kept).length > limit) kept = clip(kept, Math.floor(kept.length * 0.8));
  return escapeAll(kept);
}

function linkAutolinks(text: string): string {
  return text
    .replace(ANGLED_TARGET, (_all, target: string) => `](${target.replace(/[\s()]/g, encodeURIComponent)}`)
    .replace(AUTOLINK, (_all, target: string) => linkTo(target, target.replace(/^mailto:/i, "")))
    .replace(EMAIL_AUTOLINK, (_all, address: string) => linkTo(`mailto:${address}`, address));
}

function linkTo(target: string, label: string): string {
  const safe = target.replace(/[()]/g, (bracket) => (bracket === "(" ? "%28" : "%29"));
  return `[${label.replace(/[[\]]/g, "\\$&")}](${safe})`;
}

/** `<` opens every token; `>` alone is harmless and begins quotations; `&` belongs to addresses. */
function escapeAngles(text: string): string {
  return text.replaceAll("<", "&lt;");
}

function escapeAll(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
}

function mentionPattern(people: readonly PersonRef[]): { apply(text: string): string } {
  const byName = new Map<string, string>();
  for (const person of people) {
    if (/^[UW][A-Z0-9]+$/.test(person.platformId) && person.name.trim() !== "") {
      byName.set(escapeAngles(person.name.trim()), person.platformId);
    }
  }
  if (byName.size === 0) return { apply: (text) => text };
  const names = [...byName.keys()].sort((left, right) => right.length - left.length);
  const pattern = new RegExp(
    `(?<![\\p{L}\\p{N}_./\\\\@[:=-])@(${names.map(escapeRegExp).join("|")})(?![\\p{L}\\p{N}_@]|[.-][\\p{L}\\p{N}])`,
    "gu",
  );
  return { apply: (text) => text.replace(pattern, (_all, name: string) => `<@${byName.get(name) ?? ""}>`) };
}

function escapeRegExp(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/-]/g, "\\$&");
}
