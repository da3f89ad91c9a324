/**
 * How Discord says no: HTTP status, JSON error code, and for forms a tree of problems.
 * Invariant: a refused request has changed nothing.
 */
import type { Fields } from "../loopback.ts";

/** One thing wrong with a form; `path` as in `components.0.label`. */
export interface Problem {
  readonly path: string;
  readonly code: string;
  readonly message: string;
}

/** A refusal on its way to the answer. */
export class DiscordRefusal extends Error {
  readonly status: number;
  readonly code: number;
  readonly problems: readonly Problem[];
  readonly extra: Fields;

  constructor(status: number, code: number, message: string, problems: readonly Problem[] = [], extra: Fields = {}) {
    super(message);
    this.status = status;
    this.code = code;
    this.problems = problems;
    this.extra = extra;
  }

  /** The JSON body of the answer. */
  toJson(): Fields {
    const errors = this.problems.length > 0 ? { errors: nest(this.problems) } : {};
    return { message: this.message, code: this.code, ...errors, ...this.extra };
  }
}

/** Refuses with a status, a JSON error code and its text. */
export function refuse(status: number, code: number, message: string, extra: Fields = {}): never {
  throw new DiscordRefusal(status, code, message, [], extra);
}

/** Refuses a form (400, 50035) when there are problems. */
export function refuseForm(problems: readonly Problem[]): void {
  if (problems.length > 0) throw new DiscordRefusal(400, 50035, "Invalid Form Body", problems);
}

/** Refuses a form for one reason. */
export function refuseField(path: string, code: string, message: string): never {
  throw new DiscordRefusal(400, 50035, "Invalid Form Body", [{ path, code, message }]);
}

/** `{ components: { 0: { label: { _errors: […] } } } }`, as Discord nests it. */
function nest(problems: readonly Problem[]): Fields {
  const tree: Fields = {};
  for (const { path, code, message } of problems) {
    let node = tree;
    for (const key of path.split(".").filter((part) => part !== "")) {
      node[key] ??= {};
      node = node[key] as Fields;
    }
    node._errors ??= [];
    (node._errors as Fields[]).push({ code, message });
  }
  return tree;
}

/** Collects problems of a form. */
export type Complain = (path: string, code: string, message: string) => void;

/** A collector with its list. */
export function problemList(): { problems: Problem[]; complain: Complain } {
  const problems: Problem[] = [];
  return { problems, complain: (path, code, message) => void problems.push({ path, code, message }) };
}

/** Complains about a missing field. */
export function isRequired(complain: Complain, path: string): void {
  complain(path, "BASE_TYPE_REQUIRED", "This field is required");
}

/** Checks an optional (null counts as absent) or required text and its length in code points. */
export function checkText(
  complain: Complain,
  path: string,
  value: unknown,
  range: { min?: number; max: number; required?: boolean },
): value is string {
  if (value === undefined || value === null) {
    if (range.required) isRequired(complain, path);
    return false;
  }
  if (typeof value !== "string") {
    complain(path, "BASE_TYPE_TYPE", `Could not interpret "${JSON.stringify(value)}" as string.`);
    return false;
  }
  const length = [...value].length;
  const min = range.min ?? 0;
  if (min > 0 && length === 0 && range.required) isRequired(complain, path);
  else if (length < min && min > 0) complain(path, "BASE_TYPE_BAD_LENGTH", lengthText(min, range.max));
  else if (length > range.max && min > 0) complain(path, "BASE_TYPE_BAD_LENGTH", lengthText(min, range.max));
  else if (length > range.max) complain(path, "BASE_TYPE_MAX_LENGTH", `Must be ${range.max} or fewer in length.`);
  return true;
}

/** Checks a whole number and its range; absent is fine unless required. */
export function checkInteger(
  complain: Complain,
  path: string,
  value: unknown,
  range: { min?: number; max?: number; required?: boolean },
): value is number {
  if (value === undefined || value === null) {
    if (range.required) isRequired(complain, path);
    return false;
  }
  if (typeof value !== "number" || !Number.isInteger(value)) {
    complain(path, "NUMBER_TYPE_COERCE", `Value "${String(value)}" is not int.`);
    return false;
  }
  if (range.max !== undefined && value > range.max)
    complain(path, "NUMBER_TYPE_MAX", `int value should be less than or equal to ${range.max}.`);
  if (range.min !== undefined && value < range.min)
    complain(path, "NUMBER_TYPE_MIN", `int value should be greater than or equal to ${range.min}.`);
  return true;
}

/** Checks a list and its length; gives the list (empty when it is none). */
export function checkList(
  complain: Complain,
  path: string,
  value: unknown,
  range: { min?: number; max: number; required?: boolean },
): unknown[] {
  if (value === undefined || value === null) {
    if (range.required) isRequired(complain, path);
    return [];
  }
  if (!Array.isArray(value)) {
    complain(path, "LIST_TYPE_CONVERT", "Only iterables may be used in a ListType.");
    return [];
  }
  const min = range.min ?? 0;
  if (value.length < min || value.length > range.max)
    complain(path, "BASE_TYPE_BAD_LENGTH", lengthText(min, range.max));
  return value;
}

/** Checks yes or no. */
export function checkBoolean(complain: Complain, path: string, value: unknown): void {
  if (value === undefined || value === null || typeof value === "boolean") return;
  complain(path, "BOOLEAN_TYPE_CONVERT", "Must be either true or false.");
}

/** True for an id in Discord's form. */
export function isSnowflake(value: unknown): value is string {
  return typeof value === "string" && /^\d{1,20}$/.test(value);
}

/** Checks an optional or required id. */
export function checkSnowflake(complain: Complain, path: string, value: unknown, required = false): void {
  if (value === undefined || value === null) {
    if (required) isRequired(complain, path);
  } else if (!isSnowflake(value)) {
    complain(path, "NUMBER_TYPE_COERCE", `Value "${String(value)}" is not snowflake.`);
  }
}

/** Complains that a value is none of the choices. */
export function badChoice(complain: Complain, path: string, choices: readonly (string | number)[]): void {
  complain(path, "BASE_TYPE_CHOICES", `Value must be one of {${choices.join(", ")}}.`);
}

function lengthText(min: number, max: number): string {
  return min > 0 ? `Must be between ${min} and ${max} in length.` : `Must be ${max} or fewer in length.`;
}
