/**
 * What is known of servers, channels, threads and roles, shared by all bots of the process, because it is the same for each. Filled by gateway
 * events; what is missing (after a resumed session nothing is announced again) is asked for once.
 * Invariant: holds a bounded number of places and of roles and no people; everything in it can be asked for again.
 */

import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import type { DiscordCalls } from "./clients.ts";
import { problemOf } from "./errors.ts";
import { createRecent, type Recent } from "./recent.ts";

/** A channel or thread. `parentId` is set for threads and for channels in a category. */
export interface Place {
  readonly id: string;
  /** Discord's number: 0 text, 1 direct, 5 announcement, 10–12 threads, 15 forum, 16 media. */
  readonly type: number;
  readonly name?: string;
  readonly guildId?: string;
  readonly parentId?: string;
}

/** A role. `botUserId` is set when Discord made it for a bot: people pick it in place of the bot, since both look the same. */
export interface Role {
  readonly name: string;
  readonly botUserId?: string;
}

/** A server. */
export interface Guild {
  readonly name: string;
  readonly tier: number;
  readonly roles: ReadonlyMap<string, Role>;
}

/** Lookups over places. `known…` answer from memory; the others may ask Discord and give undefined when it does not tell. */
export interface Directory {
  /** Takes in what a gateway event says about places; other events are no concern of it. */
  note(event: string, data: Fields): void;
  knownPlace(id: string): Place | undefined;
  place(calls: DiscordCalls, id: string): Promise<Place | undefined>;
  knownGuild(id: string): Guild | undefined;
  guild(calls: DiscordCalls, id: string): Promise<Guild | undefined>;
}

const MAX_PLACES = 20_000;
const MAX_GUILDS = 500;
const MAX_ROLES = 250;
const THREAD_TYPES = new Set([10, 11, 12]);

/** True for Discord's numbers of threads. */
export function isThread(type: number | undefined): boolean {
  return type !== undefined && THREAD_TYPES.has(type);
}

/** An empty directory. */
export function createDirectory(): Directory {
  const places = createRecent<Place>(MAX_PLACES);
  const guilds = createRecent<Guild>(MAX_GUILDS);
  const asked = new Map<string, Promise<unknown>>();
  const askOnce = <T>(key: string, ask: () => Promise<T | undefined>): Promise<T | undefined> => {
    const pending = (asked.get(key) as Promise<T | undefined> | undefined) ?? ask().finally(() => asked.delete(key));
    asked.set(key, pending);
    return pending;
  };
  return {
    note: (event, data) => note(places, guilds, event, data),
    knownPlace: (id) => places.get(id),
    place: async (calls, id) => places.get(id) ?? askOnce(`place ${id}`, () => askPlace(calls, places, id)),
    knownGuild: (id) => guilds.get(id),
    guild: async (calls, id) => guilds.get(id) ?? askOnce(`guild ${id}`, () => askGuild(calls, guilds, id)),
  };
}

function note(places: Recent<Place>, guilds: Recent<Guild>, event: string, data: Fields): void {
  const id = toText(data.id);
  switch (event) {
    case "GUILD_CREATE":
      if (id === undefined || data.unavailable === true) return;
      for (const channel of [...toList(data.channels), ...toList(data.threads)]) notePlace(places, channel, id);
      guilds.set(id, guildOf(data));
      return;
    case "GUILD_UPDATE":
      if (id !== undefined) guilds.set(id, guildOf(data));
      return;
    case "GUILD_DELETE":
      if (id !== undefined && data.unavailable !== true) guilds.delete(id);
      return;
    case "CHANNEL_CREATE":
    case "CHANNEL_UPDATE":
    case "THREAD_CREATE":
    case "THREAD_UPDATE":
      notePlace(places, data);
      return;
    case "CHANNEL_DELETE":
    case "THREAD_DELETE":
      if (id !== undefined) places.delete(id);
      return;
    case "THREAD_LIST_SYNC":
      for (const thread of toList(data.threads)) notePlace(places, thread, toText(data.guild_id));
      return;
    case "GUILD_ROLE_CREATE":
    case "GUILD_ROLE_UPDATE":
    case "GUILD_ROLE_DELETE":
      noteRole(guilds, event, data);
      return;
    default:
  }
}

function notePlace(places: Recent<Place>, channel: Fields, guildId = toText(channel.guild_id)): Place | undefined {
  const id = toText(channel.id);
  if (id === undefined || typeof channel.type !== "number") return undefined;
  const name = toText(channel.name);
  const parentId = toText(channel.parent_id);
  const place: Place = {
    id,
    type: channel.type,
    ...(name === undefined ? {} : { name }),
    ...(guildId === undefined ? {} : { guildId }),
    ...(parentId === undefined ? {} : { parentId }),
  };
  places.set(id, place);
  return place;
}

function guildOf(data: Fields): Guild {
  const roles = toList(data.roles).slice(0, MAX_ROLES).flatMap(roleOf);
  return {
    name: toText(data.name) ?? "",
    tier: typeof data.premium_tier === "number" ? data.premium_tier : 0,
    roles: new Map(roles),
  };
}

function roleOf(role: Fields): [string, Role][] {
  const id = toText(role.id);
  if (id === undefined) return [];
  const botUserId = toText(toFields(role.tags).bot_id);
  return [[id, { name: toText(role.name) ?? "role", ...(botUserId === undefined ? {} : { botUserId }) }]];
}

function noteRole(guilds: Recent<Guild>, event: string, data: Fields): void {
  const guildId = toText(data.guild_id) ?? "";
  const guild = guilds.get(guildId);
  if (!guild) return;
  const roles = new Map(guild.roles);
  if (event === "GUILD_ROLE_DELETE") roles.delete(toText(data.role_id) ?? "");
  else for (const [id, role] of roleOf(toFields(data.role))) roles.set(id, role);
  guilds.set(guildId, { ...guild, roles });
}

async function askPlace(calls: DiscordCalls, places: Recent<Place>, id: string): Promise<Place | undefined> {
  try {
    return notePlace(places, toFields(await calls.call("get", `/channels/${id}`)));
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

async function askGuild(calls: DiscordCalls, guilds: Recent<Guild>, id: string): Promise<Guild | undefined> {
  try {
    const guild = guildOf(toFields(await calls.call("get", `/guilds/${id}`)));
    guilds.set(id, guild);
    return guild;
  } catch (error) {
    if (isGone(error)) return undefined;
    throw error;
  }
}

/** Gone or hidden: asking again gives the same answer. */
function isGone(error: unknown): boolean {
  const { problem } = problemOf(error);
  return problem === "place" || problem === "content";
}
