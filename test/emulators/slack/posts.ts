/**
 * Reading a workspace the way a person sees it: messages with their readable text, files, controls and live mentions.
 * Invariant: a `Post` is a snapshot; read again to see a later edit.
 */
import type { Fields } from "../loopback.ts";
import { asText } from "../loopback.ts";
import type { Control } from "./block-text.ts";
import { controlsOf, readableBlocks, readableText } from "./block-text.ts";
import type { LiveMention } from "./mention-tokens.ts";
import { liveMentions } from "./mention-tokens.ts";
import { authorName, copyBody } from "./messages.ts";
import type { App, Channel, MessageBody, StoredMessage } from "./model.ts";
import type { Workspace } from "./workspace.ts";
import { compareTs } from "./workspace.ts";

/** A file as a reader gets it. */
export interface PostFile {
  readonly id: string;
  readonly name: string;
  readonly title: string;
  readonly alt: string;
  readonly type: string;
  readonly bytes: Buffer;
}

/** A message at the moment it was read. `app` null = written by a person. */
export interface Post {
  readonly channel: Channel;
  readonly ts: string;
  /** The root's timestamp when it stands in a thread (the root of a thread has its own). */
  readonly threadTs: string | null;
  readonly author: string;
  readonly app: App | null;
  /** What is read on screen. */
  readonly text: string;
  readonly blocks: Fields[];
  readonly files: PostFile[];
  readonly controls: Control[];
  /** Everybody it notifies. Empty = nobody is pinged. */
  readonly mentions: LiveMention[];
  /** True when Slack would add a link preview by itself. */
  readonly previews: boolean;
  readonly edited: boolean;
  readonly deleted: boolean;
  readonly reactions: { name: string; users: string[] }[];
  readonly metadata: Fields | null;
  readonly body: MessageBody;
}

/** What to list: one thread (root included), only the channel's own level, or messages of one app. */
export interface PostFilter {
  thread?: { ts: string } | string;
  topLevel?: boolean;
  app?: App;
}

/** A snapshot of one message. */
export function toPost(workspace: Workspace, message: StoredMessage): Post {
  const body = copyBody(message);
  const blocks = body.blocks ?? [];
  return {
    channel: message.channel,
    ts: body.ts,
    threadTs: body.thread_ts ?? null,
    author: authorName(workspace, message),
    app: message.app,
    text: readableBlocks(blocks) || readableText(body.text),
    blocks,
    files: (body.files ?? []).map((file) => toFile(workspace, file)),
    controls: controlsOf(blocks),
    mentions: liveMentions(workspace, message),
    previews: message.previews,
    edited: body.edited !== undefined,
    deleted: message.deleted,
    reactions: (body.reactions as { name: string; users: string[] }[] | undefined) ?? [],
    metadata: body.metadata ?? null,
    body,
  };
}

function toFile(workspace: Workspace, file: Fields): PostFile {
  const stored = workspace.files.get(asText(file.id));
  return {
    id: asText(file.id),
    name: asText(file.name),
    title: asText(file.title),
    alt: stored?.alt ?? "",
    type: asText(file.mimetype),
    bytes: stored?.bytes ?? Buffer.alloc(0),
  };
}

/** Visible messages in order, of one conversation or all. */
export function readTimeline(workspace: Workspace, channel: Channel | undefined, filter: PostFilter = {}): Post[] {
  const root = typeof filter.thread === "string" ? filter.thread : filter.thread?.ts;
  const channels = channel ? [channel] : [...workspace.channels.values()];
  return channels
    .flatMap((place) => place.messages)
    .filter((message) => !message.deleted && (!filter.app || message.app === filter.app))
    .filter(({ body }) => !root || body.ts === root || body.thread_ts === root)
    .filter(({ body }) => !filter.topLevel || !body.thread_ts || body.thread_ts === body.ts)
    .sort((a, b) => compareTs(a.body.ts, b.body.ts))
    .map((message) => toPost(workspace, message));
}
