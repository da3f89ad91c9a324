/**
 * What people do: write, answer, forward, edit, delete, react, attach files, open threads and forum posts.
 * Invariant: it happens as it would on screen; `<@id>` and `<@&id>` typed outside code are mentions when the author may
 * ping. Pressing controls is in `controls.ts`.
 */
import type { Fields } from "../loopback.ts";
import type { FileSource } from "./cdn.ts";
import { announce, createMessage, deleteMessage, FLAGS } from "./messages.ts";
import type { Bot, Channel, Role, StoredMessage, User } from "./model.ts";
import { canSee } from "./permissions.ts";
import { joinPings, mentionedUsers, pingsOf } from "./pings.ts";
import { dmChannel, makeThread } from "./places.ts";
import type { Post } from "./posts.ts";
import { toPost } from "./posts.ts";
import { referenceTo, snapshotOf } from "./sending.ts";
import type { Telling } from "./sessions.ts";
import { userJson } from "./wire.ts";
import type { World } from "./world.ts";
import { findMessage, newId, userOf } from "./world.ts";

/** A message somewhere; a `Post` is one. */
export interface Located {
  readonly channel: Channel;
  readonly id: string;
}

/** A file a person attaches; `type` null = Discord does not know it. */
export interface Upload {
  name: string;
  bytes: Buffer | string;
  type?: string | null;
  description?: string;
  fields?: Fields;
}

/** How something is said. */
export interface SayOptions extends Telling {
  replyTo?: Located;
  /** False: an answer without pinging. */
  ping?: boolean;
  files?: readonly Upload[];
  /** Sticker names. */
  stickers?: readonly string[];
  poll?: string;
  /** Discord's message type, for system messages nobody types. */
  type?: number;
  /** Raw fields laid over the stored message. */
  fields?: Fields;
  /** Raw fields laid over the events only; `undefined` removes one, as in `{ channel_type: undefined }`. */
  event?: Fields;
}

/** A person (or another company's bot) writes. */
export function say(world: World, person: User, channel: Channel, typed: string, options: SayOptions = {}): Post {
  if (!canSee(channel, person)) throw new Error(`${person.name} does not see ${channel.name}`);
  const target = options.replyTo ? located(options.replyTo) : null;
  const parse = { parse: ["users", "roles", "everyone"], replied_user: options.ping !== false };
  const message = createMessage(
    world,
    {
      channel,
      author: person,
      bot: null,
      body: { content: typed, allowed_mentions: parse },
      files: (options.files ?? []).map(toSource),
      type: options.type ?? (target ? 19 : 0),
      target,
      extra: {
        ...(target ? { message_reference: referenceTo(target) } : {}),
        ...(options.stickers
          ? { sticker_items: options.stickers.map((name) => ({ id: newId(world), name, format_type: 1 })) }
          : {}),
        ...(options.poll ? { poll: pollJson(options.poll) } : {}),
        ...options.fields,
      },
      overlay: options.event,
    },
    options,
  );
  return toPost(world, message);
}

function toSource({ bytes, ...rest }: Upload): FileSource {
  return { ...rest, bytes: typeof bytes === "string" ? Buffer.from(bytes) : bytes };
}

function pollJson(question: string): Fields {
  const answers = ["Yes", "No"].map((text, index) => ({ answer_id: index + 1, poll_media: { text } }));
  const expiry = new Date(Date.now() + 86_400_000).toISOString();
  const results = { is_finalized: false, answer_counts: [] };
  return { question: { text: question }, answers, expiry, allow_multiselect: false, layout_type: 1, results };
}

/** A voice message: no text, one recording. */
export function sayByVoice(world: World, person: User, channel: Channel, bytes: Buffer, seconds = 3): Post {
  const recording = {
    name: "voice-message.ogg",
    bytes,
    type: "audio/ogg",
    fields: { duration_secs: seconds, waveform: "AAAA" },
  };
  return say(world, person, channel, "", { files: [recording], fields: { flags: FLAGS.voice } });
}

/** Passes a message on: no text of its own, a snapshot without author. */
export function forward(world: World, person: User, place: Located, to: Channel, options: SayOptions = {}): Post {
  const original = located(place);
  const fields = { message_reference: referenceTo(original, 1), message_snapshots: [snapshotOf(original)] };
  return say(world, person, to, "", { ...options, fields: { ...fields, ...options.fields } });
}

/** The stored message behind a place; throws when there is none. */
export function located(place: Located): StoredMessage {
  const message = findMessage(place.channel, place.id);
  if (!message) throw new Error(`no message ${place.id} in ${place.channel.name}`);
  return message;
}

/** A person edits a message of theirs. */
export function edit(world: World, place: Located, typed: string, how: Telling = {}): Post {
  const message = located(place);
  const { channel, author, target, body } = message;
  body.content = typed;
  body.edited_timestamp = new Date().toISOString();
  const now = pingsOf(world, { channel, author, target }, { content: typed });
  body.mentions = mentionedUsers(now).map(userJson);
  body.mention_roles = now.roles.map((role) => role.id);
  body.mention_everyone = now.everyone;
  message.pings = joinPings(message.pings, now);
  announce(world, message, "MESSAGE_UPDATE", how);
  return toPost(world, message);
}

/** Discord adds a link preview: an update whose text and edit time did not change. */
export function unfurl(world: World, place: Located, url = "https://example.com/"): void {
  const message = located(place);
  message.body.embeds = [...message.body.embeds, { type: "link", url, title: "Example" }];
  announce(world, message, "MESSAGE_UPDATE");
}

/** Somebody pins a message: an update without an edit, and a system message. */
export function pin(world: World, person: User, place: Located): void {
  const message = located(place);
  message.body.pinned = true;
  announce(world, message, "MESSAGE_UPDATE");
  say(world, person, place.channel, "", { type: 6 });
}

/** Somebody deletes a message. */
export function erase(world: World, place: Located): void {
  deleteMessage(world, located(place));
}

/** Sends a message's creation again, with a new sequence number. */
export function redeliver(world: World, place: Located, how: Telling = {}): void {
  announce(world, located(place), "MESSAGE_CREATE", how);
}

/** A person opens a thread on a message, or without one (a system message tells of it). */
export function startThread(
  world: World,
  person: User,
  channel: Channel,
  name: string,
  options: { on?: Located; private?: boolean; members?: readonly (Bot | User)[] } = {},
): Channel {
  const start = { name, owner: person, id: options.on?.id, type: options.private ? 12 : undefined };
  const thread = makeThread(world, channel, start);
  for (const member of options.members ?? []) thread.thread?.members.add(userOf(member).id);
  if (options.on)
    createMessage(world, {
      channel: thread,
      author: person,
      bot: null,
      body: {},
      type: 21,
      target: located(options.on),
    });
  else if (!options.private) say(world, person, channel, name, { type: 18 });
  return thread;
}

/** A person writes a forum post: a thread whose first message has the thread's id. */
export function startForumPost(
  world: World,
  person: User,
  forum: Channel,
  title: string,
  typed: string,
  options: SayOptions = {},
) {
  const thread = makeThread(world, forum, { name: title, owner: person, type: 11 });
  const draft = { channel: thread, author: person, bot: null, body: { content: typed }, id: thread.id };
  const files = (options.files ?? []).map(toSource);
  return { thread, post: toPost(world, createMessage(world, { ...draft, files }, options)) };
}

/** The direct messages of a person and a bot. */
export function directOf(world: World, person: User, bot: Bot): Channel {
  return dmChannel(world, person, bot);
}

/** `<@id>` of a person or a bot, `<@&id>` of a role. */
export function mention(who: Bot | User | Role): string {
  return "guild" in who ? `<@&${who.id}>` : `<@${userOf(who).id}>`;
}
