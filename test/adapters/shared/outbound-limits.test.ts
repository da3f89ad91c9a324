/** One budget per channel: pace, priorities, holding. */

import { expect, test } from "vitest";
import { createOutboundLimits } from "../../../src/adapters/shared/outbound-limits.ts";
import type { Clock } from "../../../src/engine/index.ts";

/** A clock that moves only when somebody waits on it. */
function steppingClock(): Clock & { readonly at: () => number } {
  let now = 1_000_000;
  return {
    now: () => now,
    at: () => now - 1_000_000,
    delay: async (ms) => {
      await Promise.resolve();
      now += ms;
    },
  };
}

test("a burst starts at once and the rest follows at the allowed pace", async () => {
  const clock = steppingClock();
  const limits = createOutboundLimits({ burst: 3, refillMs: 1000 }, clock);
  const started: number[] = [];
  await Promise.all(
    Array.from({ length: 6 }, () => limits.run("C1", "final", async () => void started.push(clock.at()))),
  );
  expect(started.slice(0, 3)).toEqual([0, 0, 0]);
  expect(started[5]).toBeGreaterThanOrEqual(3000);
  expect(started[5]).toBeLessThan(3100);
});

test("a final message overtakes a hundred progress edits that still wait", async () => {
  const clock = steppingClock();
  const limits = createOutboundLimits({ burst: 1, refillMs: 1000 }, clock);
  const order: string[] = [];
  const edits = Array.from({ length: 100 }, (_, i) =>
    limits.run("C1", "progress", async () => void order.push(`edit ${i}`)),
  );
  const card = limits.run("C1", "card", async () => void order.push("card"));
  const final = limits.run("C1", "final", async () => void order.push("final"));
  await Promise.all([...edits, card, final]);
  expect(order.slice(0, 4)).toEqual(["edit 0", "final", "card", "edit 1"]);
});

test("sends of one priority keep their order", async () => {
  const limits = createOutboundLimits({ burst: 2, refillMs: 10 }, steppingClock());
  const order: number[] = [];
  await Promise.all([1, 2, 3, 4, 5].map((n) => limits.run("C1", "final", async () => void order.push(n))));
  expect(order).toEqual([1, 2, 3, 4, 5]);
});

test("one slow channel does not hold up another", async () => {
  const clock = steppingClock();
  const limits = createOutboundLimits({ burst: 1, refillMs: 1000 }, clock);
  limits.hold("C1", 60_000);
  expect(limits.waitOf("C1")).toBeGreaterThan(59_000);
  expect(limits.waitOf("C2")).toBe(0);
  await limits.run("C2", "final", async () => expect(clock.at()).toBe(0));
});

test("a failed send does not block the next one", async () => {
  const limits = createOutboundLimits({ burst: 1, refillMs: 10 }, steppingClock());
  await expect(limits.run("C1", "final", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(await limits.run("C1", "final", async () => "yes")).toBe("yes");
});
