/**
 * What Discord refuses in buttons, selects and the inputs of modals.
 * Invariant: custom ids are 1–100 characters and used once per message or modal.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asText, isFields } from "../loopback.ts";
import type { ComponentForm } from "./component-rules.ts";
import { COMPONENT } from "./component-text.ts";
import { checkWebAddress } from "./embed-rules.ts";
import { badChoice, checkBoolean, checkInteger, checkList, checkText, isRequired } from "./refusal.ts";

const LINK = 5;
const PREMIUM = 6;

/** Checks a custom id; duplicates are refused at the second one. */
export function checkCustomId(form: ComponentForm, value: unknown, at: string): void {
  const { complain, customIds } = form;
  if (!checkText(complain, `${at}.custom_id`, value, { min: 1, max: 100, required: true })) return;
  if (customIds.has(value))
    complain(`${at}.custom_id`, "COMPONENT_CUSTOM_ID_DUPLICATED", "Component custom id cannot be duplicated");
  customIds.add(value);
}

/** A button: style, label or emoji, and either a custom id or an address. */
export function checkButton(form: ComponentForm, item: Fields, at: string): void {
  const { complain } = form;
  const { style, url, custom_id, label, emoji, sku_id } = item;
  if (style === undefined) isRequired(complain, `${at}.style`);
  else if (![1, 2, 3, 4, LINK, PREMIUM].includes(Number(style))) badChoice(complain, `${at}.style`, [1, 2, 3, 4, 5, 6]);
  checkBoolean(complain, `${at}.disabled`, item.disabled);
  checkText(complain, `${at}.label`, label, { max: 80 });
  if (style === PREMIUM) {
    if (sku_id === undefined) isRequired(complain, `${at}.sku_id`);
    return;
  }
  if (!isFilled(label) && !isFields(emoji))
    complain(at, "BUTTON_COMPONENT_INVALID_LABEL_EMOJI", "A button must have a label or emoji");
  if (url !== undefined && custom_id !== undefined)
    complain(at, "BUTTON_COMPONENT_CUSTOM_ID_URL_EXCLUSIVE", "A custom id and url cannot both be specified");
  else if (style === LINK) checkLink(form, url, at);
  else {
    checkCustomId(form, custom_id, at);
    if (url !== undefined) complain(`${at}.url`, "BUTTON_COMPONENT_INVALID_STYLE", "Only link buttons may have a url");
  }
}

function checkLink({ complain }: ComponentForm, url: unknown, at: string): void {
  if (!isFilled(url)) {
    complain(`${at}.url`, "BASE_TYPE_REQUIRED", "A url is required");
    return;
  }
  checkWebAddress(complain, `${at}.url`, url, ["http", "https", "discord"]);
  checkText(complain, `${at}.url`, url, { max: 512 });
}

function isFilled(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** A select: minimum and maximum, and for string selects 1–25 options with different values. */
export function checkSelect(form: ComponentForm, item: Fields, at: string): void {
  const { complain } = form;
  checkCustomId(form, item.custom_id, at);
  checkText(complain, `${at}.placeholder`, item.placeholder, { max: 150 });
  checkBoolean(complain, `${at}.disabled`, item.disabled);
  if (form.modal && item.disabled === true)
    complain(`${at}.disabled`, "COMPONENT_DISABLED_IN_MODAL", "Components in modals cannot be disabled");
  const options = item.type === COMPONENT.stringSelect ? checkOptions(form, item, at, 1, 25) : null;
  checkRange(form, item, at, { most: 25, options });
}

/** min_values 0–most, max_values 1–most, min ≤ max ≤ number of options. */
function checkRange(
  { complain }: ComponentForm,
  item: Fields,
  at: string,
  { most, options }: { most: number; options: number | null },
): void {
  checkInteger(complain, `${at}.min_values`, item.min_values, { min: 0, max: most });
  checkInteger(complain, `${at}.max_values`, item.max_values, { min: 1, max: most });
  const min = Number(item.min_values ?? 1);
  const max = Number(item.max_values ?? 1);
  if (min > max)
    complain(
      `${at}.min_values`,
      "SELECT_COMPONENT_MIN_VALUES_GREATER_THAN_MAX",
      "min_values must not exceed max_values",
    );
  if (options !== null && options > 0 && (max > options || min > options))
    complain(
      `${at}.max_values`,
      "SELECT_COMPONENT_MAX_VALUES_GREATER_THAN_OPTIONS",
      `max_values must not exceed ${options} options`,
    );
}

function checkOptions(form: ComponentForm, item: Fields, at: string, min: number, max: number): number {
  const { complain } = form;
  const options = checkList(complain, `${at}.options`, item.options, { min, max, required: true }).map(asFields);
  const seen = new Set<string>();
  for (const [index, option] of options.entries()) {
    const path = `${at}.options.${index}`;
    checkText(complain, `${path}.label`, option.label, { min: 1, max: 100, required: true });
    checkText(complain, `${path}.value`, option.value, { min: 1, max: 100, required: true });
    checkText(complain, `${path}.description`, option.description, { max: 100 });
    if (seen.has(asText(option.value)))
      complain(
        `${path}.value`,
        "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED",
        "The specified option value is already used",
      );
    seen.add(asText(option.value));
  }
  const chosen = options.filter((option) => option.default === true).length;
  const most = Number(item.max_values ?? 1);
  if (item.type === COMPONENT.stringSelect && chosen > most)
    complain(`${at}.options`, "SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES", `At most ${most} options may be chosen`);
  return options.length;
}

/** An input of a modal; inside a Label it has no label of its own. */
export function checkInput(form: ComponentForm, item: Fields, at: string, labelled: boolean): void {
  const { complain } = form;
  const type = Number(item.type);
  if (type === COMPONENT.textInput) checkTextInput(form, item, at, labelled);
  else if (!labelled) complain(`${at}.type`, "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (4,).');
  else if ([3, 5, 6, 7, 8].includes(type)) checkSelect(form, item, at);
  else if (type === COMPONENT.fileUpload) checkUpload(form, item, at);
  else if (type === COMPONENT.radio) checkChoices(form, item, at, 2);
  else if (type === COMPONENT.checkboxes) checkChoices(form, item, at, 1);
  else if (type === COMPONENT.checkbox) checkCustomId(form, item.custom_id, at);
  else
    complain(
      `${at}.type`,
      "UNION_TYPE_CHOICES",
      'Value of field "type" must be one of (3, 4, 5, 6, 7, 8, 19, 21, 22, 23).',
    );
}

function checkTextInput(form: ComponentForm, item: Fields, at: string, labelled: boolean): void {
  const { complain } = form;
  checkCustomId(form, item.custom_id, at);
  if (item.style === undefined) isRequired(complain, `${at}.style`);
  else if (item.style !== 1 && item.style !== 2) badChoice(complain, `${at}.style`, [1, 2]);
  if (!labelled) checkText(complain, `${at}.label`, item.label, { min: 1, max: 45, required: true });
  else if (item.label !== undefined && item.label !== null)
    complain(`${at}.label`, "COMPONENT_LABEL_NOT_ALLOWED", "A text input in a label cannot have a label");
  checkInteger(complain, `${at}.min_length`, item.min_length, { min: 0, max: 4000 });
  checkInteger(complain, `${at}.max_length`, item.max_length, { min: 1, max: 4000 });
  if (Number(item.min_length ?? 0) > Number(item.max_length ?? 4000))
    complain(`${at}.min_length`, "TEXT_INPUT_MIN_LENGTH_GREATER_THAN_MAX", "min_length must not exceed max_length");
  checkText(complain, `${at}.placeholder`, item.placeholder, { max: 100 });
  checkText(complain, `${at}.value`, item.value, { max: Math.min(4000, Number(item.max_length ?? 4000)) });
  checkBoolean(complain, `${at}.required`, item.required);
}

function checkUpload(form: ComponentForm, item: Fields, at: string): void {
  checkCustomId(form, item.custom_id, at);
  checkRange(form, item, at, { most: 10, options: null });
}

function checkChoices(form: ComponentForm, item: Fields, at: string, least: number): void {
  checkCustomId(form, item.custom_id, at);
  checkOptions(form, item, at, least, 10);
}
