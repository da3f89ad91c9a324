/**
 * Doorbells inside one process: the embedded mode's run queue. Rings for the same session are merged while they wait; handlers for different
 * sessions run side by side, up to a limit, people before bots before background. A handler ends when it has found a turn to run, or none.
 */

import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";
import type { RunQueue, SignalKind } from "./run-queue.ts";

/** `concurrency` = handlers at once. */
export function createLocalRunQueue(parts: {
  readonly clock: Clock;
  readonly log: Log;
  readonly concurrency?: number;
}): RunQueue {
  const limit = parts.concurrency ?? 50;
  const waiting = new Map<string, number>();
  const running = new Set<Promise<void>>();
  let handlers: { ring: (id: string) => Promise<void>; signal: (id: string, kind: SignalKind) => void } | undefined;
  let closed = false;

  const next = (): string | undefined => {
    let best: { id: string; rank: number } | undefined;
    for (const [id, rank] of waiting) if (!best || rank < best.rank) best = { id, rank };
    return best?.id;
  };

  const pump = (): void => {
    while (handlers && !closed && running.size < limit) {
      const id = next();
      if (id === undefined) return;
      waiting.delete(id);
      const work: Promise<void> = handlers
        .ring(id)
        .catch((error: unknown) =>
          parts.log.error({ sessionId: id, error: String(error) }, "ring failed; the sweep will repeat it"),
        )
        .finally(() => {
          running.delete(work);
          pump();
        });
      running.add(work);
    }
  };

  return {
    ring(sessionId, rank) {
      waiting.set(sessionId, Math.min(rank, waiting.get(sessionId) ?? rank));
      queueMicrotask(pump);
    },
    signal(sessionId, kind) {
      queueMicrotask(() => handlers?.signal(sessionId, kind));
    },
    serve(onRing, onSignal) {
      handlers = { ring: onRing, signal: onSignal };
      pump();
    },
    async close(timeoutMs) {
      closed = true;
      await Promise.race([Promise.all(running), parts.clock.delay(timeoutMs)]);
    },
  };
}
