/**
 * What is done with each of Slack's events for one bot in one workspace: looked up, completed, handed to the engine; and the few that are about the
 * bot itself.
 * Invariant: `take` resolves only when the event was stored or is knowingly of no interest; it rejects when it should come again.
 */

import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import { tellLink } from "./actions.ts";
import type { SlackBot } from "./bot.ts";
import type { CatchUp } from "./catch-up.ts";
import { greet } from "./greeting.ts";
import { type Knowledge, toInbound } from "./inbound.ts";
import { type IsOurs, kindOf, type Lookups, lookupsOf, type SlackEventKind } from "./inbound-kind.ts";
import { createTwins, type Twins } from "./twins.ts";

/** Slack delivers an event three more times; after that it is gone. */
export const LAST_RETRY = 3;

/** Events of one bot in one workspace. */
export interface Events {
  /** An event as Slack delivered it. */
  take(event: Fields, retryNum: number, catchUp: CatchUp | undefined): Promise<void>;
  /** A message read from history. */
  takeMissed(event: Fields): Promise<void>;
  /** What the app's settings seem to lack, for the operator. */
  remedy(): string | undefined;
}

const MANY_UNMATCHED = 5;
const UNMATCHED_REMEDY =
  "Mentions arrive without the messages of their channels: subscribe the app to message.channels and message.groups under Event Subscriptions.";

/** `isOurs` knows every bot of this process; `onGone` is told when the workspace removed the app. */
export function createEvents(bot: SlackBot, isOurs: IsOurs, onGone: (remedy: string) => void): Events {
  const twins = createTwins(bot.calls.fast, bot.context.clock, bot.context.metrics);
  const takeIn = (event: Fields, retryNum: number) => receive(bot, isOurs, twins, event, retryNum);
  return {
    async take(event, retryNum, catchUp) {
      if (isGone(bot, event)) {
        return onGone("The app was removed from the workspace or its token revoked. Install it again.");
      }
      if (event.type === "app_home_opened") return void greet(bot, event);
      catchUp?.note(event);
      twins.heard(event);
      await takeIn(event, retryNum);
    },
    takeMissed: (event) => takeIn(event, LAST_RETRY),
    remedy: () => (twins.unmatched() >= MANY_UNMATCHED ? UNMATCHED_REMEDY : undefined) ?? bot.presence.remedy(),
  };
}

/** Tokens of people may be revoked too; only the bot's own matters. */
function isGone(bot: SlackBot, event: Fields): boolean {
  if (event.type === "app_uninstalled") return true;
  if (event.type !== "tokens_revoked") return false;
  const { bot: ofBots, oauth } = toFields(event.tokens);
  if (!Array.isArray(ofBots)) return !Array.isArray(oauth);
  return ofBots.includes(bot.self.botUserId);
}

async function receive(bot: SlackBot, isOurs: IsOurs, twins: Twins, event: Fields, retryNum: number): Promise<void> {
  const kind = understood(bot, event, () => kindOf(event, isOurs)) ?? "ignored";
  if (kind === "ignored") return;
  const whole = await complete(bot, isOurs, twins, event, kind);
  if (whole === undefined) return;
  const lookups = understood(bot, event, () => lookupsOf(whole, kind));
  if (lookups === undefined) return;
  const knowledge = await learn(bot, lookups, retryNum);
  const inbound = understood(bot, event, () => toInbound(whole, kind, bot.self, knowledge));
  if (!inbound) return;
  const { link } = await bot.context.receive(inbound);
  const threadTs = toText(event.thread_ts);
  if (link !== undefined && inbound.type === "message") {
    const listener = { channelId: inbound.conversation.channelId, userId: inbound.from.platformId, threadTs };
    void tellLink(bot, listener, link);
  }
  // Slack leaves it to the app to end the session that was stopped.
  if (kind === "stop" && threadTs !== undefined) {
    void bot.presence.clear(inbound.conversation.channelId, threadTs);
  }
}

/** Reading an event asks nobody: where that fails, it would fail again with the same event, which is therefore of no interest. */
function understood<T>(bot: SlackBot, event: Fields, read: () => T): T | undefined {
  try {
    return read();
  } catch (error) {
    const name = error instanceof Error ? error.name : "";
    bot.log.error({ type: toText(event.type) ?? "", error: name }, "a slack event could not be understood");
    return undefined;
  }
}

/** The event with what Slack leaves out; undefined when it is of no interest after all. */
async function complete(
  bot: SlackBot,
  isOurs: IsOurs,
  twins: Twins,
  event: Fields,
  kind: SlackEventKind,
): Promise<Fields | undefined> {
  if (kind === "message") return twins.complete(event);
  if (kind !== "reaction") return event;
  const item = toFields(event.item);
  const known = twins.find(item);
  if (known) return { ...event, item: { ...item, thread_ts: known.thread_ts } };
  // A reaction to something old that is not ours tells a bot nothing, and asking about each would use up Slack's patience.
  if (!isOurs({ user: toText(event.item_user) })) return undefined;
  return { ...event, item: { ...item, thread_ts: await threadTsOf(bot, item) } };
}

/** The thread a message stands in; undefined for none, or when Slack does not say. */
async function threadTsOf(bot: SlackBot, item: Fields): Promise<string | undefined> {
  if (toText(item.channel)?.startsWith("D")) return undefined;
  try {
    const args = { channel: item.channel, ts: item.ts, oldest: item.ts, latest: item.ts, inclusive: true, limit: 5 };
    const answer = toFields(await bot.calls.fast("conversations.replies", args));
    return toText(toList(answer.messages).find((message) => message.ts === item.ts)?.thread_ts);
  } catch {
    // The reaction then counts for the channel's own level, where it is context at most.
    return undefined;
  }
}

/** Whoever cannot be looked up on the last delivery is taken in with the least authority instead of being lost. */
async function learn(bot: SlackBot, lookups: Lookups, retryNum: number): Promise<Knowledge> {
  try {
    return await bot.directory.learn(lookups);
  } catch (error) {
    if (retryNum < LAST_RETRY) throw error;
    const { author: _unknown, ...rest } = lookups;
    return bot.directory.learn(rest);
  }
}
