/**
 * Which of Slack's events matter, and what has to be looked up to understand them. Pure.
 * Invariant: our own posts (by every id Slack has for them), Slack's own notices, link previews and housekeeping are nothing to us; an edited
 * mention is an edit, never a second message.
 */

import { type Fields, toFields, toText } from "../shared/fields.ts";
import type { Names } from "./clean-text.ts";
import { mentionedIds, readText } from "./inbound-text.ts";

/** What has to be looked up before `toInbound` can answer fully. */
export interface Lookups {
  /** Author whose kind decides about access; must be known. */
  readonly author?: string;
  readonly mentioned: readonly string[];
  readonly groups: readonly string[];
  readonly channelId?: string;
}

/** True when one of these ids belongs to a bot of ours, in whatever way Slack names it. */
export type IsOurs = (ids: {
  user?: string | undefined;
  bot?: string | undefined;
  app?: string | undefined;
}) => boolean;

/** What an event is to us. */
export type SlackEventKind = "message" | "edit" | "delete" | "stop" | "reaction" | "membership" | "ignored";

/** Subtypes that are a person (or foreign bot) saying something. */
const SPOKEN = new Set(["file_share", "thread_broadcast", "me_message", "bot_message"]);
const SLACK_ITSELF = new Set(["USLACK", "USLACKBOT"]);

/** What an event is to us. Everything not listed is housekeeping. */
export function kindOf(event: Fields, isOurs: IsOurs): SlackEventKind {
  switch (event.type) {
    case "message":
      return kindOfMessage(event, isOurs);
    case "app_mention":
      if (isUnheard(event, isOurs)) return "ignored";
      return isFields(event.edited) ? "edit" : "message";
    case "agent_session_stopped":
      return "stop";
    case "reaction_added":
    case "reaction_removed":
      return kindOfReaction(event, isOurs);
    case "member_joined_channel":
    case "member_left_channel":
      return "membership";
    default:
      return "ignored";
  }
}

function kindOfMessage(event: Fields, isOurs: IsOurs): SlackEventKind {
  const subtype = toText(event.subtype);
  if (subtype === "message_changed") return kindOfChange(event, isOurs);
  if (subtype === "message_deleted") return isUnheard(toFields(event.previous_message), isOurs) ? "ignored" : "delete";
  if (event.hidden === true || (subtype !== undefined && !SPOKEN.has(subtype))) return "ignored";
  return isUnheard(event, isOurs) ? "ignored" : "message";
}

/** Slack reports link previews, our own redraws and thread counters as changes too; only changed words are an edit. */
function kindOfChange(event: Fields, isOurs: IsOurs): SlackEventKind {
  const after = toFields(event.message);
  const before = toFields(event.previous_message);
  // What replies keep in place of a deleted root is Slackbot's; whose message it was is in the previous one.
  if (after.subtype === "tombstone") return isUnheard(before, isOurs) ? "ignored" : "delete";
  if (isUnheard({ ...before, ...after }, isOurs)) return "ignored";
  return wordsOf(after) === wordsOf(before) ? "ignored" : "edit";
}

/** Reactions of people to messages; those to files have no place in a conversation. */
function kindOfReaction(event: Fields, isOurs: IsOurs): SlackEventKind {
  const item = toFields(event.item);
  if (item.type !== "message" || toText(item.ts) === undefined) return "ignored";
  return isUnheard({ user: event.user }, isOurs) ? "ignored" : "reaction";
}

const NOBODY: Names = { user: () => undefined, group: () => undefined };

function wordsOf(message: Fields): string {
  return readText({ text: message.text, blocks: message.blocks }, NOBODY).text;
}

/** Nobody's words: our own, Slack's own, or without an author. */
function isUnheard(message: Fields, isOurs: IsOurs): boolean {
  const user = toText(message.user);
  const bot = toText(message.bot_id);
  if ((user !== undefined && SLACK_ITSELF.has(user)) || (user === undefined && bot === undefined)) return true;
  return isOurs({ user, bot, app: toText(message.app_id) });
}

function isFields(value: unknown): boolean {
  return typeof value === "object" && value !== null;
}

/** The message an event speaks about: itself, or the one inside a change or deletion. */
export function subjectOf(event: Fields): Fields {
  if (event.subtype === "message_changed") return toFields(event.message);
  if (event.subtype === "message_deleted") return toFields(event.previous_message);
  return event;
}

/** What must be looked up for this event. */
export function lookupsOf(event: Fields, kind: SlackEventKind): Lookups {
  const subject = subjectOf(event);
  const channelId = channelOf(event);
  const place = channelId === undefined || channelId.startsWith("D") ? {} : { channelId };
  const author = toText(subject.user);
  if (kind === "message" || kind === "edit") {
    const { users, groups } = mentionedIds(subject);
    const known = toText(subject.bot_id) === undefined && author !== undefined ? { author } : {};
    return { ...known, ...place, mentioned: users, groups };
  }
  const acts = kind === "stop" || kind === "reaction";
  return { ...(acts && author !== undefined ? { author } : {}), ...place, mentioned: [], groups: [] };
}

/** The conversation an event happened in. */
export function channelOf(event: Fields): string | undefined {
  return toText(event.channel) ?? toText(toFields(event.channel).id) ?? toText(toFields(event.item).channel);
}
