/**
 * Which channels of each server a bot sees: there it is present, as far as Discord says without the list of members (SPEC G1). Learnt from the
 * server's announcement, kept by what the gateway tells of channels, roles and the bot's own membership, and asked for where nothing is announced
 * (after a resumed session, or in a process that only sends).
 * Invariant: knows of this bot only, and keeps ids, never the exceptions of channels; what changes while events come is told once, in order.
 */

import { type Fields, toFields, toList, toText, toTexts } from "../shared/fields.ts";
import type { DiscordCalls } from "./clients.ts";
import { NEEDED, permissionsIn } from "./permissions.ts";
import { createRecent, type Recent } from "./recent.ts";

/** One bot's presence. */
export interface Presence {
  /** From now on events of the gateway come: what is asked for may be kept. */
  follow(): void;
  /** Takes in what a gateway event says about servers, channels, roles and this bot; other events are no concern of it. */
  note(event: string, data: Fields): void;
  /** Channels of a server that the bot sees, those with a conversation of their own only. Rejects with the client's errors. */
  channels(guildId: string): Promise<readonly string[]>;
}

/** What one bot's presence is made from. */
export interface PresenceParts {
  readonly calls: Pick<DiscordCalls, "call">;
  readonly botUserId: string;
  /** Told of each channel that the bot begins or ceases to see. What is there when a session begins is not told: it is listed. */
  readonly onChange: (change: "joined" | "left", guildId: string, channelId: string) => void;
}

/** The bot on one server. */
interface Membership {
  /** The server with the bot's own roles only, as Discord writes it. */
  readonly guild: Fields;
  readonly roles: readonly string[];
  readonly visible: ReadonlySet<string>;
}

interface State extends PresenceParts {
  readonly known: Recent<Membership>;
  /** Servers whose announcement is due since the session began. */
  readonly due: Set<string>;
  /** Counts events of each server, so that an answer older than one of them is not believed. */
  readonly events: Recent<number>;
  readonly asking: Map<string, Promise<Membership>>;
  follows: boolean;
}

const MAX_GUILDS = 2500;
const VIEW = NEEDED["View Channels"] ?? 0n;
/** A category and a list of other servers: nobody writes there. */
const SILENT_TYPES = new Set([4, 14]);
/** How often an answer that events overtook is asked for anew. */
const ASKS = 3;
const NONE: ReadonlySet<string> = new Set();

/** Knows nothing yet. */
export function createPresence(parts: PresenceParts): Presence {
  const state: State = {
    ...parts,
    known: createRecent(MAX_GUILDS),
    due: new Set(),
    events: createRecent(MAX_GUILDS),
    asking: new Map(),
    follows: false,
  };
  return {
    follow() {
      state.follows = true;
    },
    note: (event, data) => note(state, event, data),
    channels: async (guildId) => [...(state.known.get(guildId) ?? (await ask(state, guildId))).visible],
  };
}

function note(state: State, event: string, data: Fields): void {
  if (event === "READY") noteSession(state, data);
  const isGuild = event.startsWith("GUILD_") && data.guild_id === undefined;
  const guildId = toText(isGuild ? data.id : data.guild_id);
  if (guildId === undefined || !/^(?:GUILD|CHANNEL)_/.test(event)) return;
  state.events.set(guildId, (state.events.get(guildId) ?? 0) + 1);
  const before = state.known.get(guildId);
  if (event === "GUILD_CREATE" || event === "GUILD_DELETE") {
    // While a server is down nothing changes on it.
    if (data.unavailable === true) return;
    if (event === "GUILD_CREATE") announced(state, guildId, data);
    else depart(state, guildId);
    return;
  }
  if (!before) return;
  if (/^CHANNEL_(?:CREATE|UPDATE|DELETE)$/.test(event)) noteChannel(state, guildId, before, event, data);
  else if (concerns(state, event, data, guildId, before)) void refresh(state, guildId);
}

/** A new session lists the servers; one that is missing was left while nobody listened. */
function noteSession(state: State, data: Fields): void {
  const listed = toList(data.guilds).flatMap((guild) => toText(guild.id) ?? []);
  for (const guildId of state.known.keys()) if (!listed.includes(guildId)) depart(state, guildId);
  state.due.clear();
  for (const guildId of listed) state.due.add(guildId);
}

function announced(state: State, guildId: string, data: Fields): void {
  const own = toList(data.members).find((member) => toText(toFields(member.user).id) === state.botUserId);
  const isNews = !state.due.delete(guildId);
  if (!own) {
    void refresh(state, guildId);
    return;
  }
  const before = state.known.get(guildId);
  const next = membershipOf(state.botUserId, data, toList(data.channels), own);
  state.known.set(guildId, next);
  // What is there when a session begins is listed; a server that is new to the bot, or one known from before, is told of.
  if (before || isNews) tell(state, guildId, before?.visible ?? NONE, next.visible);
}

function depart(state: State, guildId: string): void {
  const before = state.known.get(guildId);
  state.known.delete(guildId);
  if (before) tell(state, guildId, before.visible, NONE);
}

function noteChannel(state: State, guildId: string, before: Membership, event: string, data: Fields): void {
  const id = toText(data.id);
  if (id === undefined) return;
  const visible = new Set(before.visible);
  if (event !== "CHANNEL_DELETE" && sees(state.botUserId, before, data)) visible.add(id);
  else visible.delete(id);
  state.known.set(guildId, { ...before, visible });
  tell(state, guildId, before.visible, visible);
}

/** Whether an event may change what the bot sees everywhere: its own roles, a role it has, or who owns the server. */
function concerns(state: State, event: string, data: Fields, guildId: string, before: Membership): boolean {
  switch (event) {
    case "GUILD_MEMBER_UPDATE":
      return toText(toFields(data.user).id) === state.botUserId;
    case "GUILD_ROLE_UPDATE":
    case "GUILD_ROLE_DELETE": {
      const roleId = toText(data.role_id) ?? toText(toFields(data.role).id) ?? "";
      return roleId === guildId || before.roles.includes(roleId);
    }
    case "GUILD_UPDATE":
      return data.owner_id !== before.guild.owner_id;
    default:
      return false;
  }
}

/** Reads a server anew and tells what changed. Where Discord does not answer, nothing is known of it until the next list is asked for. */
async function refresh(state: State, guildId: string): Promise<void> {
  await ask(state, guildId).catch(() => state.known.delete(guildId));
}

function ask(state: State, guildId: string): Promise<Membership> {
  const pending = state.asking.get(guildId) ?? read(state, guildId).finally(() => state.asking.delete(guildId));
  state.asking.set(guildId, pending);
  return pending;
}

async function read(state: State, guildId: string): Promise<Membership> {
  const path = `/guilds/${guildId}`;
  for (let attempt = 1; ; attempt += 1) {
    const count = state.events.get(guildId);
    const [guild, channels, own] = await Promise.all([
      state.calls.call("get", path).then(toFields),
      state.calls.call("get", `${path}/channels`).then(toList),
      state.calls.call("get", `${path}/members/${state.botUserId}`).then(toFields),
    ]);
    if (count !== state.events.get(guildId) && attempt < ASKS) continue;
    const next = membershipOf(state.botUserId, guild, channels, own);
    const before = state.known.get(guildId);
    if (state.follows) state.known.set(guildId, next);
    if (state.follows && before) tell(state, guildId, before.visible, next.visible);
    return next;
  }
}

function membershipOf(botUserId: string, guild: Fields, channels: readonly Fields[], own: Fields): Membership {
  const guildId = toText(guild.id) ?? "";
  const roles = toTexts(own.roles);
  const ownRoles = toList(guild.roles)
    .filter((role) => role.id === guildId || roles.includes(toText(role.id) ?? ""))
    .map(({ id, permissions }) => ({ id, permissions }));
  const membership = { guild: { id: guildId, owner_id: guild.owner_id, roles: ownRoles }, roles, visible: NONE };
  const visible = channels.filter((channel) => sees(botUserId, membership, channel));
  return { ...membership, visible: new Set(visible.flatMap((channel) => toText(channel.id) ?? [])) };
}

function sees(botUserId: string, { guild, roles }: Membership, channel: Fields): boolean {
  if (SILENT_TYPES.has(Number(channel.type))) return false;
  return (permissionsIn(guild, channel, botUserId, roles) & VIEW) !== 0n;
}

function tell(state: State, guildId: string, before: ReadonlySet<string>, after: ReadonlySet<string>): void {
  for (const id of before) if (!after.has(id)) state.onChange("left", guildId, id);
  for (const id of after) if (!before.has(id)) state.onChange("joined", guildId, id);
}
