/**
 * Clean text in the making: words, mentions with their place, what is code or quotation. Also Slack's smallest pieces of text (an entity, an emoji, one
 * element of rich text) as plain words.
 */

import type { Mention } from "../../engine/index.ts";
import { type Fields, toText } from "../shared/fields.ts";

/** A stretch of the clean text. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A message's words, ready for an InboundEvent. */
export interface CleanText {
  readonly text: string;
  readonly mentions: readonly Mention[];
  readonly quoted: readonly TextRange[];
  readonly everyone: boolean;
}

/** Names and members known so far; undefined when unknown. */
export interface Names {
  user(id: string): string | undefined;
  group(id: string): { readonly handle?: string; readonly members?: readonly string[] } | undefined;
}

/** Grows the clean text and notes what is where. */
export class TextBuilder {
  #text = "";
  readonly #names: Names;
  readonly #mentions: Mention[] = [];
  readonly #quoted: TextRange[] = [];
  #everyone = false;

  constructor(names: Names) {
    this.#names = names;
  }
  plain(words: string): void {
    this.#text += words;
  }
  /** Words that address nobody: code, quotations, links. */
  quote(words: string): void {
    const start = this.#text.length;
    this.#text += words;
    if (words !== "") this.#quoted.push({ start, end: this.#text.length });
  }
  /** Marks everything `write` adds as a quotation. */
  quoting(write: () => void): void {
    const start = this.#text.length;
    write();
    if (this.#text.length > start) this.#quoted.push({ start, end: this.#text.length });
  }
  user(id: string): void {
    this.#mention(`@${this.#names.user(id) ?? id}`, id);
  }
  group(id: string, handle?: string): void {
    const group = this.#names.group(id);
    const name = group?.handle ?? handle?.replace(/^@/, "") ?? id;
    this.#mention(`@${name}`, id, group?.members);
  }
  broadcast(range: string): void {
    this.#everyone = true;
    this.#text += `@${range}`;
  }
  line(): void {
    if (this.#text !== "" && !this.#text.endsWith("\n")) this.#text += "\n";
  }
  done(): CleanText {
    const text = this.#text.trimEnd();
    const inside = (range: TextRange) => range.start < text.length;
    const quoted = this.#quoted.filter(inside).map((range) => ({ ...range, end: Math.min(range.end, text.length) }));
    return { text, mentions: this.#mentions.filter(inside), quoted, everyone: this.#everyone };
  }
  #mention(words: string, platformId: string, members?: readonly string[]): void {
    const start = this.#text.length;
    this.#text += words;
    const mention = { platformId, start, end: this.#text.length };
    this.#mentions.push(members ? { ...mention, members } : mention);
  }
}

/** One element of rich text as words that address nobody. */
export function literal(part: Fields): string {
  switch (part.type) {
    case "text":
      return toText(part.text) ?? "";
    case "link": {
      const url = toText(part.url) ?? "";
      const label = toText(part.text);
      return label === undefined || label === url ? url : `[${label}](${url})`;
    }
    case "emoji":
      return emoji(part);
    case "channel":
      return `<#${toText(part.channel_id) ?? ""}>`;
    case "user":
      return toText(part.user_id) ?? "";
    case "date":
      return toText(part.fallback) ?? "";
    default:
      return toText(part.text) ?? "";
  }
}

function emoji(part: Fields): string {
  const points = (toText(part.unicode) ?? "").split("-").map((hex) => Number.parseInt(hex, 16));
  if (points.length > 0 && points.every((point) => Number.isInteger(point) && point > 0 && point <= 0x10ffff)) {
    return String.fromCodePoint(...points);
  }
  return `:${toText(part.name) ?? ""}:`;
}

/** Slack escapes exactly three characters; decoded once, in this order, so that "&amp;lt;" stays "&lt;". */
export function decode(text: string): string {
  return text.replaceAll("&lt;", "<").replaceAll("&gt;", ">").replaceAll("&amp;", "&");
}
