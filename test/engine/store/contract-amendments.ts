/** Edits, deletions and stops, by what became of the mail (SPEC T5, T6). */
import { expect, test } from "vitest";
import type { EntryMark } from "../../../src/engine/transcript.ts";
import type { TestPlace } from "./store-place.ts";
import { newPlace, noProgress, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

const edited = (text: string, at = "2026-01-01T00:00:00.000Z"): EntryMark => ({ kind: "edited", text, at });
const deleted: EntryMark = { kind: "deleted", at: "2026-01-02T00:00:00.000Z" };

export function testAmendments(world: () => StoreWorld): void {
  test("an edit of waiting mail replaces its text, and the mail keeps its place", async () => {
    const place = await newPlace(world().store);
    const sessionId = await place.wake("frist", { platformId: "m1" });
    await place.say("second");
    expect(await amend(place, edited("first"))).toMatchObject({ status: "replaced" });
    const { due, entries } = await read(place, sessionId);
    expect(due).toHaveLength(2);
    expect(entries[0]).toMatchObject({ id: due[0]?.entryId, text: "frist", mark: edited("first") });
  });

  test("a deletion of waiting mail cancels it", async () => {
    const place = await newPlace(world().store);
    const sessionId = await place.wake("oops", { platformId: "m1" });
    expect(await amend(place, deleted)).toMatchObject({ status: "cancelled" });
    expect(await place.tryClaim(sessionId)).toBeNull();
  });

  test("an edit of text that is being worked on becomes a steering note of the same person on the same route", async () => {
    const place = await newPlace(world().store);
    const { claim } = await place.begin(await place.wake("one", { platformId: "m1" }));
    const result = await amend(place, edited("two"));
    expect(result).toEqual({ status: "steered", woken: [{ sessionId: claim.sessionId, rank: 0 }] });
    const { due } = await place.store.viewSession(claim);
    expect(due).toMatchObject([
      {
        kind: "person",
        authorId: place.ann.id,
        route: place.route,
        body: { type: "steering", role: "member", text: "it was changed" },
      },
    ]);
  });

  test("a second edit replaces the steering note that still waits", async () => {
    const place = await newPlace(world().store);
    const { claim } = await place.begin(await place.wake("one", { platformId: "m1" }));
    await amend(place, edited("two"));
    await amend(place, edited("three", "2026-01-01T00:00:05.000Z"), "it was changed again");
    const { due } = await place.store.viewSession(claim);
    expect(due.map((mail) => mail.body)).toMatchObject([{ type: "steering", text: "it was changed again" }]);
  });

  test("an edit after the turn is only a mark", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.begin(await place.wake("one", { platformId: "m1" }));
    await place.finish(claim, turnId);
    expect(await amend(place, edited("two"))).toMatchObject({ status: "marked" });
    expect(await place.tryClaim(claim.sessionId)).toBeNull();
    const [entry] = await place.store.readEntries({ conversationKey: place.key, limit: 1 });
    expect(entry).toMatchObject({ text: "one", mark: edited("two") });
  });

  test("an edit between reading the mail and taking it reaches the turn as a steering note", async () => {
    const place = await newPlace(world().store);
    const claim = await place.claim(await place.wake("one", { platformId: "m1" }));
    const { due } = await place.store.viewSession(claim);
    expect(await amend(place, edited("two"))).toMatchObject({ status: "replaced" });
    await place.beginWith(
      claim,
      unique("t"),
      due.map((mail) => mail.id),
    );
    const after = await place.store.viewSession(claim);
    expect(after.taken.map((mail) => mail.id)).toEqual(due.map((mail) => mail.id));
    expect(after.due.map((mail) => mail.body)).toMatchObject([{ type: "steering", text: "it was changed" }]);
  });

  test("a deletion between reading the mail and taking it reaches the turn too", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.begin(await place.wake());
    await place.say("more", { platformId: "m1" });
    const { due } = await place.store.viewSession(claim);
    await amend(place, deleted);
    const more = { turnId, nodes: [], cursor: 2, progress: noProgress };
    await place.store.commitInput(claim, { ...more, mailIds: due.map((mail) => mail.id) });
    const after = await place.store.viewSession(claim);
    expect(after.taken).toHaveLength(2);
    expect(after.due.map((mail) => mail.body.type)).toEqual(["steering"]);
  });

  test("the same edit again is a duplicate, an edit of an unknown message is unknown and may come again", async () => {
    const place = await newPlace(world().store);
    await place.say("one", { platformId: "m1" });
    const input = { dedupeKey: unique("edit"), conversationKey: place.key, mark: edited("two"), steering: "x" };
    expect(await place.store.amendMessage({ ...input, platformId: "other" })).toEqual({ status: "unknown" });
    expect(await place.store.amendMessage({ ...input, platformId: "m1" })).toMatchObject({ status: "replaced" });
    expect(await place.store.amendMessage({ ...input, platformId: "m1" })).toEqual({ status: "duplicate" });
  });

  test("edits that arrive in the wrong order leave the newest text, and nothing follows a deletion", async () => {
    const place = await newPlace(world().store);
    await place.say("one", { platformId: "m1" });
    await amend(place, edited("three", "2026-01-01T00:00:03.000Z"));
    await amend(place, edited("two", "2026-01-01T00:00:02.000Z"));
    expect(await markOf(place)).toMatchObject({ text: "three" });
    await amend(place, deleted);
    await amend(place, edited("four", "2026-01-03T00:00:00.000Z"));
    expect(await markOf(place)).toEqual(deleted);
  });

  test("a stop flags the person's running turn once and cancels what else they have waiting here", async () => {
    const place = await newPlace(world().store);
    const { claim } = await place.begin(await place.wake());
    await place.say("and this");
    await place.say("mine stays", { by: place.bob });
    const stop = { conversationKey: place.key, by: place.ann, dedupeKey: unique("stop"), mayStopOthers: false };
    expect(await place.store.requestStop(stop)).toEqual({
      sessionIds: [claim.sessionId],
      peerSessionIds: [],
      cancelled: 1,
      refused: false,
    });
    expect(await place.store.requestStop(stop)).toMatchObject({ sessionIds: [], cancelled: 0, duplicate: true });
    const view = await place.store.viewSession(claim);
    expect(view.turn?.stopRequested).toBe(true);
    expect(view.due.map((mail) => mail.authorName)).toEqual(["Bob"]);
  });

  test("stopping work that is done for others is refused without the role", async () => {
    const place = await newPlace(world().store);
    const { claim } = await place.begin(await place.wake());
    const stop = { conversationKey: place.key, by: place.bob };
    expect(await place.store.requestStop({ ...stop, dedupeKey: unique("s"), mayStopOthers: false })).toEqual({
      sessionIds: [],
      peerSessionIds: [],
      cancelled: 0,
      refused: true,
    });
    expect((await place.store.viewSession(claim)).turn?.stopRequested).toBe(false);
    expect(await place.store.requestStop({ ...stop, dedupeKey: unique("s"), mayStopOthers: true })).toMatchObject({
      sessionIds: [claim.sessionId],
      refused: false,
    });
  });

  test("a stop of one bot leaves the others running", async () => {
    const place = await newPlace(world().store);
    const { claim } = await place.begin(await place.wake());
    const stop = { conversationKey: place.key, by: place.ann, dedupeKey: unique("s"), mayStopOthers: true };
    expect(await place.store.requestStop({ ...stop, botIds: ["somebody-else"] })).toEqual({
      sessionIds: [],
      peerSessionIds: [],
      cancelled: 0,
      refused: false,
    });
    expect((await place.store.viewSession(claim)).turn?.stopRequested).toBe(false);
  });

  test("a stop that comes after the mail was read but before its turn began stops that turn", async () => {
    const place = await newPlace(world().store);
    const claim = await place.claim(await place.wake());
    const { due } = await place.store.viewSession(claim);
    await place.store.requestStop({
      conversationKey: place.key,
      by: place.ann,
      dedupeKey: unique("s"),
      mayStopOthers: false,
    });
    const turn = await place.beginWith(
      claim,
      unique("t"),
      due.map((mail) => mail.id),
    );
    expect(turn.stopRequested).toBe(true);
  });
}

function amend(place: TestPlace, mark: EntryMark, steering = "it was changed") {
  return place.store.amendMessage({
    dedupeKey: unique("edit"),
    conversationKey: place.key,
    platformId: "m1",
    mark,
    steering,
  });
}

async function read(place: TestPlace, sessionId: string) {
  const { due } = await place.store.viewSession(await place.claim(sessionId));
  return { due, entries: await place.store.readEntriesById(due.flatMap((mail) => mail.entryId ?? [])) };
}

async function markOf(place: TestPlace) {
  return (await place.store.readEntries({ conversationKey: place.key, limit: 1 }))[0]?.mark;
}
