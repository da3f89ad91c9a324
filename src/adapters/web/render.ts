/**
 * A Delivery as one record of the timeline. Every type is native here and any length is one message, so there is exactly one piece.
 * Pure and deterministic: the same delivery always gives the same JSON, and a stored piece can be posted after a restart.
 */

import type { Delivery, Place } from "../../engine/index.ts";
import type { StoredContent } from "./timeline.ts";

/** What `render` makes and `deliver` posts. */
export interface WebPiece {
  readonly botName: string;
  readonly content: StoredContent;
  readonly cardId?: string;
  readonly replyTo?: number;
}

/** The one piece of a delivery. */
export function render(delivery: Delivery, place: Place): readonly WebPiece[] {
  const content: StoredContent =
    delivery.kind === "bubble" ? delivery.content : { type: "host-card", card: delivery.card };
  const replyTo = Number(place.nativeReplyTo);
  return [
    {
      botName: delivery.botName,
      content,
      ...(delivery.cardId ? { cardId: delivery.cardId } : {}),
      ...(Number.isSafeInteger(replyTo) && replyTo > 0 ? { replyTo } : {}),
    },
  ];
}
