/** The suite every run queue passes: rings reach a worker, are merged while they wait, are urgent when they say so; signals reach whoever runs the turn. */
import { afterEach, expect, test } from "vitest";
import type { RunQueue, SignalKind } from "../../../src/engine/queue/run-queue.ts";

/** Opens queues that share their rings, as processes do; `concurrency` = handlers at once in each. */
export type OpenQueues = (count: number, concurrency?: number) => Promise<readonly RunQueue[]>;

/** A handler that holds every ring until it is let go. */
function heldHandler() {
  const begun: string[] = [];
  const waiting: (() => void)[] = [];
  let open = false;
  return {
    begun,
    onRing: (sessionId: string) => {
      begun.push(sessionId);
      return open ? Promise.resolve() : new Promise<void>((resolve) => waiting.push(resolve));
    },
    release() {
      open = true;
      for (const go of waiting.splice(0)) go();
    },
  };
}

/** Waits for a condition. */
export async function until(look: () => boolean, what: string, ms = 15_000): Promise<void> {
  const end = Date.now() + ms;
  while (!look()) {
    if (Date.now() > end) throw new Error(`nothing after ${ms} ms: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Rings again and again, as the sweep does, until something is true. */
export async function ringUntil(queue: RunQueue | undefined, sessionId: string, look: () => boolean): Promise<void> {
  await until(() => {
    if (!look()) queue?.ring(sessionId, 0);
    return look();
  }, `a ring of ${sessionId}`);
}

const ignore = () => undefined;

/** Registers the suite; `shares` = several processes can serve one queue. */
export function testRunQueue(name: string, open: OpenQueues, shares: boolean): void {
  const opened: RunQueue[] = [];
  const openQueues: OpenQueues = async (count, concurrency) => {
    const queues = await open(count, concurrency);
    opened.push(...queues);
    return queues;
  };
  const openOne = async (concurrency?: number): Promise<RunQueue> => (await openQueues(1, concurrency))[0] as RunQueue;
  afterEach(async () => {
    await Promise.all(opened.splice(0).map((queue) => queue.close(2000)));
  });

  test(`${name}: every session that was rung is handled`, async () => {
    const queue = await openOne();
    const seen = new Set<string>();
    queue.serve(async (id) => void seen.add(id), ignore);
    for (let i = 0; i < 50; i += 1) queue.ring(`s${i}`, i % 3);
    await until(() => seen.size === 50, "all sessions");
  });

  test(`${name}: many rings while a session is handled make at most one more handling, and never two at once`, async () => {
    const queue = await openOne();
    const held = heldHandler();
    queue.serve(held.onRing, ignore);
    queue.ring("one", 0);
    await until(() => held.begun.length === 1, "the first handling");
    for (let i = 0; i < 20; i += 1) queue.ring("one", 0);
    queue.ring("other", 0);
    await until(() => held.begun.includes("other"), "another session beside it");
    held.release();
    await until(() => held.begun.filter((id) => id === "one").length >= 2, "the handling that follows");
    queue.ring("last", 2);
    await until(() => held.begun.includes("last"), "the end");
    expect(held.begun.filter((id) => id === "one").length).toBeLessThanOrEqual(2 + (shares ? 0 : 1));
  });

  test(`${name}: people go first, also when a waiting session becomes urgent`, async () => {
    const queue = await openOne(1);
    const held = heldHandler();
    queue.serve(held.onRing, ignore);
    queue.ring("busy", 0);
    await until(() => held.begun.length === 1, "something that holds the only handler");
    queue.ring("background", 2);
    queue.ring("bot", 1);
    queue.ring("person", 0);
    queue.ring("late-person", 2);
    queue.ring("late-person", 0);
    // Rings through another process take a moment, and nothing tells when they have arrived.
    await new Promise((resolve) => setTimeout(resolve, shares ? 400 : 0));
    held.release();
    await until(() => held.begun.length === 5, "all");
    expect(held.begun.slice(1, 3).sort()).toEqual(["late-person", "person"]);
    expect(held.begun.slice(3)).toEqual(["bot", "background"]);
  });

  test(`${name}: a handler that fails neither stops the queue nor blocks its session`, async () => {
    const queue = await openOne();
    let calls = 0;
    queue.serve(async () => {
      calls += 1;
      if (calls === 1) throw new Error("broken");
    }, ignore);
    queue.ring("one", 0);
    await until(() => calls === 1, "the failing call");
    // The sweep rings again until it works.
    await ringUntil(queue, "one", () => calls >= 2);
  });

  test(`${name}: a signal reaches whoever serves`, async () => {
    const queues = await openQueues(shares ? 2 : 1);
    const heard: string[] = [];
    for (const [i, queue] of queues.entries())
      queue.serve(
        () => Promise.resolve(),
        (id: string, kind: SignalKind) => void heard.push(`${i}:${id}:${kind}`),
      );
    const expected = queues.map((_queue, i) => `${i}:s:stop`);
    await until(() => {
      queues[0]?.signal("s", "stop");
      return expected.every((line) => heard.includes(line));
    }, "the signal everywhere");
  });

  test(`${name}: nothing is handled after close, and close waits for what runs`, async () => {
    const queue = await openOne();
    const held = heldHandler();
    queue.serve(held.onRing, ignore);
    queue.ring("one", 0);
    await until(() => held.begun.length === 1, "the handling");
    let closed = false;
    const closing = queue.close(3000).then(() => {
      closed = true;
    });
    queue.ring("two", 0);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(closed).toBe(false);
    held.release();
    await closing;
    expect(held.begun).toEqual(["one"]);
  });

  test.runIf(shares)(`${name}: rings of one process are handled by another`, async () => {
    const [producer, first, second] = await openQueues(3);
    const seen = new Set<string>();
    for (const queue of [first, second]) queue?.serve(async (id) => void seen.add(id), ignore);
    for (let i = 0; i < 30; i += 1) producer?.ring(`s${i}`, 0);
    await until(() => seen.size === 30, "all sessions");
  });
}
