/**
 * Reading the way a person does: messages with their readable text, files, controls and the pings they really caused.
 * Invariant: a `Post` is a snapshot; read again to see a later edit.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asText } from "../loopback.ts";
import type { Control } from "./component-text.ts";
import { controlsOf, mediaIn, shownTexts } from "./component-text.ts";
import { FLAGS } from "./messages.ts";
import type { Bot, Channel, Guild, MessageBody, Pings, StoredMessage, User } from "./model.ts";
import { notified } from "./pings.ts";
import type { World } from "./world.ts";

/** A file as a reader gets it. `shown` false: uploaded with Components V2 but not referenced, so nobody sees it. */
export interface PostFile {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly type: string;
  readonly bytes: Buffer;
  readonly shown: boolean;
  /** The link as it stands in the message, unsigned. */
  readonly url: string;
}

/** A message at the moment it was read. `bot` null = written by a person or somebody else's bot. */
export interface Post {
  readonly id: string;
  readonly channel: Channel;
  readonly guild: Guild | null;
  readonly author: User;
  readonly bot: Bot | null;
  /** What is read on screen: content, displayed text, embeds, forwarded text. */
  readonly text: string;
  readonly content: string;
  readonly components: Fields[];
  readonly embeds: Fields[];
  readonly files: PostFile[];
  readonly controls: Control[];
  /** Pictures of galleries with their descriptions. */
  readonly gallery: { url: string; description: string }[];
  /** Whom it pinged, edits included. */
  readonly pings: Pings;
  /** Everybody who got a notification, roles and everyone taken apart. */
  readonly notified: User[];
  /** Sent with SUPPRESS_NOTIFICATIONS: mentions light up without a sound. */
  readonly silent: boolean;
  /** True when Discord would add link previews. */
  readonly previews: boolean;
  readonly isV2: boolean;
  /** The answered message's id. */
  readonly replyTo: string | null;
  /** Seen by this person only. */
  readonly onlyFor: User | null;
  readonly edited: boolean;
  readonly deleted: boolean;
  readonly reactions: { emoji: string; users: string[] }[];
  readonly nonce: string | null;
  readonly body: MessageBody;
}

/** What to list: messages of one bot, with private ones, with those of threads below the channel. */
export interface PostFilter {
  bot?: Bot;
  threads?: boolean;
  deleted?: boolean;
}

/** A snapshot of one message. */
export function toPost(world: World, message: StoredMessage): Post {
  const body = structuredClone(message.body);
  const reply = body.type === 19 ? asText(asFields(body.message_reference).message_id) : "";
  return {
    id: body.id,
    channel: message.channel,
    guild: message.channel.guild,
    author: message.author,
    bot: message.bot,
    text: readable(body),
    content: body.content,
    components: body.components,
    embeds: body.embeds,
    files: body.attachments.map((attachment) => toFile(world, body, attachment)),
    controls: controlsOf(body.components),
    gallery: mediaIn(body.components).filter(({ kind }) => kind === "image"),
    pings: message.pings,
    notified: notified(message.channel, message.author, message.pings),
    silent: (body.flags & FLAGS.suppressNotifications) !== 0,
    previews:
      (body.flags & FLAGS.suppressEmbeds) === 0 && /https?:\/\//.test(body.content.replace(/<https?:[^>]*>/g, "")),
    isV2: (body.flags & FLAGS.componentsV2) !== 0,
    replyTo: reply === "" ? null : reply,
    onlyFor: message.onlyFor,
    edited: body.edited_timestamp !== null,
    deleted: message.deleted,
    reactions: [...message.reactions].map(([emoji, users]) => ({ emoji, users: [...users] })),
    nonce: body.nonce === undefined ? null : String(body.nonce),
    body,
  };
}

/** Everything of a message that is text. */
export function readable(body: MessageBody): string {
  const embeds = body.embeds.filter((embed) => embed.type !== "link").map(embedText);
  const forwarded = (body.message_snapshots ?? []).map((snapshot) => asText(asFields(snapshot.message).content));
  return [body.content, ...shownTexts(body.components), ...embeds, ...forwarded]
    .filter((part) => part !== "")
    .join("\n");
}

function embedText(embed: Fields): string {
  const fields = (Array.isArray(embed.fields) ? embed.fields : []).map(asFields);
  const parts = [
    embed.title,
    embed.description,
    ...fields.flatMap(({ name, value }) => [name, value]),
    asFields(embed.footer).text,
  ];
  return parts
    .map(asText)
    .filter((part) => part !== "")
    .join("\n");
}

function toFile(world: World, body: MessageBody, attachment: Fields): PostFile {
  const url = asText(attachment.url);
  const isV2 = (body.flags & FLAGS.componentsV2) !== 0;
  return {
    id: asText(attachment.id),
    name: asText(attachment.filename),
    description:
      asText(attachment.description) || (mediaIn(body.components).find((item) => item.url === url)?.description ?? ""),
    type: asText(attachment.content_type),
    bytes: world.files.get(asText(attachment.id))?.bytes ?? Buffer.alloc(0),
    shown: !isV2 || mediaIn(body.components).some((item) => item.url === url),
    url,
  };
}

/** Visible messages in order, of one channel or all; ephemeral ones are read with `noticesFor`. */
export function readTimeline(world: World, channel: Channel | undefined, filter: PostFilter = {}): Post[] {
  return [...world.channels.values()]
    .filter((place) => !channel || place === channel || (filter.threads === true && place.parent === channel))
    .flatMap((place) => place.messages)
    .filter((message) => !message.onlyFor && (filter.deleted || !message.deleted))
    .filter((message) => !filter.bot || message.bot === filter.bot)
    .filter((message) => message.body.type !== 21)
    .sort((a, b) => (BigInt(a.body.id) < BigInt(b.body.id) ? -1 : 1))
    .map((message) => toPost(world, message));
}
