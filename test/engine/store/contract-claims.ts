/** Claims: which session first, how many at once, and who may still write (SPEC T2, T3). */
import { describe, expect, test } from "vitest";
import type { MailKind } from "../../../src/engine/mail.ts";
import type { TestPlace } from "./store-place.ts";
import { claimTimes, newPlace, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

interface Waiting {
  readonly name: string;
  readonly kind?: MailKind;
  readonly direct?: boolean;
  /** Minutes the mail has waited. */
  readonly age?: number;
}

/** What waits, in order of arrival, and the order in which it is claimed. */
const orders: readonly {
  readonly title: string;
  readonly waiting: readonly Waiting[];
  readonly claimed: readonly string[];
}[] = [
  {
    title: "people go before bots, bots before background work",
    waiting: [{ name: "timer", kind: "background" }, { name: "bot", kind: "bot" }, { name: "person" }],
    claimed: ["person", "bot", "timer"],
  },
  {
    title: "among people a direct message goes before a channel",
    waiting: [{ name: "channel" }, { name: "direct", direct: true }],
    claimed: ["direct", "channel"],
  },
  {
    title: "who came first goes first",
    waiting: [{ name: "second", age: 1 }, { name: "first", age: 2 }, { name: "third" }],
    claimed: ["first", "second", "third"],
  },
  {
    title: "background work older than ten minutes goes first, but only once in a row while people wait",
    waiting: [
      { name: "old timer", kind: "background", age: 30 },
      { name: "older timer", kind: "background", age: 40 },
      { name: "person" },
      { name: "later person" },
    ],
    claimed: ["older timer", "person", "old timer", "later person"],
  },
  {
    title: "background work that is not old yet waits for people",
    waiting: [{ name: "timer", kind: "background", age: 9 }, { name: "person" }],
    claimed: ["person", "timer"],
  },
];

export function testClaims(world: () => StoreWorld): void {
  describe("the order of claims", () => {
    test.each(orders)("$title", async ({ waiting, claimed }) => {
      const place = await newPlace(world().store);
      const names = new Map<string, string>();
      for (const item of waiting) names.set(await arrive(world(), place, item), item.name);
      const [any] = names.keys();
      const order: string[] = [];
      for (let i = 0; i < waiting.length; i += 1) {
        const { claim, turnId } = await place.begin(any ?? "");
        order.push(names.get(claim.sessionId) ?? "");
        await place.finish(claim, turnId);
      }
      expect(order).toEqual(claimed);
      expect(await place.tryClaim(any ?? "")).toBeNull();
    });
  });

  test("fifty claims at once from two processes give one worker the session", async () => {
    const place = await newPlace(world().store);
    const other = place.through(await world().openAnother());
    const sessionId = await place.wake();
    const claims = await Promise.all(Array.from({ length: 50 }, (_, i) => (i % 2 ? place : other).tryClaim(sessionId)));
    expect(claims.filter((claim) => claim !== null)).toHaveLength(1);
  });

  test("a bot works on one session at a time while nobody has waited long", async () => {
    const place = await newPlace(world().store);
    const first = await place.wake();
    const second = await place.beside().wake();
    await place.claim(first);
    const result = await place.store.claim({ sessionId: second, owner: "w", ...claimTimes });
    expect(result.claim).toBeNull();
    expect("retryInMs" in result ? result.retryInMs : undefined).toBeGreaterThan(2_000);
    expect("retryInMs" in result ? result.retryInMs : undefined).toBeLessThanOrEqual(3_000);
  });

  test("a person who has waited long enough gets a lane, up to the bot's number of lanes", async () => {
    const place = await newPlace(world().store, { lanes: 2 });
    const sessions = [await place.wake(), await place.beside().wake(), await place.beside().wake()];
    const claims = [];
    for (let i = 0; i < 3; i += 1) claims.push(await place.tryClaim(sessions[0] ?? "", unique("w"), { waitMs: 0 }));
    expect(claims.map((claim) => claim !== null)).toEqual([true, true, false]);
    expect(await place.store.claim({ sessionId: sessions[2] ?? "", owner: "w", ...claimTimes })).toEqual({
      claim: null,
    });
  });

  test("a bot with one lane is strictly serial", async () => {
    const place = await newPlace(world().store, { lanes: 1 });
    const first = await place.wake();
    const second = await place.beside().wake();
    await place.claim(first);
    expect(await place.tryClaim(second, "w", { waitMs: 0 })).toBeNull();
  });

  test("background work never opens a lane", async () => {
    const place = await newPlace(world().store);
    const first = await place.wake();
    await place.claim(first);
    const second = await arrive(world(), place, { name: "timer", kind: "background", age: 60 });
    expect(await place.tryClaim(second, "w", { waitMs: 0, ageingMs: 0 })).toBeNull();
  });

  test("fifty claims at once never exceed the lanes nor share a session", async () => {
    const place = await newPlace(world().store, { lanes: 3 });
    const sessions = await Promise.all(Array.from({ length: 6 }, () => place.beside().wake()));
    const tries = Array.from({ length: 50 }, (_, i) =>
      place.tryClaim(sessions[i % 6] ?? "", unique("w"), { waitMs: 0 }),
    );
    const held = (await Promise.all(tries)).flatMap((claim) => claim?.sessionId ?? []);
    expect(held).toHaveLength(3);
    expect(new Set(held).size).toBe(3);
  });

  test("mail that is not due yet is left alone", async () => {
    const place = await newPlace(world().store);
    const sessionId = await place.wake("later", { mail: { delayMs: 60_000 } });
    expect(await place.store.claim({ sessionId, owner: "w", ...claimTimes })).toEqual({ claim: null });
  });

  test("a session without anything to do is not claimed", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.begin(await place.wake());
    await place.finish(claim, turnId);
    expect(await place.store.claim({ sessionId: claim.sessionId, owner: "w", ...claimTimes })).toEqual({ claim: null });
  });

  test("work on a platform that does not run here waits without keeping others waiting", async () => {
    const place = await newPlace(world().store);
    const sessionId = await place.wake();
    const request = { sessionId, owner: "w", ...claimTimes };
    expect((await place.store.claim({ ...request, platforms: ["other"] })).claim).toBeNull();
    const due = await place.store.dueSessions(1000, ["other"]);
    expect(due.map((item) => item.sessionId)).not.toContain(sessionId);
    expect((await place.store.claim({ ...request, platforms: ["other", "test"] })).claim).toMatchObject({ sessionId });
  });

  test("a retired bot is not claimed for", async () => {
    const place = await newPlace(world().store);
    const sessionId = await place.wake();
    await place.store.syncBots(place.bot.orgId, []);
    expect(await place.tryClaim(sessionId)).toBeNull();
    expect((await place.store.dueSessions(1000)).map((item) => item.sessionId)).not.toContain(sessionId);
  });

  test("a turn whose worker is gone goes on before new work of the same rank", async () => {
    const place = await newPlace(world().store);
    const crashed = await place.wake();
    const { claim } = await place.begin(crashed);
    await arrive(world(), place, { name: "direct", direct: true, age: 5 });
    await endLease(world(), crashed);
    const next = await place.claim(crashed);
    expect(next).toMatchObject({ sessionId: crashed, fence: claim.fence + 1 });
  });

  test("people go before an interrupted background turn", async () => {
    const place = await newPlace(world().store);
    const timer = await arrive(world(), place, { name: "timer", kind: "background" });
    await place.begin(timer);
    await endLease(world(), timer);
    const person = await place.beside().wake();
    expect((await place.claim(timer)).sessionId).toBe(person);
  });

  test("renewing holds a claim and tells of a stop and of new mail", async () => {
    const place = await newPlace(world().store);
    const { claim } = await place.begin(await place.wake());
    expect(await place.store.renew(claim, 15_000)).toEqual({ held: true, stopRequested: false, mailDue: false });
    await place.say("more");
    await place.store.requestStop({
      conversationKey: place.key,
      by: place.bob,
      dedupeKey: unique("stop"),
      mayStopOthers: true,
    });
    expect(await place.store.renew(claim, 15_000)).toEqual({ held: true, stopRequested: true, mailDue: true });
  });

  test("a lease that ran out can be renewed until somebody else takes the session", async () => {
    const place = await newPlace(world().store);
    const { claim } = await place.begin(await place.wake());
    await endLease(world(), claim.sessionId);
    expect(await place.store.renew(claim, 15_000)).toMatchObject({ held: true });
    await endLease(world(), claim.sessionId);
    await place.claim(claim.sessionId);
    expect(await place.store.renew(claim, 15_000)).toMatchObject({ held: false });
  });

  test("releasing gives the session to the next worker, and an old release does nothing", async () => {
    const place = await newPlace(world().store);
    const first = await place.claim(await place.wake());
    await place.store.release(first);
    const second = await place.claim(first.sessionId);
    expect(second.fence).toBe(first.fence + 1);
    await place.store.release(first);
    expect(await place.store.renew(second, 15_000)).toMatchObject({ held: true });
  });

  test("the sweep finds due sessions, one for each bot and the most urgent first", async () => {
    const place = await newPlace(world().store);
    await arrive(world(), place, { name: "timer", kind: "background" });
    const person = await place.wake();
    const due = await dueOf(place, world());
    expect(due).toEqual([{ sessionId: person, rank: 0 }]);
  });

  test("the sweep's limit keeps the most urgent", async () => {
    const platform = unique("p");
    const places = [await newPlace(world().store, { platform }), await newPlace(world().store, { platform })];
    const [timer, person] = places as [TestPlace, TestPlace];
    await timer.wake("timer", { mail: { kind: "background" } });
    const sessionId = await person.wake();
    expect(await timer.store.dueSessions(1, [platform])).toEqual([{ sessionId, rank: 0 }]);
  });

  test("the sweep leaves a busy bot's background work alone but rings for people and for lost workers", async () => {
    const place = await newPlace(world().store);
    const { claim } = await place.begin(await place.wake());
    await arrive(world(), place, { name: "timer", kind: "background" });
    expect(await dueOf(place, world())).toEqual([]);
    const person = await place.beside().wake();
    expect(await dueOf(place, world())).toEqual([{ sessionId: person, rank: 0 }]);
    await world().pool.query(`UPDATE "Mail" SET "state" = 'done' WHERE "sessionId" = $1`, [person]);
    await endLease(world(), claim.sessionId);
    expect(await dueOf(place, world())).toEqual([{ sessionId: claim.sessionId, rank: 0 }]);
  });
}

async function endLease(world: StoreWorld, sessionId: string): Promise<void> {
  await world.pool.query(`UPDATE "Session" SET "leaseUntil" = now() - interval '1 second' WHERE "id" = $1`, [
    sessionId,
  ]);
}

/** Mail in a conversation of its own. */
async function arrive(world: StoreWorld, place: TestPlace, item: Waiting): Promise<string> {
  const { kind = "person", age = 0 } = item;
  const at = new Date(Date.now() - age * 60_000);
  const own = place.beside(item.direct ? "direct" : "channel");
  const sessionId = await own.wake(item.name, { at, mail: { kind } });
  await world.pool.query(`UPDATE "Mail" SET "createdAt" = $2, "dueAt" = $2 WHERE "sessionId" = $1`, [sessionId, at]);
  return sessionId;
}

async function dueOf(place: TestPlace, world: StoreWorld) {
  const { rows } = await world.pool.query<{ id: string }>(`SELECT "id" FROM "Session" WHERE "botId" = $1`, [
    place.bot.id,
  ]);
  const own = rows.map((row) => row.id);
  return (await place.store.dueSessions(1000)).filter((item) => own.includes(item.sessionId));
}
