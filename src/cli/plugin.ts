/**
 * `parley plugin add | list | update | remove | enable | disable`: packages of skills and MCP servers made by others. The same while Parley runs and while it does
 * not: a running one notices within seconds. Invariant: nothing of a package runs here; its servers are off until somebody enables each.
 */
import { loadConfig } from "../config.ts";
import { createPlugins, type Plugin, type PluginOutcome, type Plugins } from "../engine/index.ts";
import { type CommandLine, settingsArguments } from "./command-line.ts";

/** Installs a plugin from a folder or git address. */
export async function addPlugin(line: CommandLine, source: string): Promise<number> {
  const outcome = await open(line).add(source);
  if (!outcome.ok) return complain(line, `Not added. ${outcome.text}`);
  line.print(outcome.changed ? "Added, for all bots:" : "It was there already, in this version:");
  describe(line, outcome.plugin);
  return 0;
}

/** Shows what is installed. */
export async function listPlugins(line: CommandLine): Promise<number> {
  const plugins = open(line);
  const [installed, failed] = [await plugins.list(), await plugins.failed()];
  if (installed.length + failed.length === 0)
    line.print("No plugins. Add one with: parley plugin add FOLDER-OR-GIT-ADDRESS");
  for (const plugin of installed) describe(line, plugin);
  for (const { source, text } of failed) line.print(`${source}: not installed. ${text}`);
  return 0;
}

/** Fetches one plugin again, or all. What fails stays as it was. */
export async function updatePlugins(line: CommandLine, name: string | undefined): Promise<number> {
  const plugins = open(line);
  const names = name === undefined ? (await plugins.list()).map((plugin) => plugin.name) : [name];
  let code = 0;
  for (const one of names) {
    const before = (await plugins.list()).find((plugin) => plugin.name === one);
    const outcome = await plugins.update(one);
    if (!outcome.ok) code = complain(line, `${one}: not updated, the old version stays in use. ${outcome.text}`);
    else if (!outcome.changed) line.print(`${one}: nothing new.`);
    else {
      line.print(`${one}: updated.`);
      describe(line, outcome.plugin);
      for (const server of switchedOff(before, outcome.plugin))
        line.print(`  server ${server} has changed and is off. To use it again: parley plugin enable ${one}/${server}`);
    }
  }
  if (names.length === 0) line.print("No plugins.");
  return code;
}

/** Removes a plugin. One that the settings list would come back. */
export async function removePlugin(line: CommandLine, name: string): Promise<number> {
  const plugins = open(line);
  const plugin = (await plugins.list()).find((one) => one.name === name.toLowerCase());
  if (plugin?.origin === "settings")
    return complain(
      line,
      `${plugin.name} is listed in the settings. Take ${plugin.source} out of plugins there and restart.`,
    );
  if (!(await plugins.remove(name))) return complain(line, `There is no plugin ${name}. See: parley plugin list`);
  line.print(`Removed ${name}.`);
  return 0;
}

/** Lets a server of a plugin be used, or not; `path` is plugin/server. */
export async function switchServer(line: CommandLine, path: string, on: boolean): Promise<number> {
  const [plugin = "", ...rest] = path.split("/");
  const server = rest.join("/");
  if (plugin === "" || server === "")
    return complain(line, "Name plugin and server, for example: parley plugin enable acme/tickets");
  const outcome: PluginOutcome = await open(line).setServer(plugin, server, on);
  if (!outcome.ok) return complain(line, outcome.text);
  const found = outcome.plugin.servers.find((one) => one.name === server);
  const how = found ? commandOf(found.definition) : "";
  line.print(on ? `${path} is enabled. It runs or reaches: ${how}` : `${path} is disabled.`);
  return 0;
}

function open(line: CommandLine): Plugins {
  const { storage, baseDir, gitEnv } = loadConfig({ ...settingsArguments(line), isDraft: true });
  return createPlugins({ dir: storage.pluginsDir, cwd: baseDir, gitEnv });
}

function describe(line: CommandLine, plugin: Plugin): void {
  const { name, version, source, commit, skills, servers, unused, problems } = plugin;
  const from = commit === undefined ? source : `${source} at ${commit.slice(0, 12)}`;
  line.print(plain(`${name}${version === undefined ? "" : ` ${version}`} (${from})`));
  line.print(`  skills: ${skills.length === 0 ? "none" : skills.join(", ")}`);
  for (const server of servers) {
    const state = server.enabled ? "on" : `off; to use it: parley plugin enable ${name}/${server.name}`;
    line.print(plain(`  server ${server.name}: ${state} (${commandOf(server.definition)})`));
  }
  if (unused.length > 0) line.print(`  not used: ${unused.map(({ kind, count }) => `${count} ${kind}`).join(", ")}`);
  for (const { where, text } of problems) line.print(plain(`  problem: ${where} ${text}`));
}

/** Servers that were on and are off now. */
function switchedOff(before: Plugin | undefined, after: Plugin): readonly string[] {
  const off = after.servers.filter((server) => !server.enabled).map((server) => server.name);
  return (before?.servers ?? [])
    .filter((server) => server.enabled && off.includes(server.name))
    .map((server) => server.name);
}

function commandOf({ command, args = [], url }: Plugin["servers"][number]["definition"]): string {
  return plain(url ?? [command ?? "", ...args].join(" ")).slice(0, 200);
}

/** What a package says, in one line of visible characters: it must not be able to rewrite the terminal. */
function plain(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}]+/gu, " ");
}

function complain(line: CommandLine, text: string): number {
  line.complain(text);
  return 1;
}
