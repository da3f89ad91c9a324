/**
 * Installs, updates and removes plugins (SPEC P1). The same for the command line and for a running service: both change the files and the index, and every
 * process notices. Invariant: what is in use stays in use until its successor has been fetched whole and understood; a failure is noted beside it.
 */

import { randomBytes } from "node:crypto";
import { promises as fs } from "node:fs";
import { dirname, join } from "node:path";
import type { Plugin, PluginOrigin, PluginOutcome, PluginServer } from "../plugin.ts";
import { copyPackage, PACKAGE_BYTES } from "./plugin-copy.ts";
import { fetchRepository, type GitLimits } from "./plugin-git.ts";
import { changeIndex, folderOf, type PluginIndex, type PluginRecord, readIndex } from "./plugin-index.ts";
import { type PluginPackage, readPackage } from "./plugin-package.ts";
import { printOf, withRoot } from "./plugin-servers.ts";
import { type PluginSource, readSource } from "./plugin-source.ts";

/** Where plugins are kept, and what git may see of the environment. */
export interface PluginParts {
  readonly dir: string;
  /** Folders are named relative to this one. */
  readonly cwd: string;
  readonly gitEnv: Readonly<Record<string, string>>;
  readonly gitLimits?: GitLimits;
  /** Ends what is being fetched. */
  readonly signal?: AbortSignal;
}

/** What operators do with plugins. Contract: wishes that cannot be met are outcomes; throws only when the folder itself cannot be used. */
export interface Plugins {
  list(): Promise<readonly Plugin[]>;
  /** Sources of the settings that could not be installed. */
  failed(): Promise<readonly { readonly source: string; readonly text: string }[]>;
  add(source: string, origin?: PluginOrigin): Promise<PluginOutcome>;
  /** Fetches the plugin again from where it came. */
  update(name: string): Promise<PluginOutcome>;
  remove(name: string): Promise<boolean>;
  /** Lets a server of a plugin be used, or not. */
  setServer(plugin: string, server: string, enabled: boolean): Promise<PluginOutcome>;
  /** Makes what is installed agree with the settings: new sources are installed, folders are read again, what is no longer listed goes. */
  sync(sources: readonly string[]): Promise<readonly { readonly source: string; readonly outcome: PluginOutcome }[]>;
}

const GIT_LIMITS: GitLimits = { timeoutMs: 120_000, maxBytes: 4 * PACKAGE_BYTES };

/** The plugins of one data folder. */
export function createPlugins(parts: PluginParts): Plugins {
  const { dir } = parts;
  const find = async (name: string) => (await readIndex(dir)).plugins.find((one) => one.name === name.toLowerCase());
  const update = async (record: PluginRecord): Promise<PluginOutcome> => {
    const outcome = await install(parts, record.source, record.origin, record.name);
    if (!outcome.ok && !parts.signal?.aborted) await noteProblem(dir, record.name, outcome.text);
    return outcome;
  };
  const plugins: Plugins = {
    list: async () => Promise.all((await readIndex(dir)).plugins.map((record) => describe(dir, record))),
    failed: async () => (await readIndex(dir)).failed.map(({ source, text }) => ({ source, text })),
    add: (source, origin = "command") => install(parts, source, origin),
    async update(name) {
      const record = await find(name);
      return record ? update(record) : unknown(await readIndex(dir), name);
    },
    async remove(name) {
      if (!(await find(name))) return false;
      await changeIndex(dir, (index) => ({
        ...index,
        plugins: index.plugins.filter((one) => one.name !== name.toLowerCase()),
      }));
      return true;
    },
    setServer: (plugin, server, enabled) => setServer(dir, plugin, server, enabled),
    async sync(sources) {
      const wanted = new Map(sources.map((source) => [addressOf(source, parts.cwd), source]));
      await changeIndex(dir, (index) => withoutUnlisted(index, wanted));
      const one = async ([address, source]: readonly [string, string]) => {
        const record = (await readIndex(dir)).plugins.find((plugin) => plugin.source === address);
        // A repository stays at its commit until somebody asks for an update; a folder is there to be worked on.
        if (record?.commit !== undefined) return [];
        const outcome = record ? await update(record) : await install(parts, source, "settings");
        // What was stopped is tried again at the next start; it has not failed.
        if (!record && !parts.signal?.aborted) await noteFailed(dir, address, outcome.ok ? undefined : outcome.text);
        return [{ source, outcome }];
      };
      return (await Promise.all([...wanted].map(one))).flat();
    },
  };
  return plugins;
}

/** What is installed and enabled, as a text that changes when it does: cheap to ask for again and again. */
export async function printOfPlugins(dir: string): Promise<string> {
  return JSON.stringify((await readIndex(dir)).plugins);
}

/** The servers of installed plugins that connections can be made from; definitions are complete, whether enabled or not. */
export async function listPluginServers(dir: string): Promise<readonly PluginServer[]> {
  const { plugins } = await readIndex(dir);
  const described = await Promise.all(plugins.map((record) => describe(dir, record)));
  return described.flatMap((plugin) => plugin.servers);
}

async function install(
  parts: PluginParts,
  written: string,
  origin: PluginOrigin,
  expected?: string,
): Promise<PluginOutcome> {
  const read = readSource(written, parts.cwd);
  if (!read.ok) return no(written, read.text);
  const draft = join(parts.dir, `.new-${randomBytes(6).toString("hex")}`);
  try {
    await fs.mkdir(draft, { recursive: true });
    const fetched = await fetchTo(parts, read.source, draft);
    if (!fetched.ok) return no(written, fetched.text);
    const packed = await readPackage(join(draft, "package"));
    if (!packed.ok) return no(written, packed.text);
    const problem = usability(packed.plugin, expected);
    if (problem) return no(written, problem);
    return await adopt(parts.dir, packed.plugin, { ...fetched, draft, source: read.address, origin });
  } finally {
    await fs.rm(draft, { recursive: true, force: true });
  }
}

type Fetched =
  | { readonly ok: true; readonly content: string; readonly commit?: string; readonly links: number }
  | { readonly ok: false; readonly text: string };

/** The package as a checked copy in `<draft>/package`. */
async function fetchTo(parts: PluginParts, source: PluginSource, draft: string): Promise<Fetched> {
  const to = join(draft, "package");
  if (source.kind === "folder") return copyPackage(source.path, to);
  const repository = join(draft, "repository");
  await fs.mkdir(repository);
  const { gitEnv, gitLimits = GIT_LIMITS, signal } = parts;
  const fetched = await fetchRepository(source, repository, gitEnv, { ...gitLimits, ...(signal ? { signal } : {}) });
  if (!fetched.ok) return fetched;
  // No links are made at checkout, so the folder cannot lead elsewhere.
  const copied = await copyPackage(join(repository, source.folder ?? ""), to);
  if (copied.ok) return { ...copied, commit: fetched.commit };
  return source.folder && copied.text.startsWith("there is no folder")
    ? { ok: false, text: `the repository has no folder ${source.folder}` }
    : copied;
}

/** Undefined when the package may take its place. */
function usability(packed: PluginPackage, expected: string | undefined): string | undefined {
  if (expected !== undefined && packed.name !== expected)
    return `it now calls itself ${packed.name}, not ${expected}. Remove the old one and add it anew.`;
  const bad = packed.problems[0];
  if (packed.skills.length === 0 && bad) return `nothing in it can be used: ${bad.where} ${bad.text}`;
  return undefined;
}

async function adopt(
  dir: string,
  packed: PluginPackage,
  how: {
    readonly draft: string;
    readonly content: string;
    readonly commit?: string;
    readonly source: string;
    readonly origin: PluginOrigin;
  },
): Promise<PluginOutcome> {
  const { content, commit, source, origin } = how;
  const target = folderOf(dir, { name: packed.name, content });
  await fs.mkdir(dirname(target), { recursive: true });
  // A folder of this name has this very content.
  await fs.rename(join(how.draft, "package"), target).catch(async (error: unknown) => {
    if (!(await fs.stat(target).catch(() => null))) throw error;
    await fs.utimes(target, new Date(), new Date());
  });
  let refusal: string | undefined;
  let changed = true;
  const index = await changeIndex(dir, (before) => {
    const old = before.plugins.find((one) => one.name === packed.name);
    if (old && old.source !== source) {
      refusal = `a plugin called ${packed.name} is installed from ${old.source}. Remove it first: parley plugin remove ${packed.name}`;
      return before;
    }
    changed = old?.content !== content;
    const record: PluginRecord = {
      ...{ name: packed.name, source, content, enabled: old?.enabled ?? {} },
      origin: old?.origin === "settings" ? "settings" : origin,
      installedAt: changed || !old ? new Date().toISOString() : old.installedAt,
      ...(commit === undefined ? {} : { commit }),
    };
    const others = before.plugins.filter((one) => one.name !== packed.name);
    return { ...before, plugins: [...others, record].sort((a, b) => (a.name < b.name ? -1 : 1)) };
  });
  const record = index.plugins.find((one) => one.name === packed.name);
  if (refusal !== undefined || !record) return no(source, refusal ?? "it was removed meanwhile");
  return { ok: true, changed, plugin: await describe(dir, record) };
}

async function describe(dir: string, record: PluginRecord): Promise<Plugin> {
  const { name, source, origin, commit, content, enabled, problem } = record;
  const folder = folderOf(dir, record);
  const read = await readPackage(folder);
  const failure = problem
    ? [{ where: `plugin ${name}`, text: `the last update failed, the old version stays: ${problem.text}` }]
    : [];
  const base = { name, source, origin, ...(commit === undefined ? {} : { commit }) };
  if (!read.ok)
    return {
      ...base,
      skills: [],
      servers: [],
      unused: [],
      problems: [...failure, { where: `plugin ${name}`, text: read.text }],
    };
  const { version, description, skills, servers, unused, problems } = read.plugin;
  return {
    ...base,
    ...(version === undefined ? {} : { version }),
    ...(description === undefined ? {} : { description }),
    skills: skills.map((skill) => skill.id),
    servers: servers.map((server) => ({
      name: server.name,
      plugin: name,
      definition: withRoot(server.definition, folder),
      enabled: enabled[server.name] === printOf(server.definition, content),
    })),
    unused,
    problems: [...failure, ...problems],
  };
}

async function setServer(dir: string, plugin: string, server: string, on: boolean): Promise<PluginOutcome> {
  const index = await readIndex(dir);
  const record = index.plugins.find((one) => one.name === plugin.toLowerCase());
  if (!record) return unknown(index, plugin);
  const read = await readPackage(folderOf(dir, record));
  const found = read.ok ? read.plugin.servers.find((one) => one.name === server) : undefined;
  if (!found) {
    const names = read.ok ? read.plugin.servers.map((one) => one.name).join(", ") : "";
    return {
      ok: false,
      text: `${record.name} has no server ${server}. ${names ? `It has: ${names}.` : "It has none."}`,
    };
  }
  const print = printOf(found.definition, record.content);
  const after = await changeIndex(dir, (before) =>
    changeRecord(before, record.name, (one) => {
      const { [server]: _old, ...others } = one.enabled;
      return { ...one, enabled: on ? { ...others, [server]: print } : others };
    }),
  );
  const now = after.plugins.find((one) => one.name === record.name) ?? record;
  return { ok: true, changed: (record.enabled[server] === print) !== on, plugin: await describe(dir, now) };
}

async function noteProblem(dir: string, name: string, text: string): Promise<void> {
  const problem = { at: new Date().toISOString(), text };
  await changeIndex(dir, (index) => changeRecord(index, name, (record) => ({ ...record, problem })));
}

async function noteFailed(dir: string, source: string, text: string | undefined): Promise<void> {
  await changeIndex(dir, (index) => {
    const others = index.failed.filter((one) => one.source !== source);
    if (text === undefined && others.length === index.failed.length) return index;
    return {
      ...index,
      failed: text === undefined ? others : [...others, { source, text, at: new Date().toISOString() }],
    };
  });
}

function changeRecord(index: PluginIndex, name: string, change: (record: PluginRecord) => PluginRecord): PluginIndex {
  return { ...index, plugins: index.plugins.map((one) => (one.name === name ? change(one) : one)) };
}

/** Plugins that were listed in the settings and are no longer. */
function withoutUnlisted(index: PluginIndex, listed: ReadonlyMap<string, string>): PluginIndex {
  const plugins = index.plugins.filter(({ origin, source }) => origin === "command" || listed.has(source));
  const failed = index.failed.filter(({ source }) => listed.has(source));
  const same = plugins.length === index.plugins.length && failed.length === index.failed.length;
  return same ? index : { ...index, plugins, failed };
}

/** What names a source in the index. One that cannot be read is named as it is written. */
function addressOf(source: string, cwd: string): string {
  const read = readSource(source, cwd);
  return read.ok ? read.address : source;
}

function no(source: string, text: string): PluginOutcome {
  return { ok: false, text: `${source.trim()}: ${text}` };
}

function unknown({ plugins }: PluginIndex, name: string): PluginOutcome {
  const names = plugins.map((one) => one.name).join(", ");
  return { ok: false, text: `There is no plugin ${name}. ${names ? `Installed: ${names}.` : "None is installed."}` };
}
