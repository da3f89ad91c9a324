/**
 * Reads what a platform sends without trusting its shape: a field is there with the right type, or it is absent. Keeps the files that understand events
 * free of casts.
 */

/** Any JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

/** The value as an object; {} when it is none. */
export function toFields(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

/** The value as a list of objects; [] when it is none. */
export function toList(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? value.map(toFields) : [];
}

/** The value as non-empty text; undefined otherwise. */
export function toText(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** The strings in a list. */
export function toTexts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === "string" && item !== "") : [];
}

/** Parses JSON; {} when it is none. */
export function parseFields(text: string): Fields {
  try {
    return toFields(JSON.parse(text));
  } catch {
    // Not JSON: the caller finds none of the fields it needs and says so.
    return {};
  }
}
