/**
 * Discord's permission maths: names and bits, and what a user may do in a channel after roles, overwrites and
 * time-outs.
 * Invariant: threads answer with their parent's overwrites; in direct messages everybody may do what DMs allow.
 */
import type { Channel, Guild, User } from "./model.ts";

/** Permission bits by their documented names. */
export const PERMISSIONS = {
  CreateInstantInvite: 1n << 0n,
  KickMembers: 1n << 1n,
  BanMembers: 1n << 2n,
  Administrator: 1n << 3n,
  ManageChannels: 1n << 4n,
  ManageGuild: 1n << 5n,
  AddReactions: 1n << 6n,
  ViewChannel: 1n << 10n,
  SendMessages: 1n << 11n,
  SendTTSMessages: 1n << 12n,
  ManageMessages: 1n << 13n,
  EmbedLinks: 1n << 14n,
  AttachFiles: 1n << 15n,
  ReadMessageHistory: 1n << 16n,
  MentionEveryone: 1n << 17n,
  UseExternalEmojis: 1n << 18n,
  ChangeNickname: 1n << 26n,
  ManageNicknames: 1n << 27n,
  ManageRoles: 1n << 28n,
  UseApplicationCommands: 1n << 31n,
  ManageThreads: 1n << 34n,
  CreatePublicThreads: 1n << 35n,
  CreatePrivateThreads: 1n << 36n,
  UseExternalStickers: 1n << 37n,
  SendMessagesInThreads: 1n << 38n,
  ModerateMembers: 1n << 40n,
  SendVoiceMessages: 1n << 46n,
  SendPolls: 1n << 49n,
  UseExternalApps: 1n << 50n,
  PinMessages: 1n << 51n,
  BypassSlowmode: 1n << 52n,
} as const satisfies Record<string, bigint>;

/** One permission. */
export type Permission = keyof typeof PERMISSIONS;

/** Every bit the emulator knows. */
export const ALL_PERMISSIONS = Object.values(PERMISSIONS).reduce((sum, bit) => sum | bit, 0n);

/** What `@everyone` has in a freshly made guild; it includes mentioning everyone, as on Discord. */
export const EVERYONE_DEFAULT = bitsOf([
  "CreateInstantInvite",
  "AddReactions",
  "ViewChannel",
  "SendMessages",
  "EmbedLinks",
  "AttachFiles",
  "ReadMessageHistory",
  "MentionEveryone",
  "UseExternalEmojis",
  "ChangeNickname",
  "UseApplicationCommands",
  "CreatePublicThreads",
  "CreatePrivateThreads",
  "UseExternalStickers",
  "SendMessagesInThreads",
  "SendVoiceMessages",
  "SendPolls",
  "UseExternalApps",
]);

/** What the least invitation of a bot asks for. */
export const BOT_DEFAULT = bitsOf([
  "ViewChannel",
  "SendMessages",
  "SendMessagesInThreads",
  "EmbedLinks",
  "AttachFiles",
  "ReadMessageHistory",
  "AddReactions",
  "UseExternalEmojis",
]);

const DM_BITS =
  EVERYONE_DEFAULT & ~bitsOf(["CreatePublicThreads", "CreatePrivateThreads", "MentionEveryone", "CreateInstantInvite"]);
const TIMED_OUT_BITS = bitsOf(["ViewChannel", "ReadMessageHistory"]);
const NEEDS_SENDING = bitsOf(["MentionEveryone", "SendTTSMessages", "AttachFiles", "EmbedLinks"]);

/** The sum of some permissions. */
export function bitsOf(names: readonly Permission[]): bigint {
  return names.reduce((sum, name) => sum | PERMISSIONS[name], 0n);
}

/** What a user may do in the guild as a whole; nothing for somebody who is not in it. */
export function guildPermissions(guild: Guild, user: User): bigint {
  const member = guild.members.get(user.id);
  if (!member) return 0n;
  if (guild.ownerId === user.id) return ALL_PERMISSIONS;
  const roles = [guild.id, ...member.roles].map((id) => guild.roles.get(id)?.permissions ?? 0n);
  const sum = roles.reduce((left, right) => left | right, 0n);
  return sum & PERMISSIONS.Administrator ? ALL_PERMISSIONS : sum;
}

/** What a user may do in a channel or thread; 0 when they cannot see it. */
export function permissionsIn(channel: Channel, user: User): bigint {
  if (!channel.guild) return isRecipient(channel, user) ? DM_BITS : 0n;
  const base = guildPermissions(channel.guild, user);
  if (base === ALL_PERMISSIONS) return base;
  let bits = applyOverwrites(channel.parent ?? channel, channel.guild, user, base);
  if (!(bits & PERMISSIONS.ViewChannel) || isHiddenThread(channel, user, bits)) return 0n;
  const sending = channel.thread ? PERMISSIONS.SendMessagesInThreads : PERMISSIONS.SendMessages;
  if (!(bits & sending)) bits &= ~NEEDS_SENDING;
  return isTimedOut(channel.guild, user) ? bits & TIMED_OUT_BITS : bits;
}

/** True when the user holds this permission there. */
export function can(channel: Channel, user: User, permission: Permission): boolean {
  return (permissionsIn(channel, user) & PERMISSIONS[permission]) !== 0n;
}

/** True when the user sees the channel at all. */
export function canSee(channel: Channel, user: User): boolean {
  return can(channel, user, "ViewChannel");
}

function isRecipient(channel: Channel, user: User): boolean {
  return channel.person === user || channel.bot?.user === user;
}

function isHiddenThread(channel: Channel, user: User, bits: bigint): boolean {
  if (channel.type !== 12) return false;
  return !channel.thread?.members.has(user.id) && !(bits & PERMISSIONS.ManageThreads);
}

function isTimedOut(guild: Guild, user: User): boolean {
  return (guild.members.get(user.id)?.timedOutUntil ?? 0) > Date.now();
}

function applyOverwrites(place: Channel, guild: Guild, user: User, base: bigint): bigint {
  const roles = guild.members.get(user.id)?.roles ?? new Set<string>();
  const everyone = place.overwrites.get(guild.id);
  let bits = (base & ~(everyone?.deny ?? 0n)) | (everyone?.allow ?? 0n);
  let allow = 0n;
  let deny = 0n;
  for (const [id, overwrite] of place.overwrites) {
    if (id === guild.id || !roles.has(id)) continue;
    allow |= overwrite.allow;
    deny |= overwrite.deny;
  }
  bits = (bits & ~deny) | allow;
  const own = place.overwrites.get(user.id);
  return (bits & ~(own?.deny ?? 0n)) | (own?.allow ?? 0n);
}
