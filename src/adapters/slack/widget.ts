/**
 * A question with choices as Slack controls (SPEC C): few short choices are buttons, more are a list, many are a menu; several choices are handed
 * in with Submit. Pure. Invariant: every option can be chosen; texts too long for a control are written out and numbered above it.
 */

import type { Widget, WidgetOption } from "../../engine/index.ts";
import { writeControlId } from "../shared/control-id.ts";
import { type Block, button, plainText } from "./blocks.ts";
import {
  BUTTON_CHARS,
  BUTTON_CHOICES,
  DESCRIPTION_CHARS,
  OPTION_CHARS,
  RADIO_CHOICES,
  SHORT_LABEL_CHARS,
  VALUE_CHARS,
} from "./limits.ts";

/** The words of a widget: question, help, and the options where the controls cannot show them whole. */
export function widgetWords(widget: Widget, withOptions = needsList(widget)): string {
  const help = widget.helpText === undefined ? [] : [`_${widget.helpText.replaceAll("_", "\\_")}_`];
  const options = withOptions ? [widget.options.map(listed).join("\n")] : [];
  return [widget.prompt, ...help, ...options].join("\n\n");
}

function listed(option: WidgetOption, index: number): string {
  return `${index + 1}. ${option.label}${option.description === undefined ? "" : ` (${option.description})`}`;
}

/** The controls of a widget. */
export function widgetBlocks(widget: Widget, cardId: string): readonly Block[] {
  const elements = widget.multiple ? severalOf(widget, cardId) : oneOf(widget, cardId);
  const other = widget.allowCustom ? [button("Other…", writeControlId({ verb: "other", cardId }), "other")] : [];
  return [{ type: "actions", block_id: `card:${cardId}`, elements: [...elements, ...other] }];
}

/** What stands in a control for an option's value: the value itself, or its number when it is too long for Slack. */
export function optionToken(option: WidgetOption, index: number): string {
  return option.value.length <= VALUE_CHARS && !option.value.startsWith("#") ? option.value : `#${index}`;
}

/** True when some option's value had to be replaced by its number. */
export function needsTokens(widget: Widget): boolean {
  return widget.options.some((option, index) => optionToken(option, index) !== option.value);
}

function needsList(widget: Widget): boolean {
  return widget.options.some(
    (option) => option.label.length > OPTION_CHARS - 4 || (option.description?.length ?? 0) > DESCRIPTION_CHARS,
  );
}

function oneOf(widget: Widget, cardId: string): readonly Block[] {
  const { options } = widget;
  const short = options.every((option) => option.label.length <= SHORT_LABEL_CHARS && option.description === undefined);
  if (short && options.length <= BUTTON_CHOICES) {
    return options.map((option, index) =>
      button(option.label, writeControlId({ verb: "pick", cardId, index }), optionToken(option, index), option.style),
    );
  }
  const actionId = writeControlId({ verb: "menu", cardId });
  if (options.length <= RADIO_CHOICES)
    return [{ type: "radio_buttons", action_id: actionId, options: choices(widget) }];
  return [menu("static_select", actionId, widget)];
}

function severalOf(widget: Widget, cardId: string): readonly Block[] {
  const actionId = writeControlId({ verb: "tick", cardId });
  const few = widget.options.length <= RADIO_CHOICES;
  const list = few
    ? { type: "checkboxes", action_id: actionId, options: choices(widget) }
    : {
        ...menu("multi_static_select", actionId, widget),
        max_selected_items: widget.multiple?.max ?? widget.options.length,
      };
  return [list, button("Submit", writeControlId({ verb: "submit", cardId }), "submit", "primary")];
}

function menu(type: string, actionId: string, widget: Widget): Block {
  const placeholder = widget.multiple ? "Choose…" : "Choose one…";
  return { type, action_id: actionId, placeholder: plainText(placeholder, BUTTON_CHARS), options: choices(widget) };
}

function choices(widget: Widget): readonly Block[] {
  const numbered = needsList(widget);
  return widget.options.map((option, index) => ({
    text: plainText(numbered ? `${index + 1}. ${option.label}` : option.label, OPTION_CHARS),
    value: optionToken(option, index),
    ...(option.description === undefined ? {} : { description: plainText(option.description, DESCRIPTION_CHARS) }),
  }));
}
