/**
 * Events about places and people: channels, threads, guilds, roles, members.
 * Invariant: a bot knows of every channel of its guilds, hidden ones too, but only of threads it sees. Messages tell
 * themselves in `messages.ts`.
 */
import type { Fields } from "../loopback.ts";
import type { Bot, Channel, Guild, Role, User } from "./model.ts";
import { canSee } from "./permissions.ts";
import { INTENTS, tellBot, tellBots } from "./sessions.ts";
import { channelJson, guildJson, memberJson, roleJson, userJson } from "./wire.ts";
import type { World } from "./world.ts";

/** Bots that are in a guild. */
export function botsOf(world: World, guild: Guild): Bot[] {
  return world.bots.filter((bot) => guild.members.has(bot.userId));
}

/** CHANNEL_CREATE, CHANNEL_UPDATE or CHANNEL_DELETE to the bots of the guild; DMs have none for bots. */
export function tellChannel(
  world: World,
  channel: Channel,
  name: "CHANNEL_CREATE" | "CHANNEL_UPDATE" | "CHANNEL_DELETE",
) {
  const { guild } = channel;
  if (!guild) return;
  tellBots(world, botsOf(world, guild), (bot) => ({
    name,
    intent: INTENTS.guilds,
    guild,
    data: () => channelJson(world, channel, bot),
  }));
}

/** THREAD_CREATE, THREAD_UPDATE or THREAD_DELETE to the bots that see the thread. */
export function tellThread(world: World, thread: Channel, name: "THREAD_CREATE" | "THREAD_UPDATE" | "THREAD_DELETE") {
  const { guild } = thread;
  if (!guild) return;
  const bots = botsOf(world, guild).filter((bot) => canSee(thread, bot.user));
  const bare = { id: thread.id, guild_id: guild.id, parent_id: thread.parent?.id, type: thread.type };
  tellBots(world, bots, (bot) => ({
    name,
    intent: INTENTS.guilds,
    guild,
    data: () => {
      if (name === "THREAD_DELETE") return bare;
      return { ...channelJson(world, thread, bot), ...(name === "THREAD_CREATE" ? { newly_created: true } : {}) };
    },
  }));
}

/** THREAD_MEMBERS_UPDATE to the bots that see the thread. */
export function tellThreadMember(world: World, thread: Channel, user: User, joined: boolean): void {
  const { guild } = thread;
  if (!guild) return;
  const bots = botsOf(world, guild).filter((bot) => canSee(thread, bot.user) || bot.user === user);
  const member = { id: thread.id, user_id: user.id, join_timestamp: new Date().toISOString(), flags: 0 };
  const data: Fields = {
    id: thread.id,
    guild_id: guild.id,
    member_count: thread.thread?.members.size ?? 0,
    ...(joined ? { added_members: [member] } : { removed_member_ids: [user.id] }),
  };
  tellBots(world, bots, () => ({ name: "THREAD_MEMBERS_UPDATE", intent: INTENTS.guilds, guild, data: () => data }));
}

/** A bot joined a guild, or an unavailable guild came back. */
export function tellGuildCreate(world: World, guild: Guild, bot: Bot): void {
  tellBot(world, bot, {
    name: "GUILD_CREATE",
    intent: INTENTS.guilds,
    guild,
    data: () => guildJson(world, guild, bot),
  });
}

/** A bot left a guild (`unavailable` false) or the guild is down. */
export function tellGuildDelete(world: World, guild: Guild, bot: Bot, unavailable: boolean): void {
  const data = { id: guild.id, ...(unavailable ? { unavailable: true } : {}) };
  tellBot(world, bot, { name: "GUILD_DELETE", intent: INTENTS.guilds, guild, data: () => data });
}

/** A role was made or changed. */
export function tellRole(world: World, role: Role, name: "GUILD_ROLE_CREATE" | "GUILD_ROLE_UPDATE"): void {
  const data = { guild_id: role.guild.id, role: roleJson(role) };
  tellBots(world, botsOf(world, role.guild), () => ({
    name,
    intent: INTENTS.guilds,
    guild: role.guild,
    data: () => data,
  }));
}

/** Somebody joined; needs the members intent. */
export function tellMember(world: World, guild: Guild, user: User, name: "GUILD_MEMBER_ADD" | "GUILD_MEMBER_UPDATE") {
  const member = guild.members.get(user.id);
  if (!member) return;
  const data = { ...memberJson(member), user: userJson(user), guild_id: guild.id };
  tellBots(world, botsOf(world, guild), (bot) => ({
    name,
    // A bot hears of changes to itself without the privileged intent.
    intent: bot.user === user && name === "GUILD_MEMBER_UPDATE" ? 0 : INTENTS.guildMembers,
    guild,
    data: () => data,
  }));
}
