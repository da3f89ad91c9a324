/**
 * One budget per native channel for everything that is sent to it, whichever bot sends (SPEC T3). Important sends overtake unimportant ones
 * that still wait; a platform's "slow down" holds the whole channel.
 * Invariant: within one key sends start in order of priority and then of arrival, never faster than the refill allows after the burst.
 */

import type { Clock } from "../../engine/index.ts";

/** final: a bubble or host card · card: the redraw of a card · progress: statuses and other decoration. */
export type SendPriority = "final" | "card" | "progress";

/** How fast one channel may be written to. */
export interface PaceLimits {
  /** Sends that may start at once after a pause. */
  readonly burst: number;
  /** Time after which one further send is allowed, ms. */
  readonly refillMs: number;
}

interface Waiting {
  readonly rank: number;
  readonly start: () => void;
}

interface Budget {
  tokens: number;
  filledAt: number;
  heldUntil: number;
  pumping: boolean;
  readonly waiting: Waiting[];
}

const RANK: Readonly<Record<SendPriority, number>> = { final: 0, card: 1, progress: 2 };
const IDLE_BUDGETS = 1000;

/** Paces sends per key. Contract: `run` rejects only with what `task` rejects with. */
export interface OutboundLimits {
  run<T>(key: string, priority: SendPriority, task: () => Promise<T>): Promise<T>;
  /** Nothing for this key starts before `ms` have passed. */
  hold(key: string, ms: number): void;
  /** How long a send of highest priority would wait now, ms. */
  waitOf(key: string): number;
}

/** Creates the budgets; keys come and go by themselves. */
export function createOutboundLimits(limits: PaceLimits, clock: Clock): OutboundLimits {
  const budgets = new Map<string, Budget>();
  const budgetOf = (key: string): Budget => {
    const known = budgets.get(key);
    if (known) return known;
    if (budgets.size >= IDLE_BUDGETS) forgetIdle(budgets, limits, clock.now());
    const fresh: Budget = { tokens: limits.burst, filledAt: clock.now(), heldUntil: 0, pumping: false, waiting: [] };
    budgets.set(key, fresh);
    return fresh;
  };
  return {
    run: async (key, priority, task) => {
      await turnOf(budgetOf(key), RANK[priority], limits, clock);
      return task();
    },
    hold: (key, ms) => {
      const budget = budgetOf(key);
      budget.heldUntil = Math.max(budget.heldUntil, clock.now() + ms);
    },
    waitOf: (key) => {
      const budget = budgets.get(key);
      return budget ? waitTime(budget, limits, clock.now()) : 0;
    },
  };
}

function turnOf(budget: Budget, rank: number, limits: PaceLimits, clock: Clock): Promise<void> {
  return new Promise((resolve) => {
    const at = budget.waiting.findIndex((other) => other.rank > rank);
    budget.waiting.splice(at < 0 ? budget.waiting.length : at, 0, { rank, start: resolve });
    void pump(budget, limits, clock);
  });
}

async function pump(budget: Budget, limits: PaceLimits, clock: Clock): Promise<void> {
  if (budget.pumping) return;
  budget.pumping = true;
  while (budget.waiting.length > 0) {
    const wait = waitTime(budget, limits, clock.now());
    if (wait > 0) {
      await clock.delay(wait);
      continue;
    }
    budget.tokens -= 1;
    budget.waiting.shift()?.start();
  }
  budget.pumping = false;
}

function waitTime(budget: Budget, limits: PaceLimits, now: number): number {
  refill(budget, limits, now);
  const held = Math.max(0, budget.heldUntil - now);
  const empty = budget.tokens >= 1 ? 0 : Math.max(1, budget.filledAt + limits.refillMs - now);
  return Math.max(held, empty);
}

function refill(budget: Budget, limits: PaceLimits, now: number): void {
  const gained = Math.floor((now - budget.filledAt) / limits.refillMs);
  if (gained <= 0) return;
  budget.tokens = Math.min(limits.burst, budget.tokens + gained);
  budget.filledAt += gained * limits.refillMs;
}

function forgetIdle(budgets: Map<string, Budget>, limits: PaceLimits, now: number): void {
  for (const [key, budget] of budgets) {
    refill(budget, limits, now);
    if (budget.waiting.length === 0 && budget.tokens >= limits.burst && budget.heldUntil <= now) budgets.delete(key);
  }
}
