/**
 * Status lines, suggested prompts, agent sessions, reactions, streams of text, and `blocks.validate`.
 * Invariant: nothing here notifies people; a stream is a message that grows until it is stopped.
 */
import type { Fields } from "../../loopback.ts";
import { asFields, asList, asText } from "../../loopback.ts";
import { checkBlocks } from "../block-rules.ts";
import type { Call, Method } from "../call.ts";
import { memberChannel, readThread, requireArguments, visibleMessage, writableChannel } from "../call.ts";
import { readBlocks } from "../content.ts";
import { tellChanged, tellMembers, tellMessage } from "../events.ts";
import { copyBody } from "../messages.ts";
import type { Channel, StoredMessage } from "../model.ts";
import { refuse, refuseArguments } from "../refusal.ts";
import { setStatus } from "../statuses.ts";
import { checkView } from "../view-rules.ts";
import { newTs } from "../workspace.ts";
import { addBotMessage } from "./chat.ts";

const STATUS_SCOPES = ["assistant:write", "chat:write"];

/** The methods of this family. */
export const AGENT_METHODS: Readonly<Record<string, Method>> = {
  "assistant.threads.setStatus": { scopes: STATUS_SCOPES, run: threadStatus },
  "assistant.threads.setTitle": { scopes: ["assistant:write"], run: threadTitle },
  "assistant.threads.setSuggestedPrompts": { scopes: ["assistant:write"], run: suggestedPrompts },
  "agents.sessions.setStatus": { scopes: STATUS_SCOPES, run: sessionStatus },
  "agents.sessions.rename": { scopes: ["assistant:write"], run: renameSession },
  "reactions.add": { scopes: ["reactions:write"], run: addReaction },
  "reactions.remove": { scopes: ["reactions:write"], run: removeReaction },
  "reactions.get": { scopes: ["reactions:read"], run: getReactions },
  "chat.startStream": { scopes: ["chat:write"], run: startStream },
  "chat.appendStream": { scopes: ["chat:write"], run: appendStream },
  "chat.stopStream": { scopes: ["chat:write"], run: stopStream },
  "blocks.validate": { scopes: [], run: validateBlocks },
};

function threadStatus(call: Call): Fields {
  requireArguments(call.args, "thread_ts");
  const channel = memberChannel(call, call.args.channel_id);
  const threadTs = readThread(channel, call.args.thread_ts);
  if (typeof call.args.status !== "string") refuseArguments("missing required field: status");
  if (asList(call.args.loading_messages).length > 10)
    refuseArguments("no more than 10 items allowed [json-pointer:/loading_messages]");
  setStatus(call.workspace, {
    app: call.app,
    channel,
    threadTs,
    method: "assistant.threads.setStatus",
    status: asText(call.args.status),
  });
  return {};
}

function threadTitle(call: Call): Fields {
  requireArguments(call.args, "thread_ts", "title");
  readThread(memberChannel(call, call.args.channel_id), call.args.thread_ts);
  return {};
}

function suggestedPrompts(call: Call): Fields {
  readThread(memberChannel(call, call.args.channel_id), call.args.thread_ts);
  const prompts = asList(call.args.prompts).map(asFields);
  if (prompts.length < 1 || prompts.length > 4) refuseArguments("must have 1 to 4 items [json-pointer:/prompts]");
  if (prompts.some((prompt) => !prompt.title || !prompt.message))
    refuseArguments("a prompt needs title and message [json-pointer:/prompts]");
  return {};
}

function sessionStatus(call: Call): Fields {
  requireArguments(call.args, "channel_id", "status");
  const channel = memberChannel(call, call.args.channel_id);
  const threadTs = readThread(channel, call.args.thread_ts);
  const status = asText(call.args.status);
  if (!["processing", "active", "suspended", "closed"].includes(status))
    refuseArguments("status must be processing, active, suspended or closed");
  if (asText(call.args.title).length > 200) refuseArguments("must be less than 201 characters [json-pointer:/title]");
  if (!call.app.agent) refuse("not_an_agent");
  setStatus(call.workspace, { app: call.app, channel, threadTs, method: "agents.sessions.setStatus", status });
  const stops = call.app.events === null || call.app.events.includes("agent_session_stopped");
  return stops ? {} : { warning: "agent_session_stopped_not_subscribed" };
}

function renameSession(call: Call): Fields {
  requireArguments(call.args, "channel_id", "title");
  memberChannel(call, call.args.channel_id);
  if (asText(call.args.title).length > 200) refuseArguments("must be less than 201 characters [json-pointer:/title]");
  return {};
}

interface Reaction {
  name: string;
  users: string[];
  count: number;
}

function reactionsOf(message: StoredMessage): Reaction[] {
  message.body.reactions ??= [];
  return message.body.reactions as Reaction[];
}

/** Adds a reaction of any user; false when it was there already. */
export function react(message: StoredMessage, user: string, name: string): boolean {
  const reactions = reactionsOf(message);
  const reaction = reactions.find((item) => item.name === name);
  if (reaction?.users.includes(user)) return false;
  if (reaction) reaction.users.push(user);
  else reactions.push({ name, users: [user], count: 0 });
  for (const item of reactions) item.count = item.users.length;
  return true;
}

function reactionTarget(call: Call): { channel: Channel; message: StoredMessage; name: string } {
  requireArguments(call.args, "channel", "timestamp");
  const name = asText(call.args.name);
  if (!/^[a-z0-9_+'-]+(::skin-tone-[2-6])?$/.test(name)) refuse("invalid_name");
  const channel = memberChannel(call, call.args.channel);
  return { channel, message: visibleMessage(channel, call.args.timestamp), name };
}

function tellReaction(
  call: Call,
  type: string,
  target: { channel: Channel; message: StoredMessage; name: string },
): void {
  const { channel, message, name } = target;
  const item = { type: "message", channel: channel.id, ts: message.body.ts };
  const event = {
    type,
    user: call.app.userId,
    reaction: name,
    item,
    item_user: message.body.user,
    event_ts: newTs(call.workspace),
  };
  tellMembers(call.workspace, channel, event);
}

function addReaction(call: Call): Fields {
  const target = reactionTarget(call);
  if (!react(target.message, call.app.userId, target.name)) refuse("already_reacted");
  tellReaction(call, "reaction_added", target);
  return {};
}

function removeReaction(call: Call): Fields {
  const target = reactionTarget(call);
  const reactions = reactionsOf(target.message);
  const reaction = reactions.find((item) => item.name === target.name);
  if (!reaction?.users.includes(call.app.userId)) return refuse("no_reaction");
  reaction.users = reaction.users.filter((user) => user !== call.app.userId);
  reaction.count = reaction.users.length;
  target.message.body.reactions = reactions.filter((item) => item.count > 0);
  tellReaction(call, "reaction_removed", target);
  return {};
}

function getReactions(call: Call): Fields {
  requireArguments(call.args, "channel", "timestamp");
  const channel = memberChannel(call, call.args.channel);
  return { type: "message", channel: channel.id, message: copyBody(visibleMessage(channel, call.args.timestamp)) };
}

function startStream(call: Call): Fields {
  requireArguments(call.args, "thread_ts");
  const channel = writableChannel(call, call.args.channel);
  const thread = readThread(channel, call.args.thread_ts);
  if (channel.kind !== "im") requireArguments(call.args, "recipient_user_id", "recipient_team_id");
  const content = { text: streamText(call), blocks: undefined, attachments: undefined, metadata: undefined };
  const message = addBotMessage(call, channel, content, thread);
  message.streaming = true;
  tellMessage(call.workspace, message);
  return { channel: channel.id, ts: message.body.ts };
}

function streamText(call: Call): string {
  const { args } = call;
  if (args.markdown_text !== undefined) return asText(args.markdown_text);
  return asList(args.chunks)
    .map((chunk) => asText(asFields(chunk).text))
    .join("");
}

function streamOf(call: Call): StoredMessage {
  requireArguments(call.args, "ts");
  const message = visibleMessage(memberChannel(call, call.args.channel), call.args.ts);
  if (message.app !== call.app) refuse("message_not_owned_by_app");
  if (!message.streaming) refuse("message_not_in_streaming_state");
  return message;
}

function appendStream(call: Call): Fields {
  const message = streamOf(call);
  message.body.text += streamText(call);
  if (message.body.text.length > 12_000) refuse("msg_too_long");
  return { channel: message.channel.id, ts: message.body.ts };
}

function stopStream(call: Call): Fields {
  const message = streamOf(call);
  const previous = copyBody(message);
  message.body.text += streamText(call);
  const blocks = readBlocks(call.args.blocks);
  if (blocks) message.body.blocks = blocks;
  message.streaming = false;
  tellChanged(call.workspace, message, previous, false);
  return { channel: message.channel.id, ts: message.body.ts };
}

function validateBlocks(call: Call): Fields {
  const { blocks, message, view } = call.args;
  if (blocks === undefined && message === undefined && view === undefined)
    refuseArguments("blocks, message or view is required");
  const problems = view === undefined ? checkBlocks(blocks ?? asFields(message).blocks ?? []) : checkView(view);
  if (problems.length === 0) return {};
  const errors = problems.map(({ message: text, pointer }) => ({ code: "invalid_block", message: text, pointer }));
  return refuse("invalid_blocks", { errors });
}
