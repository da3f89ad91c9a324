/**
 * The MCP servers that a plugin package defines: in `.mcp.json` or `mcp.json`, or in its manifest, there or by the name of a file. They are only read here;
 * nothing starts. Invariant: a file that cannot be read as JSON is a refusal, one bad entry is reported and the others stay.
 */

import { createHash } from "node:crypto";
import { z } from "zod";
import type { ServerDefinition } from "../plugin.ts";
import type { SkillProblem } from "../skill.ts";
import { readTextIn } from "./skill-folder.ts";

/** What was found, or why the package cannot be used. */
export type ReadServers =
  | {
      readonly ok: true;
      readonly servers: readonly { readonly name: string; readonly definition: ServerDefinition }[];
      readonly problems: readonly SkillProblem[];
    }
  | { readonly ok: false; readonly text: string };

const MAX_SERVERS = 50;
/** As connectors are named. */
const NAME = /^[A-Za-z0-9][A-Za-z0-9_-]{0,39}$/;
const texts = z.record(z.string(), z.string()).optional();
const definitionSchema = z
  .object({
    type: z.string().optional(),
    command: z.string().min(1).optional(),
    args: z.array(z.string()).optional(),
    env: texts,
    cwd: z.string().optional(),
    url: z.url({ protocol: /^https?$/ }).optional(),
    headers: texts,
  })
  .refine(({ command, url }) => (command === undefined) !== (url === undefined));

/** Servers of the package. `adds`: what the manifest names stands beside the usual file, else instead of it. */
export async function readServers(root: string, named: unknown, adds: boolean): Promise<ReadServers> {
  const places = [named ?? []].flat();
  const usual = named === undefined || adds ? [".mcp.json", "mcp.json"] : [];
  const blocks: unknown[] = [];
  for (const place of [...usual, ...places]) {
    if (typeof place !== "string") {
      blocks.push(place);
      continue;
    }
    const path = place.replace(/^\.\//, "");
    const file = await readTextIn(root, path, 256 * 1024);
    if (!file.ok && usual.includes(path) && file.reason.startsWith("does not exist")) continue;
    if (!file.ok) return { ok: false, text: `${path}, where its servers should be, ${file.reason}.` };
    const block = parseJson(file.text);
    if (block === undefined) return { ok: false, text: `${path} is not valid JSON.` };
    blocks.push(block);
  }
  return { ok: true, ...collect(blocks) };
}

function collect(blocks: readonly unknown[]) {
  const servers = new Map<string, ServerDefinition>();
  const problems: SkillProblem[] = [];
  for (const [name, value] of blocks.flatMap(entriesIn)) {
    const read = definitionSchema.safeParse(value);
    if (!NAME.test(name))
      problems.push({ where: "its servers", text: "have one whose name is not of letters, digits, - and _, up to 40" });
    else if (!read.success)
      problems.push({
        where: `server ${name}`,
        text: "needs either command or an http(s) url, with texts in args, env and headers",
      });
    else if (servers.size >= MAX_SERVERS)
      problems.push({ where: `server ${name}`, text: `is left out: only ${MAX_SERVERS} are taken` });
    else if (!servers.has(name)) servers.set(name, definitionOf(read.data));
  }
  return { servers: [...servers].map(([name, definition]) => ({ name, definition })), problems };
}

/** With or without the `mcpServers` key around them. */
function entriesIn(block: unknown): readonly [string, unknown][] {
  if (typeof block !== "object" || block === null) return [];
  const inner = "mcpServers" in block ? block.mcpServers : block;
  return typeof inner === "object" && inner !== null && !Array.isArray(inner) ? Object.entries(inner) : [];
}

function definitionOf(read: z.output<typeof definitionSchema>): ServerDefinition {
  return Object.fromEntries(Object.entries(read).filter(([, value]) => value !== undefined));
}

const ROOT = /\$\{(?:CLAUDE_|CURSOR_)?PLUGIN_ROOT\}/g;

/**
 * Names this very definition, so that enabling one does not enable what an update puts in its place. When it runs something out of the package, that is a part
 * of it: `content` names the package's files.
 */
export function printOf(definition: ServerDefinition, content: string): string {
  const sorted = JSON.stringify(definition, (_key, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
      : value,
  );
  const runs = sorted.search(ROOT) < 0 ? "" : content;
  return createHash("sha256").update(`${runs}\n${sorted}`).digest("hex");
}

/** The definition with the folder of the package filled in where packages name it. */
export function withRoot(definition: ServerDefinition, root: string): ServerDefinition {
  const fill = (text: string) => text.replace(ROOT, () => root);
  const filled = JSON.stringify(definition, (_key, value: unknown) =>
    typeof value === "string" ? fill(value) : value,
  );
  return JSON.parse(filled) as ServerDefinition;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    return undefined; // Not JSON; the caller says so.
  }
}
