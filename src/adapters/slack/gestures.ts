/**
 * Small signs beside messages: the working status and reactions. Emoji come as characters or as names, with or without a skin tone, and leave as
 * Slack's short names.
 * Invariant: nothing here posts a message; a reaction that is there already is success.
 */

import type { Place } from "../../engine/index.ts";
import { DeliveryError } from "../../engine/index.ts";
import { RECEIPT_EMOJI } from "../shared/looks.ts";
import type { SlackBot } from "./bot.ts";
import { EMOJI_NAMES } from "./emoji.ts";
import { problemOf, toDeliveryError } from "./errors.ts";
import { isTs, threadOf } from "./place.ts";

/** Shows or clears that the bot works. Slack has no such sign for a channel's own level. */
export async function setWorking(bot: SlackBot, place: Place, working: boolean, words?: string): Promise<void> {
  const thread = threadOf(place);
  if (thread !== undefined) await bot.presence.show(place.ref.channelId, thread, working, words);
}

/** Adds a reaction; one that is there already is success. Throws DeliveryError. */
export async function addReaction(bot: SlackBot, place: Place, nativeId: string, emoji: string): Promise<void> {
  const name = toShortName(emoji);
  if (name === undefined) throw unknownEmoji();
  try {
    await bot.calls.web("reactions.add", { channel: place.ref.channelId, timestamp: nativeId, name });
  } catch (error) {
    const { code } = problemOf(error);
    if (code === "already_reacted") return;
    if (code === "invalid_name") throw unknownEmoji();
    if (code === "message_not_found" || code === "no_item_specified")
      throw new DeliveryError("content", "There is no such message to react to any more.");
    throw toDeliveryError(error);
  }
}

/**
 * Puts the receipt on a message or takes it away (SPEC M14); one that is there, or gone, already is success. A message that is gone needs none. Rejects
 * with the client's error, for example without the permission reactions:write.
 */
export async function setReceipt(bot: SlackBot, place: Place, nativeId: string, taken: boolean): Promise<void> {
  // What did not come as a message (a slash command) has no place for a sign.
  if (!isTs(nativeId)) return;
  const name = toShortName(RECEIPT_EMOJI);
  try {
    const method = taken ? "reactions.add" : "reactions.remove";
    await bot.calls.web(method, { channel: place.ref.channelId, timestamp: nativeId, name });
  } catch (error) {
    if (!NO_RECEIPT_NEEDED.has(problemOf(error).code)) throw error;
  }
}

const NO_RECEIPT_NEEDED = new Set(["already_reacted", "no_reaction", "message_not_found"]);

function unknownEmoji(): DeliveryError {
  return new DeliveryError("content", "Slack does not know this emoji; use a Slack name such as thumbsup or eyes.");
}

const SKIN_TONES = ["\u{1F3FB}", "\u{1F3FC}", "\u{1F3FD}", "\u{1F3FE}", "\u{1F3FF}"];

/** Slack's name of an emoji, or undefined for what cannot be one. */
export function toShortName(emoji: string): string | undefined {
  const bare = emoji.trim().replace(/^:|:$/g, "");
  const tone = SKIN_TONES.findIndex((sign) => bare.includes(sign));
  const plain = bare.replace(/[\u{1F3FB}-\u{1F3FF}\uFE0E\uFE0F]/gu, "");
  const known = EMOJI_NAMES.get(plain);
  if (known !== undefined) return tone < 0 ? known : `${known}::skin-tone-${tone + 2}`;
  const name = bare.toLowerCase();
  return /^[a-z0-9_+'-]{1,100}(?:::skin-tone-[2-6])?$/.test(name) ? name : undefined;
}
