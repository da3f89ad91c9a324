/**
 * Which plugins are installed: one small file beside their folders, so that the command line and every running process see the same without a database.
 * Invariant: the file is exchanged whole, under a lock that only one process holds, and a plugin's new folder is complete before the file names it. A reader
 * therefore sees the old version or the new one, never half of one.
 */

import { promises as fs } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { entriesOf } from "./skill-folder.ts";

/** A plugin as it is noted. */
export type PluginRecord = z.output<typeof recordSchema>;
/** The whole file. `failed` are sources of the settings that could never be installed. */
export type PluginIndex = z.output<typeof indexSchema>;

const note = z.object({ at: z.string(), text: z.string() });
const recordSchema = z.object({
  name: z.string(),
  source: z.string(),
  origin: z.enum(["settings", "command"]),
  /** Name of the folder of this version, inside the folder of the plugin: what it contains, as a hash. */
  content: z.string().regex(/^[0-9a-f]{8,64}$/),
  commit: z.string().optional(),
  installedAt: z.string(),
  /** Server name → print of the definition that was enabled. */
  enabled: z.record(z.string(), z.string()).default({}),
  /** The last update that failed. */
  problem: note.optional(),
});
const indexSchema = z.object({
  version: z.literal(1),
  plugins: z.array(recordSchema),
  failed: z.array(z.object({ source: z.string(), at: z.string(), text: z.string() })).default([]),
});

/** Name of the file inside the folder of the plugins. */
export const INDEX_FILE = "installed.json";
const LOCK_FILE = ".lock";
/** A lock is held for moments; one older than this belongs to a process that is gone. */
const LOCK_STALE_MS = 30_000;
const LOCK_TRIES = 100;
const LOCK_PAUSE_MS = 100;
/** Folders that nothing names any more stay this long for whoever still reads them. */
const KEEP_OLD_MS = 10 * 60_000;

/** What the file says; without one, nothing is installed. Throws when it is there and cannot be understood. */
export async function readIndex(dir: string): Promise<PluginIndex> {
  const text = await fs.readFile(join(dir, INDEX_FILE), "utf8").catch((error: NodeJS.ErrnoException) => {
    if (error.code === "ENOENT") return null;
    throw error;
  });
  if (text === null) return { version: 1, plugins: [], failed: [] };
  const read = indexSchema.safeParse(parseJson(text));
  if (read.success) return read.data;
  throw new Error(`${join(dir, INDEX_FILE)} is damaged. Move it away and add the plugins again.`);
}

/** Where the files of this version lie. */
export function folderOf(dir: string, { name, content }: Pick<PluginRecord, "name" | "content">): string {
  return join(dir, name, content);
}

/** Changes the file; what `change` returns is written, unless it is what it was given. */
export async function changeIndex(dir: string, change: (index: PluginIndex) => PluginIndex): Promise<PluginIndex> {
  await fs.mkdir(dir, { recursive: true });
  const release = await lock(join(dir, LOCK_FILE));
  try {
    const before = await readIndex(dir);
    const after = change(before);
    if (after !== before) {
      const draft = join(dir, `.${INDEX_FILE}.${process.pid}`);
      await fs.writeFile(draft, `${JSON.stringify(after, null, 2)}\n`);
      await fs.rename(draft, join(dir, INDEX_FILE));
      await markReplaced(dir, before, after);
      await removeOld(dir, after);
    }
    return after;
  } finally {
    await release();
  }
}

async function lock(file: string): Promise<() => Promise<void>> {
  for (let attempt = 0; attempt < LOCK_TRIES; attempt += 1) {
    try {
      await fs.writeFile(file, String(process.pid), { flag: "wx" });
      return () => fs.rm(file, { force: true });
    } catch (error) {
      if (!(error instanceof Error) || !("code" in error) || error.code !== "EEXIST") throw error;
      const stat = await fs.stat(file).catch(() => null); // Given back a moment ago.
      if (stat && Date.now() - stat.mtimeMs > LOCK_STALE_MS) await fs.rm(file, { force: true });
      await delay(LOCK_PAUSE_MS);
    }
  }
  throw new Error(`Another process keeps ${file}. If none is at work on plugins, delete that file.`);
}

/** The time since when nothing names a folder is its own time: whoever still reads it has from then on. */
async function markReplaced(dir: string, before: PluginIndex, after: PluginIndex): Promise<void> {
  const inUse = new Set(after.plugins.map((plugin) => folderOf(dir, plugin)));
  const now = new Date();
  for (const folder of before.plugins.map((plugin) => folderOf(dir, plugin)).filter((path) => !inUse.has(path)))
    await fs.utimes(folder, now, now).catch(() => undefined); // Deleted by hand: nothing to keep.
}

/** Removes folders of former versions, and unfinished ones, once nobody can be reading them. */
async function removeOld(dir: string, { plugins }: PluginIndex): Promise<void> {
  const inUse = new Set(plugins.map((plugin) => folderOf(dir, plugin)));
  const top = (await entriesOf(dir)).filter((entry) => entry.isDirectory());
  const nested = await Promise.all(
    top.map(async ({ name }) => {
      if (name.startsWith(".")) return [join(dir, name)];
      const inner = await entriesOf(join(dir, name));
      return inner.map((entry) => join(dir, name, entry.name));
    }),
  );
  for (const folder of nested.flat().filter((path) => !inUse.has(path))) {
    const stat = await fs.stat(folder).catch(() => null); // Removed by somebody else.
    if (stat && Date.now() - stat.mtimeMs > KEEP_OLD_MS) await fs.rm(folder, { recursive: true, force: true });
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined; // The schema refuses it.
  }
}
