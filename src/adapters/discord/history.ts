/**
 * Reading what is already in a thread, and small decorations: first contact, reactions.
 * Invariant: nothing here posts a message.
 */

import type { ConversationRef, HistoryMessage, Place } from "../../engine/index.ts";
import { DeliveryError } from "../../engine/index.ts";
import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import { RECEIPT_EMOJI } from "../shared/looks.ts";
import { compareIds } from "./backfill.ts";
import type { DiscordBot } from "./bot.ts";
import { problemOf, toDeliveryError } from "./errors.ts";
import { authorOf, dateOfId } from "./inbound.ts";
import { type Names, readText } from "./inbound-text.ts";
import { targetOf } from "./threads.ts";

const PAGE = 100;
/** Ordinary messages, replies, and the marker that stands for a thread's first message. */
const SPOKEN = new Set([0, 19]);

/** First message and the most recent ones of a thread, oldest first; [] for places without a thread. Rejects with DeliveryError. */
export async function readThread(
  bot: DiscordBot,
  ref: ConversationRef,
  limit: number,
): Promise<readonly HistoryMessage[]> {
  const { threadId, channelId, workspaceId } = ref;
  if (ref.kind !== "thread" || threadId === undefined || limit < 1) return [];
  try {
    const query = { limit: String(Math.min(PAGE, limit + 1)) };
    const answer = await bot.calls.call("get", `/channels/${threadId}/messages`, { query });
    const inside = toList(answer).filter((message) => SPOKEN.has(Number(message.type)));
    const guild = await bot.directory.guild(bot.calls, workspaceId).catch(() => undefined);
    const root = inside.find((message) => message.id === threadId) ?? (await rootOf(bot, channelId, threadId));
    const replies = inside.filter((message) => message.id !== threadId).sort(byId);
    const room = root ? limit - 1 : limit;
    const kept = [...(root ? [root] : []), ...(room > 0 ? replies.slice(-room) : [])];
    const names: Names = {
      user: (id) => bot.ours.get(id),
      role: (id) => guild?.roles.get(id),
      channel: (id) => bot.directory.knownPlace(id)?.name,
    };
    return kept.map((message) => toHistory(message, names, threadId));
  } catch (error) {
    throw toDeliveryError(error);
  }
}

/** A thread below a message begins with that message, which stands in the channel above. A thread without one has none. */
async function rootOf(bot: DiscordBot, channelId: string, threadId: string): Promise<Fields | undefined> {
  try {
    return toFields(await bot.calls.call("get", `/channels/${channelId}/messages/${threadId}`));
  } catch (error) {
    const { problem } = problemOf(error);
    if (problem === "content" || problem === "place") return undefined;
    throw error;
  }
}

function byId(left: Fields, right: Fields): number {
  return compareIds(toText(left.id) ?? "0", toText(right.id) ?? "0");
}

function toHistory(message: Fields, names: Names, threadId: string): HistoryMessage {
  const platformId = toText(message.id) ?? "";
  return {
    platformId,
    at: dateOfId(platformId),
    from: authorOf(message),
    text: readText(message, names).text,
    isRoot: platformId === threadId,
  };
}

const EMOJI: Readonly<Record<string, string>> = {
  thumbsup: "👍",
  "+1": "👍",
  thumbsdown: "👎",
  "-1": "👎",
  white_check_mark: "✅",
  heavy_check_mark: "✔️",
  x: "❌",
  eyes: "👀",
  heart: "❤️",
  tada: "🎉",
  pray: "🙏",
  raised_hands: "🙌",
  clap: "👏",
  wave: "👋",
  "100": "💯",
  fire: "🔥",
  rocket: "🚀",
  grinning: "😀",
  smile: "😄",
  joy: "😂",
  sweat_smile: "😅",
  blush: "😊",
  thinking: "🤔",
  thinking_face: "🤔",
  cry: "😢",
  open_mouth: "😮",
  ok_hand: "👌",
  bulb: "💡",
  warning: "⚠️",
  hourglass_flowing_sand: "⏳",
  pushpin: "📌",
};

/** Adds a reaction; one that is there already is success. Throws DeliveryError. */
export async function addReaction(bot: DiscordBot, place: Place, nativeId: string, emoji: string): Promise<void> {
  const bare = emoji.trim().replace(/^:|:$/g, "");
  const custom = /^<a?:(\w+:\d{15,21})>$/.exec(emoji.trim())?.[1];
  const sign = custom ?? EMOJI[bare] ?? bare;
  if (custom === undefined && !/\p{Extended_Pictographic}|\p{Regional_Indicator}|\u20e3/u.test(sign)) {
    throw new DeliveryError("content", "Discord does not know this emoji; use the sign itself, such as 👍 or 👀.");
  }
  try {
    await reactAs(bot, place, nativeId, sign, "put");
  } catch (error) {
    throw toDeliveryError(error);
  }
}

/**
 * Puts the receipt on a message or takes it away (SPEC M14). A message that is gone needs none. Rejects with the client's error, for example without
 * the permission Add Reactions.
 */
export async function setReceipt(bot: DiscordBot, place: Place, nativeId: string, taken: boolean): Promise<void> {
  // What did not come as a message (a slash command) has no place for a sign.
  if (!/^\d{15,21}$/.test(nativeId)) return;
  try {
    await reactAs(bot, place, nativeId, RECEIPT_EMOJI, taken ? "put" : "delete");
  } catch (error) {
    if (!NO_RECEIPT_NEEDED.has(problemOf(error).code)) throw error;
  }
}

/** Unknown message, unknown channel, unknown emoji (which a message without this reaction answers). */
const NO_RECEIPT_NEEDED = new Set(["10008", "10003", "10014"]);

async function reactAs(
  bot: DiscordBot,
  place: Place,
  nativeId: string,
  sign: string,
  how: "put" | "delete",
): Promise<void> {
  const react = (channelId: string) =>
    bot.calls.call(how, `/channels/${channelId}/messages/${nativeId}/reactions/${encodeURIComponent(sign)}/@me`);
  const { threadId, channelId } = place.ref;
  // A thread's first message stands in the channel above; a forum post's stands in the post.
  if (nativeId !== threadId) await react(targetOf(place));
  else await react(channelId).catch((error: unknown) => orInThread(error, () => react(threadId)));
}

function orInThread(error: unknown, put: () => Promise<unknown>): Promise<unknown> {
  const { code } = problemOf(error);
  if (code === "10008" || code === "50024" || code === "50008") return put();
  throw error;
}
