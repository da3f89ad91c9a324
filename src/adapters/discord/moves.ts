/**
 * Who is in a channel, and telling the engine when a bot of ours comes or goes (SPEC G1). Discord lists people only to bots with a special
 * permission: of them those count who wrote lately. Our own bots count where they see the channel, whether they wrote there or not.
 * Invariant: nothing here posts a message; changes of one bot reach the engine in order, and one that cannot be stored is left to the next list.
 */

import { toFields, toList, toText } from "../shared/fields.ts";
import type { DiscordBot } from "./bot.ts";
import { problemOf, toDeliveryError } from "./errors.ts";
import { conversationOf } from "./inbound.ts";
import type { PresenceParts } from "./presence.ts";

/** A bot of ours on the server that is asked about. */
export interface Mate {
  readonly bot: DiscordBot;
  readonly guildId: string;
}

const RECENT_MESSAGES = 100;

/** Channels the bot sees on a server, with their names where they are known; none for direct messages. Rejects with DeliveryError. */
export async function readChannels(
  bot: DiscordBot,
  guildId: string | undefined,
): Promise<readonly { readonly channelId: string; readonly name?: string }[]> {
  if (guildId === undefined) return [];
  try {
    return (await bot.presence.channels(guildId)).map((channelId) => {
      const name = bot.directory.knownPlace(channelId)?.name;
      return { channelId, ...(name === undefined ? {} : { name }) };
    });
  } catch (error) {
    throw toDeliveryError(error);
  }
}

/**
 * Native ids of accounts known to be in a channel: this bot, our bots that see it, and who wrote there lately. Rejects with DeliveryError; that the
 * bot may not read what was written is no failure, and a teammate of which Discord does not tell is left out.
 */
export async function readMembers(
  bot: DiscordBot,
  mates: readonly Mate[],
  channelId: string,
): Promise<readonly string[]> {
  const seeing = Promise.all(mates.map((mate) => seerIn(mate, channelId)));
  const [authors, ours] = await Promise.all([readAuthors(bot, channelId), seeing]);
  return [...new Set([bot.self.botUserId, ...ours.flat(), ...authors])];
}

async function seerIn({ bot, guildId }: Mate, channelId: string): Promise<readonly string[]> {
  try {
    const channels = await bot.presence.channels(guildId);
    return channels.includes(channelId) ? [bot.self.botUserId] : [];
  } catch (error) {
    bot.log.debug({ guildId, code: problemOf(error).code }, "discord does not tell which channels a bot sees");
    return [];
  }
}

async function readAuthors(bot: DiscordBot, channelId: string): Promise<readonly string[]> {
  try {
    const query = { limit: String(RECENT_MESSAGES) };
    const answer = await bot.calls.call("get", `/channels/${channelId}/messages`, { query });
    return toList(answer).flatMap((message) => toText(toFields(message.author).id) ?? []);
  } catch (error) {
    if (problemOf(error).problem === "place") return [];
    throw toDeliveryError(error);
  }
}

/** Tells the engine of the channels a bot begins or ceases to see, one after the other. */
export function createMoves(whose: () => DiscordBot): PresenceParts["onChange"] {
  let chain: Promise<void> = Promise.resolve();
  const tell = async (change: "joined" | "left", guildId: string, channelId: string) => {
    const { context, directory, installs, self, log } = whose();
    try {
      const at = new Date(context.clock.now());
      await context.receive({
        type: "membership",
        dedupeKey: `discord:${channelId}:${self.botUserId}:${change}:${at.getTime()}`,
        installationId: await installs.of(guildId),
        conversation: conversationOf(guildId, channelId, directory.knownPlace(channelId)),
        at,
        platformId: self.botUserId,
        change,
      });
    } catch (error) {
      log.debug({ change, channelId, error: String(error) }, "a change of membership is left to the next list");
    }
  };
  return (change, guildId, channelId) => {
    chain = chain.then(() => tell(change, guildId, channelId));
  };
}
