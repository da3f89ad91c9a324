/**
 * Making, changing and deleting messages, and telling every bot that may see them.
 * Invariant: whatever comes in here has passed the rules; pings are computed here once per creation and edit. Bots also
 * hear their own messages, as on Discord.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText, isFields } from "../loopback.ts";
import type { FileSource } from "./cdn.ts";
import { storeFile } from "./cdn.ts";
import { componentsJson } from "./component-json.ts";
import { tellThread } from "./events.ts";
import { messageJson } from "./message-json.ts";
import type { Bot, Channel, MessageBody, SentFile, StoredMessage, User } from "./model.ts";
import { canSee } from "./permissions.ts";
import { joinPings, mentionedUsers, pingsOf } from "./pings.ts";
import type { Telling } from "./sessions.ts";
import { INTENTS, tellBots } from "./sessions.ts";
import { userJson } from "./wire.ts";
import type { World } from "./world.ts";
import { newId } from "./world.ts";

/** Message flags by name. */
export const FLAGS = {
  suppressEmbeds: 1 << 2,
  ephemeral: 1 << 6,
  loading: 1 << 7,
  suppressNotifications: 1 << 12,
  voice: 1 << 13,
  snapshot: 1 << 14,
  componentsV2: 1 << 15,
} as const;

/** A message about to be made; `body` has the fields of Create Message. */
export interface Draft {
  channel: Channel;
  author: User;
  bot: Bot | null;
  body: Fields;
  files?: readonly FileSource[];
  type?: number;
  target?: StoredMessage | null;
  onlyFor?: User | null;
  /** Used when `allowed_mentions` is missing. */
  fallback?: Fields;
  /** Raw fields of the stored message. */
  extra?: Fields;
  overlay?: Fields;
  /** A thread's first message keeps the thread's id. */
  id?: string;
}

/** Stores a message and tells the bots. */
export function createMessage(world: World, draft: Draft, how: Telling = {}): StoredMessage {
  const message = buildMessage(world, draft);
  draft.channel.messages.push(message);
  if (draft.channel.thread?.archived && !message.onlyFor) {
    draft.channel.thread.archived = false;
    tellThread(world, draft.channel, "THREAD_UPDATE");
  }
  draft.channel.thread?.members.add(draft.author.id);
  announce(world, message, "MESSAGE_CREATE", how);
  return message;
}

function buildMessage(world: World, draft: Draft): StoredMessage {
  const { channel, author, body } = draft;
  const target = draft.target ?? null;
  const pings = pingsOf(world, { channel, author, target: draft.type === 19 ? target : null }, body, draft.fallback);
  const attachments = (draft.files ?? []).map((file) => storeFile(world, channel, author, file));
  const stored: MessageBody = {
    type: draft.type ?? 0,
    id: draft.id ?? newId(world),
    channel_id: channel.id,
    content: asText(body.content),
    author: userJson(author),
    timestamp: new Date().toISOString(),
    edited_timestamp: null,
    tts: false,
    pinned: false,
    flags: Number(body.flags ?? 0),
    mentions: mentionedUsers(pings).map(userJson),
    mention_roles: pings.roles.map((role) => role.id),
    mention_everyone: pings.everyone,
    attachments,
    embeds: richEmbeds(body.embeds),
    components: componentsJson(body.components, attachments),
    ...(body.nonce === undefined || body.nonce === null ? {} : { nonce: body.nonce as string }),
    ...(draft.bot ? { application_id: draft.bot.applicationId } : {}),
    ...(body.poll ? { poll: body.poll } : {}),
    ...draft.extra,
  };
  return {
    channel,
    author,
    bot: draft.bot,
    body: stored,
    onlyFor: draft.onlyFor ?? null,
    at: Date.now(),
    target,
    reactions: new Map(),
    deleted: false,
    pings,
    overlay: draft.overlay ?? {},
  };
}

function richEmbeds(embeds: unknown): Fields[] {
  return asList(embeds)
    .filter(isFields)
    .map((embed) => ({ type: "rich", content_scan_version: 0, ...embed }));
}

/** Changes a message as Edit Message does and tells the bots. */
export function editMessage(
  world: World,
  message: StoredMessage,
  body: Fields,
  files: readonly FileSource[] = [],
  fallback?: Fields,
): StoredMessage {
  const stored = message.body;
  if (body.content !== undefined) stored.content = asText(body.content);
  if (body.embeds !== undefined) stored.embeds = richEmbeds(body.embeds);
  if (body.flags !== undefined && body.flags !== null) stored.flags = mergedFlags(stored.flags, Number(body.flags));
  const added = files.map((file) => storeFile(world, message.channel, message.author, file));
  const kept = body.attachments === undefined ? stored.attachments : keptAttachments(stored, body.attachments);
  stored.attachments = [...kept, ...added];
  if (body.components !== undefined) stored.components = componentsJson(body.components, stored.attachments);
  stored.edited_timestamp = new Date().toISOString();
  if (body.content !== undefined || body.components !== undefined) repaintMentions(world, message, body, fallback);
  announce(world, message, "MESSAGE_UPDATE");
  return message;
}

/** Only these two flags may be set by an edit. */
function mergedFlags(before: number, wanted: number): number {
  const settable = FLAGS.suppressEmbeds | FLAGS.componentsV2;
  return (before & ~settable) | (wanted & settable);
}

function keptAttachments(stored: MessageBody, wanted: unknown): Fields[] {
  const entries = asList(wanted).map(asFields);
  return stored.attachments.flatMap((attachment) => {
    const entry = entries.find(({ id }) => String(id) === attachment.id);
    return entry
      ? [{ ...attachment, ...(entry.description === undefined ? {} : { description: entry.description }) }]
      : [];
  });
}

/** Mentions of an edited text are read from scratch: without allowed_mentions, with the defaults. */
function repaintMentions(world: World, message: StoredMessage, body: Fields, fallback?: Fields): void {
  const { channel, author, target, body: stored } = message;
  const text = { ...body, content: stored.content, components: stored.components };
  const now = pingsOf(world, { channel, author, target: stored.type === 19 ? target : null }, text, fallback);
  stored.mentions = mentionedUsers(now).map(userJson);
  stored.mention_roles = now.roles.map((role) => role.id);
  stored.mention_everyone = now.everyone;
  message.pings = joinPings(message.pings, now);
}

/** Takes a message away and tells the bots. */
export function deleteMessage(world: World, message: StoredMessage): void {
  if (message.deleted) return;
  message.deleted = true;
  const { channel, body } = message;
  const data = { id: body.id, channel_id: channel.id, ...guildId(message) };
  tellBots(world, audience(world, message), () => ({
    name: "MESSAGE_DELETE",
    intent: intentOf(message),
    guild: message.onlyFor ? null : channel.guild,
    data: () => data,
  }));
}

/** Tells every bot that may see the message; content is withheld per session. */
export function announce(world: World, message: StoredMessage, name: string, how: Telling = {}): void {
  tellBots(
    world,
    audience(world, message),
    (bot) => ({
      name,
      intent: intentOf(message),
      guild: message.onlyFor ? null : message.channel.guild,
      data: (content) => messageJson(world, message, { bot, content, event: true }),
    }),
    how,
  );
}

/** The bots that hear about a message; an ephemeral one reaches its own bot only. */
export function audience(world: World, message: StoredMessage): Bot[] {
  if (message.onlyFor) return message.bot ? [message.bot] : [];
  return botsIn(world, message.channel);
}

/** The bots that see a channel. */
export function botsIn(world: World, channel: Channel): Bot[] {
  return world.bots.filter((bot) => canSee(channel, bot.user));
}

/** Ephemeral messages come under DIRECT_MESSAGES even in a guild. */
function intentOf(message: StoredMessage): number {
  return message.channel.guild && !message.onlyFor ? INTENTS.guildMessages : INTENTS.directMessages;
}

function guildId(message: StoredMessage): Fields {
  const { guild } = message.channel;
  return guild && !message.onlyFor ? { guild_id: guild.id } : {};
}

/** What Create Message was given as files, with their alt texts. */
export function filesOf(body: Fields, files: readonly SentFile[]): FileSource[] {
  const entries = asList(body.attachments).map(asFields);
  return files.map((file) => {
    const entry = entries.find(({ id }) => `files[${String(id)}]` === file.key) ?? {};
    return {
      name: asText(entry.filename) || file.name,
      bytes: file.bytes,
      type: file.type === "" || file.type === "application/octet-stream" ? undefined : file.type,
      description: asText(entry.description),
    };
  });
}
