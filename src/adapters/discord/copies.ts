/**
 * Copies of one message at several bots (SPEC G10). Discord keeps the words from bots that are not addressed and may not read everything, so a copy
 * without words waits a moment for one that has them.
 * Invariant: a copy with words is never held back; one without is given up once another bot's copy had them.
 */

import type { Clock } from "../../engine/index.ts";
import { createRecent } from "./recent.ts";

/** How long a copy without words waits, ms. */
export const HOLD_MS = 1500;
const REMEMBERED = 5000;

/** Messages whose words some bot of ours got. */
export interface Copies {
  /** A copy with words arrived. */
  seen(messageId: string): void;
  /** Waits; true when another copy had the words. */
  cameElsewhere(messageId: string, signal: AbortSignal): Promise<boolean>;
}

/** Creates the memory that the bots of one adapter share. */
export function createCopies(clock: Clock): Copies {
  const seen = createRecent<true>(REMEMBERED);
  const waiting = new Map<string, Set<() => void>>();
  return {
    seen(messageId) {
      seen.set(messageId, true);
      for (const wake of waiting.get(messageId) ?? []) wake();
    },
    async cameElsewhere(messageId, signal) {
      if (seen.get(messageId)) return true;
      const came = new AbortController();
      const wake = () => came.abort();
      const set = waiting.get(messageId) ?? new Set();
      waiting.set(messageId, set.add(wake));
      await clock.delay(HOLD_MS, AbortSignal.any([came.signal, signal]));
      set.delete(wake);
      if (set.size === 0) waiting.delete(messageId);
      return seen.get(messageId) === true;
    },
  };
}
