/**
 * Time, passed in so that tests need no sleeps. Leases and due times use the database's clock instead; this one paces loops and stamps logs.
 */

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Resolves after `ms`, or at once when the signal aborts. Never rejects. */
  delay(ms: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock. Its timers do not keep the process alive. */
export function createSystemClock(): Clock {
  return {
    now: () => Date.now(),
    delay: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) return resolve();
        const done = () => {
          clearTimeout(timer);
          signal?.removeEventListener("abort", done);
          resolve();
        };
        const timer = setTimeout(done, ms);
        timer.unref();
        signal?.addEventListener("abort", done, { once: true });
      }),
  };
}
