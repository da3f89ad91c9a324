/**
 * What stands beside the words of a message: pasted tables, shared (forwarded) messages, the cards that other companies' apps write. All of it is
 * quoted, so that names in it address nobody; link previews are not part of what was said.
 */

import { type Fields, toFields, toList, toText, toTexts } from "../shared/fields.ts";
import { decode, literal, type TextBuilder } from "./clean-text.ts";

/** Deeper nesting than this is not read; Slack itself nests three levels. */
const MAX_DEPTH = 12;
const MAX_ROWS = 500;
/** These hold labels, not words that were said. */
const CONTROLS = new Set(["button", "static_select", "overflow", "datepicker", "checkboxes", "radio_buttons"]);

/** Reads one attachment into the text. */
export function readAttachment(attachment: Fields, out: TextBuilder): void {
  for (const block of toList(attachment.blocks)) readTable(block, out);
  const shared = attachment.is_share === true || attachment.is_msg_unfurl === true;
  const isPreview = toText(attachment.from_url) !== undefined || toText(attachment.original_url) !== undefined;
  if (shared) readShared(attachment, out);
  else if (!isPreview) readNote(attachment, out);
}

/** Reads tables in a message's own blocks and, where these blocks are all there is, their words. */
export function readPlainBlocks(blocks: readonly Fields[], withWords: boolean, out: TextBuilder): void {
  for (const block of blocks) {
    if (block.type === "table" || block.type === "data_table") readTable(block, out);
    else if (withWords) quoteLines(wordsOf(block), out);
  }
}

function readTable(block: Fields, out: TextBuilder): void {
  if (block.type !== "table" && block.type !== "data_table") return;
  const caption = toText(block.caption);
  if (caption !== undefined) quoteLines(caption, out);
  for (const row of (Array.isArray(block.rows) ? block.rows : []).slice(0, MAX_ROWS)) {
    out.line();
    out.quote(
      `| ${toList(row)
        .map((cell) => cellText(cell))
        .join(" | ")} |`,
    );
  }
}

function cellText(cell: Fields, depth = 0): string {
  const own = toText(cell.text);
  if (own !== undefined || depth > MAX_DEPTH) return own ?? "";
  return toList(cell.elements)
    .map((part) => cellText(part, depth + 1) || literal(part))
    .join("");
}

/** Somebody else's words, passed on. */
function readShared(attachment: Fields, out: TextBuilder): void {
  const text = toText(attachment.text) ?? sharedBlocks(attachment) ?? toText(attachment.fallback);
  const files = toList(attachment.files).map(
    (file) => `[file: ${toText(file.name) ?? toText(file.title) ?? "unnamed"}]`,
  );
  const lines = [...(text === undefined ? [] : [decode(text)]), ...files].join("\n");
  if (lines === "") return;
  const author = toText(attachment.author_name) ?? toText(attachment.author_subname);
  const place = toText(attachment.channel_name);
  const head = [author, ...(place === undefined ? [] : [`in #${place}`])].filter(Boolean).join(" ");
  out.line();
  out.quote(`${head === "" ? "" : `> ${head}:\n`}> ${lines.replaceAll("\n", "\n> ")}`);
}

function sharedBlocks(attachment: Fields): string | undefined {
  const words = toList(attachment.message_blocks)
    .flatMap((item) => toList(toFields(item.message).blocks))
    .map((block) => wordsOf(block))
    .filter((text) => text !== "");
  return words.length === 0 ? undefined : words.join("\n");
}

/** An older kind of card: title, words, fields. */
function readNote(attachment: Fields, out: TextBuilder): void {
  const fields = toList(attachment.fields).map((field) =>
    [toText(field.title), toText(field.value)].filter(Boolean).join(": "),
  );
  const parts = [toText(attachment.pretext), toText(attachment.title), toText(attachment.text), ...fields];
  const words = parts.filter((part) => part !== undefined && part !== "");
  const blocks = toList(attachment.blocks).filter((block) => block.type !== "table" && block.type !== "data_table");
  if (words.length === 0) words.push(...blocks.map((block) => wordsOf(block)));
  if (words.length === 0 && toList(attachment.blocks).length === 0) words.push(toText(attachment.fallback));
  quoteLines(words.filter(Boolean).join("\n"), out);
}

function quoteLines(words: string, out: TextBuilder): void {
  if (words === "") return;
  out.line();
  out.quote(decode(words));
}

/** The words of any block, however they are wrapped. */
function wordsOf(block: Fields, depth = 0): string {
  if (depth > MAX_DEPTH || CONTROLS.has(toText(block.type) ?? "")) return "";
  const own = toText(block.text) ?? toText(toFields(block.text).text);
  const inner = [block.title, block.subtitle, block.body].map((part) => toText(toFields(part).text) ?? toText(part));
  const fields = Array.isArray(block.fields) ? toList(block.fields).map((field) => toText(field.text)) : [];
  const alt = block.type === "image" ? toText(block.alt_text) : undefined;
  const nested = [...toList(block.elements), ...toList(block.columns)].map(
    (part) => wordsOf(part, depth + 1) || literal(part),
  );
  const glue = block.type === "rich_text_section" || block.type === "rich_text_quote" ? "" : "\n";
  const lines = [own, ...inner, ...fields, alt, nested.filter((text) => text !== "").join(glue)];
  return toTexts(lines).join("\n");
}
