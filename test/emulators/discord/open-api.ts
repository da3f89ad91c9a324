/**
 * A second opinion on request bodies: Discord's own OpenAPI document, when a test has one.
 * Invariant: without the document nothing is checked here; with it, a body it does not allow is refused 50035 before
 * any rule of ours looks at it.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText, isFields } from "../loopback.ts";
import type { DiscordRequest } from "./model.ts";
import type { Problem } from "./refusal.ts";
import { refuseForm } from "./refusal.ts";

/** Refuses a body the document does not allow. */
export function checkAgainstOpenApi(document: Fields | null, request: DiscordRequest): void {
  if (!document) return;
  const schema = bodySchema(document, request);
  const value = Array.isArray(request.body.list) ? request.body.list : request.body;
  if (schema && Object.keys(request.body).length > 0) refuseForm(judge(document, schema, value, ""));
}

/** The JSON schema of a route's body, or null. */
function bodySchema(document: Fields, request: DiscordRequest): Fields | null {
  const path = Object.keys(asFields(document.paths)).find((template) => fits(template, request.path));
  if (path === undefined) return null;
  const operation = asFields(asFields(asFields(document.paths)[path])[request.method.toLowerCase()]);
  const content = asFields(asFields(operation.requestBody).content);
  const schema = asFields(content["application/json"]).schema;
  return isFields(schema) ? schema : null;
}

/** Exact parts win: `@me` and `@original` are never taken for an id. */
function fits(template: string, path: string): boolean {
  const wanted = template.split("/");
  const given = path.split("/");
  return (
    wanted.length === given.length &&
    wanted.every((part, index) => part === given[index] || (part.startsWith("{") && !given[index]?.startsWith("@")))
  );
}

/** Problems of a value with a schema, at paths like `components.0.label`. */
export function judge(document: Fields, schema: Fields, value: unknown, at: string): Problem[] {
  if (typeof schema.$ref === "string") return judge(document, resolve(document, schema.$ref), value, at);
  const own = [...judgeType(schema, value, at), ...judgeSize(schema, value, at)];
  if (own.length > 0) return own;
  return [...judgeParts(document, schema, value, at), ...judgeUnions(document, schema, value, at)];
}

function resolve(document: Fields, ref: string): Fields {
  return ref
    .split("/")
    .slice(1)
    .reduce((node: Fields, key) => asFields(node[key]), document);
}

function complaint(at: string, code: string, message: string): Problem[] {
  return [{ path: at, code: `OPENAPI_${code}`, message }];
}

function judgeType(schema: Fields, value: unknown, at: string): Problem[] {
  const types = Array.isArray(schema.type) ? schema.type.map(asText) : schema.type ? [asText(schema.type)] : [];
  if (types.length > 0 && !types.some((type) => isOfType(type, value)))
    return complaint(at, "TYPE", `must be ${types.join(" or ")}`);
  if (schema.const !== undefined && schema.const !== value)
    return complaint(at, "CONST", `must be ${String(schema.const)}`);
  if (Array.isArray(schema.enum) && !schema.enum.includes(value))
    return complaint(at, "ENUM", `must be one of ${schema.enum.join(", ")}`);
  return [];
}

function isOfType(type: string, value: unknown): boolean {
  switch (type) {
    case "null":
      return value === null;
    case "array":
      return Array.isArray(value);
    case "object":
      return isFields(value);
    case "integer":
      return Number.isInteger(value);
    default:
      // Type names of JSON Schema and of the language agree for string, number and boolean.
      return typeof value === type;
  }
}

function judgeSize(schema: Fields, value: unknown, at: string): Problem[] {
  const size = Array.isArray(value) ? value.length : typeof value === "string" ? [...value].length : null;
  const [least, most] = Array.isArray(value)
    ? [schema.minItems, schema.maxItems]
    : [schema.minLength, schema.maxLength];
  if (size !== null && size < Number(least ?? 0)) return complaint(at, "SHORT", `needs at least ${String(least)}`);
  if (size !== null && size > Number(most ?? Number.POSITIVE_INFINITY))
    return complaint(at, "LONG", `takes at most ${String(most)}`);
  if (typeof value === "number" && (value < Number(schema.minimum ?? value) || value > Number(schema.maximum ?? value)))
    return complaint(at, "RANGE", `must be between ${String(schema.minimum)} and ${String(schema.maximum)}`);
  if (typeof value !== "string") return [];
  if (typeof schema.pattern === "string" && !new RegExp(schema.pattern, "u").test(value))
    return complaint(at, "PATTERN", `must match ${schema.pattern}`);
  if (schema.format === "snowflake" && !/^(0|[1-9]\d*)$/.test(value))
    return complaint(at, "FORMAT", "must be a snowflake");
  return [];
}

function judgeParts(document: Fields, schema: Fields, value: unknown, at: string): Problem[] {
  const under = (key: string | number) => (at === "" ? String(key) : `${at}.${key}`);
  if (Array.isArray(value) && isFields(schema.items)) {
    const { items } = schema;
    const unique = schema.uniqueItems === true && new Set(value).size !== value.length;
    const parts = value.flatMap((item, index) => judge(document, items, item, under(index)));
    return unique ? [...parts, ...complaint(at, "UNIQUE", "must not repeat itself")] : parts;
  }
  if (!isFields(value)) return [];
  const missing = asList(schema.required)
    .map(asText)
    .filter((name) => value[name] === undefined)
    .flatMap((name) => complaint(under(name), "REQUIRED", "is required"));
  const known = asFields(schema.properties);
  const inside = Object.entries(value).flatMap(([name, part]) => {
    const rule = known[name] ?? schema.additionalProperties;
    if (rule === false) return complaint(under(name), "UNKNOWN", "is not known");
    return isFields(rule) ? judge(document, rule, part, under(name)) : [];
  });
  return [...missing, ...inside];
}

function judgeUnions(document: Fields, schema: Fields, value: unknown, at: string): Problem[] {
  const all = asList(schema.allOf).flatMap((part) => judge(document, asFields(part), value, at));
  const choices = [...asList(schema.oneOf), ...asList(schema.anyOf)].map(asFields);
  if (choices.length === 0) return all;
  const attempts = choices.map((choice) => judge(document, choice, value, at));
  if (attempts.some((problems) => problems.length === 0)) return all;
  // The choice that failed deepest is the one that was meant.
  const meant = attempts.reduce((best, problems) => (depth(problems) > depth(best) ? problems : best));
  return [...all, ...meant];
}

function depth(problems: readonly Problem[]): number {
  const typed = problems.some(({ path, code }) => code === "OPENAPI_CONST" || code === "OPENAPI_ENUM" || path === "");
  return Math.max(...problems.map(({ path }) => path.split(".").length)) - (typed ? 10 : 0);
}
