/** The embedded mode's doorbells. */
import { createSystemClock } from "../../../src/engine/clock.ts";
import { createLocalRunQueue } from "../../../src/engine/queue/local-run-queue.ts";
import { silentLog } from "../store/silent-log.ts";
import { testRunQueue } from "./run-queue-contract.ts";

const parts = { clock: createSystemClock(), log: silentLog };

testRunQueue(
  "local",
  async (_count, concurrency) => [createLocalRunQueue({ ...parts, ...(concurrency ? { concurrency } : {}) })],
  false,
);
