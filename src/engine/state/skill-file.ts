/**
 * Reads the text of a SKILL.md: front matter between two lines of three dashes with name and description, then the method itself. Pure. Invariant: whatever the
 * text is, the answer is a skill or one sentence that says what is wrong and how to mend it; it never throws.
 */

import { parseDocument } from "yaml";
import { SKILL_DESCRIPTION_CHARS, SKILL_NAME_CHARS } from "../skill.ts";

/** What a SKILL.md says. `body` begins after the front matter. */
export type SkillFile =
  | { readonly ok: true; readonly name: string; readonly description: string; readonly body: string }
  | { readonly ok: false; readonly text: string };

const FRONT = /^\ufeff?---[ \t]*\r?\n((?:[\s\S]*?\r?\n)?)---[ \t]*(?:\r?\n|$)/;
/** Longest front matter that is looked at, characters. */
const FRONT_CHARS = 16_000;

/** The skill in this text. */
export function parseSkillFile(text: string): SkillFile {
  const front = FRONT.exec(text);
  if (!front) {
    const hint = "Begin the file with --- , a name: line, a description: line, and --- again.";
    return { ok: false, text: `has no front matter. ${hint}` };
  }
  const yaml = front[1] ?? "";
  if (yaml.length > FRONT_CHARS)
    return { ok: false, text: `has a front matter longer than ${FRONT_CHARS} characters.` };
  const fields = fieldsOf(yaml);
  if (typeof fields === "string") return { ok: false, text: fields };
  const name = lineOf(fields.name);
  const description = lineOf(fields.description);
  if (name === "") return { ok: false, text: "has no name. Add a name: line to its front matter." };
  if (description === "")
    return { ok: false, text: "has no description. Add a description: line that says when the skill is to be used." };
  return {
    ok: true,
    name: [...name].slice(0, SKILL_NAME_CHARS).join(""),
    description: [...description].slice(0, SKILL_DESCRIPTION_CHARS).join(""),
    body: text.slice(front[0].length).trim(),
  };
}

function fieldsOf(yaml: string): Readonly<Record<string, unknown>> | string {
  const mend = "Mend it, or put quotes around values that contain a colon.";
  try {
    // No aliases: a few lines of them can stand for gigabytes.
    const document = parseDocument(yaml, { schema: "core", uniqueKeys: true });
    const [problem] = document.errors;
    const simple = problem && simpleFields(yaml);
    if (simple) return simple;
    if (problem) return `has a front matter that is not valid YAML (${problem.message.split("\n")[0]}). ${mend}`;
    const value: unknown = document.toJS({ maxAliasCount: 0 });
    if (typeof value !== "object" || value === null || Array.isArray(value))
      return `has a front matter that is not a list of name: value lines. ${mend}`;
    return value as Readonly<Record<string, unknown>>;
  } catch {
    // The only thing that throws here is the use of aliases.
    return "has a front matter with YAML aliases, which are not read. Write the values out.";
  }
}

/** Many published skills write `description: Use when: …` without quotes, which is no YAML and yet clear. Undefined when it is not. */
function simpleFields(yaml: string): Readonly<Record<string, string>> | undefined {
  const textOf = (key: string) => new RegExp(`^${key}:[ \\t]+([^\\s[\\]{}&*!|>'"%@\`#].*)$`, "m").exec(yaml)?.[1];
  const [name, description] = [textOf("name"), textOf("description")];
  return name && description ? { name, description } : undefined;
}

/** A value as one line of text; "" for anything that is not text or a number. */
function lineOf(value: unknown): string {
  if (typeof value !== "string" && typeof value !== "number") return "";
  return String(value)
    .toWellFormed()
    .replace(/[\s\p{Cc}\p{Zl}\p{Zp}]+/gu, " ")
    .trim();
}
