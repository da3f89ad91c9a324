/**
 * Redraws cards that are no longer open (SPEC C3): owed in the database, so a restart or a rate limit only delays it. A card whose message is
 * still on its way is redrawn after it landed.
 */

import type { Delivery } from "../adapter.ts";
import type { Clock } from "../clock.ts";
import { DeliveryError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { OwedSettle, Store } from "../store/store.ts";
import type { AdapterLookup } from "./render-delivery.ts";

/** Redraws of this process. */
export interface Settles {
  /** Redraws what is owed now; calls that overlap are merged into one further pass. */
  run(): Promise<void>;
}

const MAX_ATTEMPTS = 8;
const SETTLE_MS = 15_000;

/** One per process; two processes may redraw the same card, which is harmless. */
export function createSettles(parts: {
  readonly store: Store;
  readonly adapters: AdapterLookup;
  readonly clock: Clock;
  readonly log: Log;
}): Settles {
  let running: Promise<void> | undefined;
  let again = false;
  const pass = async (): Promise<void> => {
    do {
      again = false;
      const owed = await parts.store.owedSettles(20);
      await Promise.all(owed.map((item) => settle(parts, item)));
    } while (again);
  };
  return {
    run() {
      again = true;
      running ??= pass().finally(() => {
        running = undefined;
      });
      return running;
    },
  };
}

async function settle(
  parts: { readonly store: Store; readonly adapters: AdapterLookup; readonly clock: Clock; readonly log: Log },
  owed: OwedSettle,
): Promise<void> {
  const adapter = parts.adapters(owed.platform);
  try {
    if (!adapter) throw new DeliveryError("wait", "platform not running");
    const work = adapter.settle(owed.deliveryBody as Delivery, owed.place, owed.receipts, owed.outcome);
    const limit = new AbortController();
    const late = parts.clock.delay(SETTLE_MS, limit.signal).then(() => {
      throw new DeliveryError("unknown", "no answer in time");
    });
    late.catch(() => undefined);
    await Promise.race([work, late]).finally(() => limit.abort());
    await parts.store.closeSettle(owed.card.id, { done: true });
  } catch (error) {
    const permanent = error instanceof DeliveryError && !["wait", "unknown"].includes(error.problem);
    const done = permanent || owed.attempts + 1 >= MAX_ATTEMPTS;
    parts.log.warn({ cardId: owed.card.id, done, error: String(error) }, "card not redrawn");
    const wait = error instanceof DeliveryError ? error.waitMs : 0;
    await parts.store.closeSettle(
      owed.card.id,
      done ? { done } : { done: false, delayMs: Math.max(wait, 1000 * 2 ** owed.attempts) },
    );
  }
}
