/**
 * What Discord refuses in components: which type may stand where, rows, sections, galleries, files, totals.
 * Invariant: problems carry the path of the component. Buttons, selects and modal inputs are checked by `control-rules.ts`.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asText, isFields } from "../loopback.ts";
import { COMPONENT, SELECTS, shownTexts, walkComponents } from "./component-text.ts";
import { checkButton, checkSelect } from "./control-rules.ts";
import { checkWebAddress } from "./embed-rules.ts";
import type { Complain } from "./refusal.ts";
import { checkBoolean, checkInteger, checkList, checkText, isRequired } from "./refusal.ts";
import { codePoints } from "./world.ts";

const MAX_COMPONENTS = 40;
const MAX_TEXT = 4000;
/** Above this many UTF-8 bytes of text Discord fails with a plain 500. */
const MAX_TEXT_BYTES = 10_158;

const { row, section, text, gallery, file, separator, container } = COMPONENT;
const LEGACY_TOP: readonly number[] = [row];
const V2_TOP: readonly number[] = [row, section, text, gallery, file, separator, container];
const INSIDE_CONTAINER: readonly number[] = [row, section, text, gallery, file, separator];

/** What the checks share. */
export interface ComponentForm {
  readonly complain: Complain;
  readonly v2: boolean;
  readonly modal: boolean;
  /** Names and sizes of the files `attachment://` may point to. */
  readonly fileNames: ReadonlyMap<string, number>;
  readonly customIds: Set<string>;
  readonly optionCount?: number;
}

/** Complains about a message's components; true when the text is so heavy that Discord would answer 500. */
export function checkComponents(
  complain: Complain,
  value: unknown,
  how: Pick<ComponentForm, "v2" | "modal" | "fileNames">,
): boolean {
  const form: ComponentForm = { ...how, complain, customIds: new Set() };
  const list = checkList(complain, "components", value, { max: how.v2 ? MAX_COMPONENTS : 5 });
  for (const [index, item] of list.entries())
    checkComponent(form, item, `components.${index}`, how.v2 ? V2_TOP : LEGACY_TOP);
  checkIds(form, list);
  return how.v2 ? checkTotals(complain, list) : false;
}

function checkTotals(complain: Complain, list: readonly unknown[]): boolean {
  const count = walkComponents(list).length;
  if (count > MAX_COMPONENTS)
    complain(
      "components",
      "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED",
      `The total number of components exceeds ${MAX_COMPONENTS}`,
    );
  const shown = shownTexts(list).join("");
  if (codePoints(shown) > MAX_TEXT)
    complain(
      "components",
      "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED",
      `The total displayable text size exceeds maximum size of ${MAX_TEXT}`,
    );
  return Buffer.byteLength(shown) > MAX_TEXT_BYTES;
}

/** Numbers of components, when given, are different. */
function checkIds({ complain }: ComponentForm, list: readonly unknown[]): void {
  const seen = new Set<unknown>();
  for (const { id } of walkComponents(list)) {
    if (id === undefined || id === null || id === 0) continue;
    checkInteger(complain, "components.id", id, { min: 0, max: 2 ** 31 - 1 });
    if (seen.has(id)) complain("components", "COMPONENT_ID_DUPLICATED", "Component id cannot be duplicated");
    seen.add(id);
  }
}

/** Checks one component in a place that allows certain types. */
export function checkComponent(form: ComponentForm, item: unknown, at: string, allowed: readonly number[]): void {
  const { complain } = form;
  if (!isFields(item)) {
    complain(at, "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType");
    return;
  }
  if (item.type === undefined) isRequired(complain, `${at}.type`);
  if (!allowed.includes(Number(item.type))) {
    complain(`${at}.type`, "UNION_TYPE_CHOICES", `Value of field "type" must be one of (${allowed.join(", ")},).`);
    return;
  }
  CHECKS[Number(item.type)]?.(form, item, at);
}

const CHECKS: Readonly<Record<number, (form: ComponentForm, item: Fields, at: string) => void>> = {
  [COMPONENT.row]: checkRow,
  [COMPONENT.section]: checkSection,
  [COMPONENT.text]: ({ complain }, item, at) =>
    void checkText(complain, `${at}.content`, item.content, { min: 1, max: MAX_TEXT, required: true }),
  [COMPONENT.gallery]: checkGallery,
  [COMPONENT.file]: checkFile,
  [COMPONENT.separator]: ({ complain }, item, at) => {
    checkBoolean(complain, `${at}.divider`, item.divider);
    checkInteger(complain, `${at}.spacing`, item.spacing, { min: 1, max: 2 });
  },
  [COMPONENT.container]: checkContainer,
};

function checkRow(form: ComponentForm, item: Fields, at: string): void {
  const { complain } = form;
  const parts = checkList(complain, `${at}.components`, item.components, { min: 1, max: 5, required: true });
  const kinds = parts.map((part) => Number(asFields(part).type));
  const selects = kinds.filter((kind) => SELECTS.includes(kind)).length;
  if (selects > 1 || (selects === 1 && parts.length > 1))
    complain(`${at}.components`, "COMPONENT_LAYOUT_WIDTH_EXCEEDED", "Components displayed must all fit within a row");
  for (const [index, part] of parts.entries()) {
    const path = `${at}.components.${index}`;
    const type = Number(asFields(part).type);
    if (type === COMPONENT.button) checkButton(form, asFields(part), path);
    else if (SELECTS.includes(type)) checkSelect(form, asFields(part), path);
    else complain(`${path}.type`, "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (2, 3, 5, 6, 7, 8).');
  }
}

function checkSection(form: ComponentForm, item: Fields, at: string): void {
  const { complain } = form;
  const texts = checkList(complain, `${at}.components`, item.components, { min: 1, max: 3, required: true });
  for (const [index, part] of texts.entries())
    checkComponent(form, part, `${at}.components.${index}`, [COMPONENT.text]);
  const { accessory } = item;
  if (!isFields(accessory)) isRequired(complain, `${at}.accessory`);
  else if (accessory.type === COMPONENT.button) checkButton(form, accessory, `${at}.accessory`);
  else if (accessory.type === COMPONENT.thumbnail) checkPicture(form, accessory, `${at}.accessory`);
  else complain(`${at}.accessory.type`, "UNION_TYPE_CHOICES", 'Value of field "type" must be one of (2, 11).');
}

function checkGallery(form: ComponentForm, item: Fields, at: string): void {
  const items = checkList(form.complain, `${at}.items`, item.items, { min: 1, max: 10, required: true });
  for (const [index, entry] of items.entries()) checkPicture(form, asFields(entry), `${at}.items.${index}`);
}

/** A gallery item or thumbnail: a sent picture or a web address, with at most 1024 characters of description. */
function checkPicture(form: ComponentForm, item: Fields, at: string): void {
  checkText(form.complain, `${at}.description`, item.description, { min: 1, max: 1024 });
  checkBoolean(form.complain, `${at}.spoiler`, item.spoiler);
  checkMedia(form, item.media, `${at}.media`, false);
}

function checkFile(form: ComponentForm, item: Fields, at: string): void {
  checkBoolean(form.complain, `${at}.spoiler`, item.spoiler);
  checkMedia(form, item.file, `${at}.file`, true);
}

function checkMedia({ complain, fileNames }: ComponentForm, value: unknown, at: string, uploadsOnly: boolean): void {
  const { url } = asFields(value);
  if (url === undefined || url === null) {
    isRequired(complain, `${at}.url`);
    return;
  }
  const name = /^attachment:\/\/(.*)$/s.exec(asText(url))?.[1];
  if (name !== undefined) {
    if (!fileNames.has(name))
      complain(
        `${at}.url`,
        "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND",
        `The referenced attachment ${name} was not found`,
      );
  } else if (uploadsOnly) {
    complain(`${at}.url`, "URL_TYPE_INVALID_SCHEME", "Scheme must be one of ('attachment').");
  } else {
    checkWebAddress(complain, `${at}.url`, url);
  }
}

function checkContainer(form: ComponentForm, item: Fields, at: string): void {
  const { complain } = form;
  const parts = checkList(complain, `${at}.components`, item.components, {
    min: 1,
    max: MAX_COMPONENTS,
    required: true,
  });
  checkInteger(complain, `${at}.accent_color`, item.accent_color, { min: 0, max: 0xffffff });
  checkBoolean(complain, `${at}.spoiler`, item.spoiler);
  for (const [index, part] of parts.entries())
    checkComponent(form, part, `${at}.components.${index}`, INSIDE_CONTAINER);
}
