/**
 * Reads what a plugin package contains (SPEC P1): the manifests of Claude (`.claude-plugin/plugin.json`), Cursor (`.cursor-plugin/plugin.json`) and the open
 * layout (`plugin.json`). Invariant: only reads files inside the package and runs nothing; a package that cannot be understood at all is one readable refusal,
 * a bad part of it is reported beside the good ones.
 */

import { basename, join } from "node:path";
import { z } from "zod";
import type { ServerDefinition, UnusedParts } from "../plugin.ts";
import type { Skill, SkillProblem } from "../skill.ts";
import { readServers } from "./plugin-servers.ts";
import { parseSkillFile } from "./skill-file.ts";
import { BAD_FOLDER_NAME, entriesOf, isInnerPath, isSkillFolderName, listFilesIn, readTextIn } from "./skill-folder.ts";

/** A package as it lies in a folder. */
export interface PluginPackage {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  /** Good skills with the folder that each lies in. */
  readonly skills: readonly (Skill & { readonly folder: string })[];
  readonly servers: readonly { readonly name: string; readonly definition: ServerDefinition }[];
  readonly unused: readonly UnusedParts[];
  readonly problems: readonly SkillProblem[];
}

/** The package, or why it cannot be used. */
export type ReadPackage =
  | { readonly ok: true; readonly plugin: PluginPackage }
  | { readonly ok: false; readonly text: string };

/** Skills of one package that are looked at. */
const MAX_SKILLS = 200;
/** Names that ids of other skills begin with. */
const RESERVED = new Set(["workspace", "private"]);
/** Manifests in the order they are looked for. Cursor's paths stand instead of the usual folders, Claude's beside them. */
const LAYOUTS = [
  { manifest: ".claude-plugin/plugin.json", adds: true },
  { manifest: ".cursor-plugin/plugin.json", adds: false },
  { manifest: "plugin.json", adds: false },
] as const;

const paths = z
  .union([z.string(), z.array(z.string())])
  .optional()
  .catch(undefined);
const manifestSchema = z.object({
  name: z.string().regex(/^[a-z0-9]([a-z0-9._-]{0,62}[a-z0-9])?$/i),
  version: z.string().max(100).optional().catch(undefined),
  description: z.string().max(5000).optional().catch(undefined),
  skills: paths,
  commands: z.unknown().optional(),
  agents: z.unknown().optional(),
  hooks: z.unknown().optional(),
  rules: z.unknown().optional(),
  mcpServers: z.unknown().optional(),
});
type Manifest = z.output<typeof manifestSchema>;

/** Reads the package in this folder. */
export async function readPackage(root: string): Promise<ReadPackage> {
  const found = await findManifest(root);
  if (!found.ok) return found;
  const { manifest, adds } = found;
  const servers = await readServers(root, manifest.mcpServers, adds);
  if (!servers.ok) return servers;
  const skills = await readSkills(root, manifest, adds);
  const good = skills.flatMap((one) => ("skill" in one ? [one.skill] : []));
  const bad = skills.flatMap((one) => ("problem" in one ? [one.problem] : []));
  const name = manifest.name.toLowerCase();
  return {
    ok: true,
    plugin: {
      name,
      ...(manifest.version === undefined ? {} : { version: manifest.version }),
      ...(manifest.description === undefined ? {} : { description: manifest.description }),
      skills: good,
      servers: servers.servers,
      unused: await unusedParts(root, manifest),
      problems: [...bad, ...servers.problems].map(({ where, text }) => ({ where: `plugin ${name}, ${where}`, text })),
    },
  };
}

type Found = { ok: true; manifest: Manifest; adds: boolean } | { ok: false; text: string };

async function findManifest(root: string): Promise<Found> {
  for (const { manifest: path, adds } of LAYOUTS) {
    const file = await readTextIn(root, path, 256 * 1024);
    if (!file.ok && file.reason.startsWith("does not exist")) continue;
    if (!file.ok) return { ok: false, text: `${path} ${file.reason}.` };
    const read = manifestSchema.safeParse(parseJson(file.text));
    if (!read.success)
      return { ok: false, text: `${path} is not a plugin's manifest: ${whatIsWrong(read.error, file.text)}` };
    if (RESERVED.has(read.data.name.toLowerCase()))
      return { ok: false, text: `${path}: the name ${read.data.name} is taken by the host itself.` };
    return { ok: true, manifest: read.data, adds };
  }
  return { ok: false, text: await whyNoManifest(root) };
}

function whatIsWrong(error: z.ZodError, text: string): string {
  if (parseJson(text) === undefined) return "it is not valid JSON.";
  const key = error.issues[0]?.path.join(".");
  if (key && key !== "name") return `${key} is not what it should be.`;
  return "it needs a name of letters, digits, -, _ and dots, up to 64 characters.";
}

/** A shop window of several plugins is the usual mistake. */
async function whyNoManifest(root: string): Promise<string> {
  for (const folder of [".claude-plugin", ".cursor-plugin"]) {
    const file = await readTextIn(root, `${folder}/marketplace.json`, 1024 * 1024);
    if (!file.ok) continue;
    const read = z
      .object({ plugins: z.array(z.object({ source: z.unknown().optional() })) })
      .safeParse(parseJson(file.text));
    const inner = (read.success ? read.data.plugins : []).flatMap(({ source }) =>
      typeof source === "string" ? [source.replace(/^\.\//, "")] : [],
    );
    const list = inner.length > 0 ? ` It offers: ${inner.slice(0, 20).join(", ")}.` : "";
    return `this is a marketplace of several plugins. Name one by its folder: ADDRESS#:FOLDER.${list}`;
  }
  return "there is no .claude-plugin/plugin.json, .cursor-plugin/plugin.json or plugin.json in it.";
}

type ReadSkill = { readonly skill: PluginPackage["skills"][number] } | { readonly problem: SkillProblem };

async function readSkills(root: string, manifest: Manifest, adds: boolean): Promise<readonly ReadSkill[]> {
  const named = [manifest.skills ?? []].flat().map((path) => path.replace(/^\.\//, "").replace(/\/+$/, ""));
  const places = named.length === 0 || adds ? ["skills", ...named] : named;
  const folders = (await Promise.all([...new Set(places)].map((place) => skillFoldersAt(root, place)))).flat();
  const single = folders.length === 0 && (await readTextIn(root, "SKILL.md")).ok ? [""] : [];
  const all = [...new Set([...folders, ...single])].slice(0, MAX_SKILLS);
  const read = await Promise.all(all.map((folder) => readSkill(root, folder, manifest.name.toLowerCase())));
  return withoutTwins(read);
}

/** The folder itself when it has a SKILL.md, else the folders in it that have one. Paths inside the package. */
async function skillFoldersAt(root: string, place: string): Promise<readonly string[]> {
  if (place !== "" && place !== "." && !isInnerPath(place)) return [];
  const at = place === "." ? "" : place;
  const entries = await entriesOf(join(root, at));
  if (at !== "" && entries.some((entry) => entry.name === "SKILL.md")) return [at];
  const inside = entries.filter((entry) => entry.isDirectory() && !entry.name.startsWith("."));
  const checked = await Promise.all(
    inside.map(async ({ name }) => {
      const folder = at === "" ? name : `${at}/${name}`;
      return (await entriesOf(join(root, folder))).some((entry) => entry.name === "SKILL.md") ? [folder] : [];
    }),
  );
  return checked.flat();
}

async function readSkill(root: string, folder: string, plugin: string): Promise<ReadSkill> {
  const path = folder === "" ? "SKILL.md" : `${folder}/SKILL.md`;
  const file = await readTextIn(root, path);
  if (!file.ok) return { problem: { where: path, text: file.reason } };
  const parsed = parseSkillFile(file.text);
  if (!parsed.ok) return { problem: { where: path, text: parsed.text } };
  const { name, description } = parsed;
  if (folder !== "" && !isSkillFolderName(basename(folder)))
    return { problem: { where: JSON.stringify(path.slice(0, 200)), text: BAD_FOLDER_NAME } };
  const id = `${plugin}:${folder === "" ? plugin : basename(folder)}`;
  return { skill: { id, name, description, source: { kind: "plugin", plugin }, folder: join(root, folder) } };
}

/** Of two skills with one id or one name, the first in order is kept. */
function withoutTwins(read: readonly ReadSkill[]): readonly ReadSkill[] {
  const seen = new Set<string>();
  return read.map((one) => {
    if ("problem" in one) return one;
    const { id, name } = one.skill;
    const marks = [`id ${id}`, `name ${name.toLowerCase()}`];
    const twin = marks.some((mark) => seen.has(mark));
    for (const mark of marks) seen.add(mark);
    return twin
      ? {
          problem: {
            where: id,
            text: `has the same name as another skill beside it (${name}) and is left out. Rename one.`,
          },
        }
      : one;
  });
}

/** Parts that other programs would use, counted so that nobody waits for them. */
async function unusedParts(root: string, manifest: Manifest): Promise<readonly UnusedParts[]> {
  const kinds = ["commands", "agents", "hooks", "rules"] as const;
  const counted = await Promise.all(
    kinds.map(async (kind) => {
      const files = await listFilesIn(join(root, kind));
      const named = manifest[kind] === undefined ? 0 : [manifest[kind]].flat().length;
      return { kind, count: Math.max(files.length, named) };
    }),
  );
  const others = [".lsp.json", "output-styles", "outputStyles", "monitors", "themes", "settings.json"];
  const entries = await entriesOf(root);
  const count = entries.filter((entry) => others.includes(entry.name)).length;
  return [...counted, { kind: "other" as const, count }].filter((part) => part.count > 0);
}

/** Undefined when it is not JSON. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.replace(/^\ufeff/, ""));
  } catch {
    return undefined;
  }
}
