/**
 * A question with choices as Discord controls (SPEC C): few short choices are buttons, others a menu, which also takes several. Pure.
 * Invariant: every option can be chosen; texts too long for a control are written out and numbered above it.
 */

import type { Widget, WidgetOption } from "../../engine/index.ts";
import { writeControlId } from "../shared/control-id.ts";
import { button, type Component, menu, option, row, rows } from "./components.ts";
import { OPTION_CHARS, SHORT_LABEL_CHARS } from "./limits.ts";

/** More choices than this are a menu. */
const BUTTON_CHOICES = 10;

/** The words of a widget: question, help, and the options where the controls cannot show them whole. */
export function widgetWords(widget: Widget, withOptions = isNumbered(widget)): string {
  const help = widget.helpText === undefined ? [] : [widget.helpText.replace(/^/gm, "-# ")];
  const options = withOptions ? [widget.options.map(listed).join("\n")] : [];
  return [widget.prompt, ...help, ...options].join("\n\n");
}

function listed(choice: WidgetOption, index: number): string {
  return `${index + 1}. ${choice.label}${choice.description === undefined ? "" : ` (${choice.description})`}`;
}

/** The controls of a widget, in rows. */
export function widgetControls(widget: Widget, cardId: string): readonly Component[] {
  const other = widget.allowCustom ? [button("Other…", writeControlId({ verb: "other", cardId }))] : [];
  if (hasButtons(widget)) {
    const choices = widget.options.map((choice, index) =>
      button(choice.label, writeControlId({ verb: "pick", cardId, index }), choice.style),
    );
    return rows([...choices, ...other]);
  }
  const range = widget.multiple ?? { min: 1, max: 1 };
  const most = Math.min(range.max, widget.options.length);
  const placeholder = widget.multiple ? severalWords(Math.min(range.min, most), most) : "Choose one…";
  const list = menu(
    writeControlId({ verb: "menu", cardId }),
    widget.options.map((choice, index) => menuOption(widget, choice, index)),
    { min: Math.min(range.min, most), max: most },
    placeholder,
  );
  return [row([list]), ...rows(other)];
}

function severalWords(min: number, max: number): string {
  if (min === max) return `Choose ${max}…`;
  return min > 1 ? `Choose ${min} to ${max}…` : `Choose up to ${max}…`;
}

function hasButtons(widget: Widget): boolean {
  if (widget.multiple || widget.options.length > BUTTON_CHOICES) return false;
  return widget.options.every(
    ({ label, description }) => label.length <= SHORT_LABEL_CHARS && description === undefined,
  );
}

function menuOption(widget: Widget, choice: WidgetOption, index: number): Component {
  const label = isNumbered(widget) ? `${index + 1}. ${choice.label}` : choice.label;
  return option(label, optionToken(widget, index), choice.description);
}

/** What stands in a menu for an option's value: the value itself, or its number where Discord does not take it. */
export function optionToken(widget: Widget, index: number): string {
  const value = widget.options[index]?.value ?? "";
  const isPlain = value !== "" && value.length <= OPTION_CHARS && !value.startsWith("#");
  const isUnique = widget.options.filter((other) => other.value === value).length === 1;
  return isPlain && isUnique ? value : `#${index}`;
}

/** True when a click says only the number of an option, so that its value has to be looked up. */
export function needsValues(widget: Widget): boolean {
  return hasButtons(widget) || widget.options.some((choice, index) => optionToken(widget, index) !== choice.value);
}

function isNumbered(widget: Widget): boolean {
  return widget.options.some(
    (choice) => choice.label.length > OPTION_CHARS - 4 || (choice.description?.length ?? 0) > OPTION_CHARS,
  );
}
