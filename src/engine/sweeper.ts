/**
 * The pass that finds what a lost doorbell or a crash left behind (SPEC T3): due mail, turns without a worker, due pieces, owed redraws, expired
 * cards. Each second for what people wait for, rarely for the rest. A pass that fails is only logged: the next one does the same work.
 */

import type { Clock } from "./clock.ts";
import type { Outbox } from "./delivery/outbox.ts";
import type { Settles } from "./delivery/settles.ts";
import type { Log } from "./log.ts";
import type { RunQueue } from "./queue/run-queue.ts";
import type { Store } from "./store/store.ts";

const EVERY_MS = 1000;
const SLOW_EVERY = 30;
const PRUNE_EVERY = 3600;

/** One per process; passes of several processes do not disturb each other. */
export function createSweeper(parts: {
  readonly store: Store;
  readonly queue: RunQueue;
  readonly outbox: Outbox;
  readonly settles: Settles;
  readonly refreshMask: () => Promise<void>;
  readonly clock: Clock;
  readonly log: Log;
}): { start(): void; stop(): void } {
  const stopped = new AbortController();
  const loop = async () => {
    for (let pass = 0; !stopped.signal.aborted; pass += 1) {
      await sweep(parts, pass).catch((error: unknown) =>
        parts.log.warn({ error: String(error) }, "sweep failed; the next one repeats it"),
      );
      await parts.clock.delay(EVERY_MS, stopped.signal);
    }
  };
  return {
    start: () => void loop(),
    stop: () => stopped.abort(),
  };
}

async function sweep(parts: Parameters<typeof createSweeper>[0], pass: number): Promise<void> {
  for (const { sessionId, rank } of await parts.store.dueSessions(200)) parts.queue.ring(sessionId, rank);
  await parts.outbox.sweep();
  await parts.settles.run();
  if (pass % SLOW_EVERY === 0) {
    await parts.store.expireCards();
    await parts.refreshMask();
  }
  if (pass % PRUNE_EVERY === PRUNE_EVERY - 1) await parts.store.prune();
}
