/** Where a card stands, and whether the control somebody used is one of its own (SPEC C2). */

import type { Installation } from "../bot.ts";
import type { Card } from "../card.ts";
import { type ConversationRef, conversationKey } from "../conversation.ts";
import type { AnswerEvent } from "../inbound-event.ts";
import type { RouterParts } from "./router-parts.ts";

/** The bot of the card must be the one whose control was used, or a persona of the same app, in the place where the card stands. */
export function belongsHere(
  parts: Pick<RouterParts, "installations">,
  card: Card,
  event: Pick<AnswerEvent, "installationId" | "conversation">,
): boolean {
  const { platform, workspaceId, channelId } = event.conversation;
  const base = `${platform}:${workspaceId}:${channelId}`;
  const samePlace = card.conversationKey === base || card.conversationKey.startsWith(`${base}:`);
  return samePlace && controlInstallation(parts, card, event) !== undefined;
}

/** The card bot's own account, when the control used belongs to the same app. */
function controlInstallation(
  parts: Pick<RouterParts, "installations">,
  card: Card,
  event: Pick<AnswerEvent, "installationId" | "conversation">,
): Installation | undefined {
  const used = parts.installations.get(event.installationId);
  const own = used && parts.installations.ofBot(card.botId, used);
  return own?.botUserId === used?.botUserId ? own : undefined;
}

/** The conversation in which a card stands, from the place of the click. */
export function refOf(card: Card, clicked: ConversationRef): ConversationRef {
  const base = `${clicked.platform}:${clicked.workspaceId}:${clicked.channelId}`;
  if (card.conversationKey === conversationKey(clicked)) return clicked;
  if (card.conversationKey === base) {
    const { threadId: _thread, ...rest } = clicked;
    return { ...rest, kind: clicked.kind === "direct" ? "direct" : "channel" };
  }
  return { ...clicked, kind: "thread", threadId: card.conversationKey.slice(base.length + 1) };
}

/**
 * In a Group whoever takes part may answer a member's question (SPEC C2), also those who came after it was asked. Secrets, and what a running call asks on
 * behalf of another system, stay with the person served.
 */
export async function hasJoined(parts: Pick<RouterParts, "store">, card: Card, personId: string): Promise<boolean> {
  const isForAll = card.spec.kind === "widget" && !isAskedByCall(card);
  return isForAll && card.turnId !== undefined && (await parts.store.hasJoined(card.turnId, personId));
}

/** A running call waits for the answer; it wakes nobody else. */
export function isAskedByCall(card: Card): boolean {
  return card.spec.kind === "widget" && card.spec.askedByCall === true;
}
