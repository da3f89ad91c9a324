/** Groups: who is in a channel, and discussions that move with the transaction that moves them, or not at all (SPEC G1, G12). */
import { expect, test } from "vitest";
import { channelRowId } from "../../../src/engine/conversation.ts";
import type { DiscussionMove } from "../../../src/engine/discussion.ts";
import { DiscussionMovedError } from "../../../src/engine/errors.ts";
import { afterAsk, afterTold } from "../../../src/engine/group/asked.ts";
import { afterBubble, afterLostBubble, afterTurn, beginDiscussion } from "../../../src/engine/group/discussion.ts";
import { moveTo, wakeCurrent } from "../../../src/engine/group/discussion-mail.ts";
import type { Store, TakeInResult } from "../../../src/engine/store/store.ts";
import { newPlace, noProgress, type TestPlace, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

const LIMITS = { maxRounds: 3, maxBubbles: 10, maxPerTurn: 2 };

/** A discussion of this place's bot with itself alone in the roster; enough to move it. */
function newMove(place: TestPlace): DiscussionMove {
  const roster = [{ botId: place.bot.id, name: place.bot.name, installationId: place.installation.id }];
  const persons = [{ id: place.ann.id, name: "Ann", role: "member" as const }];
  return {
    id: unique("dis"),
    channelId: channelRowId(place.ref),
    threadKey: place.key,
    revision: 0,
    state: beginDiscussion({ selected: [place.bot.id], named: [] }, roster),
    frame: { roster, persons, audience: "all", ref: place.ref },
    restartsWait: true,
    cancelsMail: false,
  };
}

async function begin(place: TestPlace): Promise<{ move: DiscussionMove; result: TakeInResult }> {
  const move = newMove(place);
  const event = { ...place.event("discuss"), wake: wakeCurrent(move, Date.now()), discussion: move };
  return { move, result: await place.store.takeIn(event) };
}

const stored = async (store: Store, id: string) => {
  const discussion = await store.readDiscussion(id);
  if (!discussion) throw new Error("no discussion");
  return discussion;
};

export function testGroups(world: () => StoreWorld): void {
  test("a message, its discussion and the first speaker's mail are one transaction", async () => {
    const place = await newPlace(world().store);
    const { move, result } = await begin(place);
    expect(result).toMatchObject({ status: "stored", woken: [{ rank: 0 }] });
    const discussion = await stored(place.store, move.id);
    expect(discussion).toMatchObject({ revision: 1, state: { current: place.bot.id, epoch: 1 } });
    expect(discussion.entryId).toBe(result.status === "stored" ? result.entry?.id : "");
  });

  test("a second discussion in the same place is refused, and its message with it", async () => {
    const place = await newPlace(world().store);
    await begin(place);
    await expect(begin(place)).rejects.toBeInstanceOf(DiscussionMovedError);
    expect(await place.store.readEntries({ conversationKey: place.key, limit: 10 })).toHaveLength(1);
  });

  test("of two moves from the same state one is refused", async () => {
    const place = await newPlace(world().store);
    const { move } = await begin(place);
    const discussion = await stored(place.store, move.id);
    const step = () =>
      place.store.stepDiscussion({
        move: moveTo(discussion, afterBubble(discussion.state, place.bot.id, [], discussion.frame.roster)),
        wake: [],
        hostCards: [],
      });
    const results = await Promise.allSettled([step(), step(), step()]);
    expect(results.map((one) => one.status).sort()).toEqual(["fulfilled", "rejected", "rejected"]);
    expect(await stored(place.store, move.id)).toMatchObject({ revision: 2, state: { total: 1 } });
  });

  test("a bubble whose discussion was moved meanwhile is not said, and may be said after reading again", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.reply();
    const { move } = await begin(place);
    const discussion = await stored(place.store, move.id);
    const said = (from: typeof discussion) => afterBubble(from.state, place.bot.id, [], from.frame.roster);
    await place.store.stepDiscussion({ move: moveTo(discussion, said(discussion)), wake: [], hostCards: [] });
    const call = { turnId, step: 1, index: 0 };
    const delivery = place.delivery();
    const send = (from: typeof discussion) =>
      place.store.commitSend(claim, call, delivery, noProgress, moveTo(from, said(from)));
    await expect(send(discussion)).rejects.toBeInstanceOf(DiscussionMovedError);
    expect(await place.store.sendState(delivery.entryId)).toBeNull();
    await send(await stored(place.store, move.id));
    await send(discussion);
    expect(await stored(place.store, move.id)).toMatchObject({ state: { total: 2 } });
  });

  test("a bubble the platform did not take is given back with the result that says so, once", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.reply();
    const { move } = await begin(place);
    const before = await stored(place.store, move.id);
    const call = { turnId, step: 1, index: 0 };
    const said = moveTo(before, afterBubble(before.state, place.bot.id, [], before.frame.roster));
    await place.store.commitSend(claim, call, place.delivery(), noProgress, said);
    const lost = { ok: false, text: "refused" };
    const giveBack = async () => {
      const now = await stored(place.store, move.id);
      const back = moveTo(now, afterLostBubble(now.state, place.bot.id));
      await place.store.commitCall(claim, call, lost, noProgress, back);
    };
    const stale = moveTo(before, afterLostBubble(before.state, place.bot.id));
    await expect(place.store.commitCall(claim, call, lost, noProgress, stale)).rejects.toBeInstanceOf(
      DiscussionMovedError,
    );
    expect(await stored(place.store, move.id)).toMatchObject({ state: { total: 1 } });
    await giveBack();
    // As after a crash between this commit and the next step.
    await giveBack();
    expect(await stored(place.store, move.id)).toMatchObject({ revision: 3, state: { total: 0, heard: [] } });
  });

  test("a discussion that has ended still counts answers, and never changes how it ended", async () => {
    const place = await newPlace(world().store);
    const { move } = await begin(place);
    const step = async (change: (state: DiscussionMove["state"]) => DiscussionMove["state"]) => {
      const now = await stored(place.store, move.id);
      await place.store.stepDiscussion({ move: moveTo(now, change(now.state)), wake: [], hostCards: [] });
    };
    await step((state) =>
      afterTurn(afterAsk(state, "k", place.bot.id), place.bot.id, "done", LIMITS, newMove(place).frame.roster),
    );
    await step((state) => afterTold(state, "k", place.bot.id, [], []));
    expect(await stored(place.store, move.id)).toMatchObject({ state: { endReason: "passed", total: 1, asked: {} } });
    await expect(step((state) => ({ ...state, endReason: "stopped" }))).rejects.toBeInstanceOf(DiscussionMovedError);
  });

  test("the end of a turn moves the discussion and wakes the next speaker, or neither", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.reply();
    const { move } = await begin(place);
    const discussion = await stored(place.store, move.id);
    const state = afterTurn(discussion.state, place.bot.id, "done", LIMITS, discussion.frame.roster);
    const next = moveTo(discussion, state);
    const end = { turnId, status: "done" as const, outcome: "passed" as const, nodes: [], progress: noProgress };
    const stale = { ...next, revision: 7 };
    await expect(place.store.finishTurn(claim, { ...end, discussion: stale })).rejects.toBeInstanceOf(
      DiscussionMovedError,
    );
    expect((await place.store.viewSession(claim)).turn?.status).toBe("running");
    const wake = wakeCurrent(move, Date.now());
    expect(await place.store.finishTurn(claim, { ...end, discussion: next, wake })).toMatchObject([{ rank: 0 }]);
    expect(await stored(place.store, move.id)).toMatchObject({ state: { endReason: "passed", current: null } });
  });

  test("a stop by somebody who took part ends it and its waiting mail; by somebody else it does not", async () => {
    const place = await newPlace(world().store);
    const { move } = await begin(place);
    const stop = (by: TestPlace["ann"]) =>
      place.store.requestStop({ conversationKey: place.key, by, dedupeKey: unique("stop"), mayStopOthers: false });
    await stop(place.bob);
    expect((await stored(place.store, move.id)).state.endReason).toBeNull();
    expect((await stop(place.ann)).cancelled).toBeGreaterThan(0);
    expect(await stored(place.store, move.id)).toMatchObject({ state: { endReason: "stopped", current: null } });
  });

  test("deleting the message before anybody's turn ends its discussion", async () => {
    const place = await newPlace(world().store);
    const move = newMove(place);
    const event = place.event("never mind", { platformId: "m1" });
    await place.store.takeIn({ ...event, wake: wakeCurrent(move, Date.now()), discussion: move });
    const amended = await place.store.amendMessage({
      dedupeKey: unique("del"),
      conversationKey: place.key,
      platformId: "m1",
      mark: { kind: "deleted", at: new Date().toISOString() },
      steering: "gone",
    });
    expect(amended.status).toBe("cancelled");
    expect((await stored(place.store, move.id)).state.endReason).toBe("stopped");
  });

  test("who shows nothing for long enough is found, until the wait begins anew", async () => {
    const place = await newPlace(world().store);
    const { move } = await begin(place);
    const late = async (ms: number) => (await place.store.lateDiscussions(ms)).some((one) => one.id === move.id);
    expect([await late(0), await late(60_000)]).toEqual([true, false]);
  });

  test("membership is kept in the order of coming; before a Group is told of, in configured order", async () => {
    const place = await newPlace(world().store);
    const { platform, workspaceId, channelId } = place.ref;
    const sync = (botId: string, channels = [{ channelId, name: "general" }]) =>
      place.store.syncMemberships({
        platform,
        workspaceId,
        botId,
        channels,
        replyMode: "thread",
        order: ["a", "b", "c", "d"],
      });
    await sync("c");
    await sync("a");
    expect((await sync("b"))[0]).toMatchObject({ members: ["a", "b", "c"], name: "general", replyMode: "thread" });
    await place.store.setChannelSettings(channelRowId(place.ref), { told: true, begun: 1 });
    await place.store.addMembers(place.ref, ["d", "b"], { replyMode: "thread", audience: "all" });
    await sync("a", []);
    await sync("a");
    expect(await place.store.readChannel(place.ref)).toMatchObject({
      members: ["b", "c", "d", "a"],
      settings: { told: true, begun: 1 },
    });
  });
}
