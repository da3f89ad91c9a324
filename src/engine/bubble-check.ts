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
import type { SecretRequest, Widget, WidgetOption } from "./card.ts";

/** A checked bubble, or every problem at once with a text for the model (SPEC M4). */
export type BubbleCheck =
  | { readonly ok: true; readonly bubble: Bubble }
  | { readonly ok: false; readonly problems: readonly string[]; readonly text: string };

type Fields = Readonly<Record<string, unknown>>;

const FIELDS_OF: Readonly<Record<BubbleType, readonly string[]>> = {
  text: ["content", "images"],
  attachment: ["url", "alt"],
  widget: ["widget"],
  "cursor-agent": ["bcId"],
  "secret-request": ["secret"],
};
const SHARED_FIELDS = ["type", "reply_to", "channel"];

/** SPEC M4: null, "" and [] count as not provided; so does an object that has only such values. */
export function isProvided(value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (typeof value === "string") return value.trim() !== "";
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value === "object") return Object.values(value).some(isProvided);
  return true;
}

/** Checks a SendMessage call. On failure `text` lists all problems in plain words and what to resend. */
export function toBubble(input: unknown): BubbleCheck {
  if (typeof input !== "object" || input === null || Array.isArray(input)) {
    return failed(["SendMessage takes one JSON object."], undefined);
  }
  const fields = input as Fields;
  const type = fields.type;
  if (!isBubbleType(type)) {
    const seen = isProvided(type) ? `type ${JSON.stringify(type)} does not exist` : "type is missing";
    return failed([`${seen}; use one of: ${BUBBLE_TYPES.join(", ")}.`], undefined, fields);
  }
  const problems = [...foreignFields(type, fields), ...targetProblems(type, fields)];
  const reader = new FieldReader(problems);
  const bubble = buildBubble(type, fields, reader);
  return problems.length === 0 ? { ok: true, bubble } : failed(problems, type, fields);
}

function isBubbleType(value: unknown): value is BubbleType {
  return typeof value === "string" && (BUBBLE_TYPES as readonly string[]).includes(value);
}

function foreignFields(type: BubbleType, fields: Fields): string[] {
  const own = [...FIELDS_OF[type], ...SHARED_FIELDS];
  return Object.keys(fields)
    .filter((key) => !own.includes(key) && isProvided(fields[key]))
    .map((key) => {
      const owner = BUBBLE_TYPES.find((other) => FIELDS_OF[other].includes(key));
      return owner ? `${key} belongs to type "${owner}", not to "${type}".` : `${key} is not a field of SendMessage.`;
    });
}

function targetProblems(type: BubbleType, fields: Fields): string[] {
  const problems: string[] = [];
  if (isProvided(fields.channel) && type !== "text" && type !== "attachment") {
    problems.push(`channel works only with type "text" or "attachment"; a ${type} stays in this conversation.`);
  }
  for (const key of ["reply_to", "channel"]) {
    if (isProvided(fields[key]) && typeof fields[key] !== "string") problems.push(`${key} must be a string.`);
  }
  return problems;
}

/** Reads fields and collects problems, so that one answer can name them all. */
class FieldReader {
  readonly #problems: string[];
  constructor(problems: string[]) {
    this.#problems = problems;
  }
  problem(text: string): void {
    this.#problems.push(text);
  }
  text(value: unknown, name: string, limit: number, required = true): string {
    if (!isProvided(value)) {
      if (required) this.problem(`${name} is missing.`);
      return "";
    }
    if (typeof value !== "string") {
      this.problem(`${name} must be a string.`);
      return "";
    }
    if (value.length > limit)
      this.problem(`${name} is ${value.length} characters long; at most ${limit} are possible.`);
    return value;
  }
  optional(value: unknown, name: string, limit: number): string | undefined {
    return isProvided(value) ? this.text(value, name, limit) : undefined;
  }
  object(value: unknown, name: string): Fields {
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as Fields;
    this.problem(value === null || value === undefined ? `${name} is missing.` : `${name} must be an object.`);
    return {};
  }
  list(value: unknown, name: string): readonly unknown[] {
    if (!isProvided(value)) return [];
    if (Array.isArray(value)) return value;
    this.problem(`${name} must be a list.`);
    return [];
  }
}

function buildBubble(type: BubbleType, fields: Fields, read: FieldReader): Bubble {
  const target: BubbleTarget = {
    ...(typeof fields.reply_to === "string" && isProvided(fields.reply_to) ? { replyTo: fields.reply_to.trim() } : {}),
    ...(typeof fields.channel === "string" && isProvided(fields.channel) ? { channel: fields.channel.trim() } : {}),
  };
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
  const list = read.list(value, "images");
  if (list.length > MAX_IMAGES)
    read.problem(`images holds ${list.length} pictures; at most ${MAX_IMAGES} go with one message.`);
  return list.map((item, i) => readFile(read.object(item, `images[${i}]`), `images[${i}].`, read));
}

function readFile(value: Fields, prefix: string, read: FieldReader): FileAddress {
  const url = read.text(value.url, `${prefix}url`, 3000);
  const alt = read.optional(value.alt, `${prefix}alt`, 1000);
  if (url && !/^(https|file):\/\//i.test(url)) {
    read.problem(
      `${prefix}url must begin with https:// (a public host) or file:// (inside the workspace), not ${JSON.stringify(url.slice(0, 40))}.`,
    );
  }
  return alt === undefined ? { url } : { url, alt };
}

function readId(value: unknown, read: FieldReader): string {
  const id = read.text(value, "bcId", 200);
  if (id && !/^[A-Za-z0-9_-]+$/.test(id)) read.problem("bcId may hold only letters, digits, - and _.");
  return id;
}

function readSecret(value: unknown, read: FieldReader): SecretRequest {
  const fields = read.object(value, "secret");
  const description = read.optional(fields.description, "secret.description", 1000);
  return {
    label: read.text(fields.label, "secret.label", 150),
    connector: read.text(fields.connector, "secret.connector", 100),
    field: read.text(fields.field, "secret.field", 100),
    ...(description === undefined ? {} : { description }),
  };
}

function readWidget(value: unknown, read: FieldReader): Widget {
  const fields = read.object(value, "widget");
  const options = readOptions(fields.options, read);
  const helpText = read.optional(fields.helpText, "widget.helpText", 1000);
  const multiple = isProvided(fields.multiple) ? readMultiple(fields.multiple, options.length, read) : undefined;
  return {
    prompt: read.text(fields.prompt, "widget.prompt", MAX_PROMPT),
    options,
    allowCustom: fields.allowCustom === true,
    dismissOnMoveOn: fields.dismissOnMoveOn === true,
    ...(helpText === undefined ? {} : { helpText }),
    ...(multiple === undefined ? {} : { multiple }),
  };
}

function readOptions(value: unknown, read: FieldReader): WidgetOption[] {
  const list = read.list(value, "widget.options");
  if (list.length === 0) read.problem(`widget.options is missing; give 1 to ${MAX_OPTIONS} choices.`);
  if (list.length > MAX_OPTIONS)
    read.problem(`widget.options holds ${list.length} choices; at most ${MAX_OPTIONS} are possible.`);
  const options = list.map((item, i) => readOption(item, `widget.options[${i}]`, read));
  for (const key of ["label", "value"] as const) {
    const seen = options.map((option) => option[key]).filter(Boolean);
    const twice = seen.find((text, i) => seen.indexOf(text) !== i);
    if (twice) read.problem(`widget.options has the ${key} ${JSON.stringify(twice)} twice; each must differ.`);
  }
  return options;
}

function readOption(item: unknown, name: string, read: FieldReader): WidgetOption {
  const fields: Fields = typeof item === "string" ? { label: item } : read.object(item, name);
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

function readMultiple(value: unknown, count: number, read: FieldReader): { min: number; max: number } {
  const fields = read.object(value, "widget.multiple");
  const min = fields.min ?? 1;
  const max = fields.max ?? count;
  if (!Number.isInteger(min) || !Number.isInteger(max)) {
    read.problem("widget.multiple.min and max must be whole numbers.");
    return { min: 1, max: Math.max(1, count) };
  }
  const [low, high] = [Number(min), Number(max)];
  if (low < 0 || high < 1 || low > high || high > count) {
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
  const several = wanted.length > 1 ? " Send them as separate calls, one per type:" : " Send this instead:";
  const text = [
    "Nothing was sent. Problems with this SendMessage call:",
    ...problems.map((problem) => `- ${problem}`),
    `${several.trim()}`,
    ...wanted.map((name) => `- ${EXAMPLES[name]}`),
  ].join("\n");
  return { ok: false, problems, text };
}

/** The types whose fields were filled in: what the model seems to have wanted to send. */
function typesWanted(type: BubbleType | undefined, fields: Fields): readonly BubbleType[] {
  const filled = BUBBLE_TYPES.filter((name) => name === type || FIELDS_OF[name].some((key) => isProvided(fields[key])));
  return filled.length > 0 ? filled : BUBBLE_TYPES;
}
