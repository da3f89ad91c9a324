/**
 * What every provider demands of offered tools: proper names, no duplicates, object schemas that are JSON schemas, and
 * a tool choice that names an offered tool.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText, isFields } from "../loopback.ts";

/** A tool as it was sent. */
export interface SentTool {
  readonly name: unknown;
  readonly schema: unknown;
}

/** The first broken rule, or null. `path` names the list in the complaint. */
export function toolProblem(tools: readonly SentTool[], path: string, nameLength: number): string | null {
  const seen = new Set<string>();
  for (const [index, tool] of tools.entries()) {
    const name = asText(tool.name);
    const at = `${path}[${index}]`;
    if (!/^[a-zA-Z0-9_-]+$/.test(name) || name.length > nameLength) return `${at}: invalid tool name '${name}'`;
    if (seen.has(name)) return `${at}: tool names must be unique, '${name}' is used twice`;
    seen.add(name);
    if (tool.schema === undefined) continue;
    if (asFields(tool.schema).type !== "object") return `${at} '${name}': schema must be of type "object"`;
    const problem = schemaProblem(tool.schema, `${at} '${name}'`, 0);
    if (problem) return problem;
  }
  return null;
}

function schemaProblem(schema: unknown, at: string, depth: number): string | null {
  if (typeof schema === "boolean") return null;
  if (!isFields(schema)) return `${at}: schema is not an object`;
  if (depth > 30) return `${at}: schema is nested too deeply`;
  if (schema.type === "array" && schema.items === undefined && schema.prefixItems === undefined)
    return `${at}: array schema missing items`;
  const required = asList(schema.required);
  const properties = asFields(schema.properties);
  const stray = required.find((name) => !(String(name) in properties));
  if (stray !== undefined && schema.type === "object")
    return `${at}: required names '${String(stray)}', which is no property`;
  for (const [where, part] of children(schema)) {
    const problem = schemaProblem(part, `${at}.${where}`, depth + 1);
    if (problem) return problem;
  }
  return null;
}

function children(schema: Fields): [string, unknown][] {
  const parts: [string, unknown][] = Object.entries(asFields(schema.properties)).map(([name, part]) => [name, part]);
  if (schema.items !== undefined && !Array.isArray(schema.items)) parts.push(["items", schema.items]);
  for (const key of ["anyOf", "oneOf", "allOf"]) {
    for (const [index, part] of asList(schema[key]).entries()) parts.push([`${key}[${index}]`, part]);
  }
  return parts;
}

/** Complains when a named tool is not offered, or a tool is forced without any. */
export function choiceProblem(
  choice: { required: boolean; name: string | null },
  tools: readonly SentTool[],
): string | null {
  if ((choice.required || choice.name !== null) && tools.length === 0)
    return "tool_choice is only allowed when tools are specified";
  if (choice.name !== null && !tools.some((tool) => tool.name === choice.name))
    return `tool_choice names '${choice.name}', which is not in tools`;
  return null;
}
