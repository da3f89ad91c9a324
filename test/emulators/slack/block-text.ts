/**
 * What a reader sees of a message, as plain text, and which controls it offers.
 * Invariant: text inside links shows its label, entities are decoded, mention tokens stay as tokens. Nothing here
 * judges whether blocks are valid.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText } from "../loopback.ts";

/** A button, select or input of a message or modal. */
export interface Control {
  readonly type: string;
  readonly label: string;
  readonly actionId: string;
  readonly blockId: string;
  readonly value: string | null;
  readonly url: string | null;
  readonly style: string | null;
  readonly optional: boolean;
  readonly options: readonly { label: string; value: string; raw: Fields }[];
  readonly element: Fields;
}

/** Escapes the three characters Slack reserves. */
export function escapeText(text: string): string {
  return text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
}

/** Turns Slack's text into what is read: links as their label, entities decoded. */
export function readableText(text: string): string {
  const linked = text.replace(
    /<((?:https?|mailto|tel):[^|>]+)(?:\|([^>]*))?>/g,
    (_all, url: string, label?: string) => label || url,
  );
  return linked.replace(/&lt;/g, "<").replace(/&gt;/g, ">").replace(/&amp;/g, "&");
}

const INLINE: Readonly<Record<string, (element: Fields) => string>> = {
  text: (element) => asText(element.text),
  raw_text: (element) => asText(element.text),
  raw_number: (element) => asText(element.text) || String(element.value ?? ""),
  plain_text: (element) => asText(element.text),
  mrkdwn: (element) => readableText(asText(element.text)),
  markdown: (element) => readableText(asText(element.text)),
  user: (element) => `<@${asText(element.user_id)}>`,
  usergroup: (element) => `<!subteam^${asText(element.usergroup_id)}>`,
  broadcast: (element) => `<!${asText(element.range)}>`,
  channel: (element) => `<#${asText(element.channel_id)}>`,
  link: (element) => asText(element.text) || asText(element.url),
  emoji: (element) => `:${asText(element.name)}:`,
  date: (element) => asText(element.fallback),
  image: (element) => asText(element.alt_text),
  rich_text_list: (element) =>
    asList(element.elements)
      .map((item) => `• ${readableElement(item)}`)
      .join("\n"),
  rich_text: (element) => asList(element.elements).map(readableElement).join("\n"),
};

/** One text object, inline element or rich text part as plain text. */
export function readableElement(value: unknown): string {
  const element = asFields(value);
  const show = INLINE[asText(element.type)];
  if (show) return show(element);
  if (element.text !== undefined)
    return typeof element.text === "string" ? element.text : readableElement(element.text);
  return asList(element.elements).map(readableElement).join("");
}

/** All blocks as plain text, one line group per block. */
export function readableBlocks(blocks: readonly unknown[]): string {
  return blocks
    .map(readableBlock)
    .filter((text) => text !== "")
    .join("\n");
}

function readableBlock(value: unknown): string {
  const block = asFields(value);
  const parts = (...items: unknown[]) =>
    items
      .map(readableElement)
      .filter((text) => text !== "")
      .join("\n");
  switch (block.type) {
    case "section":
      return parts(block.text, ...asList(block.fields));
    case "card":
      return parts(block.title, block.subtitle, block.body);
    case "carousel":
      return asList(block.elements)
        .map((card) => readableBlock({ ...asFields(card), type: "card" }))
        .join("\n");
    case "container":
      return [parts(block.title), readableBlocks(asList(block.child_blocks))].filter((text) => text !== "").join("\n");
    case "context":
      return asList(block.elements).map(readableElement).join(" ");
    case "image":
      return block.title === undefined ? asText(block.alt_text) : readableElement(block.title);
    case "input":
      return readableElement(block.label);
    case "table":
    case "data_table":
      return asList(block.rows)
        .map((row) => asList(row).map(readableElement).join(" | "))
        .join("\n");
    case "plan":
    case "task_card":
      return asText(block.title);
    case "actions":
      return "";
    default:
      return readableElement(block);
  }
}

/** Characters of text in all blocks, as counted for the 13,200 limit. */
export function blocksLength(value: unknown): number {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + blocksLength(item), 0);
  return Object.entries(asFields(value)).reduce((sum, [key, part]) => {
    if (typeof part === "string") return sum + (key === "text" || key === "alt_text" ? part.length : 0);
    return sum + blocksLength(part);
  }, 0);
}

/** Every control of these blocks in reading order. */
export function controlsOf(blocks: readonly unknown[]): Control[] {
  return blocks.flatMap((value) => {
    const block = asFields(value);
    const id = asText(block.block_id);
    switch (block.type) {
      case "actions":
        return asList(block.elements).map((element) => toControl(element, id));
      case "section":
        return block.accessory && asFields(block.accessory).type !== "image" ? [toControl(block.accessory, id)] : [];
      case "input":
        return [toControl(block.element, id, readableElement(block.label), block.optional === true)];
      case "card":
        return asList(block.actions).map((element) => toControl(element, id));
      case "carousel":
        return asList(block.elements).flatMap((card) =>
          controlsOf([{ ...asFields(card), type: "card", block_id: id }]),
        );
      case "container":
        return controlsOf(asList(block.child_blocks));
      default:
        return [];
    }
  });
}

function toControl(value: unknown, blockId: string, label?: string, optional = false): Control {
  const element = asFields(value);
  const groups = asList(element.option_groups).flatMap((group) => asList(asFields(group).options));
  const options = [...asList(element.options), ...groups].map((option) => {
    const raw = asFields(option);
    return { label: readableElement(raw.text), value: asText(raw.value), raw };
  });
  return {
    type: asText(element.type),
    label: label ?? readableElement(element.text ?? element.placeholder),
    actionId: asText(element.action_id),
    blockId,
    value: typeof element.value === "string" ? element.value : null,
    url: typeof element.url === "string" ? element.url : null,
    style: typeof element.style === "string" ? element.style : null,
    optional,
    options,
    element,
  };
}
