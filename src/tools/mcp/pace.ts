/** Time in the life of a connection: limits for what must answer, and growing pauses between attempts. */

import type { Clock } from "../../engine/index.ts";

const FIRST_PAUSE_MS = 1000;
const LONGEST_PAUSE_MS = 300_000;

/** 1, 2, 4 … 300 s, a fifth more or less, so that many processes do not come back in step. `random` is 0 to 1. */
export function pauseAfter(failures: number, random: number): number {
  const pause = Math.min(LONGEST_PAUSE_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures - 1, 20));
  return Math.round(pause * (0.8 + 0.4 * random));
}

/** Runs `work` with a signal that fires after the time. Rejects as the work does; work that ignores its signal is not waited for. */
export async function withLimit<T>(clock: Clock, ms: number, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const timer = new AbortController();
  const late = new AbortController();
  const over = clock.delay(ms, timer.signal).then((): never => {
    const error = new Error("the server did not answer in time");
    late.abort(error);
    throw error;
  });
  over.catch(() => undefined); // Only the race below is interested.
  try {
    return await Promise.race([work(late.signal), over]);
  } finally {
    timer.abort();
  }
}
