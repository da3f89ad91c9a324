/**
 * Channels and threads over REST.
 */
import { asFields, asList, asText } from "../../loopback.ts";
import type { Answer, BotCall, Routes } from "../call.ts";
import { forBots, idAt, requirePermission, restViewer, visibleChannel, visibleMessage } from "../call.ts";
import { tellChannel, tellThread, tellThreadMember } from "../events.ts";
import { messageJson } from "../message-json.ts";
import { CREATE_FLAGS, checkMessageForm, checkNotEmpty } from "../message-rules.ts";
import { createMessage, filesOf } from "../messages.ts";
import type { Channel } from "../model.ts";
import { can } from "../permissions.ts";
import type { ThreadStart } from "../places.ts";
import { dmChannel, makeThread, removeChannel } from "../places.ts";
import { badChoice, checkInteger, checkText, problemList, refuse, refuseForm } from "../refusal.ts";
import { channelJson, userJson } from "../wire.ts";

const ARCHIVE_MINUTES = [60, 1440, 4320, 10_080];

/** The channel and thread routes. */
export const CHANNEL_ROUTES: Routes = {
  "GET /channels/:id": forBots((call) => shown(call, visibleChannel(call))),
  "PATCH /channels/:id": forBots(change),
  "DELETE /channels/:id": forBots((call) => {
    const channel = visibleChannel(call);
    if (channel.guild) requirePermission(call, channel, channel.thread ? "ManageThreads" : "ManageChannels");
    if (channel.guild) removeChannel(call.world, channel);
    return shown(call, channel);
  }),
  "POST /channels/:id/messages/:id/threads": forBots(startFromMessage),
  "POST /channels/:id/threads": forBots(startBare),
  "PUT /channels/:id/thread-members/@me": forBots((call) => {
    const thread = threadOf(call);
    if (thread.thread?.archived) refuse(400, 50083, "Thread is archived");
    thread.thread?.members.add(call.bot.userId);
    tellThreadMember(call.world, thread, call.bot.user, true);
    return {};
  }),
  "DELETE /channels/:id/thread-members/@me": forBots((call) => {
    const thread = threadOf(call);
    thread.thread?.members.delete(call.bot.userId);
    tellThreadMember(call.world, thread, call.bot.user, false);
    return {};
  }),
  "GET /channels/:id/thread-members": forBots((call) => {
    const thread = threadOf(call);
    return { json: [...(thread.thread?.members ?? [])].map((id) => ({ id: thread.id, user_id: id, flags: 0 })) };
  }),
  "GET /channels/:id/threads/archived/public": forBots((call) => {
    const parent = visibleChannel(call);
    requirePermission(call, parent, "ReadMessageHistory");
    const threads = [...call.world.channels.values()].filter(
      (thread) => thread.parent === parent && thread.thread?.archived,
    );
    return {
      json: {
        threads: threads.map((thread) => channelJson(call.world, thread, call.bot)),
        members: [],
        has_more: false,
      },
    };
  }),
  "POST /users/@me/channels": forBots(openDirect),
};

function shown(call: BotCall, channel: Channel, status = 200): Answer {
  return { status, json: channelJson(call.world, channel, call.bot) };
}

function threadOf(call: BotCall): Channel {
  const channel = visibleChannel(call);
  return channel.thread ? channel : refuse(400, 50024, "Cannot execute action on this channel type");
}

function openDirect(call: BotCall): Answer {
  const person = call.world.users.get(asText(call.body.recipient_id));
  if (!person || person === call.bot.user) return refuse(400, 50033, "Invalid Recipient(s)");
  if (person.isBot) refuse(403, 50007, "Cannot send messages to this user");
  const channel = dmChannel(call.world, person, call.bot);
  return { json: { ...channelJson(call.world, channel, call.bot), recipients: [userJson(person)] } };
}

function change(call: BotCall): Answer {
  const { body, world, bot } = call;
  const channel = visibleChannel(call);
  if (!channel.guild) refuse(400, 50024, "Cannot execute action on this channel type");
  checkThreadForm(call, false);
  if (!channel.thread) {
    requirePermission(call, channel, "ManageChannels");
    Object.assign(channel, picked(body, { name: "name", topic: "topic", rate_limit_per_user: "slowmode" }));
    tellChannel(world, channel, "CHANNEL_UPDATE");
    return shown(call, channel);
  }
  const own = channel.thread.ownerId === bot.userId && body.locked === undefined && !channel.thread.locked;
  if (!own) requirePermission(call, channel, "ManageThreads");
  if (channel.thread.archived && body.archived !== false) refuse(400, 50083, "Thread is archived");
  Object.assign(channel, picked(body, { name: "name", rate_limit_per_user: "slowmode" }));
  Object.assign(
    channel.thread,
    picked(body, { archived: "archived", locked: "locked", auto_archive_duration: "autoArchive" }),
  );
  tellThread(world, channel, "THREAD_UPDATE");
  return shown(call, channel);
}

/** The given fields under our names. */
function picked(body: BotCall["body"], names: Readonly<Record<string, string>>) {
  return Object.fromEntries(
    Object.entries(names)
      .filter(([name]) => body[name] !== undefined)
      .map(([name, ours]) => [ours, body[name]]),
  );
}

/** Refuses names that are not 1–100 characters, and other archive times than Discord's four. */
function checkThreadForm({ body }: BotCall, nameRequired: boolean): void {
  const { problems, complain } = problemList();
  checkText(complain, "name", body.name, { min: 1, max: 100, required: nameRequired });
  const archive = body.auto_archive_duration;
  if (archive !== undefined && archive !== null && !ARCHIVE_MINUTES.includes(Number(archive)))
    badChoice(complain, "auto_archive_duration", ARCHIVE_MINUTES);
  checkInteger(complain, "rate_limit_per_user", body.rate_limit_per_user, { min: 0, max: 21_600 });
  refuseForm(problems);
}

function startOf(call: BotCall, more: Partial<ThreadStart> = {}): ThreadStart {
  const { body, bot } = call;
  return {
    name: asText(body.name),
    owner: bot.user,
    autoArchive: Number(body.auto_archive_duration ?? 1440),
    slowmode: Number(body.rate_limit_per_user ?? 0),
    ...more,
  };
}

function startFromMessage(call: BotCall): Answer {
  const { world, bot } = call;
  const channel = visibleChannel(call);
  const message = visibleMessage(channel, idAt(call, 1));
  if (channel.type !== 0 && channel.type !== 5) refuse(400, 50024, "Cannot execute action on this channel type");
  requirePermission(call, channel, "CreatePublicThreads");
  checkThreadForm(call, true);
  if (![0, 19, 20, 23].includes(message.body.type)) refuse(400, 50068, "Invalid message type");
  if (world.channels.has(message.body.id)) refuse(400, 160004, "A thread has already been created for this message");
  const thread = makeThread(world, channel, startOf(call, { id: message.body.id }));
  message.body.flags |= 1 << 5;
  createMessage(world, { channel: thread, author: bot.user, bot: null, body: {}, type: 21, target: message });
  return shown(call, thread, 201);
}

function startBare(call: BotCall): Answer {
  const { world, bot, body } = call;
  const parent = visibleChannel(call);
  checkThreadForm(call, true);
  if (parent.type === 15) return startForumPost(call, parent);
  if (parent.type !== 0 && parent.type !== 5) refuse(400, 50024, "Cannot execute action on this channel type");
  const isPrivate = (body.type ?? 12) === 12;
  requirePermission(call, parent, isPrivate ? "CreatePrivateThreads" : "CreatePublicThreads");
  const thread = makeThread(world, parent, startOf(call, { type: isPrivate ? 12 : undefined }));
  if (!isPrivate)
    createMessage(world, {
      channel: parent,
      author: bot.user,
      bot: null,
      body: { content: thread.name },
      type: 18,
      fallback: { parse: [] },
    });
  return shown(call, thread, 201);
}

/** A forum post: a thread whose first message has the same id. */
function startForumPost(call: BotCall, forum: Channel): Answer {
  const { world, bot, body, files } = call;
  const first = asFields(body.message);
  if (!can(forum, bot.user, "SendMessages")) refuse(403, 50013, "Missing Permissions");
  const tags = asList(body.applied_tags).map(asText);
  if (forum.requireTag && tags.length === 0)
    refuse(400, 40067, "A tag is required to create a forum post in this channel");
  checkMessageForm(first, { channel: forum, files, flags: CREATE_FLAGS });
  checkNotEmpty(first, files);
  const thread = makeThread(world, forum, startOf(call, { type: 11, tags }));
  const message = createMessage(world, {
    channel: thread,
    author: bot.user,
    bot,
    body: first,
    files: filesOf(first, files),
    id: thread.id,
  });
  const json = { ...channelJson(world, thread, bot), message: messageJson(world, message, restViewer(bot)) };
  return { status: 201, json };
}
