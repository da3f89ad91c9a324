/** The fields of a server's question as widgets, and the person's answers as the values the server asked for. Pure. */

import type { CardAnswer, Widget, WidgetOption } from "../../engine/index.ts";
import { oneText } from "./tool-schemas.ts";

/** One field of a form. */
export interface AskedField {
  readonly name: string;
  readonly schema: Readonly<Record<string, unknown>>;
  readonly isRequired: boolean;
  /** Who asks, and for what. */
  readonly intro: string;
}

/** What a field can hold. */
export type FieldValue = string | number | boolean | string[];

/** A value; undefined for a field that was skipped. */
export type FieldCheck =
  | { readonly ok: true; readonly value: FieldValue | undefined }
  | { readonly ok: false; readonly problem: string };

const SKIP = "skip";
const DECLINE = "decline";
/** Choices that stand on the card; further ones up to MAX_KNOWN can be typed. */
const MAX_CHOICES = 22;
const MAX_KNOWN = 500;

/** The card that asks for a field. Choices of the server are numbered, so that none can pass for ours. */
export function toWidget(field: AskedField, problem: string): Widget {
  const { schema } = field;
  const title = oneText(typeof schema.title === "string" ? schema.title : field.name, 100);
  const detail = typeof schema.description === "string" ? oneText(schema.description, 300) : "";
  const choices = choicesOf(schema);
  const isList = schema.type === "array";
  const options: WidgetOption[] = choices.slice(0, MAX_CHOICES).map(({ label }, index) => option(`c${index}`, label));
  const usual = ["string", "number", "boolean"].includes(typeof schema.default) ? String(schema.default) : "";
  if (usual) options.push(option(SKIP, oneText(`Use ${usual}`, 100)));
  else if (!field.isRequired) options.push(option(SKIP, "Skip"));
  options.push({ ...option(DECLINE, "Decline"), style: "danger" });
  return {
    prompt: `${problem ? `${problem}\n` : ""}${field.intro}\n**${title}**${detail ? `: ${detail}` : ""}`,
    options,
    ...(isList ? { multiple: { min: 1, max: options.length } } : {}),
    // What does not fit on the card can be typed.
    allowCustom: choices.length === 0 || choices.length > MAX_CHOICES,
    dismissOnMoveOn: false,
  };
}

/** The value of an answer, or what is wrong with it, for the person. */
export function checkValue(field: AskedField, answer: CardAnswer): FieldCheck {
  const { schema } = field;
  if (answer.values.includes(SKIP)) return { ok: true, value: undefined };
  const choices = choicesOf(schema);
  const picked = answer.values.flatMap((value) => choices[Number(value.slice(1))]?.value ?? []);
  const typed = answer.custom?.trim().toLowerCase() ?? "";
  if (picked.length === 0 && choices.length > 0) {
    const named = choices.filter(({ value, label }) =>
      [String(value), label].some((one) => one.toLowerCase() === typed),
    );
    picked.push(...named.slice(0, 1).map(({ value }) => value));
  }
  if (schema.type === "array") return checkList(schema, picked.map(String));
  const [first] = picked;
  if (first !== undefined) return { ok: true, value: first };
  if (choices.length > 0) return { ok: false, problem: "Only one of the choices, please." };
  return checkTyped(schema, answer.custom?.trim() ?? "");
}

function checkList({ minItems, maxItems }: AskedField["schema"], picked: string[]): FieldCheck {
  const least = typeof minItems === "number" ? minItems : 0;
  if (picked.length < least) return { ok: false, problem: `At least ${least} of them, please.` };
  if (typeof maxItems === "number" && picked.length > maxItems)
    return { ok: false, problem: `At most ${maxItems} of them, please.` };
  return { ok: true, value: picked };
}

function checkTyped(schema: AskedField["schema"], typed: string): FieldCheck {
  if (schema.type === "number" || schema.type === "integer") return checkNumber(schema, typed);
  const { minLength, maxLength, format } = schema;
  if (typeof minLength === "number" && typed.length < minLength)
    return { ok: false, problem: `At least ${minLength} characters, please.` };
  if (typeof maxLength === "number" && typed.length > maxLength)
    return { ok: false, problem: `At most ${maxLength} characters, please.` };
  if (format === "email" && !/^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(typed))
    return { ok: false, problem: "That is not an e-mail address." };
  if (format === "uri" && !URL.canParse(typed)) return { ok: false, problem: "That is not a complete web address." };
  if ((format === "date" || format === "date-time") && Number.isNaN(Date.parse(typed)))
    return { ok: false, problem: "That is not a date; write it as 2026-12-31." };
  return { ok: true, value: typed };
}

function checkNumber({ type, minimum, maximum }: AskedField["schema"], typed: string): FieldCheck {
  const value = Number(typed.replace(",", "."));
  if (typed === "" || !Number.isFinite(value)) return { ok: false, problem: "A number, please." };
  if (type === "integer" && !Number.isInteger(value)) return { ok: false, problem: "A whole number, please." };
  if (typeof minimum === "number" && value < minimum) return { ok: false, problem: `At least ${minimum}, please.` };
  if (typeof maximum === "number" && value > maximum) return { ok: false, problem: `At most ${maximum}, please.` };
  return { ok: true, value };
}

interface Choice {
  readonly value: string | boolean;
  readonly label: string;
}

/** Yes and No, or the values of an enum in any of its spellings. */
function choicesOf(schema: AskedField["schema"]): readonly Choice[] {
  if (schema.type === "boolean")
    return [
      { value: true, label: "Yes" },
      { value: false, label: "No" },
    ];
  const items = typeof schema.items === "object" && schema.items !== null ? (schema.items as AskedField["schema"]) : {};
  const source = schema.type === "array" ? items : schema;
  const titled = [source.oneOf, source.anyOf].find(Array.isArray) ?? [];
  const constants = titled.flatMap((one: { const?: unknown; title?: unknown }) =>
    typeof one?.const === "string" ? [{ value: one.const, label: labelOf(one.title, one.const) }] : [],
  );
  if (constants.length > 0) return constants.slice(0, MAX_KNOWN);
  const values = Array.isArray(source.enum) ? source.enum.filter((value) => typeof value === "string") : [];
  const names = Array.isArray(source.enumNames) ? source.enumNames : [];
  return values.slice(0, MAX_KNOWN).map((value, index) => ({ value, label: labelOf(names[index], value) }));
}

function labelOf(title: unknown, value: string): string {
  return oneText(typeof title === "string" && title ? title : value, 150) || "(empty)";
}

function option(value: string, label: string): WidgetOption {
  return { value, label, style: "default" };
}
