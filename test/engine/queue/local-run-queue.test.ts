/** Doorbells inside one process: merged, in order of urgency, bounded, and never lost by a handler that fails (SPEC T2, T3). */
import { describe, expect, test, vi } from "vitest";
import { createSystemClock } from "../../../src/engine/clock.ts";
import { createLocalRunQueue } from "../../../src/engine/queue/local-run-queue.ts";
import { silentLog } from "../store/silent-log.ts";

/** A queue whose handlers end when the test says so. */
function heldQueue(concurrency: number) {
  const queue = createLocalRunQueue({ clock: createSystemClock(), log: silentLog, concurrency });
  const began: string[] = [];
  const ends = new Map<string, () => void>();
  const onRing = (id: string) =>
    new Promise<void>((resolve) => {
      began.push(id);
      ends.set(id, resolve);
    });
  return { queue, began, serve: () => queue.serve(onRing, () => undefined), end: (id: string) => ends.get(id)?.() };
}
const settled = () => new Promise((resolve) => setImmediate(resolve));

describe("rings", () => {
  test("for the same session are one while they wait", async () => {
    const held = heldQueue(5);
    for (let i = 0; i < 5; i += 1) held.queue.ring("a", 2);
    held.serve();
    await settled();
    expect(held.began).toEqual(["a"]);
  });

  test("before anybody serves are kept", async () => {
    const held = heldQueue(5);
    held.queue.ring("a", 0);
    await settled();
    held.serve();
    await settled();
    expect(held.began).toEqual(["a"]);
  });

  test("are answered people first, then bots, then background, first come first served among equals", async () => {
    const held = heldQueue(1);
    for (const [id, rank] of [
      ["bg", 2],
      ["bot", 1],
      ["ann", 0],
      ["bob", 0],
    ] as const)
      held.queue.ring(id, rank);
    held.serve();
    await settled();
    for (const id of ["ann", "bob", "bot"]) {
      held.end(id);
      await settled();
    }
    expect(held.began).toEqual(["ann", "bob", "bot", "bg"]);
  });

  test("become more urgent, never less", async () => {
    const held = heldQueue(1);
    for (const [id, rank] of [
      ["x", 2],
      ["y", 1],
      ["x", 0],
      ["x", 2],
    ] as const)
      held.queue.ring(id, rank);
    held.serve();
    await settled();
    expect(held.began).toEqual(["x"]);
  });

  test("that come while the session is being handled are answered again", async () => {
    const held = heldQueue(5);
    held.serve();
    held.queue.ring("a", 0);
    await settled();
    held.queue.ring("a", 0);
    await settled();
    expect(held.began).toEqual(["a", "a"]);
  });

  test("are handled side by side up to the limit", async () => {
    const held = heldQueue(2);
    held.serve();
    for (const id of ["a", "b", "c"]) held.queue.ring(id, 0);
    await settled();
    expect(held.began).toEqual(["a", "b"]);
    held.end("a");
    await settled();
    expect(held.began).toEqual(["a", "b", "c"]);
  });

  test("whose handler fails do not stop the others", async () => {
    const queue = createLocalRunQueue({ clock: createSystemClock(), log: silentLog, concurrency: 1 });
    const began: string[] = [];
    queue.serve(
      async (id) => {
        began.push(id);
        if (id === "a") throw new Error("broken");
      },
      () => undefined,
    );
    for (const id of ["a", "b"]) queue.ring(id, 0);
    await vi.waitFor(() => expect(began).toEqual(["a", "b"]));
  });
});

test("signals reach whoever serves, not the caller's own stack", async () => {
  const queue = createLocalRunQueue({ clock: createSystemClock(), log: silentLog });
  const seen: string[] = [];
  queue.signal("early", "stop");
  queue.serve(
    async () => undefined,
    (id, kind) => void seen.push(`${id} ${kind}`),
  );
  queue.signal("a", "steer");
  expect(seen).toEqual([]);
  await settled();
  expect(seen).toContain("a steer");
});

describe("closing", () => {
  test("waits for running handlers and begins no more", async () => {
    const held = heldQueue(1);
    held.serve();
    held.queue.ring("a", 0);
    held.queue.ring("b", 0);
    await settled();
    let closed = false;
    const closing = held.queue.close(60_000).then(() => {
      closed = true;
    });
    await settled();
    expect(closed).toBe(false);
    held.end("a");
    await closing;
    held.queue.ring("c", 0);
    await settled();
    expect(held.began).toEqual(["a"]);
  });

  test("does not wait longer than it was told", async () => {
    const held = heldQueue(1);
    held.serve();
    held.queue.ring("a", 0);
    await settled();
    await held.queue.close(1);
    expect(held.began).toEqual(["a"]);
  });
});
