/**
 * Who there is: adding applications, people, guilds, roles and emojis. Channels are in `places.ts`.
 * Invariant: everything added while bots are connected is told to the bots concerned.
 */
import type { Fields } from "../loopback.ts";
import { tellGuildCreate, tellMember, tellRole } from "./events.ts";
import type { Bot, Guild, Member, Role, User } from "./model.ts";
import type { Permission } from "./permissions.ts";
import { BOT_DEFAULT, bitsOf, EVERYONE_DEFAULT } from "./permissions.ts";
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

/** Changes what a role allows everywhere. */
export function setRolePermissions(world: World, role: Role, permissions: readonly Permission[]): void {
  role.permissions = bitsOf(permissions);
  tellRole(world, role, "GUILD_ROLE_UPDATE");
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
