/**
 * Checks a SendMessage call (SPEC M3, M4): one flat object becomes a checked Bubble, or one text that names every problem at once and says
 * what to send instead, split by type. Pure: nothing is fetched or sent here.
 */

import {
  BUBBLE_TYPES,
  type Bubble,
  type BubbleTarget,
  type BubbleType,
  type FileAddress,
  MAX_CONTENT,
  MAX_IMAGES,
  MAX_LABEL,
  MAX_OPTIONS,
  MAX_PROMPT,
} from "./bubble.ts";
import { FieldReader, type Fields, hasControls, isProvided, listed, MAX_TARGET, quoted } from "./bubble-fields.ts";
import type { SecretRequest, Widget, WidgetOption } from "./card.ts";

/** A checked bubble, or every problem at once with a text for the model (SPEC M4). */
export type BubbleCheck =
  | { readonly ok: true; readonly bubble: Bubble }
  | { readonly ok: false; readonly problems: readonly string[]; readonly text: string };

const FIELDS_OF: Readonly<Record<BubbleType, readonly string[]>> = {
  text: ["content", "images"],
  attachment: ["url", "alt"],
  widget: ["widget"],
  "cursor-agent": ["bcId"],
  "secret-request": ["secret"],
};
const SHARED_FIELDS = ["type", "reply_to", "channel"];
const WIDGET_FIELDS = ["prompt", "helpText", "options", "multiple", "allowCustom", "dismissOnMoveOn"];
const OPTION_FIELDS = ["label", "value", "description", "style"];

/** Checks a SendMessage call. On failure `text` lists all problems in plain words and what to resend. */
export function toBubble(input: unknown): BubbleCheck {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return failed(["SendMessage takes one JSON object."], undefined);
  }
  const fields = input as Fields;
  const type = fields.type;
  if (!isBubbleType(type)) {
    const seen = isProvided(type) ? `type ${quoted(type)} does not exist` : "type is missing";
    return failed([`${seen}; use one of: ${BUBBLE_TYPES.join(", ")}.`], undefined, fields);
  }
  const problems = [...foreignFields(type, fields), ...targetProblems(type, fields)];
  const bubble = buildBubble(type, fields, new FieldReader(problems));
  return problems.length === 0 ? { ok: true, bubble } : failed(problems, type, fields);
}

function isBubbleType(value: unknown): value is BubbleType {
  return typeof value === "string" && (BUBBLE_TYPES as readonly string[]).includes(value);
}

function foreignFields(type: BubbleType, fields: Fields): string[] {
  const own = [...FIELDS_OF[type], ...SHARED_FIELDS];
  const foreign = Object.keys(fields).filter((key) => !own.includes(key) && isProvided(fields[key]));
  const ownerOf = (key: string) => BUBBLE_TYPES.find((other) => FIELDS_OF[other].includes(key));
  const unknown = foreign.filter((key) => !ownerOf(key));
  return [
    ...foreign
      .filter((key) => ownerOf(key))
      .map((key) => `${key} belongs to type "${ownerOf(key)}", not to "${type}".`),
    ...(unknown.length > 0 ? [`SendMessage has no field ${listed(unknown)}.`] : []),
  ];
}

function targetProblems(type: BubbleType, fields: Fields): string[] {
  if (!isProvided(fields.channel) || type === "text" || type === "attachment") return [];
  return [`channel works only with type "text" or "attachment"; a ${type} stays in this conversation.`];
}

function buildBubble(type: BubbleType, fields: Fields, read: FieldReader): Bubble {
  const replyTo = read.line(fields.reply_to, "reply_to", MAX_TARGET);
  const channel = read.line(fields.channel, "channel", MAX_TARGET);
  const target: BubbleTarget = { ...(replyTo ? { replyTo } : {}), ...(channel ? { channel } : {}) };
  switch (type) {
    case "text":
      return {
        ...target,
        type,
        content: read.text(fields.content, "content", MAX_CONTENT),
        images: readImages(fields.images, read),
      };
    case "attachment":
      return { ...target, type, file: readFile({ url: fields.url, alt: fields.alt }, "", read) };
    case "widget":
      return { ...target, type, widget: readWidget(fields.widget, read) };
    case "cursor-agent":
      return { ...target, type, bcId: readId(fields.bcId, read) };
    case "secret-request":
      return { ...target, type, secret: readSecret(fields.secret, read) };
  }
}

function readImages(value: unknown, read: FieldReader): FileAddress[] {
  const list = read.list(value, "images") ?? [];
  if (list.length > MAX_IMAGES)
    read.problem(`images holds ${list.length} pictures; at most ${MAX_IMAGES} go with one message.`);
  return list.slice(0, MAX_IMAGES).map((item, i) => {
    const fields = typeof item === "string" ? { url: item } : read.object(item, `images[${i}]`, ["url", "alt"]);
    return readFile(fields, `images[${i}].`, read);
  });
}

function readFile(value: Fields, prefix: string, read: FieldReader): FileAddress {
  const url = read.text(value.url, `${prefix}url`, 3000).trim();
  const alt = read.optional(value.alt, `${prefix}alt`, 1000);
  if (url) checkUrl(url, `${prefix}url`, read);
  return alt === undefined ? { url } : { url, alt };
}

/** Form only; whether the place may be read is decided when it is (SPEC M5). */
function checkUrl(url: string, name: string, read: FieldReader): void {
  if (!/^(https|file):\/\//i.test(url)) {
    read.problem(
      `${name} must begin with https:// (a public host) or file:// (inside the workspace), not ${quoted(url)}.`,
    );
  } else if (hasControls(url) || !URL.canParse(url)) {
    read.problem(`${name} is not a complete address: ${quoted(url)}.`);
  }
}

function readId(value: unknown, read: FieldReader): string {
  const id = read.text(value, "bcId", 200);
  if (id && !/^[A-Za-z0-9_-]+$/.test(id)) read.problem("bcId may hold only letters, digits, - and _.");
  return id;
}

function readSecret(value: unknown, read: FieldReader): SecretRequest {
  const fields = read.object(value, "secret", ["label", "description", "connector", "field"]);
  const description = read.optional(fields.description, "secret.description", 1000);
  return {
    label: read.text(fields.label, "secret.label", 150),
    connector: read.text(fields.connector, "secret.connector", 100),
    field: read.text(fields.field, "secret.field", 100),
    ...(description === undefined ? {} : { description }),
  };
}

function readWidget(value: unknown, read: FieldReader): Widget {
  const fields = read.object(value, "widget", WIDGET_FIELDS);
  const prompt = read.text(fields.prompt, "widget.prompt", MAX_PROMPT);
  const options = readOptions(fields.options, read);
  const helpText = read.optional(fields.helpText, "widget.helpText", 1000);
  const multiple = readMultiple(fields.multiple, options.length, read);
  return {
    prompt,
    options,
    allowCustom: read.flag(fields.allowCustom, "widget.allowCustom"),
    dismissOnMoveOn: read.flag(fields.dismissOnMoveOn, "widget.dismissOnMoveOn"),
    ...(helpText === undefined ? {} : { helpText }),
    ...(multiple === undefined ? {} : { multiple }),
  };
}

function readOptions(value: unknown, read: FieldReader): WidgetOption[] {
  const list = read.list(value, "widget.options");
  if (list?.length === 0) read.problem(`widget.options is missing; give 1 to ${MAX_OPTIONS} choices.`);
  if (list && list.length > MAX_OPTIONS)
    read.problem(`widget.options holds ${list.length} choices; at most ${MAX_OPTIONS} are possible.`);
  const options = (list ?? []).slice(0, MAX_OPTIONS).map((item, i) => readOption(item, `widget.options[${i}]`, read));
  for (const key of ["label", "value"] as const) {
    const seen = options.map((option) => option[key]).filter(Boolean);
    const twice = new Set(seen.filter((text, i) => seen.indexOf(text) !== i));
    for (const text of twice) read.problem(`widget.options has the ${key} ${quoted(text)} twice; each must differ.`);
  }
  return options;
}

function readOption(item: unknown, name: string, read: FieldReader): WidgetOption {
  const fields: Fields = typeof item === "string" ? { label: item } : read.object(item, name, OPTION_FIELDS);
  const label = read.text(fields.label, `${name}.label`, MAX_LABEL).trim();
  const description = read.optional(fields.description, `${name}.description`, MAX_LABEL);
  const style = fields.style;
  if (isProvided(style) && style !== "default" && style !== "primary" && style !== "danger") {
    read.problem(`${name}.style must be default, primary or danger.`);
  }
  return {
    label,
    value: read.optional(fields.value, `${name}.value`, MAX_LABEL) ?? label,
    style: style === "primary" || style === "danger" ? style : "default",
    ...(description === undefined ? {} : { description }),
  };
}

/** An object, even an empty one, means several choices; without limits any number from one to all of them. */
function readMultiple(value: unknown, count: number, read: FieldReader): { min: number; max: number } | undefined {
  if (value === null || value === undefined || value === "") return undefined;
  const fields = read.object(value, "widget.multiple", ["min", "max"]);
  const min = isProvided(fields.min) ? fields.min : 1;
  const max = isProvided(fields.max) ? fields.max : count;
  if (!Number.isInteger(min) || !Number.isInteger(max)) {
    read.problem("widget.multiple.min and max must be whole numbers.");
    return { min: 1, max: Math.max(1, count) };
  }
  const [low, high] = [Number(min), Number(max)];
  // Without options there is nothing to compare with, and their absence is a problem of its own.
  if (count > 0 && (low < 0 || high < 1 || low > high || high > count)) {
    read.problem(
      `widget.multiple must satisfy 0 <= min <= max <= ${count} (the number of options), with max at least 1.`,
    );
  }
  return { min: low, max: high };
}

const EXAMPLES: Readonly<Record<BubbleType, string>> = {
  text: '{"type":"text","content":"…"} and, if pictures help, "images":[{"url":"…","alt":"…"}]',
  attachment: '{"type":"attachment","url":"file://… or https://…","alt":"…"}',
  widget: '{"type":"widget","widget":{"prompt":"…","options":[{"label":"…"}]}}',
  "cursor-agent": '{"type":"cursor-agent","bcId":"…"}',
  "secret-request": '{"type":"secret-request","secret":{"label":"…","connector":"…","field":"…"}}',
};

function failed(problems: readonly string[], type: BubbleType | undefined, fields: Fields = {}): BubbleCheck {
  const wanted = typesWanted(type, fields);
  const text = [
    "Nothing was sent. Problems with this SendMessage call:",
    ...problems.map((problem) => `- ${problem}`),
    adviceFor(wanted),
    ...(wanted.length > 0 ? wanted : BUBBLE_TYPES).map((name) => `- ${EXAMPLES[name]}`),
  ].join("\n");
  return { ok: false, problems, text };
}

function adviceFor(wanted: readonly BubbleType[]): string {
  if (wanted.length === 0) return "Send one of these:";
  return wanted.length > 1 ? "Send them as separate calls, one per type:" : "Send this instead:";
}

/** The types whose fields were filled in: what the model seems to have wanted to send. */
function typesWanted(type: BubbleType | undefined, fields: Fields): readonly BubbleType[] {
  return BUBBLE_TYPES.filter((name) => name === type || FIELDS_OF[name].some((key) => isProvided(fields[key])));
}
