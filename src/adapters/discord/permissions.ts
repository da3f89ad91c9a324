/**
 * What a bot needs on a server, and what it has in a channel. Pure: roles and overwrites are handed in as Discord writes them.
 */

import { type Fields, toFields, toList, toText } from "../shared/fields.ts";

/** Discord's bits for what Parley needs, with the names people see. */
export const NEEDED: Readonly<Record<string, bigint>> = {
  "View Channels": 1n << 10n,
  "Send Messages": 1n << 11n,
  "Send Messages in Threads": 1n << 38n,
  "Embed Links": 1n << 14n,
  "Attach Files": 1n << 15n,
  "Read Message History": 1n << 16n,
  "Add Reactions": 1n << 6n,
  "Use External Emojis": 1n << 18n,
};

const CREATE_THREADS = 1n << 35n;
const ADMINISTRATOR = 1n << 3n;
const EVERYTHING = ~0n;

/** The least permissions of an invitation; `threads` when answers open threads. */
export function invitePermissions(threads: boolean): bigint {
  const base = Object.values(NEEDED).reduce((all, bit) => all | bit, 0n);
  return threads ? base | CREATE_THREADS : base;
}

/** Names of needed permissions that are not in `bits`. */
export function missingIn(bits: bigint): readonly string[] {
  return Object.entries(NEEDED)
    .filter(([, bit]) => (bits & bit) === 0n)
    .map(([name]) => name);
}

/** What a member may do in a channel: the server's roles, then the channel's exceptions for everyone, roles and the member. */
export function permissionsIn(guild: Fields, channel: Fields, memberId: string, roleIds: readonly string[]): bigint {
  const guildId = toText(guild.id) ?? "";
  if (guild.owner_id === memberId) return EVERYTHING;
  const own = new Set([guildId, ...roleIds]);
  const base = toList(guild.roles)
    .filter((role) => own.has(toText(role.id) ?? ""))
    .reduce((bits, role) => bits | toBits(role.permissions), 0n);
  if ((base & ADMINISTRATOR) !== 0n) return EVERYTHING;
  const overwrites = toList(channel.permission_overwrites);
  const everyone = overwrites.filter((one) => one.id === guildId);
  const roles = overwrites.filter((one) => one.id !== guildId && own.has(toText(one.id) ?? ""));
  const member = overwrites.filter((one) => one.id === memberId);
  return [everyone, roles, member].reduce(
    (bits, group) => (bits & ~united(group, "deny")) | united(group, "allow"),
    base,
  );
}

function united(overwrites: readonly Fields[], side: "allow" | "deny"): bigint {
  return overwrites.reduce((bits, one) => bits | toBits(toFields(one)[side]), 0n);
}

function toBits(value: unknown): bigint {
  return typeof value === "string" && /^\d{1,20}$/.test(value) ? BigInt(value) : 0n;
}
