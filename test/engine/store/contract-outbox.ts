/** The outbox: order, one sender, and what is known after a crash (SPEC T3). */
import { expect, test } from "vitest";
import { FenceLostError } from "../../../src/engine/errors.ts";
import type { NewDelivery, SenderClaim } from "../../../src/engine/store/store.ts";
import type { TestPlace } from "./store-place.ts";
import { newPlace, noProgress, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

export function testOutbox(world: () => StoreWorld): void {
  test("one sender holds a channel; its holder may go on, others wait", async () => {
    const channel = unique("ch");
    const { store, openAnother } = world();
    const other = await openAnother();
    const tries = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        (i % 2 ? store : other).claimSender({ nativeChannel: channel, owner: `o${i}`, leaseMs: 30_000 }),
      ),
    );
    const won = tries.filter((claim) => claim !== null);
    expect(won).toHaveLength(1);
    expect(won[0]).toMatchObject({ takenOver: false });
    const again = await store.claimSender({ nativeChannel: channel, owner: won[0]?.owner ?? "", leaseMs: 30_000 });
    expect(again).toEqual(won[0]);
  });

  test("a channel that was let go is free at once, one whose sender is gone is taken over after the lease", async () => {
    const { store } = world();
    const take = (owner: string, leaseMs = 30_000) => store.claimSender({ nativeChannel: channel, owner, leaseMs });
    const channel = unique("ch");
    const first = await take("a");
    await store.releaseSender(first as SenderClaim);
    const second = await take("b", -1);
    expect(second).toMatchObject({ takenOver: false, fence: (first?.fence ?? 0) + 1 });
    expect(await take("c")).toMatchObject({ takenOver: true, fence: (second?.fence ?? 0) + 1 });
    expect(await take("d")).toBeNull();
  });

  test("pieces of a channel come strictly in order, whatever is due", async () => {
    const { place, send } = await sending(world());
    const first = await send({ pieces: ["a", "b"] });
    await send({ pieces: ["c"] });
    const sender = await claimSender(place);
    const contents = [];
    for (;;) {
      const next = await place.store.nextPiece(channelOf(place));
      if (!next) break;
      contents.push(next.piece.content);
      if (contents.length === 1) {
        await place.store.startPiece(sender, next.piece.id);
        await place.store.closePiece(sender, next.piece.id, {
          to: "due",
          delayMs: 60_000,
          lookUp: false,
          text: "slow down",
        });
        const waits = await place.store.nextPiece(channelOf(place));
        expect(waits).toMatchObject({ piece: { id: next.piece.id, attempts: 1 }, lookUp: false });
        expect(waits?.dueInMs).toBeGreaterThan(50_000);
      }
      await place.store.startPiece(sender, next.piece.id);
      await place.store.closePiece(sender, next.piece.id, {
        to: "sent",
        receipt: { nativeId: `n-${next.piece.content}` },
      });
    }
    expect(contents).toEqual(["a", "b", "c"]);
    expect(await place.store.sendState(first.entryId)).toMatchObject({ open: 0, sent: 2, nativeIds: ["n-a", "n-b"] });
    expect((await place.store.readEntriesById([first.entryId]))[0]?.platformId).toBe("n-a");
    expect(await place.store.nativeIdsOf(place.key, "t1s1")).toEqual(["n-a", "n-b"]);
  });

  test("a piece carries its place, what to post and the adapter's own note", async () => {
    const { place, send } = await sending(world());
    const delivery = await send({ pieces: [{ blocks: [1] }] });
    const sender = await claimSender(place);
    const id = `${delivery.entryId}:0`;
    await place.store.startPiece(sender, id);
    await place.store.saveProgress(sender, id, { uploaded: "F1" });
    const next = await place.store.nextPiece(channelOf(place));
    expect(next?.piece).toMatchObject({
      id,
      index: 0,
      entryId: delivery.entryId,
      platform: "test",
      state: "sending",
      place: delivery.place,
      content: { blocks: [1] },
      progress: { uploaded: "F1" },
      attempts: 1,
    });
    expect(Math.abs(Date.now() - (next?.piece.attemptedAt?.getTime() ?? 0))).toBeLessThan(10_000);
  });

  test("a piece whose attempt was never closed is looked up, once that attempt must be over", async () => {
    const { place, send } = await sending(world());
    const delivery = await send();
    await place.store.startPiece(await claimSender(place), `${delivery.entryId}:0`);
    const next = await place.store.nextPiece(channelOf(place), 20_000);
    expect(next).toMatchObject({ lookUp: true, piece: { state: "sending" } });
    expect(next?.dueInMs).toBeGreaterThan(10_000);
    expect(next?.dueInMs).toBeLessThanOrEqual(20_000);
    expect(await place.store.nextPiece(channelOf(place))).toMatchObject({ lookUp: true, dueInMs: 0 });
  });

  test("an attempt with unknown outcome is looked up before it is repeated", async () => {
    const { place, send } = await sending(world());
    const delivery = await send();
    const sender = await claimSender(place);
    await place.store.startPiece(sender, `${delivery.entryId}:0`);
    await place.store.closePiece(sender, `${delivery.entryId}:0`, {
      to: "due",
      delayMs: 0,
      lookUp: true,
      text: "timeout",
    });
    expect(await place.store.nextPiece(channelOf(place))).toMatchObject({
      lookUp: true,
      dueInMs: 0,
      piece: { state: "due" },
    });
  });

  test("a piece that failed for good takes the rest of its entry with it, and the next entry goes on", async () => {
    const { place, send, claim, turnId } = await sending(world());
    const failing = await send({ pieces: ["a", "b", "c"], card: place.card() });
    const after = await send({ pieces: ["d"] });
    const sender = await claimSender(place);
    await close(place, sender, `${failing.entryId}:0`, "n-a");
    await place.finish(claim, turnId);
    const closed = await place.store.closePiece(sender, `${failing.entryId}:1`, {
      to: "failed",
      problem: "content",
      text: "too long",
    });
    expect(closed).toEqual({
      entryId: failing.entryId,
      entryClosed: true,
      failed: true,
      sessionId: claim.sessionId,
      settleOwed: true,
    });
    expect(await place.store.sendState(failing.entryId)).toMatchObject({
      open: 0,
      sent: 1,
      failed: "too long",
      nativeIds: ["n-a"],
    });
    expect(await place.store.readCard(failing.card?.id ?? "")).toMatchObject({ state: "expired" });
    expect((await place.store.nextPiece(channelOf(place)))?.piece.entryId).toBe(after.entryId);
  });

  test("a failure during the turn names no session: the turn itself tells the model", async () => {
    const { place, send } = await sending(world());
    const delivery = await send();
    const closed = await place.store.closePiece(await claimSender(place), `${delivery.entryId}:0`, {
      to: "failed",
      problem: "place",
      text: "gone",
    });
    expect(closed).toEqual({
      entryId: delivery.entryId,
      entryClosed: true,
      failed: true,
      sessionId: undefined,
      settleOwed: false,
    });
  });

  test("a sender that lost its channel can neither start nor close nor note anything", async () => {
    const { place, send } = await sending(world());
    const id = `${(await send()).entryId}:0`;
    const old = await place.store.claimSender({ nativeChannel: channelOf(place), owner: "old", leaseMs: -1 });
    await claimSender(place);
    await expect(place.store.startPiece(old as SenderClaim, id)).rejects.toThrow(FenceLostError);
    await expect(place.store.saveProgress(old as SenderClaim, id, {})).rejects.toThrow(FenceLostError);
    await expect(
      place.store.closePiece(old as SenderClaim, id, { to: "sent", receipt: { nativeId: "x" } }),
    ).rejects.toThrow(FenceLostError);
    expect(await place.store.nextPiece(channelOf(place))).toMatchObject({ piece: { state: "due", attempts: 0 } });
  });

  test("a reply to any piece of a bubble is a reply to the bubble", async () => {
    const { place, send } = await sending(world());
    const delivery = await send({ pieces: ["a", "b"] });
    const sender = await claimSender(place);
    await close(place, sender, `${delivery.entryId}:0`, unique("n"));
    const second = unique("n");
    await close(place, sender, `${delivery.entryId}:1`, second);
    const { entry } = await place.say("about that", { replyTo: second });
    expect(entry?.replyTo).toBe("t1s1");
  });

  test("history that was loaded while a bubble was posted does not show it twice", async () => {
    const { place, send } = await sending(world());
    const delivery = await send();
    const sender = await claimSender(place);
    const author = { kind: "bot" as const, id: "x", name: "Ada" };
    await place.store.addContext(place.key, [
      { author, kind: "context", platformId: "n-own", at: new Date(), text: "hi", body: {}, files: [] },
    ]);
    await close(place, sender, `${delivery.entryId}:0`, "n-own");
    const entries = await place.store.readEntries({ conversationKey: place.key, limit: 10 });
    expect(entries.filter((entry) => entry.platformId === "n-own").map((entry) => entry.id)).toEqual([
      delivery.entryId,
    ]);
  });

  test("the sweep finds channels with a due piece at their head and no sender", async () => {
    const { place, send } = await sending(world());
    const delivery = await send();
    await send();
    const isDue = async () => (await place.store.dueChannels(1000)).includes(channelOf(place));
    expect(await isDue()).toBe(true);
    const sender = await claimSender(place);
    expect(await isDue()).toBe(false);
    await place.store.closePiece(sender, `${delivery.entryId}:0`, {
      to: "due",
      delayMs: 60_000,
      lookUp: false,
      text: "wait",
    });
    await place.store.releaseSender(sender);
    expect(await isDue()).toBe(false);
    await world().pool.query(`UPDATE "OutboxPiece" SET "dueAt" = now() WHERE "entryId" = $1`, [delivery.entryId]);
    expect(await isDue()).toBe(true);
  });

  test("an entry nobody sends natively is closed from the start", async () => {
    const { place, send } = await sending(world());
    const delivery = await send({ pieces: [] });
    expect(await place.store.sendState(delivery.entryId)).toMatchObject({ open: 0, sent: 0, nativeIds: [] });
    expect(await place.store.sendState("nothing")).toBeNull();
  });
}

function channelOf(place: TestPlace): string {
  return place.delivery().nativeChannel;
}

async function claimSender(place: TestPlace): Promise<SenderClaim> {
  const claim = await place.store.claimSender({ nativeChannel: channelOf(place), owner: unique("s"), leaseMs: 30_000 });
  if (!claim) throw new Error("expected the channel");
  return claim;
}

async function close(place: TestPlace, sender: SenderClaim, pieceId: string, nativeId: string) {
  await place.store.startPiece(sender, pieceId);
  return place.store.closePiece(sender, pieceId, { to: "sent", receipt: { nativeId } });
}

/** A running turn that can send several bubbles. */
async function sending(world: StoreWorld) {
  const place = await newPlace(world.store);
  const { claim, turnId } = await place.reply(5);
  let index = 0;
  const send = async (more: Partial<NewDelivery> = {}) => {
    const delivery = place.delivery(more);
    await place.store.commitSend(claim, { turnId, step: 1, index }, delivery, noProgress);
    index += 1;
    return delivery;
  };
  return { place, claim, turnId, send };
}
