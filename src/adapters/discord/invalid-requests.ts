/**
 * Counts answers that Discord holds against our address (401, 403, 429) and stops all calls long before it would shut us out. One for all bots,
 * because the address is shared.
 * Invariant: once tripped, no request leaves until enough of the counted answers are older than the window.
 */

import type { Clock, Log } from "../../engine/index.ts";
import { INVALID_REQUESTS, INVALID_WINDOW_MS } from "./limits.ts";

/** Thrown instead of a call while the breaker is open. The request was not sent. */
export class TooManyInvalidError extends Error {
  override readonly name = "TooManyInvalidError";
  readonly waitMs: number;
  constructor(waitMs: number) {
    super("Discord has refused so many requests that calls are paused, so that it does not shut out this address.");
    this.waitMs = waitMs;
  }
}

/** The breaker. */
export interface InvalidRequests {
  /** Throws TooManyInvalidError while calls are paused. */
  check(): void;
  /** Notes an answer; shared limits do not count. */
  count(status: number, scope: string): void;
}

/** Creates the breaker of one adapter. */
export function createInvalidRequests(clock: Clock, log: Log, limit = INVALID_REQUESTS): InvalidRequests {
  const times: number[] = [];
  const forget = () => {
    while ((times[0] ?? Number.POSITIVE_INFINITY) <= clock.now() - INVALID_WINDOW_MS) times.shift();
  };
  return {
    check() {
      forget();
      if (times.length < limit) return;
      const oldest = times[times.length - limit] ?? clock.now();
      throw new TooManyInvalidError(Math.max(1000, oldest + INVALID_WINDOW_MS - clock.now()));
    },
    count(status, scope) {
      const counts = status === 401 || status === 403 || (status === 429 && scope !== "shared");
      if (!counts) return;
      times.push(clock.now());
      forget();
      if (times.length === limit) log.error({ limit }, "discord refused too many requests; calls are paused");
    },
  };
}
