/**
 * Reads settings text: `.env` lines, YAML, `${NAME}` from the environment, and the schema's verdict, each problem with its place in the file.
 * Invariant: a problem never quotes a value, because it may be a token. Which file to read, and rules between keys, are left to config.ts
 * and config-checks.ts.
 */
import { parseEnv } from "node:util";
import { isMap, isPair, isScalar, isSeq, LineCounter, type Node, parseDocument } from "yaml";
import type { z } from "zod";
import { type KeyPath, suggestKey } from "./config-keys.ts";
import { type FileSettings, settingsSchema } from "./config-schema.ts";
import { ConfigError } from "./engine/index.ts";

/** Environment variables by name. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** One thing wrong with the settings: where (a path such as `bots[0].slack.botToken`), the line when known, and what is expected. */
export interface Problem {
  readonly path: KeyPath;
  readonly line?: number | undefined;
  /** Id of the bot the path lies in, when it has one. */
  readonly bot?: string | undefined;
  readonly text: string;
}

/** A read file: settings when it was sound, all problems otherwise. `missing` names variables whose absence only matters if the key is used. */
export interface ReadSettings {
  readonly settings: FileSettings | undefined;
  readonly problems: readonly Problem[];
  readonly missing: ReadonlyMap<string, string>;
  /** The same problems with the lines and bots they concern. */
  locate(problems: readonly Problem[]): readonly Problem[];
}

interface Reading {
  readonly env: Environment;
  readonly isDraft: boolean;
  readonly problems: { path: KeyPath; text: string }[];
  readonly missing: Map<string, string>;
}

/** Keys that may name an unset variable: the setting then counts as not given. */
const MAY_BE_UNSET: readonly RegExp[] = [
  /^web\.(password|publicUrl|host)$/,
  /^storage\.(databaseUrl|redisUrl)$/,
  /^providers\.[^.]+\.apiKey$/,
];
const PLACEHOLDER = /\$?\$\{([^}]*)\}/g;
const SECRET = /^secret:[^\s{}$]+$/;
const MAY_NAME_SECRETS = /^mcp\.servers\.[^.]+\.(env|headers|accounts\.[^.]+)\./;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]*$/;

/** Values of a `.env` text. Quotes, comments, `export` and several lines in quotes are understood. */
export function parseEnvText(text: string): Record<string, string> {
  return { ...parseEnv(text) } as Record<string, string>;
}

/** `bots[0].slack.botToken` */
export function toPath(path: KeyPath): string {
  return path.reduce<string>(
    (text, part) => (typeof part === "number" ? `${text}[${part}]` : text === "" ? part : `${text}.${part}`),
    "",
  );
}

/**
 * Reads and checks the text of a settings file. An empty text is a file with nothing in it, which is fine. In a draft, unset variables are
 * stood in for by a text that says so.
 */
export function readSettings(text: string, env: Environment, isDraft = false): ReadSettings {
  const counter = new LineCounter();
  const document = parseDocument(text, { lineCounter: counter, intAsBigInt: true, merge: true });
  const broken = document.errors.map((error) => ({
    path: [],
    line: error.linePos?.[0].line,
    text: `is not valid YAML: ${error.message.split(/ at line \d+|\n/)[0]}`,
  }));
  if (broken.length > 0) return { settings: undefined, problems: broken, missing: new Map(), locate: (found) => found };
  const reading: Reading = { env, isDraft, problems: [], missing: new Map() };
  const raw = fillIn(document.toJS({ maxAliasCount: 100 }) ?? {}, [], reading) ?? {};
  const verdict = settingsSchema.safeParse(raw);
  const found = [...reading.problems, ...(verdict.error?.issues ?? []).flatMap((issue) => toProblems(issue, reading))];
  const locate = (problems: readonly Problem[]) =>
    problems
      .map((problem) => ({
        ...problem,
        line: lineAt(document.contents, problem.path, counter),
        bot: botAt(raw, problem.path),
      }))
      .sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  return {
    settings: found.length === 0 ? verdict.data : undefined,
    problems: locate(found),
    missing: reading.missing,
    locate,
  };
}

/** Whose settings a path is about; counting list positions is work nobody should have to do. */
function botAt(raw: unknown, [top, index]: KeyPath): string | undefined {
  if (top !== "bots" || typeof index !== "number" || typeof raw !== "object" || raw === null || !("bots" in raw))
    return undefined;
  const bot: unknown = Array.isArray(raw.bots) ? raw.bots[index] : undefined;
  return typeof bot === "object" && bot !== null && "id" in bot && typeof bot.id === "string" ? bot.id : undefined;
}

/** A copy with variables filled in and keys without a value left out, so that a block whose lines are commented out counts as absent. */
function fillIn(value: unknown, path: KeyPath, reading: Reading): unknown {
  if (value === null) return undefined;
  if (typeof value === "bigint") return Number.isSafeInteger(Number(value)) ? Number(value) : String(value);
  if (typeof value === "string") return interpolate(value, path, reading);
  if (Array.isArray(value)) return value.map((item, index) => fillIn(item, [...path, index], reading));
  if (typeof value !== "object") return value;
  const filled = Object.entries(value).map(([key, item]) => [key, fillIn(item, [...path, key], reading)] as const);
  return Object.fromEntries(filled.filter(([, item]) => item !== undefined));
}

function interpolate(text: string, path: KeyPath, reading: Reading): string | undefined {
  let unset = false;
  const filled = text.replace(PLACEHOLDER, (whole, name: string) => {
    // `$${NAME}` stands for the characters `${NAME}` themselves.
    if (whole.startsWith("$$")) return whole.slice(1);
    // Values of the vault are filled in when the connector starts; here they are only names.
    if (SECRET.test(name) && MAY_NAME_SECRETS.test(toPath(path))) return whole;
    const value = reading.env[name];
    if (value !== undefined && value !== "") return value;
    if (reading.isDraft && !mayBeUnset(path)) return `${UNSET}${name}`;
    unset = true;
    reportUnset(name, path, reading);
    return "";
  });
  return unset ? undefined : filled;
}

/** What stands in a draft for a variable that is not set. */
const UNSET = "unset ";

/** The variable a value of a draft waits for; undefined when the value is there. */
export function unsetVariable(value: string): string | undefined {
  return value.startsWith(UNSET) ? value.slice(UNSET.length) : undefined;
}

function mayBeUnset(path: KeyPath): boolean {
  return MAY_BE_UNSET.some((pattern) => pattern.test(toPath(path)));
}

function reportUnset(name: string, path: KeyPath, reading: Reading): void {
  reading.missing.set(toPath(path), name);
  if (mayBeUnset(path)) return;
  reading.problems.push({
    path,
    text: VARIABLE.test(name)
      ? `the environment variable ${name} is not set. Set it (for example in .env), or remove this key`
      : SECRET.test(name)
        ? `\${${name}} names a secret of the vault, and those are filled in only in env, headers and accounts of mcp.servers`
        : `\${${name}} is not a variable name; write \${NAME}, or $\${…} for the characters themselves`,
  });
}

function toProblems(issue: z.core.$ZodIssue, reading: Reading): { path: KeyPath; text: string }[] {
  const path = issue.path.map((part) => (typeof part === "symbol" ? String(part) : part));
  if (issue.code === "unrecognized_keys") {
    return issue.keys.map((key) => ({ path: [...path, key], text: `is not a known setting.${suggestKey(key, path)}` }));
  }
  // The unset variable was reported already; that the key, or the block's proof, is therefore missing is no second problem.
  const place = toPath(path);
  const isRule = issue.code === "custom";
  const causedByUnset = [...reading.missing.keys()].some(
    (key) => key === place || (isRule && key.startsWith(`${place}.`)),
  );
  return causedByUnset ? [] : [{ path, text: issue.message }];
}

/** Line of the deepest part of the path that is in the file. */
function lineAt(contents: Node | null, path: KeyPath, counter: LineCounter): number | undefined {
  let node: unknown = contents;
  let offset: number | undefined;
  for (const part of path) {
    const step = stepInto(node, part);
    if (step === undefined) break;
    offset = step.offset ?? offset;
    node = step.node;
  }
  return offset === undefined ? undefined : counter.linePos(offset).line;
}

function stepInto(node: unknown, part: string | number): { node: unknown; offset: number | undefined } | undefined {
  if (isSeq(node) && typeof part === "number") {
    const item = node.items[part] as Node | undefined;
    return item === undefined ? undefined : { node: item, offset: item.range?.[0] };
  }
  if (!isMap(node)) return undefined;
  const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === String(part));
  if (pair === undefined) return undefined;
  return { node: pair.value, offset: isScalar(pair.key) ? pair.key.range?.[0] : undefined };
}

/** All problems as one error, one a line. `file` is named with each line number. */
export function toError(problems: readonly Problem[], file: string | undefined): ConfigError {
  const lines = problems.map(({ path, line, bot, text }) => {
    const place = file !== undefined && line !== undefined ? `${file}, line ${line}: ` : "";
    const key = `${toPath(path)}${bot === undefined ? "" : ` (bot ${bot})`}`;
    return `${place}${key === "" ? "" : `${key}: `}${text.replace(/([^.?])$/, "$1.")}`;
  });
  return new ConfigError(
    lines.length === 1
      ? lines.join("")
      : `${lines.length} problems in the settings:\n${lines.map((line) => `- ${line}`).join("\n")}`,
  );
}
