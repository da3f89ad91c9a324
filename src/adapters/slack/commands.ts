/**
 * Runs `/parley-<bot> stop|new|status|memory|help|group`: the same as typing `!stop` and so on (SPEC T5). Slack allows no command inside a thread, so `stop`
 * also reaches the threads of the channel in which the bot is at work.
 * Invariant: acknowledged within Slack's three seconds; the person hears privately what could not be done and why. Who may do what is decided by
 * `receive`.
 */

import type { ConversationRef, PersonRef, Reception } from "../../engine/index.ts";
import { personId } from "../../engine/index.ts";
import { type Fields, toFields, toText } from "../shared/fields.ts";
import type { SlackBot } from "./bot.ts";
import { COMMAND_WORDS, type CommandWord } from "./command-name.ts";
import { problemOf } from "./errors.ts";
import { conversationOf } from "./inbound.ts";
import { tellPrivately } from "./notices.ts";
import type { Acknowledge } from "./receiver.ts";

/** After this the command is acknowledged and its answer comes as a private notice, ms. */
const ACK_MS = 1200;
const NOT_DONE = "That could not be done just now. Please try again.";
const NOTHING = "Nothing is running here.";

interface CommandCall {
  readonly word: CommandWord;
  readonly channelId: string;
  readonly userId: string;
  /** Unique for one use of the command. */
  readonly mark: string;
}

/** Runs one command. Never rejects because of what Slack sent. */
export async function handleCommand(bot: SlackBot, body: Fields, acknowledge: Acknowledge): Promise<void> {
  const call = readCall(body);
  if (typeof call === "string") return acknowledge(privately(`${call}${usage(bot, body)}`));
  const done = new AbortController();
  let isLate = false;
  void bot.context.clock.delay(ACK_MS, done.signal).then(() => {
    isLate = !done.signal.aborted;
    if (isLate) acknowledge();
  });
  const text = await run(bot, call).catch((error: unknown) => {
    bot.log.error({ error: error instanceof Error ? error.name : "" }, "a slack command could not be run");
    return NOT_DONE;
  });
  done.abort();
  if (text === undefined) return acknowledge();
  if (!isLate) return acknowledge(privately(text));
  const { channelId, userId } = call;
  await tellPrivately(bot, { channelId, userId, responseUrl: toText(body.response_url) }, text);
}

function privately(text: string): object {
  return { response_type: "ephemeral", text };
}

function usage(bot: SlackBot, body: Fields): string {
  const words = COMMAND_WORDS.map((word) => `\`${toText(body.command) ?? "!"} ${word}\``).join(", ");
  return `Use ${words}; or mention ${bot.name} in a message.`;
}

/** What was typed; a text says what is wrong with it. */
function readCall(body: Fields): CommandCall | string {
  const channelId = toText(body.channel_id);
  const userId = toText(body.user_id);
  const mark = toText(body.trigger_id);
  if (channelId === undefined || userId === undefined || mark === undefined)
    return "Slack did not say where this was typed. ";
  const typed = (toText(body.text) ?? "help").trim().toLowerCase().replace(/^!/, "").replace(/\s+/g, " ");
  const word = COMMAND_WORDS.find((known) => known === (typed === "" ? "help" : typed));
  return word === undefined ? "That is none of the commands. " : { word, channelId, userId, mark };
}

/** What the person is told; undefined when the conversation shows it. */
async function run(bot: SlackBot, call: CommandCall): Promise<string | undefined> {
  const channelName = await nameOfJoined(bot, call.channelId);
  if (channelName === undefined) {
    return `I am not in this conversation. Add me with /invite @${bot.name}, or write to me directly.`;
  }
  const from = await personOf(bot, call.userId);
  const conversation = conversationOf(bot.self, call.channelId, {}, channelName === "" ? undefined : channelName);
  const threads =
    call.word === "stop" && conversation.kind !== "direct" ? await bot.presence.working(call.channelId) : [];
  if (threads.length > 0) return stopThreads(bot, call, conversation, from, threads);
  const base = baseOf(bot, call);
  const reception = await bot.context.receive({
    ...base,
    ...typedText(bot, call.word),
    type: "message",
    conversation,
    from,
  });
  return outcomeOf(reception);
}

async function stopThreads(
  bot: SlackBot,
  call: CommandCall,
  channel: ConversationRef,
  from: PersonRef,
  threads: readonly string[],
): Promise<string> {
  const receptions = await Promise.all(
    threads.map((threadId) => {
      const { dedupeKey, ...base } = baseOf(bot, call);
      const conversation: ConversationRef = { ...channel, kind: "thread", threadId };
      return bot.context.receive({ type: "stop", ...base, dedupeKey: `${dedupeKey}:${threadId}`, conversation, from });
    }),
  );
  const stopped = receptions.filter(({ status }) => status === "accepted").length;
  if (stopped === 0) return receptions.find(({ reason }) => reason !== undefined)?.reason ?? NOTHING;
  return stopped === 1
    ? "Stopping what I am doing in a thread here."
    : `Stopping what I am doing in ${stopped} threads here.`;
}

function baseOf(bot: SlackBot, call: CommandCall) {
  return {
    dedupeKey: `slack:${bot.self.workspaceId}:${call.channelId}:command:${bot.self.botUserId}:${call.mark}`,
    installationId: bot.self.installationId,
    at: new Date(bot.context.clock.now()),
  };
}

/** The same words a person would type, with the bot named: a channel may hold several. */
function typedText(bot: SlackBot, word: CommandWord) {
  const name = `@${bot.name}`;
  return {
    platformId: `command:${bot.context.clock.now()}`,
    text: `${name} !${word}`,
    mentions: [{ platformId: bot.self.botUserId, start: 0, end: name.length }],
    quoted: [],
    everyone: false,
    namesBot: true,
    files: [],
  };
}

function outcomeOf(reception: Reception): string | undefined {
  if (reception.status === "accepted" || reception.status === "duplicate") return undefined;
  return reception.reason ?? NOTHING;
}

/** The conversation's name ("" for direct ones), or undefined when the bot is not in it and could not answer there. */
async function nameOfJoined(bot: SlackBot, channelId: string): Promise<string | undefined> {
  try {
    const channel = toFields(toFields(await bot.calls.fast("conversations.info", { channel: channelId })).channel);
    if (channel.is_im === true || channel.is_mpim === true) return "";
    return channel.is_member === false ? undefined : (toText(channel.name) ?? "");
  } catch (error) {
    if (problemOf(error).problem === "place") return undefined;
    throw error;
  }
}

async function personOf(bot: SlackBot, userId: string): Promise<PersonRef> {
  const known = await bot.directory.person(userId);
  const id = personId("slack", bot.self.workspaceId, userId);
  return { id, platformId: userId, name: known.name, kind: known.kind };
}
