/** The slash command of each app: its name, its words, and what Slack keeps for itself. Pure; used by the manifest and by whoever runs commands. */

/** What can be said after the command. */
export const COMMAND_WORDS = [
  "stop",
  "new",
  "status",
  "memory",
  "help",
  "group",
  "group on",
  "group off",
  "group all",
  "group mention",
] as const;

/** One of the words. */
export type CommandWord = (typeof COMMAND_WORDS)[number];

/** Slack's own commands; an app that took one of these names would never be reached. */
export const RESERVED_COMMANDS: ReadonlySet<string> = new Set([
  ..."active admin apps archive away call canvas collapse dm dnd expand feed feedback giphy help huddle invite join".split(
    " ",
  ),
  ..."kick leave list me msg mute open part prefs remind remove rename search shortcuts shrug slackbot star status".split(
    " ",
  ),
  ..."topic unarchive who zoom".split(" "),
]);

/** Slack's limit for a command, its slash included. */
const NAME_CHARS = 32;

/** The command of a bot, with its slash: 32 characters at most, never one of Slack's own. */
export function commandName(botId: string): string {
  const name = `parley-${botId}`
    .toLowerCase()
    .replace(/[^a-z0-9_-]+/g, "-")
    .slice(0, NAME_CHARS - 1)
    .replace(/-+$/, "");
  return `/${RESERVED_COMMANDS.has(name) ? `${name}-bot` : name}`;
}
