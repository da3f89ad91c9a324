/**
 * Reads the place of a message: its canonical conversation, and which of our bots are there. A top-level channel message belongs to the
 * thread its answer opens, unless the channel answers inline; the reply mode was fixed at first contact (SPEC I4).
 */

import type { BotHandle, Installation } from "../bot.ts";
import { type ConversationRef, conversationKey } from "../conversation.ts";
import type { MessageEvent } from "../inbound-event.ts";
import type { PlaceView } from "../store/store.ts";
import type { Installations } from "./installations.ts";
import type { RouterParts } from "./router-parts.ts";

/** A message's place with its stored state. */
export interface MessagePlace {
  readonly ref: ConversationRef;
  readonly key: string;
  readonly view: PlaceView;
}

/** What decides about a place. */
type Placed = Pick<MessageEvent, "dedupeKey" | "installationId" | "conversation" | "opensThread">;

/** One query; a second one only when the channel's reply mode differs from today's setting. */
export async function readPlace(parts: RouterParts, event: Placed): Promise<MessagePlace> {
  const read = async (ref: ConversationRef) => {
    const key = conversationKey(ref);
    const view = await parts.store.readPlace({
      dedupeKey: event.dedupeKey,
      conversationKey: key,
      ref,
      installationId: event.installationId,
    });
    return { ref, key, view };
  };
  const guess = placeOf(event, replyModeOf(parts, event.conversation));
  const place = await read(guess);
  const actual = placeOf(event, place.view.channel?.replyMode ?? replyModeOf(parts, event.conversation));
  return conversationKey(actual) === place.key ? place : read(actual);
}

/** A top-level channel message belongs to the thread its answer opens, unless the channel answers inline (SPEC I4). */
function placeOf(event: Placed, mode: "thread" | "channel"): ConversationRef {
  const { conversation } = event;
  if (conversation.kind !== "channel" || mode !== "thread" || !event.opensThread) return conversation;
  return { ...conversation, kind: "thread", threadId: event.opensThread };
}

/** Reply mode a channel gets at first contact. */
export function replyModeOf(parts: RouterParts, ref: ConversationRef): "thread" | "channel" {
  return parts.settings.replies[ref.platform] ?? "channel";
}

/** Handles of our bots known to be here, the receiver first; personas are wherever the app is that they share. */
export function botsHere(view: PlaceView, installation: Installation, known: Installations): readonly BotHandle[] {
  const sharing = known.botsOfPlatformId(installation.botUserId, installation);
  const ids = new Set([installation.botId, ...view.bots.map((item) => item.bot.id), ...sharing]);
  return [...ids].flatMap((botId) => {
    const own = botId === installation.botId ? installation : known.ofBot(botId, installation);
    return own ? [known.handleOf(own)] : [];
  });
}
