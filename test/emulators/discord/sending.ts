/**
 * Sending and editing by bots: who may post where, replies and forwards, slow mode, nonces.
 * Invariant: a message that comes out of here was allowed in its place and fits every rule.
 */
import type { Fields } from "../loopback.ts";
import { asList, asText, isFields } from "../loopback.ts";
import type { BotCall } from "./call.ts";
import { CREATE_FLAGS, checkMessageForm, checkNotEmpty } from "./message-rules.ts";
import { createMessage, FLAGS, filesOf } from "./messages.ts";
import type { Bot, Channel, StoredMessage, User } from "./model.ts";
import { can, canSee } from "./permissions.ts";
import { refuse, refuseField } from "./refusal.ts";
import type { World } from "./world.ts";
import { findMessage } from "./world.ts";

/** Messages of these types cannot be answered. */
const REPLIABLE = [0, 19, 20, 23];
const TEXT_PLACES = [0, 1, 2, 5, 10, 11, 12, 13];

/** Create Message. */
export function sendMessage(call: BotCall, channel: Channel): StoredMessage {
  const { world, bot, body, files } = call;
  checkPlace(world, bot, channel);
  checkMessageForm(body, { channel, files, flags: CREATE_FLAGS });
  const known = knownNonce(call);
  if (known) return known;
  const reference = readReference(call, channel);
  if (reference.forward) return forwardMessage(call, channel, reference.forward);
  checkNotEmpty(body, files);
  checkContentRights(call, channel);
  checkSlowmode(bot, channel);
  const message = createMessage(world, {
    channel,
    author: bot.user,
    bot,
    body,
    files: filesOf(body, files),
    type: reference.target ? 19 : 0,
    target: reference.target,
    extra: reference.target ? { message_reference: referenceTo(reference.target) } : {},
  });
  rememberNonce(call, message);
  return message;
}

/** Refuses places a bot cannot write to, each with Discord's own code. */
export function checkPlace(world: World, bot: Bot, channel: Channel): void {
  if (channel.type === 15) refuse(400, 40058, "Cannot send messages in a forum channel");
  if (!TEXT_PLACES.includes(channel.type)) refuse(400, 50008, "Cannot send messages in a non-text channel");
  if (channel.person) checkDirect(world, bot, channel.person);
  const needed = channel.thread ? "SendMessagesInThreads" : "SendMessages";
  if (!can(channel, bot.user, needed)) refuse(403, 50013, "Missing Permissions");
  if (channel.thread?.locked && !can(channel, bot.user, "ManageThreads")) refuse(400, 160005, "Thread is locked");
}

function checkDirect(world: World, bot: Bot, person: User): void {
  const shared = [...world.guilds.values()].some(({ members }) => members.has(person.id) && members.has(bot.userId));
  if (!shared) refuse(403, 50278, "Cannot send messages to this user due to having no mutual guilds");
  if (person.dms === "closed") refuse(403, 50007, "Cannot send messages to this user");
}

/** Files and embeds need permissions of their own. */
function checkContentRights({ bot, body, files }: BotCall, channel: Channel): void {
  const denied =
    (files.length > 0 && !can(channel, bot.user, "AttachFiles")) ||
    (asList(body.embeds).length > 0 && !can(channel, bot.user, "EmbedLinks")) ||
    (body.tts === true && !can(channel, bot.user, "SendTTSMessages"));
  if (denied) refuse(403, 50013, "Missing Permissions");
}

function checkSlowmode(bot: Bot, channel: Channel): void {
  if (channel.slowmode === 0) return;
  const exempt = (["BypassSlowmode", "ManageMessages", "ManageChannels"] as const).some((name) =>
    can(channel, bot.user, name),
  );
  const last = channel.messages.findLast((message) => message.author === bot.user && !message.onlyFor);
  const wait = (last?.at ?? 0) + channel.slowmode * 1000 - Date.now();
  if (!exempt && wait > 0)
    refuse(429, 20016, "This action cannot be performed due to slowmode rate limit.", { retry_after: wait / 1000 });
}

/** With enforce_nonce the same author's same nonce gives the message that is there, or Unknown Message if deleted. */
function knownNonce({ world, bot, body }: BotCall): StoredMessage | null {
  if (body.enforce_nonce !== true || body.nonce === undefined) return null;
  const known = world.nonces.get(`${bot.userId}:${String(body.nonce)}`);
  if (!known || Date.now() - known.at > world.timing.nonceMs) return null;
  return known.message.deleted ? refuse(404, 10008, "Unknown Message") : known.message;
}

function rememberNonce({ world, bot, body }: BotCall, message: StoredMessage): void {
  if (body.nonce === undefined || body.nonce === null) return;
  world.nonces.set(`${bot.userId}:${String(body.nonce)}`, { message, at: Date.now() });
}

/** The fields that point at a message. */
export function referenceTo(target: StoredMessage, type = 0): Fields {
  const { channel, body } = target;
  return {
    type,
    message_id: body.id,
    channel_id: channel.id,
    ...(channel.guild ? { guild_id: channel.guild.id } : {}),
  };
}

/** What a message answers or forwards. A missing target is refused unless `fail_if_not_exists` is false. */
function readReference(
  { world, bot, body }: BotCall,
  channel: Channel,
): { target: StoredMessage | null; forward: StoredMessage | null } {
  const reference = body.message_reference;
  if (reference === undefined || reference === null) return { target: null, forward: null };
  if (!isFields(reference) || reference.message_id === undefined)
    return refuseField("message_reference.message_id", "BASE_TYPE_REQUIRED", "This field is required");
  const isForward = reference.type === 1;
  if (isForward && reference.channel_id === undefined)
    refuseField("message_reference.channel_id", "BASE_TYPE_REQUIRED", "This field is required");
  const place = world.channels.get(asText(reference.channel_id)) ?? channel;
  const found = findMessage(place, asText(reference.message_id));
  const exists = found && !found.deleted && !found.onlyFor && (isForward || place === channel);
  if (!exists && !isForward && reference.fail_if_not_exists === false) return { target: null, forward: null };
  if (!exists || (isForward && !canSee(place, bot.user)))
    return refuseField("message_reference", "REPLIES_UNKNOWN_MESSAGE", "Unknown message");
  if (isForward) return { target: null, forward: found };
  if (!can(channel, bot.user, "ReadMessageHistory"))
    refuse(400, 160002, "Cannot reply without permission to read message history");
  if (!REPLIABLE.includes(found.body.type))
    refuseField("message_reference", "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE", "Cannot reply to a system message");
  return { target: found, forward: null };
}

/** A forward carries a snapshot and nothing of its own. */
function forwardMessage(call: BotCall, channel: Channel, original: StoredMessage): StoredMessage {
  const { world, bot, body, files } = call;
  const own =
    asText(body.content) !== "" ||
    asList(body.embeds).length > 0 ||
    asList(body.components).length > 0 ||
    files.length > 0;
  if (own) refuseField("message_reference", "MESSAGE_FORWARD_CANNOT_HAVE_CONTENT", "Forwards cannot have content");
  const message = createMessage(world, {
    channel,
    author: bot.user,
    bot,
    body: { flags: body.flags, nonce: body.nonce },
    extra: { message_reference: referenceTo(original, 1), message_snapshots: [snapshotOf(original)] },
  });
  rememberNonce(call, message);
  return message;
}

/** What a forward shows of a message: everything but who wrote it. */
export function snapshotOf({ body }: StoredMessage): Fields {
  const names = [
    "type",
    "content",
    "embeds",
    "attachments",
    "timestamp",
    "edited_timestamp",
    "mentions",
    "mention_roles",
    "components",
  ];
  const copy = Object.fromEntries(names.map((name) => [name, structuredClone(body[name])]));
  return { message: { ...copy, flags: body.flags & ~FLAGS.suppressNotifications } };
}
