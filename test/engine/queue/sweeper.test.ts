/** The sweeper: every pass again and again until it is stopped, however many there are. */
import { expect, test } from "vitest";
import { createSystemClock } from "../../../src/engine/clock.ts";
import { createSweeper } from "../../../src/engine/queue/sweeper.ts";
import { silentLog } from "../store/silent-log.ts";

test("twenty passes run side by side without a word about leaking listeners, and stop together", async () => {
  const warnings: string[] = [];
  const onWarning = (warning: Error) => warnings.push(warning.name);
  process.on("warning", onWarning);
  const runs = new Map<string, number>();
  let allRan: () => void = () => undefined;
  const twice = new Promise<void>((resolve) => {
    allRan = resolve;
  });
  const passes = Array.from({ length: 20 }, (_pass, at) => ({
    name: `pass ${at}`,
    everyMs: 1,
    run: async () => {
      runs.set(`pass ${at}`, (runs.get(`pass ${at}`) ?? 0) + 1);
      if (runs.size === 20 && Math.min(...runs.values()) >= 2) allRan();
    },
  }));
  const sweeper = createSweeper({ passes, clock: createSystemClock(), log: silentLog });
  sweeper.start();
  await twice;
  sweeper.stop();
  await new Promise((resolve) => setImmediate(resolve));
  process.off("warning", onWarning);
  expect(warnings).toEqual([]);
});
