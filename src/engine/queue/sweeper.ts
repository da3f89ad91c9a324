/**
 * The passes that find what a lost doorbell or a crash left behind (SPEC T3): due mail, turns without a worker, due pieces, owed redraws, expired cards.
 * Each has its own pace; a pass that fails is only logged, because the next one does the same work.
 */

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
  // One signal for each pass: Node reports a signal with more than ten listeners as a leak.
  const loops = parts.passes.map((pass) => ({ pass, stopped: new AbortController() }));
  const loop = async (pass: SweepPass, stopped: AbortSignal) => {
    while (!stopped.aborted) {
      await pass.run().catch((error: unknown) => {
        if (!stopped.aborted)
          parts.log.warn({ pass: pass.name, error: String(error) }, "sweep failed; the next one repeats it");
      });
      await parts.clock.delay(pass.everyMs, stopped);
    }
  };
  return {
    start() {
      for (const { pass, stopped } of loops) void loop(pass, stopped.signal);
    },
    stop() {
      for (const { stopped } of loops) stopped.abort();
    },
  };
}
