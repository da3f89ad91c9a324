/**
 * What an interaction of Discord says, and the three ways to answer it: at once, later in private, or by replacing the first private answer.
 * Invariant: answering never throws; an interaction that is too old or answered already (another process was faster) is no fault; nothing of what was
 * typed is ever logged.
 */

import type { ConversationRef, PersonRef } from "../../engine/index.ts";
import { type Fields, toFields, toText } from "../shared/fields.ts";
import type { DiscordBot } from "./bot.ts";
import { type Component, PRIVATE_FLAG } from "./components.ts";
import { problemOf } from "./errors.ts";
import { conversationOf, personOf } from "./inbound.ts";

/** One interaction, its shape checked. */
export interface Interaction {
  readonly id: string;
  readonly token: string;
  readonly guildId?: string;
  readonly channelId: string;
  readonly from: PersonRef;
  readonly conversation: ConversationRef;
  /** Id of the message whose control was used. */
  readonly messageId?: string;
  readonly data: Fields;
}

/** Kinds of first answers, by Discord's numbers. */
export const ANSWER = { message: 4, laterMessage: 5, nothing: 6, choices: 8, form: 9 } as const;

/** Too old, or answered already. */
const HARMLESS = new Set(["10062", "40060", "10015", "50027"]);

/** Reads an interaction; undefined when it is none we can answer. */
export function readInteraction(bot: DiscordBot, raw: Fields): Interaction | undefined {
  const channel = toFields(raw.channel);
  const id = toText(raw.id);
  const token = toText(raw.token);
  const channelId = toText(raw.channel_id) ?? toText(channel.id);
  const guildId = toText(raw.guild_id);
  // On a server the person comes inside the member, elsewhere alone.
  const member = toFields(raw.member);
  const user = toFields(member.user ?? raw.user);
  if (id === undefined || token === undefined || channelId === undefined || toText(user.id) === undefined)
    return undefined;
  if (toText(raw.application_id) !== undefined && raw.application_id !== bot.self.appId) return undefined;
  const messageId = toText(toFields(raw.message).id);
  return {
    id,
    token,
    channelId,
    from: personOf(user, member),
    conversation: placeOf(bot, guildId, channelId, channel),
    data: toFields(raw.data),
    ...(guildId === undefined ? {} : { guildId }),
    ...(messageId === undefined ? {} : { messageId }),
  };
}

function placeOf(bot: DiscordBot, guildId: string | undefined, channelId: string, channel: Fields): ConversationRef {
  const known = bot.directory.knownPlace(channelId);
  const parentId = known?.parentId ?? toText(channel.parent_id);
  const type = known?.type ?? (typeof channel.type === "number" ? channel.type : 0);
  const name = known?.name ?? toText(channel.name);
  const place = {
    id: channelId,
    type,
    ...(parentId === undefined ? {} : { parentId }),
    ...(name === undefined ? {} : { name }),
  };
  const parentName = parentId === undefined ? undefined : bot.directory.knownPlace(parentId)?.name;
  return conversationOf(guildId, channelId, place, parentName);
}

/** The first answer; false when it did not count (too late, or somebody else was faster). */
export async function respond(bot: DiscordBot, it: Interaction, type: number, data?: object): Promise<boolean> {
  const body = { type, ...(data === undefined ? {} : { data }) };
  return attempt(bot, () => bot.calls.answer("post", `/interactions/${it.id}/${it.token}/callback`, body));
}

/** Words for one person's eyes, as the first answer. */
export function respondPrivately(
  bot: DiscordBot,
  it: Interaction,
  words: string,
  components: readonly Component[] = [],
): Promise<boolean> {
  return respond(bot, it, ANSWER.message, privately(words, components));
}

/** Words for one person's eyes after the first answer was given. */
export async function tellLater(
  bot: DiscordBot,
  it: Interaction,
  words: string,
  components: readonly Component[] = [],
): Promise<void> {
  const path = `/webhooks/${bot.self.appId}/${it.token}`;
  const told = await attempt(bot, () => bot.calls.answer("post", path, privately(words, components)));
  if (!told) bot.context.metrics.count("parley_discord_untold_notices_total");
}

/** Replaces the private answer that was promised by `laterMessage`. */
export async function finishLater(bot: DiscordBot, it: Interaction, words: string): Promise<void> {
  const path = `/webhooks/${bot.self.appId}/${it.token}/messages/@original`;
  const { flags: _flags, ...shown } = privately(words, []);
  const told = await attempt(bot, () => bot.calls.answer("patch", path, shown));
  if (!told) bot.context.metrics.count("parley_discord_untold_notices_total");
}

function privately(words: string, components: readonly Component[]) {
  return {
    content: words.slice(0, 1900),
    flags: PRIVATE_FLAG,
    allowed_mentions: { parse: [] },
    ...(components.length === 0 ? {} : { components }),
  };
}

async function attempt(bot: DiscordBot, call: () => Promise<unknown>): Promise<boolean> {
  try {
    await call();
    return true;
  } catch (error) {
    const { code } = problemOf(error);
    if (!HARMLESS.has(code)) bot.log.warn({ code }, "a discord interaction could not be answered");
    return false;
  }
}
