/**
 * One Slack event becomes one InboundEvent, or nothing. Pure: who people are is looked up before and handed in as Knowledge.
 * Invariant: every copy of a happening (message and app_mention twin, the copies of other bots' connections, redeliveries) gets the same
 * dedupe key; our own posts, link previews and Slack's housekeeping never become events. Whether anybody is addressed is left to routing.
 */

import type {
  ConversationRef,
  InboundEvent,
  InboundFile,
  MembershipEvent,
  MessageEvent,
  PersonKind,
  PersonRef,
  ReactionEvent,
  StopEvent,
} from "../../engine/index.ts";
import { personId } from "../../engine/index.ts";
import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import type { Names } from "./clean-text.ts";
import { channelOf, type SlackEventKind, subjectOf } from "./inbound-kind.ts";
import { readText } from "./inbound-text.ts";
import { MESSAGE_FILES } from "./limits.ts";

/** The account an event came to. */
export interface SlackIdentity {
  readonly installationId: string;
  readonly workspaceId: string;
  readonly enterpriseId?: string;
  readonly appId: string;
  /** `U…`: what people mention. */
  readonly botUserId: string;
  /** `B…`: the author id of its posts. */
  readonly slackBotId: string;
}

/** What was looked up for one event. */
export interface Knowledge {
  readonly names: Names;
  person(userId: string): { readonly name: string; readonly kind: PersonKind } | undefined;
  channelName(channelId: string): string | undefined;
}

/** The InboundEvent of a Slack event, or undefined when it is of no interest. Malformed events are of none. */
export function toInbound(
  event: Fields,
  kind: SlackEventKind,
  self: SlackIdentity,
  knowledge: Knowledge,
): InboundEvent | undefined {
  const channelId = channelOf(event);
  if (channelId === undefined) return undefined;
  const place: EventPlace = { channelId, self, knowledge };
  switch (kind) {
    case "message":
      return toMessage(event, place);
    case "edit":
      return toEdit(event, place);
    case "delete":
      return toDelete(event, place);
    case "stop":
      return toStop(event, place);
    case "reaction":
      return toReaction(event, place);
    case "membership":
      return toMembership(event, place);
    case "ignored":
      return undefined;
  }
}

interface EventPlace {
  readonly channelId: string;
  readonly self: SlackIdentity;
  readonly knowledge: Knowledge;
}

/** The place of a message. `D…` is a direct conversation whatever channel_type says; a root is not inside its own thread. */
export function conversationOf(
  self: Pick<SlackIdentity, "workspaceId">,
  channelId: string,
  message: { ts?: string | undefined; threadTs?: string | undefined; channelType?: string | undefined },
  channelName?: string,
): ConversationRef {
  const base = { platform: "slack", workspaceId: self.workspaceId, channelId };
  if (channelId.startsWith("D") || message.channelType === "im") return { ...base, kind: "direct" };
  const named = channelName === undefined ? base : { ...base, channelName };
  const inThread = message.threadTs !== undefined && message.threadTs !== message.ts;
  return inThread ? { ...named, kind: "thread", threadId: message.threadTs ?? "" } : { ...named, kind: "channel" };
}

function refOf(message: Fields, event: Fields, place: EventPlace): ConversationRef {
  return conversationOf(
    place.self,
    place.channelId,
    { ts: toText(message.ts), threadTs: toText(message.thread_ts), channelType: toText(event.channel_type) },
    place.knowledge.channelName(place.channelId),
  );
}

function toMessage(event: Fields, place: EventPlace): MessageEvent | undefined {
  const ts = toText(event.ts);
  const from = authorOf(event, place);
  if (ts === undefined || from === undefined) return undefined;
  const conversation = refOf(event, event, place);
  const clean = readText(event, place.knowledge.names);
  const files = filesOf(event);
  // In a direct conversation too, answers go to the root of the thread that the message is in or opens.
  const opens = conversation.kind === "thread" ? {} : { opensThread: toText(event.thread_ts) ?? ts };
  return {
    type: "message",
    dedupeKey: messageKey(place, ts),
    installationId: place.self.installationId,
    conversation,
    at: dateOf(ts),
    from,
    platformId: ts,
    ...clean,
    namesBot: event.type === "app_mention" || clean.mentions.some((m) => m.platformId === place.self.botUserId),
    files,
    ...opens,
  };
}

function toEdit(event: Fields, place: EventPlace): InboundEvent | undefined {
  const message = subjectOf(event);
  const ts = toText(message.ts);
  const from = authorOf(message, place);
  if (ts === undefined || from === undefined) return undefined;
  // Both reports of one edit carry the same edit time.
  const editedAt = toText(toFields(message.edited).ts) ?? toText(event.event_ts) ?? toText(event.ts) ?? ts;
  return {
    type: "edit",
    dedupeKey: `${messageKey(place, ts)}:edit:${editedAt}`,
    installationId: place.self.installationId,
    conversation: refOf(message, event, place),
    at: dateOf(editedAt),
    from,
    platformId: ts,
    text: readText(message, place.knowledge.names).text,
  };
}

function toDelete(event: Fields, place: EventPlace): InboundEvent | undefined {
  const message = subjectOf(event);
  const ts = toText(event.deleted_ts) ?? toText(message.ts);
  if (ts === undefined) return undefined;
  return {
    type: "delete",
    dedupeKey: `${messageKey(place, ts)}:delete`,
    installationId: place.self.installationId,
    conversation: refOf({ ...message, ts }, event, place),
    at: dateOf(toText(event.event_ts) ?? toText(event.ts) ?? ts),
    platformId: ts,
  };
}

function toStop(event: Fields, place: EventPlace): StopEvent | undefined {
  const threadTs = toText(event.thread_ts);
  const from = authorOf(event, place);
  if (from === undefined) return undefined;
  const at = toText(event.event_ts) ?? threadTs ?? "";
  return {
    type: "stop",
    dedupeKey: `slack:${place.self.workspaceId}:${place.channelId}:stop:${place.self.botUserId}:${threadTs ?? ""}:${at}`,
    installationId: place.self.installationId,
    conversation: conversationOf(
      place.self,
      place.channelId,
      { threadTs },
      place.knowledge.channelName(place.channelId),
    ),
    at: dateOf(at),
    from,
  };
}

/** `item.thread_ts`, where the message stands in a thread, is put there by whoever looked it up: Slack does not say. */
function toReaction(event: Fields, place: EventPlace): ReactionEvent | undefined {
  const item = toFields(event.item);
  const ts = toText(item.ts);
  const from = authorOf(event, place);
  const emoji = toText(event.reaction);
  if (ts === undefined || from === undefined || emoji === undefined) return undefined;
  const change = event.type === "reaction_removed" ? "removed" : "added";
  const at = toText(event.event_ts) ?? ts;
  const conversation = refOf(item, event, place);
  return {
    type: "reaction",
    dedupeKey: `${messageKey(place, ts)}:reaction:${from.platformId}:${emoji}:${change}:${at}`,
    installationId: place.self.installationId,
    conversation,
    at: dateOf(at),
    from,
    platformId: ts,
    emoji,
    change,
    ...(conversation.kind === "channel" ? { opensThread: ts } : {}),
  };
}

function toMembership(event: Fields, place: EventPlace): MembershipEvent | undefined {
  const user = toText(event.user);
  if (user === undefined) return undefined;
  const change = event.type === "member_joined_channel" ? "joined" : "left";
  const at = toText(event.event_ts) ?? "";
  return {
    type: "membership",
    dedupeKey: `slack:${place.self.workspaceId}:${place.channelId}:${change}:${user}:${at}`,
    installationId: place.self.installationId,
    conversation: refOf({}, {}, place),
    at: dateOf(at),
    platformId: user,
    change,
  };
}

function messageKey(place: EventPlace, ts: string): string {
  return `slack:${place.self.workspaceId}:${place.channelId}:${ts}`;
}

/** The year 9999: what lies behind it is no time, and the database has none for much of it. */
const LATEST_SECONDS = 253_402_300_000;

/** Slack times are seconds with six decimals and only compared as text; a date is for people. */
function dateOf(ts: string): Date {
  const seconds = /^\d+\.\d+$/.test(ts) ? Number(ts) : Number.NaN;
  return seconds <= LATEST_SECONDS ? new Date(Math.floor(seconds * 1000)) : new Date();
}

function authorOf(message: Fields, place: EventPlace): PersonRef | undefined {
  const user = toText(message.user);
  const bot = toText(message.bot_id);
  const { workspaceId } = place.self;
  if (bot !== undefined) {
    const platformId = user ?? bot;
    const name = toText(message.username) ?? toText(toFields(message.bot_profile).name) ?? platformId;
    return { id: personId("slack", workspaceId, platformId), platformId, name, kind: "bot" };
  }
  if (user === undefined) return undefined;
  const known = place.knowledge.person(user);
  // Somebody who could not be looked up gets the least authority there is.
  const person = known ?? { name: place.knowledge.names.user(user) ?? user, kind: "guest" as const };
  return {
    id: personId("slack", workspaceId, user),
    platformId: user,
    name: person.name,
    kind: kindFrom(message, place, person.kind),
  };
}

/** A shared channel's event says itself that its author belongs to another company. */
function kindFrom(message: Fields, place: EventPlace, looked: PersonKind): PersonKind {
  const home = toText(message.user_team) ?? toText(message.source_team);
  const foreign = home !== undefined && home !== place.self.workspaceId && home !== place.self.enterpriseId;
  return foreign && looked === "member" && place.self.enterpriseId === undefined ? "external" : looked;
}

/** Files of the message and of messages it passes on, each once. */
function filesOf(event: Fields): readonly InboundFile[] {
  const passedOn = toList(event.attachments).flatMap((attachment) => toList(attachment.files));
  const all = [...toList(event.files), ...passedOn].flatMap(toFile);
  const known = new Map(all.map((file) => [file.platformFileId, file]));
  return [...known.values()].slice(0, MESSAGE_FILES);
}

/** A deleted file is nothing; one that Slack hides is kept, so that the bot learns why it cannot be read. */
function toFile(file: Fields): InboundFile[] {
  const platformFileId = toText(file.id);
  if (platformFileId === undefined || file.mode === "tombstone") return [];
  const mediaType = toText(file.mimetype);
  const url = toText(file.url_private_download) ?? toText(file.url_private);
  return [
    {
      platformFileId,
      name: toText(file.name) ?? toText(file.title) ?? platformFileId,
      ...(mediaType === undefined ? {} : { mediaType }),
      ...(typeof file.size === "number" ? { size: file.size } : {}),
      ...(url === undefined ? {} : { url }),
    },
  ];
}
