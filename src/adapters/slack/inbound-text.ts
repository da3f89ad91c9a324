/**
 * What a person wrote, as clean text: entities decoded once, mentions written "@Name" with their place in the text, code and quotations marked.
 * Reads Slack's rich_text blocks first, because there a name typed inside code is plain text; the `text` field with its tokens is the second
 * choice. Pure: names are handed in.
 */

import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import { type CleanText, decode, literal, type Names, TextBuilder } from "./clean-text.ts";
import { readAttachment, readPlainBlocks } from "./inbound-attachments.ts";

/** The clean text of a message (or of the `message` inside an edit). */
export function readText(message: Fields, names: Names): CleanText {
  const out = new TextBuilder(names);
  const rich = toList(message.blocks).filter((block) => block.type === "rich_text");
  const words = toText(message.text) ?? "";
  if (rich.length > 0) for (const block of rich) readRichText(block, out);
  else readTokens(words, out);
  readPlainBlocks(toList(message.blocks), words === "" && rich.length === 0, out);
  for (const attachment of toList(message.attachments)) readAttachment(attachment, out);
  const clean = out.done();
  // The literal word is what people type where Slack offers no broadcast.
  return { ...clean, everyone: clean.everyone || mentionsEverybody(clean) };
}

/** The ids of users and groups a message mentions, to look their names up before `readText`. */
export function mentionedIds(message: Fields): {
  readonly users: readonly string[];
  readonly groups: readonly string[];
} {
  const users = new Set<string>();
  const groups = new Set<string>();
  const probe: Names = {
    user: (id) => {
      users.add(id);
      return undefined;
    },
    group: (id) => {
      groups.add(id);
      return undefined;
    },
  };
  readText(message, probe);
  return { users: [...users], groups: [...groups] };
}

function mentionsEverybody(clean: CleanText): boolean {
  for (const match of clean.text.matchAll(/(?<![\p{L}\p{N}_./-])@(?:everyone|all)\b/giu)) {
    if (!clean.quoted.some((range) => match.index >= range.start && match.index < range.end)) return true;
  }
  return false;
}

function readRichText(block: Fields, out: TextBuilder): void {
  for (const element of toList(block.elements)) {
    out.line();
    readRichElement(element, out);
  }
}

function readRichElement(element: Fields, out: TextBuilder): void {
  const inner = toList(element.elements);
  switch (element.type) {
    case "rich_text_preformatted":
      out.quote(`\`\`\`\n${inner.map(literal).join("")}\n\`\`\``);
      break;
    case "rich_text_quote":
      out.quoting(() => {
        out.plain("> ");
        for (const part of inner) readInline(part, out, "\n> ");
      });
      break;
    case "rich_text_list":
      readRichList(element, inner, out);
      break;
    default:
      for (const part of inner) readInline(part, out);
  }
}

function readRichList(list: Fields, items: readonly Fields[], out: TextBuilder): void {
  const indent = "  ".repeat(typeof list.indent === "number" ? list.indent : 0);
  const offset = typeof list.offset === "number" ? list.offset : 0;
  for (const [at, item] of items.entries()) {
    out.line();
    out.plain(list.style === "ordered" ? `${indent}${offset + at + 1}. ` : `${indent}- `);
    for (const part of toList(item.elements)) readInline(part, out);
  }
}

function readInline(part: Fields, out: TextBuilder, lineBreak = "\n"): void {
  const code = toFields(part.style).code === true;
  switch (part.type) {
    case "user":
      code ? out.quote(`@${literal(part)}`) : out.user(toText(part.user_id) ?? "");
      break;
    case "usergroup":
      out.group(toText(part.usergroup_id) ?? "");
      break;
    case "broadcast":
      out.broadcast(toText(part.range) ?? "channel");
      break;
    case "link":
      out.quote(literal(part));
      break;
    default: {
      const words = literal(part).replaceAll("\n", lineBreak);
      if (code) out.quote(`\`${words}\``);
      else out.plain(words);
    }
  }
}

const TOKEN = /<([@#!]?)([^<>|\n]+)(?:\|([^<>\n]*))?>/g;

/** Slack's own idea of code: three backticks anywhere in a line, unlike Markdown. */
const CODE = /```[\s\S]*?```|`[^`\n]+`/g;
const QUOTED_LINE = /^&gt;[^\n]*$/gm;

function readTokens(raw: string, out: TextBuilder): void {
  let at = 0;
  for (const match of raw.matchAll(CODE)) {
    readQuotedLines(raw.slice(at, match.index), out);
    out.quote(decode(match[0].replace(TOKEN, "$1$2")));
    at = match.index + match[0].length;
  }
  readQuotedLines(raw.slice(at), out);
}

function readQuotedLines(raw: string, out: TextBuilder): void {
  let at = 0;
  for (const match of raw.matchAll(QUOTED_LINE)) {
    readPlainTokens(raw.slice(at, match.index), out);
    out.quoting(() => readPlainTokens(match[0], out));
    at = match.index + match[0].length;
  }
  readPlainTokens(raw.slice(at), out);
}

function readPlainTokens(raw: string, out: TextBuilder): void {
  let at = 0;
  for (const match of raw.matchAll(TOKEN)) {
    out.plain(decode(raw.slice(at, match.index)));
    readToken(match[1] ?? "", match[2] ?? "", match[3], out);
    at = match.index + match[0].length;
  }
  out.plain(decode(raw.slice(at)));
}

function readToken(sign: string, body: string, label: string | undefined, out: TextBuilder): void {
  if (sign === "!") readCommand(body, label, out);
  else if (sign === "#") out.plain(label ? `<#${body}|${decode(label)}>` : `<#${body}>`);
  else if (sign === "") readLink(decode(body), label === undefined ? undefined : decode(label), out);
  else if (/^[UWB][A-Z0-9]+$/.test(body)) out.user(body);
  else out.plain(`@${body}`);
}

function readLink(url: string, label: string | undefined, out: TextBuilder): void {
  if (url.startsWith("mailto:")) out.quote(label ?? url.slice(7));
  else out.quote(label === undefined || label === url ? url : `[${label}](${url})`);
}

function readCommand(body: string, label: string | undefined, out: TextBuilder): void {
  const group = /^subteam\^([A-Z0-9]+)$/.exec(body)?.[1];
  if (group) out.group(group, label);
  else if (/^(channel|here|everyone|group)$/.test(body)) out.broadcast(body);
  else out.plain(label === undefined ? "" : decode(label));
}
