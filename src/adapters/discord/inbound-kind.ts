/**
 * Which of Discord's events matter, and whether a copy of a message came without its words. Pure.
 * Invariant: our own posts, Discord's notices (joins, pins, new threads), link previews and pins are nothing to us; only changed words are an edit.
 */

import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import type { DiscordIdentity } from "./bot.ts";
import { mentionedRoles, type Names } from "./inbound-text.ts";

/** What an event is to us. `echo`: a message of our own that came back. */
export type DiscordEventKind = "message" | "edit" | "delete" | "reaction" | "echo" | "ignored";

/** True when a user id belongs to a bot of ours. */
export type IsOurs = (userId: string) => boolean;

/** A person (or foreign bot) saying something: an ordinary message, or a reply. Forwards are ordinary messages. */
const SPOKEN = new Set([0, 19]);

/** What a gateway event is to us. Everything not listed is housekeeping. */
export function kindOf(event: string, data: Fields, isOurs: IsOurs): DiscordEventKind {
  switch (event) {
    case "MESSAGE_CREATE":
      return kindOfMessage(data, isOurs);
    case "MESSAGE_UPDATE":
      return isSpoken(data) && toText(data.edited_timestamp) !== undefined && !isOurs(authorId(data))
        ? "edit"
        : "ignored";
    case "MESSAGE_DELETE":
    case "MESSAGE_DELETE_BULK":
      return "delete";
    case "MESSAGE_REACTION_ADD":
    case "MESSAGE_REACTION_REMOVE":
      return isOurs(toText(data.user_id) ?? "") ? "ignored" : "reaction";
    default:
      return "ignored";
  }
}

function kindOfMessage(data: Fields, isOurs: IsOurs): DiscordEventKind {
  const author = authorId(data);
  if (author !== "" && isOurs(author)) return "echo";
  return isSpoken(data) ? "message" : "ignored";
}

function isSpoken(data: Fields): boolean {
  const author = toFields(data.author);
  return SPOKEN.has(Number(data.type)) && toText(author.id) !== undefined && author.system !== true;
}

function authorId(data: Fields): string {
  return toText(toFields(data.author).id) ?? "";
}

/** True when Discord kept the words from this bot: the portal does not let it read what is not addressed to it. */
export function isWithheld(message: Fields, self: Pick<DiscordIdentity, "readsContent" | "botUserId">): boolean {
  if (self.readsContent || toText(message.guild_id) === undefined) return false;
  const parts = [
    message.attachments,
    message.embeds,
    message.components,
    message.sticker_items,
    message.message_snapshots,
  ];
  if (toText(message.content) !== undefined || message.poll !== undefined) return false;
  return parts.every((part) => toList(part).length === 0);
}

/** True when people picked the role Discord made for this bot, which looks the same as the bot in the list. */
export function namesOwnRole(message: Fields, self: Pick<DiscordIdentity, "botUserId">, names: Names): boolean {
  return mentionedRoles(message).some((id) => names.role(id)?.botUserId === self.botUserId);
}

/** The message a reply answers is not part of the event and has to be asked for; null there means that it was deleted. */
export function lacksReplied(message: Fields): boolean {
  return message.type === 19 && message.referenced_message === undefined;
}
