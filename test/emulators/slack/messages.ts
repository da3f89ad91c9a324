/**
 * Messages in a workspace: storing them (with what Slack keeps on a thread's root) and showing them as JSON.
 * Invariant: `copyBody` hands out copies, so an event already sent never changes afterwards. Who is told is left to
 * `events.ts`.
 */
import type { Fields } from "../loopback.ts";
import type { App, Channel, MessageBody, StoredMessage, User } from "./model.ts";
import type { Workspace } from "./workspace.ts";
import { findMessage, newId } from "./workspace.ts";

/** How a message is to be read; people's messages use the defaults. */
export interface Reading {
  app?: App;
  parse?: string;
  linkNames?: boolean;
  previews?: boolean;
  streaming?: boolean;
}

/** Adds a message and updates its thread's root. */
export function storeMessage(channel: Channel, body: MessageBody, reading: Reading = {}): StoredMessage {
  const message: StoredMessage = {
    channel,
    app: reading.app ?? null,
    body,
    deleted: false,
    streaming: reading.streaming ?? false,
    values: {},
    parse: reading.parse ?? "none",
    linkNames: reading.linkNames ?? false,
    previews: reading.previews ?? false,
  };
  channel.messages.push(message);
  if (body.thread_ts && body.thread_ts !== body.ts) countReply(channel, body);
  return message;
}

function countReply(channel: Channel, body: MessageBody): void {
  const root = findMessage(channel, body.thread_ts ?? "");
  if (!root) return;
  const users = new Set([...((root.body.reply_users as string[] | undefined) ?? []), body.user ?? body.bot_id ?? ""]);
  root.body.thread_ts = root.body.ts;
  root.body.reply_count = Number(root.body.reply_count ?? 0) + 1;
  root.body.reply_users = [...users];
  root.body.reply_users_count = users.size;
  root.body.latest_reply = body.ts;
}

/** A copy of the JSON; metadata only when asked for, as Slack does. */
export function copyBody(message: StoredMessage, withMetadata = true): MessageBody {
  const body = structuredClone(message.body);
  if (!withMetadata) delete body.metadata;
  return body;
}

/** A JSON copy to send as a `message` event. */
export function messageEvent(message: StoredMessage): Fields {
  const { channel } = message;
  return { ...copyBody(message), channel: channel.id, channel_type: channel.kind, event_ts: message.body.ts };
}

/** Gives every block an id, as Slack does when it stores a message. */
export function withBlockIds(blocks: readonly Fields[]): Fields[] {
  return blocks.map((block) => (block.block_id ? { ...block } : { ...block, block_id: newId("", 5) }));
}

/** The person or bot user behind an id; unknown ids become a stranger with that name. */
export function authorName(workspace: Workspace, message: StoredMessage): string {
  if (message.body.username) return message.body.username;
  const user: User | undefined = workspace.users.get(message.body.user ?? "");
  return user?.name ?? message.body.user ?? "unknown";
}
