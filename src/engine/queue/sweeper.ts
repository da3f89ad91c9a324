/**
 * The passes that find what a lost doorbell or a crash left behind (SPEC T3): due mail, turns without a worker, due pieces, owed redraws, expired cards.
 * Each has its own pace; a pass that fails is only logged, because the next one does the same work.
 */

import { setMaxListeners } from "node:events";
import type { Clock } from "../clock.ts";
import type { Log } from "../log.ts";

/** One kind of work that is looked for again and again. Contract: may run in several processes at once. */
export interface SweepPass {
  readonly name: string;
  readonly everyMs: number;
  run(): Promise<void>;
}

/** Runs passes until stopped; each waits for its own end before its next turn. */
export function createSweeper(parts: {
  readonly passes: readonly SweepPass[];
  readonly clock: Clock;
  readonly log: Log;
}): {
  start(): void;
  stop(): void;
} {
  const stopped = new AbortController();
  // Each pass waits on it; Node takes more than ten for a leak.
  setMaxListeners(parts.passes.length, stopped.signal);
  const loop = async (pass: SweepPass) => {
    while (!stopped.signal.aborted) {
      await pass.run().catch((error: unknown) => {
        if (!stopped.signal.aborted)
          parts.log.warn({ pass: pass.name, error: String(error) }, "sweep failed; the next one repeats it");
      });
      await parts.clock.delay(pass.everyMs, stopped.signal);
    }
  };
  return {
    start() {
      for (const pass of parts.passes) void loop(pass);
    },
    stop: () => stopped.abort(),
  };
}
