/**
 * The skills that lie in folders, as this process sees them: of the shared workspace, of each bot's own folder, and of installed plugins. It is looked at again
 * every moment, so what is put there, or installed by command, is known without a restart. Invariant: a bad folder is a problem beside the good skills, told once
 * in the log, and what cannot be read now leaves what was known.
 */

import { promises as fs } from "node:fs";
import { join } from "node:path";
import type { Log } from "../log.ts";
import type { Skill, SkillLibrary, SkillProblem, SkillText } from "../skill.ts";
import { folderOf, INDEX_FILE, readIndex } from "./plugin-index.ts";
import { readPackage } from "./plugin-package.ts";
import { parseSkillFile } from "./skill-file.ts";
import { BAD_FOLDER_NAME, entriesOf, isSkillFolderName, listFilesIn, readTextIn } from "./skill-folder.ts";

/** Characters of one page. */
export const SKILL_PAGE_CHARS = 16_000;
/** Skills of one folder that are looked at. */
const MAX_SKILLS = 300;

/** Where skills lie. */
export interface SkillFolders {
  /** The shared workspace: skills in `skills/<folder>`, a bot's own in `bots/<bot>/skills/<folder>`. */
  readonly workspaceDir: string;
  /** Installed plugins. */
  readonly pluginsDir: string;
}

type FoundSkill = Skill & { readonly folder: string };

interface Found {
  readonly skills: readonly FoundSkill[];
  readonly problems: readonly SkillProblem[];
}

/** The skills in these folders. Nothing is known before the first `refresh`. */
export function createSkills({ log, ...folders }: SkillFolders & { readonly log: Log }): SkillLibrary {
  let found: Found = { skills: [], problems: [] };
  let seen = "";
  let told = new Set<string>();
  const look = async () => {
    const print = await printOf(folders);
    if (print === seen) return;
    found = await findSkills(folders);
    seen = print;
    const lines = found.problems.map(({ where, text }) => `${where} ${text}`);
    for (const line of lines.filter((one) => !told.has(one))) log.warn({}, `skills: ${line}`);
    told = new Set(lines);
    log.info({ skills: found.skills.length, problems: lines.length }, "skills read");
  };
  return {
    list: (botId) => found.skills.filter((skill) => isFor(skill, botId)).map(({ folder: _folder, ...skill }) => skill),
    read: (botId, id, file, offset) =>
      readSkill(
        found.skills.find((one) => one.id === id && isFor(one, botId)),
        file,
        offset,
      ),
    problems: () => found.problems,
    refresh: () =>
      look().catch((error: unknown) => {
        const text = error instanceof Error ? error.message : String(error);
        if (!told.has(text)) log.warn({}, `skills: ${text}`);
        told.add(text);
        found = {
          ...found,
          problems: [...found.problems.filter((one) => one.where !== "plugins"), { where: "plugins", text }],
        };
      }),
  };
}

/** What lies in these folders now, for somebody who looks once. Throws when the index of the plugins is damaged. */
export async function findSkills({ workspaceDir, pluginsDir }: SkillFolders): Promise<Found> {
  const shared = await skillsIn(workspaceDir, "skills", "workspace:", { kind: "workspace" });
  const bots = (await entriesOf(join(workspaceDir, "bots"))).filter((entry) => entry.isDirectory());
  const own = await Promise.all(
    bots.map(({ name }) => skillsIn(workspaceDir, `bots/${name}/skills`, "private:", { kind: "private", botId: name })),
  );
  const parts = [shared, ...own, await pluginSkills(pluginsDir)];
  return {
    skills: parts.flatMap((part) => part.skills).sort((a, b) => (a.id < b.id ? -1 : 1)),
    problems: parts.flatMap((part) => part.problems),
  };
}

async function pluginSkills(dir: string): Promise<Found> {
  const { plugins, failed } = await readIndex(dir);
  const read = await Promise.all(
    plugins.map(async (record): Promise<Found> => {
      const found = await readPackage(folderOf(dir, record));
      const where = `plugin ${record.name}`;
      const failure = record.problem
        ? [{ where, text: `could not be updated, the old version stays: ${record.problem.text}` }]
        : [];
      return found.ok
        ? { skills: found.plugin.skills, problems: [...failure, ...found.plugin.problems] }
        : { skills: [], problems: [...failure, { where, text: found.text }] };
    }),
  );
  const missing = failed.map(({ source, text }) => ({
    where: `plugin ${source}`,
    text: `could not be installed: ${text}`,
  }));
  return { skills: read.flatMap((one) => one.skills), problems: [...read.flatMap((one) => one.problems), ...missing] };
}

/** Skills in the folder `place` of the workspace; problems name their place there. */
async function skillsIn(workspaceDir: string, place: string, prefix: string, source: Skill["source"]): Promise<Found> {
  const root = join(workspaceDir, place);
  const entries = (await entriesOf(root)).filter((entry) => !entry.name.startsWith("."));
  const folders = entries.filter((entry) => entry.isDirectory());
  const skills: FoundSkill[] = [];
  const problems: SkillProblem[] = [];
  const report = (name: string, text: string) =>
    problems.push({ where: [place, name].filter(Boolean).join("/"), text });
  const names = new Set<string>();
  const extra = folders.length - MAX_SKILLS;
  if (extra > 0) report("", `has ${extra} folders more than the ${MAX_SKILLS} that are read`);
  for (const { name } of entries.filter((one) => one.isSymbolicLink()))
    report(name, "is a link, which is not followed. Copy the folder.");
  for (const { name: folder } of folders.slice(0, MAX_SKILLS)) {
    const read = await readOne(join(root, folder), folder);
    if (!read.ok) report(`${folder}/SKILL.md`, read.text);
    else if (names.has(read.name.toLowerCase()))
      report(
        `${folder}/SKILL.md`,
        `has the name of another skill beside it (${read.name}) and is left out. Rename one.`,
      );
    else {
      const { name, description } = read;
      names.add(name.toLowerCase());
      skills.push({ id: `${prefix}${folder}`, name, description, source, folder: join(root, folder) });
    }
  }
  return { skills, problems };
}

async function readOne(folder: string, name: string) {
  if (!isSkillFolderName(name)) return { ok: false as const, text: BAD_FOLDER_NAME };
  const file = await readTextIn(folder, "SKILL.md");
  return file.ok ? parseSkillFile(file.text) : { ok: false as const, text: file.reason };
}

/** Changes when a skill, a folder of skills or the index of plugins does; installed packages themselves never change. */
async function printOf({ workspaceDir, pluginsDir }: SkillFolders): Promise<string> {
  const bots = (await entriesOf(join(workspaceDir, "bots"))).map(({ name }) =>
    join(workspaceDir, "bots", name, "skills"),
  );
  const roots = [join(workspaceDir, "skills"), ...bots];
  const inside = await Promise.all(
    roots.map(async (root) =>
      (await entriesOf(root)).slice(0, 2 * MAX_SKILLS).map(({ name }) => join(root, name, "SKILL.md")),
    ),
  );
  const files = [join(pluginsDir, INDEX_FILE), ...inside.flat()];
  const stats = await Promise.all(files.map((file) => fs.lstat(file).catch(() => null))); // Missing is a state too.
  return files.map((file, i) => `${file} ${stats[i]?.mtimeMs} ${stats[i]?.size} ${stats[i]?.ino}`).join("\n");
}

function isFor({ source }: Skill, botId: string): boolean {
  return source.kind !== "private" || source.botId === botId;
}

async function readSkill(skill: FoundSkill | undefined, file: string | undefined, offset: number): Promise<SkillText> {
  if (!skill) return { ok: false, text: "There is no skill with this id." };
  const isMain = file === undefined || file === "SKILL.md";
  const read = await readTextIn(skill.folder, isMain ? "SKILL.md" : file);
  if (!read.ok)
    return { ok: false, text: `${JSON.stringify(isMain ? "SKILL.md" : file.slice(0, 200))} ${read.reason}.` };
  const parsed = isMain ? parseSkillFile(read.text) : undefined;
  const text = parsed?.ok ? parsed.body : read.text;
  const files =
    isMain && offset === 0 ? (await listFilesIn(skill.folder)).filter((path) => path !== "SKILL.md") : undefined;
  return { ...pageOf(text, offset), ...(files && files.length > 0 ? { files } : {}) };
}

/** The page of a text that begins at `offset`, ended at a line where that costs little. */
export function pageOf(text: string, offset: number): Extract<SkillText, { ok: true }> {
  const from = Math.min(Math.max(0, offset), text.length);
  const hard = from + SKILL_PAGE_CHARS;
  if (hard >= text.length) return { ok: true, text: text.slice(from), total: text.length };
  const line = text.lastIndexOf("\n", hard);
  // Half a character would be unreadable on both pages.
  const end = /[\ud800-\udbff]/.test(text[hard - 1] ?? "") ? hard - 1 : hard;
  const next = line > from + SKILL_PAGE_CHARS / 2 ? line + 1 : end;
  return { ok: true, text: text.slice(from, next), total: text.length, next };
}
