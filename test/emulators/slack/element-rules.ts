/**
 * Rules for interactive elements: which kinds may stand where, and the limits of each.
 * Invariant: an `action_id` is unique inside its block. Text objects and options are `text-rules.ts`'s business.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asText, isFields } from "../loopback.ts";
import type { Check } from "./text-rules.ts";
import {
  checkConfirm,
  checkImage,
  checkItems,
  checkKeys,
  checkOptionalString,
  checkOptions,
  checkPlain,
  checkString,
  note,
} from "./text-rules.ts";

const SELECTS = ["static_select", "external_select", "users_select", "conversations_select", "channels_select"];
const CHOOSERS = [...SELECTS, ...SELECTS.map((type) => `multi_${type}`), "checkboxes", "radio_buttons"];
const PICKERS = ["datepicker", "timepicker", "datetimepicker"];
const INPUTS = [
  "plain_text_input",
  "number_input",
  "email_text_input",
  "url_text_input",
  "file_input",
  "rich_text_input",
];

/** Element types allowed in an actions block, as a section's accessory, and in an input block. */
export const PLACES: Readonly<Record<"actions" | "section" | "input" | "card", readonly string[]>> = {
  actions: ["button", "overflow", "workflow_button", "rich_text_input", ...CHOOSERS, ...PICKERS],
  section: ["button", "overflow", "image", "workflow_button", ...CHOOSERS, ...PICKERS],
  input: [...INPUTS, ...CHOOSERS, ...PICKERS],
  card: ["button"],
};

const COMMON = ["type", "action_id", "confirm", "focus_on_load", "placeholder"];
const KEYS: Readonly<Record<string, readonly string[]>> = {
  button: ["type", "action_id", "text", "value", "url", "style", "confirm", "accessibility_label"],
  overflow: ["type", "action_id", "options", "confirm"],
  checkboxes: [...COMMON, "options", "initial_options"],
  radio_buttons: [...COMMON, "options", "initial_option"],
  static_select: [...COMMON, "options", "option_groups", "initial_option"],
  multi_static_select: [...COMMON, "options", "option_groups", "initial_options", "max_selected_items"],
  plain_text_input: [...COMMON, "initial_value", "multiline", "min_length", "max_length", "dispatch_action_config"],
};

/** Checks one element in its place. */
export function checkElement(
  check: Check,
  value: unknown,
  pointer: string,
  place: keyof typeof PLACES,
  block: string,
): void {
  if (!isFields(value)) {
    note(check, pointer, "must be an element object");
    return;
  }
  const type = asText(value.type);
  if (!PLACES[place].includes(type)) {
    note(check, `${pointer}/type`, `unsupported type: ${type || "nothing"}`);
    return;
  }
  const keys = KEYS[type];
  if (keys) checkKeys(check, value, pointer, keys);
  checkActionId(check, value, pointer, block);
  checkConfirm(check, value.confirm, `${pointer}/confirm`);
  if (value.placeholder !== undefined) checkPlain(check, value.placeholder, `${pointer}/placeholder`, 150);
  if (value.max_selected_items !== undefined && !(Number(value.max_selected_items) >= 1)) {
    note(check, `${pointer}/max_selected_items`, "must be 1 or more");
  }
  RULES[type]?.(check, value, pointer);
}

function checkActionId(check: Check, value: Fields, pointer: string, block: string): void {
  if (value.action_id === undefined) return;
  checkString(check, value.action_id, `${pointer}/action_id`, 255);
  const key = `${block}|${asText(value.action_id)}`;
  if (check.actionIds.has(key))
    note(check, `${pointer}/action_id`, `action_id ${asText(value.action_id)} already exists`);
  check.actionIds.add(key);
}

type ElementRule = (check: Check, value: Fields, pointer: string) => void;

const RULES: Readonly<Record<string, ElementRule>> = {
  button: checkButton,
  image: checkImage,
  overflow: (check, value, pointer) => checkOptions(check, value, pointer, 5, false, true),
  checkboxes: (check, value, pointer) => checkOptions(check, value, pointer, 10, true),
  radio_buttons: (check, value, pointer) => checkOptions(check, value, pointer, 10, true),
  static_select: (check, value, pointer) => checkOptions(check, value, pointer, 100, false),
  multi_static_select: (check, value, pointer) => checkOptions(check, value, pointer, 100, false),
  plain_text_input: checkTextInput,
  email_text_input: (check, value, pointer) =>
    checkOptionalString(check, value.initial_value, `${pointer}/initial_value`, 3000),
  url_text_input: (check, value, pointer) =>
    checkOptionalString(check, value.initial_value, `${pointer}/initial_value`, 3000),
  number_input: (check, value, pointer) => {
    if (typeof value.is_decimal_allowed !== "boolean")
      note(check, `${pointer}/is_decimal_allowed`, "missing required field");
  },
  file_input: (check, value, pointer) => {
    if (value.max_files !== undefined && !(Number(value.max_files) >= 1 && Number(value.max_files) <= 10)) {
      note(check, `${pointer}/max_files`, "must be 1 to 10");
    }
  },
  workflow_button: (check, value, pointer) => checkPlain(check, value.text, `${pointer}/text`, 75),
};

function checkButton(check: Check, value: Fields, pointer: string): void {
  checkPlain(check, value.text, `${pointer}/text`, 75);
  if (value.value !== undefined) checkString(check, value.value, `${pointer}/value`, 2000, 0);
  if (value.url !== undefined) {
    checkString(check, value.url, `${pointer}/url`, 3000);
    if (!/^[a-z][a-z0-9+.-]*:\S+$/i.test(asText(value.url))) note(check, `${pointer}/url`, "invalid url");
  }
  if (value.style !== undefined && value.style !== "primary" && value.style !== "danger") {
    note(check, `${pointer}/style`, "must be primary or danger");
  }
  checkOptionalString(check, value.accessibility_label, `${pointer}/accessibility_label`, 75);
}

function checkTextInput(check: Check, value: Fields, pointer: string): void {
  const max = value.max_length === undefined ? 3000 : Number(value.max_length);
  if (!(max >= 1 && max <= 3000)) note(check, `${pointer}/max_length`, "must be 1 to 3000");
  const min = value.min_length === undefined ? 0 : Number(value.min_length);
  if (!(min >= 0 && min <= 3000 && min <= max))
    note(check, `${pointer}/min_length`, "must be 0 to 3000, not above max_length");
  if (value.initial_value !== undefined) checkString(check, value.initial_value, `${pointer}/initial_value`, max, 0);
}

/** The elements of a context_actions block. */
export function checkContextActions(check: Check, elements: unknown, pointer: string): void {
  for (const [index, item] of checkItems(check, elements, pointer, 1, 5).entries()) {
    checkContextAction(check, asFields(item), `${pointer}/${index}`);
  }
}

function checkContextAction(check: Check, item: Fields, at: string): void {
  if (item.type === "icon_button") {
    checkPlain(check, item.text, `${at}/text`, 75);
  } else if (item.type === "feedback_buttons") {
    for (const side of ["positive_button", "negative_button"]) {
      const button = item[side];
      if (isFields(button)) checkPlain(check, button.text, `${at}/${side}/text`, 75);
      else note(check, `${at}/${side}`, "missing required field");
    }
  } else {
    note(check, `${at}/type`, "unsupported type in context_actions");
  }
}
