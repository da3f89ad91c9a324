/**
 * `chat.*`: posting, editing and deleting messages, private notices, permalinks.
 * Invariant: only an app's own messages can be changed by it; every change is told to all member apps, the author
 * included.
 */
import type { Fields } from "../../loopback.ts";
import { asText } from "../../loopback.ts";
import { readableBlocks, readableText } from "../block-text.ts";
import type { Call, Method } from "../call.ts";
import {
  findChannel,
  isTrue,
  memberChannel,
  readThread,
  requireArguments,
  requireScope,
  visibleMessage,
  writableChannel,
} from "../call.ts";
import type { Content } from "../content.ts";
import { readContent } from "../content.ts";
import { deleteMessage, tellChanged, tellMessage } from "../events.ts";
import type { Reading } from "../messages.ts";
import { copyBody, storeMessage } from "../messages.ts";
import type { Channel, MessageBody, StoredMessage } from "../model.ts";
import { refuse } from "../refusal.ts";
import { clearStatus } from "../statuses.ts";
import { findMessage, newTs } from "../workspace.ts";

/** Text above this is cut into several messages when there are no blocks. */
const AUTO_SPLIT = 4040;

/** The methods of this family. */
export const CHAT_METHODS: Readonly<Record<string, Method>> = {
  "chat.postMessage": { scopes: ["chat:write"], run: postMessage },
  "chat.meMessage": { scopes: ["chat:write"], run: (call) => postMessage(call) },
  "chat.postEphemeral": { scopes: ["chat:write"], run: postEphemeral },
  "chat.update": { scopes: ["chat:write"], run: updateMessage },
  "chat.delete": { scopes: ["chat:write"], run: removeMessage },
  "chat.getPermalink": { scopes: [], run: permalink },
};

function postMessage(call: Call): Fields {
  const channel = writableChannel(call, call.args.channel);
  const thread = readThread(channel, call.args.thread_ts);
  const content = readContent(call.args, "post");
  let last: StoredMessage | null = null;
  const pieces = splitText(content);
  for (const [index, text] of pieces.entries()) {
    last = addBotMessage(call, channel, { ...content, text }, thread);
    if (pieces.length > 1) last.body.is_auto_split = index < pieces.length - 1;
    tellMessage(call.workspace, last);
  }
  clearStatus(call.workspace, call.app, channel, thread);
  return { channel: channel.id, ts: last?.body.ts, message: last ? copyBody(last) : undefined };
}

function splitText(content: Content): string[] {
  const text = content.text ?? "";
  if (text.length <= AUTO_SPLIT || content.blocks?.length) return [text];
  return text.match(/[\s\S]{1,4000}/g) ?? [];
}

/** Stores a message of the calling app (not announced yet). */
export function addBotMessage(
  call: Call,
  channel: Channel,
  content: Content,
  thread: string | null,
  extra: Fields = {},
): StoredMessage {
  const { app, args, workspace } = call;
  const custom = ["username", "icon_url", "icon_emoji"].some((key) => args[key] !== undefined);
  if (custom) requireScope(app, ["chat:write.customize"]);
  const body: MessageBody = {
    type: "message",
    ...(custom ? { subtype: "bot_message" } : { user: app.userId }),
    text: content.text ?? "",
    ts: newTs(workspace),
    bot_id: app.botId,
    app_id: app.appId,
    team: app.team.id,
    bot_profile: {
      id: app.botId,
      app_id: app.appId,
      user_id: app.userId,
      name: app.name,
      deleted: false,
      team_id: app.team.id,
    },
    ...extra,
  };
  if (args.username !== undefined) body.username = asText(args.username);
  if (content.blocks?.length) body.blocks = content.blocks;
  if (content.attachments?.length) body.attachments = content.attachments;
  if (content.metadata) body.metadata = content.metadata;
  if (thread) {
    body.thread_ts = thread;
    body.parent_user_id = findMessage(channel, thread)?.body.user;
    if (isTrue(args.reply_broadcast)) body.subtype = "thread_broadcast";
  }
  return storeMessage(channel, body, { app, ...readingOf(args, content) });
}

/** How Slack reads an app's text: previews for bare links unless switched off, `@names` only when asked for. */
function readingOf(args: Fields, content: Content): Reading {
  const links = /https?:\/\//.test(`${content.text ?? ""}${JSON.stringify(content.blocks ?? [])}`);
  const off = (value: unknown) => value === false || value === "false";
  return {
    parse: asText(args.parse) || "none",
    linkNames: isTrue(args.link_names),
    previews: links && (isTrue(args.unfurl_links) || !off(args.unfurl_media)),
  };
}

function postEphemeral(call: Call): Fields {
  requireArguments(call.args, "user");
  const channel = memberChannel(call, call.args.channel);
  const thread = readThread(channel, call.args.thread_ts);
  const content = readContent(call.args, "post");
  const person = call.workspace.users.get(asText(call.args.user)) ?? refuse("user_not_found");
  if (!channel.members.has(person.id)) refuse("user_not_in_channel");
  const blocks = content.blocks ?? [];
  const text = blocks.length > 0 ? readableBlocks(blocks) : readableText(content.text ?? "");
  call.workspace.ephemerals.push({ person, app: call.app, channel, threadTs: thread, text, blocks, at: Date.now() });
  return { message_ts: newTs(call.workspace) };
}

function ownMessage(call: Call, channel: Channel, code: string): StoredMessage {
  const message = visibleMessage(channel, call.args.ts);
  if (message.app !== call.app) refuse(code);
  return message;
}

function updateMessage(call: Call): Fields {
  requireArguments(call.args, "ts");
  const channel = memberChannel(call, call.args.channel);
  const message = ownMessage(call, channel, "cant_update_message");
  if (message.streaming) refuse("streaming_state_conflict");
  const content = readContent(call.args, "update");
  const previous = copyBody(message);
  applyContent(message, content);
  attachFiles(call, message);
  const parse = asText(call.args.parse) || "client";
  message.parse = parse;
  // Edits are read as if a person had typed them unless the call says otherwise, so `@channel` becomes a mention.
  message.linkNames =
    isTrue(call.args.link_names) ||
    (parse === "client" && content.text !== undefined && call.args.link_names === undefined);
  message.body.edited = { user: call.app.userId, ts: newTs(call.workspace) };
  message.values = {};
  tellChanged(call.workspace, message, previous, false);
  return { channel: channel.id, ts: message.body.ts, text: message.body.text, message: copyBody(message) };
}

/** Given text without blocks removes the blocks; what is not mentioned stays. */
function applyContent(message: StoredMessage, content: Content): void {
  const { body } = message;
  if (content.text !== undefined) body.text = content.text;
  if (content.blocks) body.blocks = content.blocks;
  else if (content.text !== undefined) delete body.blocks;
  if (content.attachments) body.attachments = content.attachments;
  if (content.metadata) body.metadata = content.metadata;
}

function attachFiles(call: Call, message: StoredMessage): void {
  if (!Array.isArray(call.args.file_ids)) return;
  message.body.files = call.args.file_ids.map(
    (id) => (call.workspace.files.get(String(id)) ?? refuse("file_not_found")).body,
  );
}

function removeMessage(call: Call): Fields {
  requireArguments(call.args, "ts");
  const channel = memberChannel(call, call.args.channel);
  const message = ownMessage(call, channel, "cant_delete_message");
  deleteMessage(call.workspace, message);
  return { channel: channel.id, ts: message.body.ts };
}

function permalink(call: Call): Fields {
  requireArguments(call.args, "message_ts");
  const channel = findChannel(call, call.args.channel);
  const { ts } = visibleMessage(channel, call.args.message_ts).body;
  return {
    channel: channel.id,
    permalink: `https://${call.app.team.name.toLowerCase()}.slack.com/archives/${channel.id}/p${ts.replace(".", "")}`,
  };
}
