/**
 * The operator's commands: `parley init | doctor | bot add | manifest | invite | plugin | backup`. One file per command; here they get their words. Invariant: a mistake of the person is one readable text and exit code 1, never a stack.
 */
import { Command, CommanderError, Option } from "commander";
import { ConfigError } from "../engine/index.ts";
import { backUp } from "./backup.ts";
import { addBot } from "./bot-add.ts";
import type { CommandLine } from "./command-line.ts";
import { doctor, type Setups } from "./doctor.ts";
import { init } from "./init.ts";
import { invite } from "./invite.ts";
import { printManifest } from "./manifest.ts";
import { addPlugin, listPlugins, removePlugin, switchServer, updatePlugins } from "./plugin.ts";

/** Runs one command and returns its exit code. `words` are the arguments after the program's name. */
export async function runCommand(
  words: readonly string[],
  line: Omit<CommandLine, "configFile">,
  setups: Setups,
): Promise<number> {
  let code = 0;
  const program = describe(line, setups, (result) => {
    code = result;
  });
  try {
    await program.parseAsync([...words], { from: "user" });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    if (!(error instanceof ConfigError)) throw error;
    line.complain(error.message);
    return 1;
  }
}

function describe(line: Omit<CommandLine, "configFile">, setups: Setups, end: (code: number) => void): Command {
  const program = new Command("parley")
    .description("AI teammates that live in Slack, Discord and the browser")
    .option("--config <file>", "settings file (default: PARLEY_CONFIG, or parley.yaml here)");
  const trim = (text: string) => text.replace(/\n$/, "");
  program
    .exitOverride()
    .configureOutput({ writeOut: (text) => line.print(trim(text)), writeErr: (text) => line.complain(trim(text)) });
  const here = (): CommandLine => ({ ...line, configFile: program.opts<{ config?: string }>().config });
  const transport = (flag: string, text: string) => new Option(`${flag} <way>`, text).choices(["socket", "http"]);

  program
    .command("init")
    .description("write parley.yaml and .env to start from; nothing that exists is overwritten")
    .action(() => end(init(here())));
  program
    .command("doctor")
    .description("check settings, database, keys and tokens, and say how to mend what is wrong")
    .option("--fix", "switch on at the platforms what their APIs let be switched on (Discord: Message Content)")
    .action(async (options: { fix?: boolean }) => end(await doctor(here(), setups, options.fix === true)));
  program
    .command("bot")
    .description("the bots of the settings file")
    .command("add <name>")
    .description("add a bot; comments in the file stay")
    .option("--id <id>", "a-z, 0-9 and -; stays for ever (default: from the name)")
    .option("--role <text>", "duties in a sentence or two")
    .option("--model <model>", "provider/model, when it is not the general one")
    .addOption(transport("--slack", "give it a Slack app, reached by Socket Mode or HTTP"))
    .option("--discord", "give it a Discord application")
    .action((name: string, options: BotOptions) => end(addBot(here(), { name, ...options })));
  program
    .command("manifest <bot>")
    .description("print the Slack app description of a bot and the link that makes the app")
    .addOption(transport("--mode", "how Slack reaches it (default: as in the settings, else socket)"))
    .option("--url <address>", "public https:// address of this server, for http (default: web.publicUrl)")
    .action(async (bot: string, options: ManifestOptions) =>
      end(printManifest(here(), bot, options, (await setups.slack?.()) ?? {})),
    );
  program
    .command("invite <bot>")
    .description("print the link that adds a bot to a Discord server with the permissions it needs and no others")
    .action(async (bot: string) => end(await invite(here(), bot, (await setups.discord?.()) ?? {})));
  describePlugins(program, here, end);
  program
    .command("backup")
    .description("copy the embedded database and all files, or say how to dump a PostgreSQL server")
    .option("--to <folder>", "a folder that does not exist yet")
    .action(async (options: { to?: string }) => end(await backUp(here(), options.to, new Date())));
  return program;
}

function describePlugins(program: Command, here: () => CommandLine, end: (code: number) => void): void {
  const plugin = program.command("plugin").description("packages of skills and MCP servers, for all bots");
  plugin
    .command("add <source>")
    .description("install from a folder or git address (ADDRESS#VERSION:FOLDER); nothing of it runs")
    .action(async (source: string) => end(await addPlugin(here(), source)));
  plugin
    .command("list")
    .description("what is installed, what of it is used, and what is wrong with it")
    .action(async () => end(await listPlugins(here())));
  plugin
    .command("update [name]")
    .description("fetch one again, or all; what fails stays as it was")
    .action(async (name?: string) => end(await updatePlugins(here(), name)));
  plugin
    .command("remove <name>")
    .description("remove a plugin that was added by command")
    .action(async (name: string) => end(await removePlugin(here(), name)));
  plugin
    .command("enable <plugin/server>")
    .description("let an MCP server of a plugin be used")
    .action(async (path: string) => end(await switchServer(here(), path, true)));
  plugin
    .command("disable <plugin/server>")
    .description("stop using an MCP server of a plugin")
    .action(async (path: string) => end(await switchServer(here(), path, false)));
}

interface BotOptions {
  readonly id?: string;
  readonly role?: string;
  readonly model?: string;
  readonly slack?: "socket" | "http";
  readonly discord?: boolean;
}

interface ManifestOptions {
  readonly mode?: "socket" | "http";
  readonly url?: string;
}
