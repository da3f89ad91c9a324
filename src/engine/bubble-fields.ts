/**
 * Reads the fields of a SendMessage call as a model filled them, whatever they are, and collects every problem on the way, so that one answer can
 * name them all (SPEC M4). Bounded: absurdly large or deep input gives a short text, never an exception.
 */

/** An object of unknown content. */
export type Fields = Readonly<Record<string, unknown>>;

/** Objects nested deeper than this count as filled in; no field of SendMessage comes near. */
const MAX_DEPTH = 8;
/** Longest piece of the model's own input quoted in a problem, characters. */
const MAX_QUOTE = 60;
/** Longest reply address or channel name, characters. */
export const MAX_TARGET = 200;

/** Characters that show nothing: space of all kinds, joiners, variation selectors, byte order marks, fillers. */
const INVISIBLE = /[\s\p{Z}\p{Cc}\p{Default_Ignorable_Code_Point}\u2800\uFFF9-\uFFFB]/gu;

/** SPEC M4: null, "" and [] count as not provided, and so does a text in which nothing can be seen, and an object that has only such values. */
export function isProvided(value: unknown, depth = 0): boolean {
  if (value === null || value === undefined) return false;
  if (typeof value === "string") return value.replace(INVISIBLE, "") !== "";
  if (Array.isArray(value)) return value.length > 0;
  if (typeof value !== "object" || depth >= MAX_DEPTH) return true;
  return Object.values(value).some((item) => isProvided(item, depth + 1));
}

/** A value as it may stand in a problem: JSON, shortened. */
export function quoted(value: unknown): string {
  const text = typeof value === "string" ? JSON.stringify(value.slice(0, MAX_QUOTE + 1)) : shapeOf(value);
  return text.length > MAX_QUOTE + 2 ? `${text.slice(0, MAX_QUOTE)}…"` : text;
}

function shapeOf(value: unknown): string {
  if (Array.isArray(value)) return "[…]";
  return typeof value === "object" && value !== null ? "{…}" : JSON.stringify(value);
}

/** True when the text holds NUL or other control characters that no address or name has. */
export function hasControls(text: string): boolean {
  return /\p{Cc}/u.test(text);
}

/** Reads fields one by one; what is wrong goes to the list it was given. */
export class FieldReader {
  readonly #problems: string[];
  constructor(problems: string[]) {
    this.#problems = problems;
  }

  /** Adds a problem in plain words. */
  problem(text: string): void {
    this.#problems.push(text);
  }

  /** A text of at most `limit` characters; "" when it is missing or wrong. */
  text(value: unknown, name: string, limit: number, required = true): string {
    if (!isProvided(value)) {
      const isBlank = typeof value === "string" && value.trim() !== "";
      if (required) this.problem(isBlank ? `${name} has nothing in it that can be seen.` : `${name} is missing.`);
      return "";
    }
    if (typeof value !== "string") {
      this.problem(`${name} must be a string.`);
      return "";
    }
    if (value.length > limit)
      this.problem(`${name} is ${value.length} characters long; at most ${limit} are possible.`);
    return value;
  }

  /** A text that may be left out. */
  optional(value: unknown, name: string, limit: number): string | undefined {
    return isProvided(value) ? this.text(value, name, limit) : undefined;
  }

  /** One line without control characters that may be left out, trimmed: an address or a name. */
  line(value: unknown, name: string, limit: number): string | undefined {
    const text = this.optional(value, name, limit)?.trim();
    if (text && hasControls(text)) this.problem(`${name} must be one line without control characters.`);
    return text || undefined;
  }

  /** A yes or no; absent means no. */
  flag(value: unknown, name: string): boolean {
    if (isProvided(value) && typeof value !== "boolean") this.problem(`${name} must be true or false.`);
    return value === true;
  }

  /** An object; `known` names its fields, any other that is filled in is a problem. */
  object(value: unknown, name: string, known: readonly string[]): Fields {
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      this.problem(value === null || value === undefined ? `${name} is missing.` : `${name} must be an object.`);
      return {};
    }
    const fields = value as Fields;
    const unknown = Object.keys(fields).filter((key) => !known.includes(key) && isProvided(fields[key]));
    if (unknown.length > 0)
      this.problem(`${name} has no field ${listed(unknown)}; its fields are ${known.join(", ")}.`);
    return fields;
  }

  /** A list, or undefined when the value is something else (which is then a problem). */
  list(value: unknown, name: string): readonly unknown[] | undefined {
    if (!isProvided(value)) return [];
    if (Array.isArray(value)) return value;
    this.problem(`${name} must be a list.`);
    return undefined;
  }
}

/** Names for a problem, at most ten of them. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, 10).map((name) => (name.length > MAX_QUOTE ? `${name.slice(0, MAX_QUOTE)}…` : name));
  return names.length > shown.length ? `${shown.join(", ")} and ${names.length - shown.length} more` : shown.join(", ");
}
