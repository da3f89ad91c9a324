/**
 * Discord's components as JSON, shortest forms. Numbers are Discord's own; what they hold is cut to what Discord takes. Pure.
 */

import { BUTTON_CHARS, clip, LABEL_CHARS, LINK_CHARS, OPTION_CHARS, PLACEHOLDER_CHARS, ROW_BUTTONS } from "./limits.ts";

/** Any component. */
export type Component = Readonly<Record<string, unknown>>;

/** Flag of messages that consist of components; such messages have no content. */
export const COMPONENTS_FLAG = 1 << 15;
/** Flag that keeps previews of links away. */
export const NO_PREVIEWS_FLAG = 1 << 2;
/** Flag of messages that only one person sees. */
export const PRIVATE_FLAG = 1 << 6;

const STYLES = { primary: 1, default: 2, danger: 4 } as const;

/** Words, as Markdown. */
export function textDisplay(content: string): Component {
  return { type: 10, content };
}

/** A frame around components. */
export function container(components: readonly Component[]): Component {
  return { type: 17, components };
}

/** Buttons or one menu side by side. */
export function row(components: readonly Component[]): Component {
  return { type: 1, components };
}

/** Buttons in as many rows as they need. */
export function rows(buttons: readonly Component[]): readonly Component[] {
  const found: Component[] = [];
  for (let at = 0; at < buttons.length; at += ROW_BUTTONS) found.push(row(buttons.slice(at, at + ROW_BUTTONS)));
  return found;
}

/** A button that is answered by an interaction. */
export function button(label: string, customId: string, style: keyof typeof STYLES = "default"): Component {
  return { type: 2, style: STYLES[style], label: clip(label, BUTTON_CHARS), custom_id: customId };
}

/** A button that opens an address; Discord sends nothing for it. */
export function linkButton(label: string, url: string): Component {
  return { type: 2, style: 5, label: clip(label, BUTTON_CHARS), url: url.slice(0, LINK_CHARS) };
}

/** Words with one control beside them. */
export function section(content: string, accessory: Component): Component {
  return { type: 9, components: [textDisplay(content)], accessory };
}

/** One choice of a menu. */
export function option(label: string, value: string, description?: string): Component {
  return {
    label: clip(label, OPTION_CHARS),
    value,
    ...(description === undefined || description === "" ? {} : { description: clip(description, OPTION_CHARS) }),
  };
}

/** A menu of texts. */
export function menu(
  customId: string,
  options: readonly Component[],
  range: { readonly min: number; readonly max: number },
  placeholder: string,
): Component {
  return {
    type: 3,
    custom_id: customId,
    placeholder: clip(placeholder, PLACEHOLDER_CHARS),
    min_values: range.min,
    max_values: range.max,
    options,
  };
}

/** A field of a form with its label. */
export function field(label: string, description: string | undefined, input: Component): Component {
  return {
    type: 18,
    label: clip(label, LABEL_CHARS),
    ...(description === undefined ? {} : { description: clip(description, OPTION_CHARS) }),
    component: input,
  };
}

/** The words in components, at any depth, in order. */
export function wordsIn(components: readonly Component[]): string {
  const found: string[] = [];
  const walk = (items: unknown): void => {
    for (const item of Array.isArray(items) ? (items as Component[]) : []) {
      if (item.type === 10 && typeof item.content === "string") found.push(item.content);
      walk(item.components);
    }
  };
  walk(components);
  return found.join("\n");
}

/** The rows of controls in components, for messages without a frame. */
export function controlRows(components: readonly Component[]): readonly Component[] {
  return components.flatMap((item) => {
    if (item.type === 1) return [item];
    const accessory = item.type === 9 ? [row([item.accessory as Component])] : [];
    return [...accessory, ...controlRows((item.components as Component[] | undefined) ?? [])];
  });
}
