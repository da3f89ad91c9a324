/**
 * The inner "platform" of conversations between two bots: it has no connection and shows nothing to people. What bots say to each other is committed
 * by the turn itself; what the host says there (a turn that failed) becomes mail for the session that asked.
 * Invariant: a report reaches its reader once, by the id of its piece.
 */

import type { Adapter, Delivery } from "../adapter.ts";
import { PEER_PLATFORM } from "../conversation.ts";
import { MAIL_RANK } from "../mail.ts";
import type { RunQueue } from "../queue/run-queue.ts";
import type { Store } from "../store/store.ts";

const DELIVER_MS = 10_000;

/** The adapter for peer conversations; every process has it. */
export function createPeerAdapter(parts: { readonly store: Store; readonly queue: RunQueue }): Adapter {
  return {
    platform: PEER_PLATFORM,
    maxTextPieces: 1,
    deliverTimeoutMs: DELIVER_MS,
    start: () => Promise.resolve(),
    stop: () => Promise.resolve(),
    render: (delivery) => [{ text: textOf(delivery) }],
    async deliver(piece) {
      const { text } = piece.content as { readonly text: string };
      const { platform, workspaceId, channelId } = piece.place.ref;
      const sessionId = await parts.store.reportPeer({
        dedupeKey: `peer-report:${piece.id}`,
        conversationKey: `${platform}:${workspaceId}:${channelId}`,
        text,
      });
      if (sessionId) parts.queue.ring(sessionId, MAIL_RANK.bot);
      return { nativeId: piece.id };
    },
    // Delivering twice changes nothing, so there is nothing to look for.
    find: () => Promise.resolve(null),
    settle: () => Promise.resolve(),
    history: () => Promise.resolve([]),
    members: () => Promise.resolve([]),
    health: () => [],
  };
}

function textOf(delivery: Delivery): string {
  if (delivery.kind === "host-card") return delivery.card.text;
  return delivery.content.type === "text" ? delivery.content.content : "";
}
