/**
 * Shows people that their message is known while it waits for a lane (SPEC T2): the platform's working status, before the turn itself can show it.
 * Decides nothing; a status that cannot be shown is only noted.
 */

import type { Clock } from "../clock.ts";
import type { AdapterLookup } from "../delivery/render-delivery.ts";
import type { Log } from "../log.ts";
import type { Store } from "../store/store.ts";

/** Platforms let a status fade; it is shown again while the wait lasts. */
const AGAIN_MS = 50_000;

/** One look at who waits longer than `waitMs`; called again and again. */
export function createShowWaiting(parts: {
  readonly store: Store;
  readonly adapters: AdapterLookup;
  readonly platforms: () => readonly string[];
  readonly waitMs: number;
  readonly clock: Clock;
  readonly log: Log;
}): () => Promise<void> {
  const shownAt = new Map<string, number>();
  return async () => {
    const waiting = await parts.store.waitingPeople(parts.waitMs, parts.platforms());
    const now = parts.clock.now();
    const ids = new Set(waiting.map((place) => place.sessionId));
    for (const id of shownAt.keys()) if (!ids.has(id)) shownAt.delete(id);
    for (const { sessionId, ref, installationId, nativeReplyTo } of waiting) {
      if (now - (shownAt.get(sessionId) ?? Number.NEGATIVE_INFINITY) < AGAIN_MS) continue;
      shownAt.set(sessionId, now);
      const place = { ref, installationId, ...(nativeReplyTo ? { nativeReplyTo } : {}) };
      parts
        .adapters(ref.platform)
        ?.showWorking?.(place, true)
        .catch((error: unknown) => {
          parts.log.debug({ sessionId, error: String(error) }, "waiting not shown");
        });
    }
  };
}
