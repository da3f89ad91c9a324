/**
 * Block Kit as Slack enforces it: which blocks a surface takes, the limits of each, and the limits over all of them.
 * Invariant: `checkBlocks` lists every problem with its JSON pointer. A markdown block counts as the blocks Slack
 * turns it into, so many short headings are refused although they are one block.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asText, isFields } from "../loopback.ts";
import { readableElement } from "./block-text.ts";
import { checkContextActions, checkElement } from "./element-rules.ts";
import type { Problem } from "./refusal.ts";
import { checkRichText } from "./rich-text-rules.ts";
import type { Check } from "./text-rules.ts";
import {
  checkImage,
  checkItems,
  checkKeys,
  checkOptionalString,
  checkPlain,
  checkString,
  checkText,
  newCheck,
  note,
} from "./text-rules.ts";

type BlockRule = (check: Check, block: Fields, pointer: string) => void;

const MODAL_BLOCKS = [
  "section",
  "divider",
  "image",
  "actions",
  "context",
  "input",
  "header",
  "video",
  "rich_text",
  "alert",
  "table",
];
const CONTAINER_BLOCKS = [
  "actions",
  "context",
  "divider",
  "file",
  "header",
  "image",
  "input",
  "rich_text",
  "section",
  "table",
  "video",
];

const KEYS: Readonly<Record<string, readonly string[]>> = {
  section: ["text", "fields", "accessory", "expand"],
  divider: [],
  header: ["text", "level"],
  markdown: ["text"],
  image: ["image_url", "slack_file", "alt_text", "title"],
  actions: ["elements"],
  context: ["elements"],
  context_actions: ["elements"],
  input: ["label", "element", "hint", "optional", "dispatch_action"],
  rich_text: ["elements"],
  file: ["source", "external_id"],
  card: ["hero_image", "icon", "title", "subtitle", "body", "actions"],
  alert: ["text", "level"],
  carousel: ["elements"],
};

const RULES: Readonly<Record<string, BlockRule>> = {
  section: checkSection,
  divider: () => undefined,
  header: (check, block, at) => checkPlain(check, block.text, `${at}/text`, 150),
  markdown: checkMarkdown,
  image: (check, block, at) => {
    checkImage(check, block, at);
    if (block.title !== undefined) checkPlain(check, block.title, `${at}/title`, 2000);
  },
  actions: checkActions,
  context: checkContext,
  context_actions: (check, block, at) => checkContextActions(check, block.elements, `${at}/elements`),
  input: checkInput,
  rich_text: (check, block, at) => checkRichText(check, block.elements, `${at}/elements`),
  file: (check, block, at) => {
    if (block.source !== "remote") note(check, `${at}/source`, "must be remote");
    checkString(check, block.external_id, `${at}/external_id`, 255);
  },
  video: (check, block, at) => {
    for (const key of ["alt_text", "title", "thumbnail_url", "video_url"]) {
      if (!block[key]) note(check, `${at}/${key}`, "missing required field");
    }
  },
  table: checkTable,
  data_table: (check, block, at) => {
    checkString(check, block.caption, `${at}/caption`, 2000);
    checkTable(check, block, at);
  },
  card: checkCard,
  carousel: (check, block, at) =>
    checkItems(check, block.elements, `${at}/elements`, 1, 10).forEach((card, index) => {
      checkCard(check, asFields(card), `${at}/elements/${index}`);
    }),
  alert: (check, block, at) => {
    checkText(check, block.text, `${at}/text`, 200);
    const levels = ["default", "info", "warning", "error", "success"];
    if (block.level !== undefined && !levels.includes(asText(block.level)))
      note(check, `${at}/level`, `must be one of ${levels.join(", ")}`);
  },
  container: checkContainer,
  plan: (check, block, at) => checkString(check, block.title, `${at}/title`, 1000),
  task_card: (check, block, at) => {
    checkString(check, block.task_id, `${at}/task_id`, 255);
    checkString(check, block.title, `${at}/title`, 1000);
    const states = ["pending", "in_progress", "complete", "error"];
    if (!states.includes(asText(block.status))) note(check, `${at}/status`, `must be one of ${states.join(", ")}`);
  },
  data_visualization: () => undefined,
};

/** Every broken rule of a message's (50 blocks) or modal's (100) blocks. */
export function checkBlocks(blocks: unknown, surface: "message" | "view" = "message", base = "/blocks"): Problem[] {
  const check = newCheck();
  const items = checkItems(check, blocks, base, 0, surface === "message" ? 50 : 100);
  const allowed = surface === "message" ? Object.keys(RULES) : MODAL_BLOCKS;
  items.forEach((block, index) => {
    checkBlock(check, block, `${base}/${index}`, allowed);
  });
  if (check.markdownLength > 12_000) note(check, base, "markdown blocks: no more than 12000 characters in all");
  if (check.tableLength > 10_000) note(check, base, "table cells: no more than 10000 characters in all");
  if (surface === "message" && renderedBlocks(items) > 50)
    note(check, base, "no more than 50 items allowed after expanding markdown");
  return check.problems;
}

function checkBlock(check: Check, block: unknown, at: string, allowed: readonly string[]): void {
  if (!isFields(block)) {
    note(check, at, "must be a block object");
    return;
  }
  const type = asText(block.type);
  if (!allowed.includes(type)) {
    note(check, `${at}/type`, `unsupported type: ${type || "nothing"}`);
    return;
  }
  if (block.block_id !== undefined) {
    checkString(check, block.block_id, `${at}/block_id`, 255);
    const id = asText(block.block_id);
    if (check.blockIds.has(id)) note(check, `${at}/block_id`, `block_id ${id} already exists`);
    check.blockIds.add(id);
  }
  const keys = KEYS[type];
  if (keys) checkKeys(check, block, at, ["type", "block_id", ...keys]);
  RULES[type]?.(check, block, at);
}

function checkSection(check: Check, block: Fields, at: string): void {
  if (block.text === undefined && block.fields === undefined) note(check, at, "missing required field: text or fields");
  if (block.text !== undefined) checkText(check, block.text, `${at}/text`);
  if (block.fields !== undefined) {
    checkItems(check, block.fields, `${at}/fields`, 1, 10).forEach((field, index) => {
      checkText(check, field, `${at}/fields/${index}`, 2000);
    });
  }
  if (block.accessory !== undefined) checkElement(check, block.accessory, `${at}/accessory`, "section", at);
}

function checkMarkdown(check: Check, block: Fields, at: string): void {
  checkString(check, block.text, `${at}/text`, 12_000);
  check.markdownLength += asText(block.text).length;
}

function checkActions(check: Check, block: Fields, at: string): void {
  checkItems(check, block.elements, `${at}/elements`, 1, 25).forEach((element, index) => {
    checkElement(check, element, `${at}/elements/${index}`, "actions", at);
  });
}

function checkContext(check: Check, block: Fields, at: string): void {
  checkItems(check, block.elements, `${at}/elements`, 1, 10).forEach((element, index) => {
    const pointer = `${at}/elements/${index}`;
    if (asFields(element).type === "image") checkImage(check, asFields(element), pointer);
    else checkText(check, element, pointer);
  });
}

function checkInput(check: Check, block: Fields, at: string): void {
  checkPlain(check, block.label, `${at}/label`, 2000);
  if (block.hint !== undefined) checkPlain(check, block.hint, `${at}/hint`, 2000);
  checkElement(check, block.element, `${at}/element`, "input", at);
}

function checkCard(check: Check, block: Fields, at: string): void {
  if (!["title", "subtitle", "body", "hero_image"].some((key) => block[key] !== undefined))
    note(check, at, "card is empty");
  for (const [key, max] of [
    ["title", 150],
    ["subtitle", 150],
    ["body", 200],
  ] as const) {
    if (block[key] !== undefined) checkText(check, block[key], `${at}/${key}`, max);
  }
  for (const key of ["hero_image", "icon"])
    if (block[key] !== undefined) checkImage(check, asFields(block[key]), `${at}/${key}`);
  if (block.actions === undefined) return;
  checkItems(check, block.actions, `${at}/actions`, 1, 3).forEach((button, index) => {
    checkElement(check, button, `${at}/actions/${index}`, "card", at);
  });
}

function checkContainer(check: Check, block: Fields, at: string): void {
  if (block.title !== undefined) checkPlain(check, block.title, `${at}/title`, 150);
  checkItems(check, block.child_blocks, `${at}/child_blocks`, 1, 10).forEach((child, index) => {
    checkBlock(check, child, `${at}/child_blocks/${index}`, CONTAINER_BLOCKS);
  });
}

function checkTable(check: Check, block: Fields, at: string): void {
  for (const [r, row] of checkItems(check, block.rows, `${at}/rows`, 1, 100).entries()) {
    for (const [c, cell] of checkItems(check, row, `${at}/rows/${r}`, 1, 20).entries()) {
      checkCell(check, cell, `${at}/rows/${r}/${c}`);
    }
  }
  checkOptionalString(check, block.caption, `${at}/caption`, 2000);
}

function checkCell(check: Check, cell: unknown, at: string): void {
  if (!["raw_text", "raw_number", "rich_text"].includes(asText(asFields(cell).type))) {
    note(check, `${at}/type`, "must be raw_text, raw_number or rich_text");
    return;
  }
  const text = readableElement(cell);
  check.tableLength += text.length;
  if (text.length === 0) note(check, at, "must be more than 0 characters");
}

/** How many blocks a list becomes on screen: each heading, rule, table, list, fence and paragraph of Markdown counts. */
export function renderedBlocks(blocks: readonly unknown[]): number {
  return blocks.reduce<number>((sum, block) => {
    const fields = asFields(block);
    return sum + (fields.type === "markdown" ? markdownParts(asText(fields.text)) : 1);
  }, 0);
}

function markdownParts(text: string): number {
  let parts = 0;
  let inside = "";
  for (const line of text.split("\n")) {
    const fence = /^\s*(```|~~~)/.test(line);
    if (inside === "fence") {
      if (fence) inside = "";
      continue;
    }
    const kind = fence ? "fence" : lineKind(line);
    const single = kind === "heading" || kind === "rule";
    // An indented line under a list item belongs to the item.
    const continues = kind === inside || (inside === "list" && kind === "paragraph" && /^\s/.test(line));
    if (kind !== "" && (single || !continues)) parts += 1;
    if (!continues || kind === "") inside = single ? "" : kind;
  }
  return Math.max(parts, 1);
}

function lineKind(line: string): string {
  if (line.trim() === "") return "";
  if (/^\s{0,3}#{1,6}\s/.test(line)) return "heading";
  if (/^\s{0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) return "rule";
  if (/^\s*\|/.test(line)) return "table";
  if (/^\s*([-*+]|\d+[.)])\s/.test(line)) return "list";
  return /^\s*>/.test(line) ? "quote" : "paragraph";
}
