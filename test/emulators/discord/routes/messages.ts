/**
 * Messages over REST: create, edit, delete, read, history, typing, pins, reactions.
 */
import { asList, asText } from "../../loopback.ts";
import type { Answer, BotCall, Routes } from "../call.ts";
import { forBots, idAt, requirePermission, restViewer, visibleChannel, visibleMessage } from "../call.ts";
import { messageJson } from "../message-json.ts";
import { checkMessageForm, checkNotEmpty, EDIT_FLAGS } from "../message-rules.ts";
import { deleteMessage, editMessage, filesOf } from "../messages.ts";
import type { Channel, StoredMessage } from "../model.ts";
import { can } from "../permissions.ts";
import { react, unreact } from "../reactions.ts";
import { refuse, refuseField } from "../refusal.ts";
import { sendMessage } from "../sending.ts";
import { userJson } from "../wire.ts";
import { timeOfId } from "../world.ts";

const TWO_WEEKS_MS = 14 * 86_400_000;
/** Messages people and bots wrote; everything else is a system message. */
const WRITTEN = [0, 19, 20, 23];

/** The message routes. */
export const MESSAGE_ROUTES: Routes = {
  "POST /channels/:id/messages": forBots((call) => shown(call, sendMessage(call, visibleChannel(call)))),
  "PATCH /channels/:id/messages/:id": forBots(edit),
  "DELETE /channels/:id/messages/:id": forBots(remove),
  "GET /channels/:id/messages/:id": forBots((call) => {
    const channel = visibleChannel(call);
    requirePermission(call, channel, "ReadMessageHistory");
    return shown(call, visibleMessage(channel, idAt(call, 1)));
  }),
  "GET /channels/:id/messages": forBots(history),
  "POST /channels/:id/messages/bulk-delete": forBots(removeMany),
  "POST /channels/:id/typing": forBots((call) => {
    const channel = visibleChannel(call);
    requirePermission(call, channel, channel.thread ? "SendMessagesInThreads" : "SendMessages");
    call.world.typings.push({ bot: call.bot, channel, at: Date.now() });
    return {};
  }),
  "PUT /channels/:id/messages/:id/reactions/:emoji/@me": forBots((call) => {
    const channel = visibleChannel(call);
    requirePermission(call, channel, "ReadMessageHistory");
    react(call.world, call.bot.user, visibleMessage(channel, idAt(call, 1)), idAt(call, 2));
    return {};
  }),
  "DELETE /channels/:id/messages/:id/reactions/:emoji/@me": forBots((call) => {
    unreact(call.world, call.bot.user, visibleMessage(visibleChannel(call), idAt(call, 1)), idAt(call, 2));
    return {};
  }),
  "GET /channels/:id/messages/:id/reactions/:emoji": forBots((call) => {
    const users = visibleMessage(visibleChannel(call), idAt(call, 1)).reactions.get(idAt(call, 2)) ?? [];
    return { json: [...users].flatMap((id) => call.world.users.get(id) ?? []).map(userJson) };
  }),
  "PUT /channels/:id/pins/:id": forBots(pin),
  "PUT /channels/:id/messages/pins/:id": forBots(pin),
};

function shown(call: BotCall, message: StoredMessage): Answer {
  return { json: messageJson(call.world, message, restViewer(call.bot)) };
}

function edit(call: BotCall): Answer {
  const { world, bot, body, files } = call;
  const channel = visibleChannel(call);
  const message = visibleMessage(channel, idAt(call, 1));
  if (message.author !== bot.user) refuse(403, 50005, "Cannot edit a message authored by another user");
  if (!WRITTEN.includes(message.body.type)) refuse(403, 50021, "Cannot execute action on a system message");
  if (message.body.message_snapshots) refuse(400, 50168, "Cannot edit a forwarded message");
  if (channel.thread?.archived) refuse(400, 50083, "Thread is archived");
  checkMessageForm(body, { channel, files, editing: message, flags: EDIT_FLAGS });
  if (files.length > 0) requirePermission(call, channel, "AttachFiles");
  checkNotEmpty(afterEdit(message, body), files);
  return shown(call, editMessage(world, message, body, filesOf(body, files)));
}

/** The parts a message would have after an edit; kept files count as an embed, so that they make it non-empty. */
function afterEdit({ body: stored }: StoredMessage, body: BotCall["body"]) {
  const kept = body.attachments === undefined ? stored.attachments : asList(body.attachments);
  return {
    content: body.content === undefined ? stored.content : body.content,
    embeds: [...(body.embeds === undefined ? stored.embeds : asList(body.embeds)), ...kept],
    components: body.components === undefined ? stored.components : body.components,
  };
}

function remove(call: BotCall): Answer {
  const channel = visibleChannel(call);
  const message = visibleMessage(channel, idAt(call, 1));
  checkMayDelete(call, channel, message);
  deleteMessage(call.world, message);
  return {};
}

function checkMayDelete(call: BotCall, channel: Channel, message: StoredMessage): void {
  if (message.author === call.bot.user) return;
  if (!channel.guild) refuse(403, 50003, "Cannot execute action on a DM channel");
  requirePermission(call, channel, "ManageMessages");
}

function removeMany(call: BotCall): Answer {
  const channel = visibleChannel(call);
  requirePermission(call, channel, "ManageMessages");
  const ids = asList(call.body.messages).map(asText);
  if (ids.length < 2 || ids.length > 100) refuse(400, 50016, "Provided too few or too many messages to delete.");
  const old = ids.some((id) => timeOfId(id) < Date.now() - TWO_WEEKS_MS);
  if (old) refuse(400, 50034, "A message provided was too old to bulk delete");
  for (const message of channel.messages) if (ids.includes(message.body.id)) deleteMessage(call.world, message);
  return {};
}

/** Newest first. Without the permission to read history the list is empty, not refused. */
function history(call: BotCall): Answer {
  const { world, bot, query } = call;
  const channel = visibleChannel(call);
  const limit = Number(query.get("limit") ?? 50);
  if (!Number.isInteger(limit) || limit < 1 || limit > 100)
    refuseField("limit", "NUMBER_TYPE_MAX", "int value should be less than or equal to 100.");
  if (!can(channel, bot.user, "ReadMessageHistory")) return { json: [] };
  const visible = channel.messages.filter((message) => !message.deleted && !message.onlyFor);
  const page = pageOf(visible, query, limit);
  return { json: page.reverse().map((message) => messageJson(world, message, restViewer(bot))) };
}

function pageOf(messages: readonly StoredMessage[], query: URLSearchParams, limit: number): StoredMessage[] {
  const id = (message: StoredMessage) => BigInt(message.body.id);
  const [after, before, around] = ["after", "before", "around"].map((name) => toId(query.get(name)));
  if (after !== undefined) return messages.filter((message) => id(message) > after).slice(0, limit);
  if (before !== undefined) return messages.filter((message) => id(message) < before).slice(-limit);
  if (around === undefined) return messages.slice(-limit);
  const middle = messages.findIndex((message) => id(message) >= around);
  return messages.slice(Math.max(0, middle - Math.floor(limit / 2))).slice(0, limit);
}

function toId(value: string | null): bigint | undefined {
  if (value === null) return undefined;
  return /^\d+$/.test(value)
    ? BigInt(value)
    : refuseField("after", "NUMBER_TYPE_COERCE", `Value "${value}" is not snowflake.`);
}

function pin(call: BotCall): Answer {
  const channel = visibleChannel(call);
  if (channel.guild && !can(channel, call.bot.user, "PinMessages")) requirePermission(call, channel, "ManageMessages");
  visibleMessage(channel, idAt(call, 1)).body.pinned = true;
  return {};
}
