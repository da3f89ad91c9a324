/**
 * Where one can write: channels of guilds with their permissions, direct messages, threads.
 * Invariant: everything added or changed while bots are connected is told to the bots concerned.
 */
import { botsOf, tellChannel, tellThread } from "./events.ts";
import type { Bot, Channel, Guild, Role, Thread, User } from "./model.ts";
import type { Permission } from "./permissions.ts";
import { bitsOf, canSee } from "./permissions.ts";
import type { World } from "./world.ts";
import { newId, userOf } from "./world.ts";

/** How a channel is set up. With `members` only they see it. */
export interface ChannelOptions {
  guild?: Guild;
  kind?: "text" | "announcement" | "forum" | "category" | "voice";
  members?: readonly (Bot | User | Role)[];
  parent?: Channel;
  topic?: string;
  slowmode?: number;
  tags?: readonly string[];
  requireTag?: boolean;
}

const CHANNEL_TYPES = { text: 0, voice: 2, category: 4, announcement: 5, forum: 15 } as const;

/** Makes a channel of a guild. */
export function addChannel(world: World, guild: Guild, name: string, options: ChannelOptions = {}): Channel {
  const channel: Channel = {
    ...emptyPlace(newId(world), CHANNEL_TYPES[options.kind ?? "text"], name),
    guild,
    parent: options.parent ?? null,
    topic: options.topic ?? null,
    slowmode: options.slowmode ?? 0,
    tags: (options.tags ?? []).map((tag) => ({ id: newId(world), name: tag })),
    requireTag: options.requireTag ?? false,
  };
  if (options.members) showOnlyTo(channel, guild, options.members);
  world.channels.set(channel.id, channel);
  guild.channels.push(channel);
  tellChannel(world, channel, "CHANNEL_CREATE");
  return channel;
}

function emptyPlace(id: string, type: number, name: string): Channel {
  return {
    id,
    type,
    guild: null,
    parent: null,
    overwrites: new Map(),
    messages: [],
    thread: null,
    person: null,
    bot: null,
    name,
    topic: null,
    deleted: false,
    slowmode: 0,
    tags: [],
    requireTag: false,
  };
}

function showOnlyTo(channel: Channel, guild: Guild, members: readonly (Bot | User | Role)[]): void {
  const view = bitsOf(["ViewChannel"]);
  channel.overwrites.set(guild.id, { type: 0, allow: 0n, deny: view });
  for (const member of members)
    channel.overwrites.set(overwriteId(member), { type: overwriteType(member), allow: view, deny: 0n });
}

function overwriteId(who: Bot | User | Role): string {
  return "guild" in who ? who.id : userOf(who).id;
}

function overwriteType(who: Bot | User | Role): 0 | 1 {
  return "guild" in who ? 0 : 1;
}

/** Sets what somebody (a guild = everyone) may and may not do in a channel. */
export function permit(
  world: World,
  channel: Channel,
  who: Bot | User | Role | Guild,
  change: { allow?: readonly Permission[]; deny?: readonly Permission[] },
): void {
  const everyone = "ownerId" in who;
  const id = everyone ? who.id : overwriteId(who);
  const before = channel.overwrites.get(id) ?? { type: everyone ? 0 : overwriteType(who), allow: 0n, deny: 0n };
  const allow = bitsOf(change.allow ?? []);
  const deny = bitsOf(change.deny ?? []);
  channel.overwrites.set(id, {
    type: before.type,
    allow: (before.allow & ~deny) | allow,
    deny: (before.deny & ~allow) | deny,
  });
  tellChannel(world, channel, "CHANNEL_UPDATE");
}

/** Takes a channel or thread away. */
export function removeChannel(world: World, channel: Channel): void {
  const seeing = channel.guild ? botsOf(world, channel.guild).filter((bot) => canSee(channel, bot.user)) : [];
  if (channel.thread) tellThread(world, channel, "THREAD_DELETE");
  else if (seeing.length > 0) tellChannel(world, channel, "CHANNEL_DELETE");
  channel.deleted = true;
  const at = channel.guild?.channels.indexOf(channel) ?? -1;
  if (at >= 0) channel.guild?.channels.splice(at, 1);
}

/** The direct messages of a person and a bot, opened when needed. */
export function dmChannel(world: World, person: User, bot: Bot): Channel {
  for (const channel of world.channels.values()) {
    if (channel.person === person && channel.bot === bot) return channel;
  }
  const channel: Channel = { ...emptyPlace(newId(world), 1, ""), person, bot };
  world.channels.set(channel.id, channel);
  return channel;
}

/** How a thread begins. */
export interface ThreadStart {
  name: string;
  owner: User;
  /** 11 public, 12 private, 10 in an announcement channel. */
  type?: number;
  /** The message it hangs on has the same id. */
  id?: string;
  autoArchive?: number;
  tags?: readonly string[];
  slowmode?: number;
}

/** Makes a thread and tells the bots that see it. */
export function makeThread(world: World, parent: Channel, start: ThreadStart): Channel {
  const state: Thread = {
    archived: false,
    locked: false,
    autoArchive: start.autoArchive ?? 1440,
    ownerId: start.owner.id,
    members: new Set([start.owner.id]),
    createdAt: new Date().toISOString(),
    tags: [...(start.tags ?? [])],
  };
  const thread: Channel = {
    ...emptyPlace(start.id ?? newId(world), start.type ?? (parent.type === 5 ? 10 : 11), start.name),
    guild: parent.guild,
    parent,
    thread: state,
    slowmode: start.slowmode ?? 0,
  };
  world.channels.set(thread.id, thread);
  tellThread(world, thread, "THREAD_CREATE");
  return thread;
}
