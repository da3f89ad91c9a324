/** The sender after an attempt whose outcome nobody knows: the platform is asked before anything is repeated, whatever gets in between. */
import { expect, test } from "vitest";
import type { Adapter } from "../../../src/engine/adapter.ts";
import { type Clock, createSystemClock } from "../../../src/engine/clock.ts";
import { createOutbox } from "../../../src/engine/delivery/outbox.ts";
import { DeliveryError } from "../../../src/engine/errors.ts";
import type { Log } from "../../../src/engine/log.ts";
import type { OutboxPiece, PieceClose, Store } from "../../../src/engine/store/store.ts";
import { silentLog } from "../store/silent-log.ts";

const CHANNEL = "slack:T1:C1";

/** One piece that was being sent when its process died, in a store of its own. */
function createPieceStore() {
  const closes: PieceClose[] = [];
  let lookUp = true;
  const piece = { id: "p1", entryId: "e1", platform: "slack", state: "sending", attempts: 1, attemptedAt: new Date() };
  const isOpen = () => closes.every((close) => close.to === "due");
  const store = {
    claimSender: async () => ({ nativeChannel: CHANNEL, owner: "me", fence: 1, takenOver: false }),
    releaseSender: async () => undefined,
    nextPiece: async () => (isOpen() ? { piece: piece as unknown as OutboxPiece, lookUp, dueInMs: 0 } : null),
    startPiece: async () => undefined,
    saveProgress: async () => undefined,
    closePiece: async (_claim: unknown, _id: string, close: PieceClose) => {
      closes.push(close);
      if (close.to === "due") lookUp = close.lookUp;
      return { entryId: "e1", entryClosed: close.to !== "due", failed: close.to === "failed", settleOwed: false };
    },
  } as unknown as Store;
  return { store, closes };
}

/** A platform that has the message; `find` answers as the test says. */
function createPlatform(find: () => Promise<{ nativeId: string } | null>) {
  const delivered: string[] = [];
  const adapter = {
    platform: "slack",
    deliverTimeoutMs: 1000,
    find,
    deliver: async ({ id }: { id: string }) => {
      delivered.push(id);
      return { nativeId: "new" };
    },
  } as unknown as Adapter;
  return { adapter, delivered };
}

/** A delay that is over at once, except the long ones of a renewal. */
function quickly(ms: number, signal?: AbortSignal): Promise<void> {
  if (ms < 4000) return Promise.resolve();
  return new Promise((resolve) => signal?.addEventListener("abort", () => resolve()));
}

async function send(
  store: Store,
  adapters: () => Adapter | undefined,
  more: { readonly clock?: Clock; readonly log?: Log } = {},
): Promise<void> {
  const closed = new AbortController();
  const outbox = createOutbox({
    store,
    adapters,
    owner: "me",
    clock: createSystemClock(),
    log: silentLog,
    metrics: { count: () => undefined, observe: () => undefined },
    ...more,
    onClosed: (piece) => piece.entryClosed && closed.abort(),
  });
  outbox.nudge(CHANNEL);
  await new Promise<void>((resolve) => closed.signal.addEventListener("abort", () => resolve()));
  await outbox.stop(1000);
}

test("it is found, although the platform was not running at first", async () => {
  const { store, closes } = createPieceStore();
  const { adapter, delivered } = createPlatform(async () => ({ nativeId: "old" }));
  let looks = 0;
  await send(store, () => {
    looks += 1;
    return looks > 2 ? adapter : undefined;
  });
  expect(delivered).toEqual([]);
  expect(closes.at(-1)).toEqual({ to: "sent", receipt: { nativeId: "old" } });
});

test.each(["bot", "place", "wait", "unknown"] as const)(
  "a look-up that fails with %s is repeated, and nothing is called lost",
  async (problem) => {
    const { store, closes } = createPieceStore();
    let looks = 0;
    const { adapter, delivered } = createPlatform(async () => {
      looks += 1;
      if (looks === 1) throw new DeliveryError(problem, "cannot be asked now", { waitMs: 1 });
      return { nativeId: "old" };
    });
    await send(store, () => adapter);
    expect(delivered).toEqual([]);
    expect(closes.map((close) => close.to)).toEqual(["due", "sent"]);
  },
);

test("it is sent again only when the platform says that it is not there", async () => {
  const { store, closes } = createPieceStore();
  const { adapter, delivered } = createPlatform(async () => null);
  await send(store, () => adapter);
  expect(delivered).toEqual(["p1"]);
  expect(closes.at(-1)).toEqual({ to: "sent", receipt: { nativeId: "new" } });
});

test("an attempt that never comes back is given up in time, said so in the log, looked for, and not repeated when it landed", async () => {
  const { store, closes } = createPieceStore();
  let looks = 0;
  const { adapter } = createPlatform(async () => {
    looks += 1;
    return looks === 1 ? null : { nativeId: "landed" };
  });
  const warnings: unknown[] = [];
  const hanging = { ...adapter, deliver: () => new Promise<never>(() => undefined) };
  const clock = { now: () => Date.now(), delay: quickly };
  await send(store, () => hanging, { clock, log: { ...silentLog, warn: (fields) => void warnings.push(fields) } });
  expect(closes).toMatchObject([
    { to: "due", lookUp: true, text: expect.stringContaining("no answer within 3000 ms") },
    { to: "sent", receipt: { nativeId: "landed" } },
  ]);
  expect(warnings).toMatchObject([{ pieceId: "p1", to: "due" }]);
});

test("however often it is nudged, a channel whose piece is due later waits with one timer", async () => {
  const waits: number[] = [];
  const clock = {
    now: () => Date.now(),
    delay: (ms: number, signal?: AbortSignal) => {
      waits.push(ms);
      return new Promise<void>((resolve) => {
        signal?.addEventListener("abort", () => {
          waits.splice(waits.indexOf(ms), 1);
          resolve();
        });
      });
    },
  };
  let looks = 0;
  const store = {
    claimSender: async () => ({ nativeChannel: CHANNEL, owner: "me", fence: 1, takenOver: false }),
    releaseSender: async () => undefined,
    nextPiece: async () => {
      looks += 1;
      const piece = { id: "p1", entryId: "e1", platform: "slack", state: "due", attempts: 1 };
      return { piece: piece as unknown as OutboxPiece, lookUp: false, dueInMs: 77_777 };
    },
  } as unknown as Store;
  const metrics = { count: () => undefined, observe: () => undefined };
  const parts = { store, adapters: () => undefined, owner: "me", clock, log: silentLog, metrics };
  const outbox = createOutbox({ ...parts, onClosed: () => undefined });
  for (let nudged = 1; nudged <= 15; nudged += 1) {
    outbox.nudge(CHANNEL);
    await expect.poll(() => looks, { interval: 1 }).toBe(nudged);
    await expect.poll(() => waits.filter((ms) => ms > 1000).length, { interval: 1 }).toBe(1);
  }
  await outbox.stop(0);
});
