/**
 * Which mentions in a message come alive: tokens outside code, filtered by allowed_mentions and by what the author may
 * ping.
 * Invariant: what this returns is whom Discord would really notify, and exactly what `mentions[]`, `mention_roles` and
 * `mention_everyone` of the message say.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText } from "../loopback.ts";
import { shownTexts } from "./component-text.ts";
import type { Channel, Pings, Role, StoredMessage, User } from "./model.ts";
import { can, canSee } from "./permissions.ts";
import type { World } from "./world.ts";

/** Nobody. */
export const NO_PINGS: Pings = { users: [], roles: [], everyone: false, reply: null };

/** What a message with these fields pings. `fallback` replaces a missing allowed_mentions. */
export function pingsOf(
  world: World,
  place: { channel: Channel; author: User; target: StoredMessage | null },
  body: Fields,
  fallback: Fields = { parse: ["users", "roles", "everyone"], replied_user: true },
): Pings {
  const { channel, author, target } = place;
  const allowed =
    body.allowed_mentions === undefined || body.allowed_mentions === null ? fallback : asFields(body.allowed_mentions);
  const text = withoutCode([asText(body.content), ...shownTexts(asList(body.components))].join("\n"));
  const users = idsIn(text, /<@!?(\d{1,20})>/g)
    .filter((id) => isAllowed(allowed, "users", id))
    .flatMap((id) => knownUser(world, channel, id));
  const mass = !channel.guild || can(channel, author, "MentionEveryone");
  const roles = idsIn(text, /<@&(\d{1,20})>/g)
    .filter((id) => isAllowed(allowed, "roles", id))
    .flatMap((id) => channel.guild?.roles.get(id) ?? [])
    .filter((role) => role.id !== channel.guild?.id && (role.mentionable || mass));
  const everyone =
    channel.guild !== null && mass && asList(allowed.parse).includes("everyone") && /@(everyone|here)/.test(text);
  return { users, roles, everyone, reply: repliedUser(target, allowed) };
}

/** The union of what was pinged before and now: an edit never takes a ping back. */
export function joinPings(before: Pings, now: Pings): Pings {
  return {
    users: [...new Set([...before.users, ...now.users])],
    roles: [...new Set([...before.roles, ...now.roles])],
    everyone: before.everyone || now.everyone,
    reply: before.reply ?? now.reply,
  };
}

/** The fields of a message that follow from its pings; users outside the guild are listed all the same. */
export function mentionedUsers(pings: Pings): User[] {
  return [...new Set([...pings.users, ...(pings.reply ? [pings.reply] : [])])];
}

/** Everybody in the channel who gets a notification: named, by role, by everyone, by reply. */
export function notified(channel: Channel, author: User, pings: Pings): User[] {
  const members = [...(channel.guild?.members.values() ?? [])].filter(({ user }) => canSee(channel, user));
  const byRole = members.filter((member) => pings.everyone || pings.roles.some((role) => holds(member.roles, role)));
  const all = new Set([...mentionedUsers(pings), ...byRole.map((member) => member.user)]);
  all.delete(author);
  return [...all];
}

function holds(roles: ReadonlySet<string>, role: Role): boolean {
  return roles.has(role.id);
}

function repliedUser(target: StoredMessage | null, allowed: Fields): User | null {
  // A given allowed_mentions without replied_user means no ping for the reply.
  return target && allowed.replied_user === true ? target.author : null;
}

function isAllowed(allowed: Fields, kind: "users" | "roles", id: string): boolean {
  return asList(allowed.parse).includes(kind) || asList(allowed[kind]).includes(id);
}

function knownUser(world: World, channel: Channel, id: string): User[] {
  const user = world.users.get(id);
  if (!user) return [];
  const present = channel.guild ? channel.guild.members.has(id) : channel.person === user || channel.bot?.user === user;
  return present ? [user] : [];
}

function idsIn(text: string, pattern: RegExp): string[] {
  return [...new Set([...text.matchAll(pattern)].map((match) => match[1] ?? ""))];
}

/** Takes out fences, code spans and escaped tokens: nothing in them is a mention. */
export function withoutCode(text: string): string {
  return text
    .replace(/```[\s\S]*?```/g, " ")
    .replace(/(?<!`)``(?!`)[^\n]*?[^`]``(?!`)/g, " ")
    .replace(/(?<!`)`(?!`)[^`\n]+`/g, " ")
    .replace(/\\[<@]/g, " ");
}
