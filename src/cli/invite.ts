/**
 * `parley invite <bot>`: prints the link that adds a bot to a Discord server with the least permissions. The link goes to standard output alone, so it
 * can be piped; words go to standard error. What the link holds is the adapter's knowledge.
 */
import { loadConfig, unsetVariable } from "../config.ts";
import { ConfigError } from "../engine/index.ts";
import { type CommandLine, type PlatformSetup, settingsArguments } from "./command-line.ts";

/** Prints the link of a bot, found by id or name. Throws ConfigError when there is no such bot or Discord does not know it. */
export async function invite(line: CommandLine, botId: string, discord: PlatformSetup): Promise<number> {
  // What other bots still lack is not in the way of this one.
  const config = loadConfig({ ...settingsArguments(line), isDraft: true });
  const bot = config.bots.find((known) => known.id === botId || known.name.toLowerCase() === botId.toLowerCase());
  if (bot === undefined) {
    throw new ConfigError(
      `There is no bot ${botId}. Known here: ${config.bots.map((known) => known.id).join(", ")}. Add one with: npx parley bot add`,
    );
  }
  if (bot.discord === undefined) {
    throw new ConfigError(`The bot ${bot.id} has no Discord token. Set discord.token of this bot first.`);
  }
  const unset = unsetVariable(bot.discord.token);
  if (unset !== undefined)
    throw new ConfigError(`The Discord token of ${bot.id} is not set: put ${unset} into the environment or .env.`);
  if (discord.invite === undefined) throw new ConfigError("This platform has no invitations.");
  const { apiUrl, replies } = config.discord;
  const asked = { botId: bot.id, settings: bot.discord, apiUrl, threads: replies === "thread" };
  const { link } = await discord.invite(asked).catch((error: unknown) => {
    throw new ConfigError(error instanceof Error ? error.message : String(error), { cause: error });
  });
  line.print(link);
  line.complain(
    "Open the link, choose the server, confirm. It needs Manage Server there. Then check with: npx parley doctor",
  );
  return 0;
}
