/**
 * One REST call as a handler sees it, and the checks most handlers start with: channel, message, permission.
 * Invariant: a check either returns what the handler needs or refuses the way Discord does.
 */
import type { Fields } from "../loopback.ts";
import type { Bot, Channel, DiscordRequest, Guild, SentFile, StoredMessage } from "./model.ts";
import type { Permission } from "./permissions.ts";
import { can, canSee } from "./permissions.ts";
import { refuse } from "./refusal.ts";
import type { World } from "./world.ts";
import { findMessage } from "./world.ts";

/** What a handler gets; `ids` are the variable parts of the path in order. */
export interface Call {
  readonly world: World;
  readonly ids: readonly string[];
  readonly query: URLSearchParams;
  readonly body: Fields;
  readonly files: readonly SentFile[];
  readonly request: DiscordRequest;
}

/** A call of an authorised bot. */
export interface BotCall extends Call {
  readonly bot: Bot;
}

/** Answers: a JSON value with 200 (or `status`), or nothing with 204. */
export interface Answer {
  readonly status?: number;
  readonly json?: unknown;
}

/** A route that needs a bot's token. */
export interface BotRoute {
  readonly auth: "bot";
  run(call: BotCall): Answer;
}

/** A route whose path carries its own token. */
export interface OpenRoute {
  readonly auth: "none";
  run(call: Call): Answer;
}

/** Handlers by `METHOD /path/:id`. */
export type Routes = Readonly<Record<string, BotRoute | OpenRoute>>;

/** Shortens the definition of a bot's route. */
export function forBots(run: (call: BotCall) => Answer): BotRoute {
  return { auth: "bot", run };
}

/** The n-th variable part of the path. */
export function idAt(call: Call, index: number): string {
  return call.ids[index] ?? "";
}

/** The channel of the path; unknown 10003, hidden 50001. */
export function visibleChannel(call: BotCall, id = idAt(call, 0)): Channel {
  const channel = call.world.channels.get(id);
  if (!channel || channel.deleted) return refuse(404, 10003, "Unknown Channel");
  if (!canSee(channel, call.bot.user)) refuse(403, 50001, "Missing Access");
  return channel;
}

/** The guild of the path; 10004 when the bot is not in it. */
export function ownGuild(call: BotCall, id = idAt(call, 0)): Guild {
  const guild = call.world.guilds.get(id);
  if (!guild) return refuse(404, 10004, "Unknown Guild");
  if (!guild.members.has(call.bot.userId)) refuse(403, 50001, "Missing Access");
  return guild;
}

/** The message of the path; deleted and ephemeral ones are unknown (10008). */
export function visibleMessage(channel: Channel, id: string): StoredMessage {
  const message = findMessage(channel, id);
  if (!message || message.deleted || message.onlyFor) return refuse(404, 10008, "Unknown Message");
  return message;
}

/** Refuses 50013 without this permission. */
export function requirePermission(call: BotCall, channel: Channel, permission: Permission): void {
  if (!can(channel, call.bot.user, permission)) refuse(403, 50013, "Missing Permissions");
}

/** How this bot reads messages over REST. */
export function restViewer(bot: Bot) {
  return { bot, content: bot.messageContent, event: false };
}
