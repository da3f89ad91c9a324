/**
 * Reactions of people and bots.
 * Invariant: a unicode emoji or a known custom one (`name:id`); the first reaction with an emoji needs ADD_REACTIONS.
 */
import { botsIn } from "./messages.ts";
import type { StoredMessage, User } from "./model.ts";
import { can, canSee } from "./permissions.ts";
import { refuse } from "./refusal.ts";
import { INTENTS, tellBots } from "./sessions.ts";
import { memberJson, userJson } from "./wire.ts";
import type { World } from "./world.ts";

const MAX_REACTIONS = 20;

/** Adds a reaction; refuses as Discord does. */
export function react(world: World, user: User, message: StoredMessage, emoji: string): void {
  const { channel, reactions } = message;
  if (!isEmoji(world, message, emoji)) refuse(400, 10014, "Unknown Emoji");
  if (channel.thread?.archived) refuse(400, 50083, "Thread is archived");
  const there = reactions.get(emoji);
  if (!there && !can(channel, user, "AddReactions")) refuse(403, 50013, "Missing Permissions");
  if (!there && reactions.size >= MAX_REACTIONS) refuse(400, 30010, "Maximum number of reactions reached (20)");
  const users = there ?? new Set<string>();
  reactions.set(emoji, users);
  if (users.has(user.id)) return;
  users.add(user.id);
  tell(world, user, message, emoji, "MESSAGE_REACTION_ADD");
}

/** Takes a reaction back; one that is not there is no error. */
export function unreact(world: World, user: User, message: StoredMessage, emoji: string): void {
  const users = message.reactions.get(emoji);
  if (!users?.delete(user.id)) return;
  if (users.size === 0) message.reactions.delete(emoji);
  tell(world, user, message, emoji, "MESSAGE_REACTION_REMOVE");
}

function isEmoji(world: World, message: StoredMessage, emoji: string): boolean {
  const id = /^\w{2,32}:(\d+)$/.exec(emoji)?.[1];
  if (id === undefined)
    return /^\p{Emoji}/u.test(emoji) && !/^[\w\s]/.test(emoji.replace(/^[\d#*]\uFE0F?\u20E3$/u, "✅"));
  const guilds = message.channel.guild ? [message.channel.guild] : [...world.guilds.values()];
  return guilds.some((guild) => guild.emojis.some((known) => known.id === id));
}

function tell(world: World, user: User, message: StoredMessage, emoji: string, name: string): void {
  const { channel, body } = message;
  const { guild } = channel;
  const [text, id] = emoji.split(":");
  const member = guild?.members.get(user.id);
  const added = name === "MESSAGE_REACTION_ADD";
  const data = {
    user_id: user.id,
    channel_id: channel.id,
    message_id: body.id,
    ...(guild ? { guild_id: guild.id } : {}),
    ...(guild && member && added ? { member: { ...memberJson(member), user: userJson(user) } } : {}),
    ...(added ? { message_author_id: message.author.id } : {}),
    emoji: { id: id ?? null, name: text },
    burst: false,
    type: 0,
  };
  const bots = botsIn(world, channel).filter((bot) => canSee(channel, bot.user));
  const intent = guild ? INTENTS.guildReactions : INTENTS.directReactions;
  tellBots(world, bots, () => ({ name, intent, guild, data: () => data }));
}
