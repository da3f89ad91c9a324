/**
 * How often a bot may begin a new gateway session. Discord allows 1,000 a day for each application and resets the bot's token when they are used up;
 * the client alone would burn them in under two hours.
 * Invariant: starts that follow each other are spaced ever wider, a day never uses more than `DAILY_SHARE` of what Discord allows, and crashes count
 * too, because the count is stored.
 */

import type { Clock, KeyValueStore } from "../../engine/index.ts";
import { toFields } from "../shared/fields.ts";

/** What Discord says about today. */
export interface StartLimit {
  readonly total: number;
  readonly remaining: number;
  readonly resetAfterMs: number;
}

/** The budget of one application. */
export interface IdentifyBudget {
  /** Waits until a session may begin and counts it. Rejects only when the signal aborts. */
  take(signal: AbortSignal): Promise<void>;
  /** Takes in what Discord says. */
  told(limit: StartLimit): Promise<void>;
  /** The connection holds: the next start need not wait. */
  steady(): void;
  /** How long the next start still waits, ms. */
  waitMs(): number;
}

/** Spacing; tests make it short. */
export interface BudgetOptions {
  /** Wait before the second start in a row; it doubles with each further one. */
  readonly baseMs: number;
  readonly longestMs: number;
  /** A session that lasted this long was a good one. */
  readonly steadyMs: number;
}

/** Spacing for real networks. */
export const DEFAULT_BUDGET: BudgetOptions = { baseMs: 5000, longestMs: 600_000, steadyMs: 60_000 };

const DAY_MS = 24 * 60 * 60_000;
const DAILY_SHARE = 0.8;

interface Stored {
  /** Times of the starts of the last day. */
  readonly starts: readonly number[];
  /** Starts in a row that did not lead to a lasting session. */
  readonly row: number;
}

/** Creates the budget of one application; its count is kept under `key`. */
export function createIdentifyBudget(
  kv: KeyValueStore,
  key: string,
  clock: Clock,
  options: BudgetOptions = DEFAULT_BUDGET,
): IdentifyBudget {
  let limit: StartLimit = { total: 1000, remaining: 1000, resetAfterMs: 0 };
  let blockedUntil = 0;
  let notBefore = 0;
  let rowBegan = 0;
  let isSteady = false;
  const read = async (): Promise<Stored> => {
    const { starts, row } = toFields(await kv.get(key));
    const times = Array.isArray(starts) ? starts.filter((at): at is number => typeof at === "number") : [];
    return { starts: times.filter((at) => at > clock.now() - DAY_MS), row: typeof row === "number" ? row : 0 };
  };
  return {
    async take(signal) {
      const stored = await read();
      const isLongAgo = clock.now() - (stored.starts.at(-1) ?? 0) > options.longestMs * 2;
      const row = isSteady || isLongAgo ? 0 : stored.row;
      const spacing =
        row === 0 ? 0 : Math.min(options.longestMs, options.baseMs * 2 ** (row - 1)) * (0.5 + Math.random() / 2);
      const last = stored.starts.at(-1) ?? 0;
      const full = stored.starts.length >= limit.total * DAILY_SHARE ? (stored.starts[0] ?? 0) + DAY_MS : 0;
      notBefore = Math.max(notBefore, last + spacing, full, blockedUntil);
      await clock.delay(Math.max(0, notBefore - clock.now()), signal);
      if (signal.aborted) throw new Error("The connection closed while a new session was waiting for its turn.");
      isSteady = false;
      rowBegan = clock.now();
      await kv.set(key, { starts: [...stored.starts, rowBegan].slice(-1000), row: row + 1 });
    },
    told(said) {
      limit = said;
      blockedUntil = said.remaining < 1 ? clock.now() + said.resetAfterMs : 0;
      return Promise.resolve();
    },
    steady() {
      if (isSteady || rowBegan === 0 || clock.now() - rowBegan < options.steadyMs) return;
      isSteady = true;
      // Only a help for the next process, which otherwise waits a little longer than it must.
      void read().then(
        ({ starts }) => kv.set(key, { starts, row: 0 }),
        () => undefined,
      );
    },
    waitMs: () => Math.max(0, notBefore - clock.now()),
  };
}
