/**
 * Walking through components: their displayed text, their media, the controls a person can use.
 * Reading only; whether components are well formed is decided by the rules.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText, isFields } from "../loopback.ts";

/** Component types by name. */
export const COMPONENT = {
  row: 1,
  button: 2,
  stringSelect: 3,
  textInput: 4,
  userSelect: 5,
  roleSelect: 6,
  mentionableSelect: 7,
  channelSelect: 8,
  section: 9,
  text: 10,
  thumbnail: 11,
  gallery: 12,
  file: 13,
  separator: 14,
  container: 17,
  label: 18,
  fileUpload: 19,
  radio: 21,
  checkboxes: 22,
  checkbox: 23,
} as const;

/** The select menus. */
export const SELECTS: readonly number[] = [3, 5, 6, 7, 8];

/** A button or select as a person sees it. */
export interface Control {
  readonly kind: "button" | "select";
  readonly type: number;
  readonly label: string;
  readonly customId: string;
  /** Set on link buttons, which send no interaction. */
  readonly url: string | null;
  readonly disabled: boolean;
  readonly style: number;
  readonly options: { label: string; value: string; description: string; chosen: boolean }[];
  readonly min: number;
  readonly max: number;
  readonly id: number;
}

/** All components in reading order, nested ones after their parent. */
export function walkComponents(list: unknown): Fields[] {
  return asList(list)
    .filter(isFields)
    .flatMap((item) => [
      item,
      ...walkComponents(item.components),
      ...walkComponents(item.accessory ? [item.accessory] : []),
      ...walkComponents(item.component ? [item.component] : []),
    ]);
}

/** Texts of all text displays. */
export function shownTexts(list: unknown): string[] {
  return walkComponents(list)
    .filter((item) => item.type === COMPONENT.text)
    .map((item) => asText(item.content));
}

/** A picture or file in components. */
export interface Media {
  readonly url: string;
  readonly description: string;
  readonly kind: "image" | "file" | "thumbnail";
}

/** Every media address in use, with its description. */
export function mediaIn(list: unknown): Media[] {
  return walkComponents(list).flatMap((item): Media[] => {
    if (item.type === COMPONENT.thumbnail) return [mediaOf(item, "thumbnail")];
    if (item.type === COMPONENT.file) return [{ url: asText(asFields(item.file).url), description: "", kind: "file" }];
    if (item.type !== COMPONENT.gallery) return [];
    return asList(item.items).map((entry) => mediaOf(asFields(entry), "image"));
  });
}

function mediaOf(item: Fields, kind: Media["kind"]): Media {
  return { url: asText(asFields(item.media).url), description: asText(item.description), kind };
}

/** Buttons and selects in reading order. */
export function controlsOf(list: unknown): Control[] {
  return walkComponents(list)
    .filter((item) => item.type === COMPONENT.button || SELECTS.includes(Number(item.type)))
    .map((item) => ({
      kind: item.type === COMPONENT.button ? ("button" as const) : ("select" as const),
      type: Number(item.type),
      label: asText(item.label) || asText(item.placeholder) || asText(asFields(item.emoji).name),
      customId: asText(item.custom_id),
      url: typeof item.url === "string" ? item.url : null,
      disabled: item.disabled === true,
      style: Number(item.style ?? 0),
      options: asList(item.options).map((option) => optionOf(asFields(option))),
      min: Number(item.min_values ?? 1),
      max: Number(item.max_values ?? 1),
      id: Number(item.id ?? 0),
    }));
}

function optionOf(option: Fields) {
  return {
    label: asText(option.label),
    value: asText(option.value),
    description: asText(option.description),
    chosen: option.default === true,
  };
}
