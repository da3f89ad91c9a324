/**
 * Who and what there is: adding applications, people, guilds, roles, channels, threads, and changing permissions.
 * Invariant: everything added while bots are connected is told to the bots concerned.
 */
import type { Fields } from "../loopback.ts";
import { botsOf, tellChannel, tellGuildCreate, tellMember, tellRole, tellThread } from "./events.ts";
import type { Bot, Channel, Guild, Member, Role, Thread, User } from "./model.ts";
import type { Permission } from "./permissions.ts";
import { BOT_DEFAULT, bitsOf, canSee, EVERYONE_DEFAULT } from "./permissions.ts";
import type { World } from "./world.ts";
import { newId, randomText, userOf } from "./world.ts";

/** How a bot is set up; `guilds` default to the first one. */
export interface BotOptions {
  name: string;
  /** The MESSAGE_CONTENT toggle; on unless told otherwise. */
  messageContent?: boolean;
  guildMembers?: boolean;
  guilds?: readonly Guild[];
  /** What its managed role allows; default: the least invitation. Everything `@everyone` may comes on top. */
  permissions?: readonly Permission[];
  /** IDENTIFYs a day. */
  identifies?: number;
}

/** How a person is set up; `guilds` default to the first one. */
export interface PersonOptions {
  guilds?: readonly Guild[];
  roles?: readonly Role[];
  dms?: "open" | "closed";
  username?: string;
  nick?: string;
}

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

/** Makes a server; its owner is the first person who joins. */
export function addGuild(world: World, name: string, options: { tier?: number } = {}): Guild {
  const id = newId(world);
  const guild: Guild = {
    id,
    name,
    members: new Map(),
    roles: new Map(),
    channels: [],
    heldFor: new Set(),
    emojis: [],
    ownerId: "0",
    tier: options.tier ?? 0,
  };
  guild.roles.set(id, newRole(guild, id, "@everyone", EVERYONE_DEFAULT, null));
  world.guilds.set(id, guild);
  return guild;
}

function newRole(guild: Guild, id: string, name: string, permissions: bigint, bot: Bot | null): Role {
  return { id, name, guild, position: guild.roles.size, bot, permissions, mentionable: false };
}

/** Makes an application with a bot and installs it. */
export function addBot(world: World, options: BotOptions): Bot {
  const id = newId(world);
  const user = newUser(world, { id, name: options.name, isBot: true });
  const total = options.identifies ?? 1000;
  const bot: Bot = {
    name: options.name,
    applicationId: id,
    userId: id,
    user,
    token: newToken(id),
    messageContent: options.messageContent ?? true,
    guildMembers: options.guildMembers ?? false,
    presences: false,
    revoked: false,
    interactionsEndpointUrl: null,
    description: "",
    settings: {},
    identifies: { total, remaining: total, resetAt: Date.now() + 86_400_000, lastAt: 0 },
    commands: new Map(),
    commandCreates: new Map(),
  };
  user.bot = bot;
  world.bots.push(bot);
  world.tokens.set(bot.token, bot);
  for (const guild of options.guilds ?? firstGuild(world)) installBot(world, bot, guild, options.permissions);
  return bot;
}

/** A token in Discord's form: the id, a time, a signature. */
export function newToken(applicationId: string): string {
  return `${Buffer.from(applicationId).toString("base64url")}.${randomText(6)}.${randomText(38)}`;
}

/** Puts a bot into a guild with its managed role. */
export function installBot(world: World, bot: Bot, guild: Guild, permissions?: readonly Permission[]): void {
  const role = newRole(guild, newId(world), bot.name, permissions ? bitsOf(permissions) : BOT_DEFAULT, bot);
  guild.roles.set(role.id, role);
  guild.members.set(bot.userId, newMember(bot.user, [role]));
  tellGuildCreate(world, guild, bot);
  tellMember(world, guild, bot.user, "GUILD_MEMBER_ADD");
}

/** The managed role of a bot, which people pick by mistake. */
export function roleOf(bot: Bot, guild: Guild): Role {
  const role = [...guild.roles.values()].find((candidate) => candidate.bot === bot);
  if (!role) throw new Error(`${bot.name} has no role in ${guild.name}`);
  return role;
}

function newMember(user: User, roles: readonly Role[], nick: string | null = null): Member {
  const joinedAt = new Date().toISOString();
  return { user, roles: new Set(roles.map((role) => role.id)), joinedAt, nick, timedOutUntil: 0 };
}

function firstGuild(world: World): Guild[] {
  return [...world.guilds.values()].slice(0, 1);
}

function newUser(
  world: World,
  { id, name, isBot, username }: Pick<User, "id" | "name" | "isBot"> & { username?: string },
): User {
  const handle = username ?? (name.toLowerCase().replace(/[^a-z0-9._]/g, "") || "someone");
  const user: User = { id, name, username: handle, isBot, bot: null, dms: "open" };
  world.users.set(id, user);
  return user;
}

/** Makes a person. */
export function addPerson(world: World, name: string, options: PersonOptions = {}): User {
  const user = newUser(world, { id: newId(world), name, isBot: false, username: options.username });
  user.dms = options.dms ?? "open";
  for (const guild of options.guilds ?? firstGuild(world)) joinGuild(world, user, guild, options.roles, options.nick);
  return user;
}

/** Makes somebody else's bot: it writes like a person, with `bot: true`. */
export function addForeignBot(world: World, name: string, guilds: readonly Guild[] = firstGuild(world)): User {
  const user = newUser(world, { id: newId(world), name, isBot: true });
  for (const guild of guilds) joinGuild(world, user, guild);
  return user;
}

/** Somebody joins a guild. */
export function joinGuild(world: World, user: User, guild: Guild, roles: readonly Role[] = [], nick?: string): void {
  const own = roles.filter((role) => role.guild === guild);
  guild.members.set(user.id, newMember(user, own, nick ?? null));
  if (guild.ownerId === "0" && !user.isBot) guild.ownerId = user.id;
  tellMember(world, guild, user, "GUILD_MEMBER_ADD");
}

/** Makes a role and gives it to members. */
export function addRole(
  world: World,
  guild: Guild,
  name: string,
  members: readonly (Bot | User)[] = [],
  options: { permissions?: readonly Permission[]; mentionable?: boolean } = {},
): Role {
  const role = newRole(guild, newId(world), name, bitsOf(options.permissions ?? []), null);
  role.mentionable = options.mentionable ?? false;
  guild.roles.set(role.id, role);
  for (const member of members) guild.members.get(userOf(member).id)?.roles.add(role.id);
  tellRole(world, role, "GUILD_ROLE_CREATE");
  return role;
}

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

/** Changes what a role allows everywhere. */
export function setRolePermissions(world: World, role: Role, permissions: readonly Permission[]): void {
  role.permissions = bitsOf(permissions);
  tellRole(world, role, "GUILD_ROLE_UPDATE");
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

/** A custom emoji of a guild. */
export function addEmoji(world: World, guild: Guild, name: string): Fields {
  const emoji = {
    id: newId(world),
    name,
    roles: [],
    require_colons: true,
    managed: false,
    animated: false,
    available: true,
  };
  guild.emojis.push(emoji);
  return emoji;
}
