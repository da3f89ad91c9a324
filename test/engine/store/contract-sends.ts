/** Sends: what a SendMessage call commits, and the address its bubble gets (SPEC M7, M8, T4). */
import { expect, test } from "vitest";
import { newPlace, noProgress, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

export function testSends(world: () => StoreWorld): void {
  test("bubbles are numbered after the person message their turn consumed", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.reply(4);
    await place.say("two");
    const send = (index: number, personCount: number) =>
      place.store.commitSend(claim, { turnId, step: 1, index }, place.delivery({ personCount }), noProgress);
    const addresses = [];
    for (const [index, n] of [1, 1, 2, 1].entries()) addresses.push((await send(index, n)).address);
    expect(addresses).toEqual(["t1s1", "t1s2", "t2s1", "t1s3"]);
  });

  test("a bubble before any person message has its own numbers", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.reply(2);
    const away = { conversationKey: unique("else"), personCount: 0 };
    const first = await place.store.commitSend(claim, { turnId, step: 1, index: 0 }, place.delivery(away), noProgress);
    const second = await place.store.commitSend(claim, { turnId, step: 1, index: 1 }, place.delivery(away), noProgress);
    expect([first.address, second.address]).toEqual(["tbs1", "tbs2"]);
  });

  test("a send is one entry with its pieces, its card and its call, committed together", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId, sessionId } = await place.reply();
    const card = place.card({ sessionId, turnId, ttlMs: 60_000 });
    const delivery = place.delivery({ card, pieces: ["a", "b"], replyTo: "t1u", text: "a b" });
    const progress = { ...noProgress, bubbles: 1, waitingCardId: card.id };
    const entry = await place.store.commitSend(claim, { turnId, step: 1, index: 0 }, delivery, progress);
    expect(entry).toMatchObject({
      id: delivery.entryId,
      seq: 2,
      address: "t1s1",
      replyTo: "t1u",
      botId: place.bot.id,
      author: { kind: "bot", name: "Ada" },
    });
    const view = await place.store.viewSession(claim);
    expect(view.calls).toMatchObject([{ state: "started", entryId: entry.id }]);
    expect(view.turn?.progress).toEqual(progress);
    expect(await place.store.sendState(entry.id)).toEqual({
      entryId: entry.id,
      conversationKey: place.key,
      address: "t1s1",
      open: 2,
      sent: 0,
      failed: undefined,
      nativeIds: [],
    });
    expect(await place.store.readCard(card.id)).toMatchObject({
      state: "open",
      entryId: entry.id,
      sessionId,
      turnId,
      allowed: [place.ann.id],
      spec: card.spec,
    });
  });

  test("the same call sends once, also when it is repeated after a crash", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.reply();
    const first = await place.store.commitSend(claim, { turnId, step: 1, index: 0 }, place.delivery(), noProgress);
    const again = await place.store.commitSend(claim, { turnId, step: 1, index: 0 }, place.delivery(), noProgress);
    expect(again).toEqual(first);
  });
}
