/**
 * `parley bot add <name>`: adds a bot to parley.yaml, or a platform to one that is there, keeping comments and order. Invariant: the new text is checked as a whole before it replaces
 * the old one, in one rename; a refused bot changes nothing. Tokens never go into the file, only the names of their variables.
 */
import { existsSync, readFileSync, renameSync, statSync, writeFileSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import { type Document, isMap, isSeq, parseDocument } from "yaml";
import { checkSettingsText, variablesIn } from "../config.ts";
import { ConfigError } from "../engine/index.ts";
import { type CommandLine, variableFor } from "./command-line.ts";

/** What the person gave on the command line. */
export interface NewBot {
  readonly name: string;
  readonly id?: string | undefined;
  readonly role?: string | undefined;
  readonly model?: string | undefined;
  /** How Slack reaches it; without it the bot is in the playground only. */
  readonly slack?: "socket" | "http" | undefined;
  /** Whether it has a Discord application. */
  readonly discord?: boolean | undefined;
}

/** Adds the bot and says which variables it waits for. Throws ConfigError when the settings would not be valid. */
export function addBot(line: CommandLine, bot: NewBot): number {
  const file = resolve(line.cwd, line.configFile ?? "parley.yaml");
  const before = existsSync(file) ? readFileSync(file, "utf8") : "";
  const id = bot.id ?? toId(bot.name);
  const entry = toEntry(id, bot);
  const connected = withPlatforms(before, id, entry);
  if (!connected && idsIn(before).includes(id)) {
    const how = "Add --slack or --discord to connect it to a platform it is not on yet, or choose another --id.";
    throw new ConfigError(`${id} is in ${file} already. ${how}`);
  }
  const after = connected ?? withBot(before, entry);
  checkSettingsText(after, file);
  replaceFile(file, after);
  line.print(connected ? `Connected ${id} in ${file}` : `Added ${bot.name} (${id}) to ${file}`);
  const variables = variablesIn(after).filter((name) => !variablesIn(before).includes(name));
  if (variables.length > 0) line.print(`It reads ${variables.join(" and ")}: put them into .env.`);
  if (bot.slack) line.print(`The Slack app is made with: npx parley manifest ${id}`);
  if (bot.discord) line.print(`Once its token is there, add it to a Discord server with: npx parley invite ${id}`);
  return 0;
}

/** A name as an id: "Dr. Müller" becomes dr-muller. */
export function toId(name: string): string {
  const plain = name.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
  return plain.replace(/[^a-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
}

function toEntry(id: string, bot: NewBot): Record<string, unknown> {
  const variable = (part: string) => `\${${variableFor(id, part)}}`;
  const proof =
    bot.slack === "http"
      ? { signingSecret: variable("SLACK_SIGNING_SECRET") }
      : { appToken: variable("SLACK_APP_TOKEN") };
  return {
    id,
    name: bot.name,
    role: bot.role ?? "Helpful teammate.",
    ...(bot.model === undefined ? {} : { model: bot.model }),
    ...(bot.slack === undefined ? {} : { slack: { botToken: variable("SLACK_BOT_TOKEN"), ...proof } }),
    ...(bot.discord ? { discord: { token: variable("DISCORD_TOKEN") } } : {}),
  };
}

function idsIn(text: string): readonly string[] {
  const bots = parseDocument(text).get("bots");
  return isSeq(bots) ? bots.items.flatMap((item) => (isMap(item) ? String(item.get("id")) : [])) : [];
}

/** The file with the asked-for platforms added to a bot that is in it; undefined when there is no such bot, or nothing asked for that it lacks. */
function withPlatforms(text: string, id: string, entry: Record<string, unknown>): string | undefined {
  const document: Document = parseDocument(text);
  const bots = document.get("bots");
  if (document.errors.length > 0 || !isSeq(bots)) return undefined;
  const known = bots.items.find((item) => isMap(item) && String(item.get("id")) === id);
  if (!isMap(known)) return undefined;
  // A block whose lines are all commented out counts as absent, as it does when the file is read.
  const added = ["slack", "discord"].filter((key) => entry[key] !== undefined && !known.get(key));
  for (const key of added) known.set(key, document.createNode(entry[key]));
  return added.length > 0 ? document.toString({ lineWidth: 0 }) : undefined;
}

function withBot(text: string, entry: Record<string, unknown>): string {
  const document: Document = parseDocument(text);
  if (document.errors.length > 0) {
    // The settings reader says it better, with the line.
    checkSettingsText(text, "parley.yaml");
  }
  const bots = document.get("bots");
  if (isSeq(bots)) bots.add(document.createNode(entry));
  else document.set("bots", document.createNode([entry]));
  return document.toString({ lineWidth: 0 });
}

function replaceFile(file: string, text: string): void {
  const draft = join(dirname(file), `.${basename(file)}.${process.pid}.new`);
  const mode = existsSync(file) ? statSync(file).mode & 0o777 : 0o644;
  writeFileSync(draft, text, { mode });
  renameSync(draft, file);
}
