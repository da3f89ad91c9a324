/**
 * Block Kit's smallest parts: text objects, options, confirm dialogs, images, with their limits.
 * Invariant: a rule never throws; it notes a problem with its JSON pointer and goes on, so a refusal lists everything
 * that is wrong, as Slack's does.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText, isFields } from "../loopback.ts";
import type { Problem } from "./refusal.ts";

/** Collects problems while one payload is checked. */
export interface Check {
  readonly problems: Problem[];
  readonly blockIds: Set<string>;
  /** `block|action_id` pairs already seen. */
  readonly actionIds: Set<string>;
  /** Characters in all markdown blocks, and in all table cells. */
  markdownLength: number;
  tableLength: number;
}

/** An empty collection. */
export function newCheck(): Check {
  return { problems: [], blockIds: new Set(), actionIds: new Set(), markdownLength: 0, tableLength: 0 };
}

/** Notes a problem. */
export function note(check: Check, pointer: string, message: string): void {
  check.problems.push({ pointer, message });
}

/** Text of 1 to `max` characters. */
export function checkString(check: Check, value: unknown, pointer: string, max: number, min = 1): void {
  if (typeof value !== "string") {
    note(check, pointer, "must be a string");
    return;
  }
  if (value.length < min) note(check, pointer, `must be more than ${min - 1} characters`);
  if (value.length > max) note(check, pointer, `must be less than ${max + 1} characters`);
}

/** A string that may be absent. */
export function checkOptionalString(check: Check, value: unknown, pointer: string, max: number): void {
  if (value !== undefined) checkString(check, value, pointer, max);
}

/** A text object of one of `types`. */
export function checkText(
  check: Check,
  value: unknown,
  pointer: string,
  max = 3000,
  types: readonly string[] = ["plain_text", "mrkdwn"],
): void {
  if (!isFields(value)) {
    note(check, pointer, "missing required field: a text object");
    return;
  }
  const type = asText(value.type);
  if (!types.includes(type)) {
    note(check, `${pointer}/type`, `must be ${types.join(" or ")}, got ${type || "nothing"}`);
    return;
  }
  checkString(check, value.text, `${pointer}/text`, max);
  const allowed = type === "plain_text" ? ["type", "text", "emoji"] : ["type", "text", "verbatim"];
  checkKeys(check, value, pointer, allowed);
}

/** A `plain_text` object. */
export function checkPlain(check: Check, value: unknown, pointer: string, max: number): void {
  checkText(check, value, pointer, max, ["plain_text"]);
}

/** Refuses fields Slack does not know in this place. */
export function checkKeys(check: Check, value: Fields, pointer: string, allowed: readonly string[]): void {
  for (const key of Object.keys(value)) {
    if (!allowed.includes(key)) note(check, `${pointer}/${key}`, `invalid additional property: ${key}`);
  }
}

/** A list of `min` to `max` items; returns the items when it is one. */
export function checkItems(check: Check, value: unknown, pointer: string, min: number, max: number): unknown[] {
  if (!Array.isArray(value)) {
    note(check, pointer, "must be an array");
    return [];
  }
  if (value.length < min) note(check, pointer, `no fewer than ${min} items allowed`);
  if (value.length > max) note(check, pointer, `no more than ${max} items allowed`);
  return value;
}

/** A confirm dialog, if there is one. */
export function checkConfirm(check: Check, value: unknown, pointer: string): void {
  if (value === undefined) return;
  const confirm = asFields(value);
  checkText(check, confirm.text, `${pointer}/text`, 300);
  for (const [key, max] of [
    ["title", 100],
    ["confirm", 30],
    ["deny", 30],
  ] as const) {
    if (confirm[key] !== undefined) checkPlain(check, confirm[key], `${pointer}/${key}`, max);
  }
}

/** One option of a select, checkbox list or overflow menu. */
export function checkOption(check: Check, value: unknown, pointer: string, formatted: boolean, link: boolean): void {
  if (!isFields(value)) {
    note(check, pointer, "must be an option object");
    return;
  }
  const types = formatted ? ["plain_text", "mrkdwn"] : ["plain_text"];
  checkText(check, value.text, `${pointer}/text`, 75, types);
  checkString(check, value.value, `${pointer}/value`, 150);
  if (value.description !== undefined) checkText(check, value.description, `${pointer}/description`, 75, types);
  if (value.url !== undefined && !link) note(check, `${pointer}/url`, "url is only allowed in an overflow menu");
  checkOptionalString(check, value.url, `${pointer}/url`, 3000);
  checkKeys(check, value, pointer, ["text", "value", "description", "url"]);
}

/** The options (or option groups) of an element; initial choices must be among them. */
export function checkOptions(
  check: Check,
  element: Fields,
  pointer: string,
  max: number,
  formatted: boolean,
  link = false,
): void {
  const groups = element.option_groups;
  if (groups !== undefined && element.options !== undefined) {
    note(check, pointer, "options and option_groups exclude each other");
  }
  const lists: [unknown, string][] = [[element.options, `${pointer}/options`]];
  if (groups !== undefined) {
    lists.length = 0;
    for (const [index, group] of checkItems(check, groups, `${pointer}/option_groups`, 1, 100).entries()) {
      checkPlain(check, asFields(group).label, `${pointer}/option_groups/${index}/label`, 75);
      lists.push([asFields(group).options, `${pointer}/option_groups/${index}/options`]);
    }
  }
  for (const [list, at] of lists) {
    checkItems(check, list, at, 1, max).forEach((option, index) => {
      checkOption(check, option, `${at}/${index}`, formatted, link);
    });
  }
  checkChoices(
    check,
    element,
    pointer,
    lists.flatMap(([list]) => asList(list)),
  );
}

function checkChoices(check: Check, element: Fields, pointer: string, options: unknown[]): void {
  const values = options.map((option) => asText(asFields(option).value));
  if (new Set(values).size !== values.length) note(check, `${pointer}/options`, "option values must be unique");
  const initial = [...asList(element.initial_options), ...(element.initial_option ? [element.initial_option] : [])];
  if (initial.some((option) => !values.includes(asText(asFields(option).value)))) {
    note(check, `${pointer}/initial_option`, "must exactly match one of the options");
  }
}

/** An image by public address or Slack file; Slack fetches it itself, so private hosts fail. */
export function checkImage(check: Check, value: Fields, pointer: string): void {
  const byUrl = value.image_url !== undefined;
  if (byUrl === (value.slack_file !== undefined)) note(check, pointer, "needs image_url or slack_file, not both");
  if (byUrl) {
    const url = asText(value.image_url);
    checkString(check, value.image_url, `${pointer}/image_url`, 3000);
    if (!/^https?:\/\/[^\s]+$/i.test(url)) note(check, `${pointer}/image_url`, "invalid url");
    if (isPrivateHost(url)) note(check, `${pointer}/image_url`, "downloading image failed");
  }
  const file = asFields(value.slack_file);
  if (value.slack_file !== undefined && !file.id && !file.url) note(check, `${pointer}/slack_file`, "needs id or url");
  checkString(check, value.alt_text, `${pointer}/alt_text`, 2000);
}

function isPrivateHost(url: string): boolean {
  return /^https?:\/\/(localhost|127\.|10\.|192\.168\.|169\.254\.|172\.(1[6-9]|2\d|3[01])\.|\[::1\])/i.test(url);
}
