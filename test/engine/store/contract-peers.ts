/** Messages between bots, bots made at run time, leases (SPEC A1–A3, O1): once, together with the call's result, refused when they loop. */
import { describe, expect, test } from "vitest";
import type { Bot } from "../../../src/engine/bot.ts";
import { conversationKey, peerRef } from "../../../src/engine/conversation.ts";
import type { Claim } from "../../../src/engine/session.ts";
import type { CommitPeer, PeerOutcome } from "../../../src/engine/store/store.ts";
import { claimTimes, newPlace, noProgress, type TestPlace, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

/** A bot that serves Ann in a channel, and a teammate. */
interface Team {
  readonly place: TestPlace;
  readonly bo: Bot;
  readonly sessionId: string;
  readonly claim: Claim;
  readonly turnId: string;
}

async function newTeam({ store }: StoreWorld): Promise<Team> {
  const place = await newPlace(store);
  const { id, name, role, model, lanes, orgId } = place.bot;
  const other = { id: unique("bo"), name: "Bo", role: "Works", model, lanes };
  const bots = await store.syncBots(orgId, [{ id, name, role, model, lanes }, other]);
  const bo = bots.find((bot) => bot.id === other.id);
  if (!bo) throw new Error("no teammate");
  const { sessionId, claim, turnId } = await place.reply(30);
  return { place, bo, sessionId, claim, turnId };
}

function message({ place, bo, sessionId }: Team, more: Partial<CommitPeer> = {}): CommitPeer {
  const { bot } = place;
  const ref = peerRef({ orgId: bot.orgId, botId: bot.id, sessionId, receiverId: bo.id });
  return {
    from: { botId: bot.id, botName: bot.name, conversationKey: place.key, ref: place.ref, personCount: 1 },
    to: { botId: bo.id, conversationKey: conversationKey(ref), ref },
    text: "please look",
    files: [],
    mail: {
      type: "peer",
      direction: "ask",
      root: sessionId,
      serves: { role: "member", personIds: [place.ann.id], names: {} },
    },
    audience: "test",
    hops: 1,
    urgent: false,
    result: { ok: true, text: "queued: {address}" },
    progress: noProgress,
    limits: { mailPerSession: 50, maxHops: 24, pairTurns: 20, pairWindowMs: 60_000, restMs: 60_000 },
    ...more,
  };
}

const send = (team: Team, index: number, more: Partial<CommitPeer> = {}): Promise<PeerOutcome> =>
  team.place.store.commitPeer(team.claim, { turnId: team.turnId, step: 1, index }, message(team, more));

async function claimOf(team: Team, sessionId: string): Promise<Claim> {
  const { claim } = await team.place.store.claim({ sessionId, owner: unique("w"), ...claimTimes });
  if (!claim) throw new Error("expected a claim");
  return claim;
}

/** The receiver's session with its turn begun by the oldest message. */
async function receive(team: Team, outcome: PeerOutcome) {
  if (outcome.status !== "queued") throw new Error(`expected queued, got ${outcome.status}`);
  const claim = await claimOf(team, outcome.sessionId);
  const view = await team.place.store.viewSession(claim);
  const turnId = unique("t");
  await team.place.beginWith(claim, turnId, [view.due[0]?.id ?? ""]);
  await team.place.replyWith(claim, turnId, 1, 3);
  return { claim, turnId, view };
}

export function testPeers(world: () => StoreWorld): void {
  describe("messages between bots", () => {
    test("a message is an entry on both sides and mail for the receiver, with the call's result", async () => {
      const team = await newTeam(world());
      const { store } = team.place;
      const outcome = await send(team, 0);
      expect(outcome).toMatchObject({
        status: "queued",
        botId: team.bo.id,
        result: { ok: true, text: "queued: t1a1" },
      });
      const { view } = await receive(team, outcome);
      expect(view.due).toMatchObject([{ kind: "bot", authorId: team.place.bot.id, authorName: "Ada", hops: 1 }]);
      expect(view.conversation).toMatchObject({ kind: "peer", platform: "peer", threadId: team.sessionId });
      const [own, theirs] = await Promise.all(
        [team.place.key, view.conversation.key].map((key) => store.readEntries({ conversationKey: key, limit: 10 })),
      );
      expect(own?.at(-1)).toMatchObject({
        kind: "peer",
        address: "t1a1",
        text: "please look",
        author: { kind: "bot" },
      });
      expect(theirs).toMatchObject([{ kind: "peer", address: "tba1", text: "please look" }]);
      const asking = await store.viewSession(team.claim);
      expect(asking.calls[0]).toMatchObject({ state: "done", result: { text: "queued: t1a1" } });
    });

    test("a call that is repeated after a crash sends nothing again and gets its first result", async () => {
      const team = await newTeam(world());
      const first = await send(team, 0);
      const [second, third] = await Promise.all([send(team, 0, { text: "other words" }), send(team, 0)]);
      expect([second, third]).toEqual(
        Array.from({ length: 2 }, () => ({ status: "done", result: { ok: true, text: "queued: t1a1" } })),
      );
      const { view } = await receive(team, first);
      expect(view.due).toHaveLength(1);
    });

    test("a lost claim sends nothing", async () => {
      const team = await newTeam(world());
      const stale = { ...team, claim: { ...team.claim, fence: team.claim.fence - 1 } };
      await expect(send(stale, 0)).rejects.toThrow(/claim/);
    });

    test("the answer becomes mail in the session that asked, on its own route", async () => {
      const team = await newTeam(world());
      const { store } = team.place;
      const { claim, turnId, view } = await receive(team, await send(team, 0));
      await team.place.finish(team.claim, team.turnId);
      const ref = { ...view.conversation };
      const answer = await store.commitPeer(
        claim,
        { turnId, step: 1, index: 0 },
        message(team, {
          from: { botId: team.bo.id, botName: "Bo", conversationKey: ref.key, ref, personCount: 0 },
          to: { sessionId: team.sessionId },
          text: "done",
          hops: 2,
        }),
      );
      expect(answer).toMatchObject({ status: "queued", sessionId: team.sessionId, result: { text: "queued: tba2" } });
      const due = await store.viewSession(await claimOf(team, team.sessionId));
      expect(due.due).toMatchObject([{ kind: "bot", authorName: "Bo", hops: 2, route: team.place.route }]);
      const entries = await store.readEntries({ conversationKey: team.place.key, limit: 10 });
      expect(entries.map((entry) => entry.address)).toEqual(["t1u", "t1a1", "t1a2"]);
    });

    test("too many hops, too much between two bots and a full mailbox are refused, and leave nothing behind", async () => {
      const team = await newTeam(world());
      const limits = message(team).limits;
      expect(await send(team, 0, { hops: 25 })).toEqual({ status: "refused", reason: "hops" });
      for (let i = 0; i < 3; i += 1) await send(team, i, { limits: { ...limits, pairTurns: 3 } });
      expect(await send(team, 3, { limits: { ...limits, pairTurns: 3 } })).toEqual({
        status: "refused",
        reason: "pair",
      });
      // The rest holds although the window would allow more.
      expect(await send(team, 3, { limits: { ...limits, pairTurns: 9 } })).toEqual({
        status: "refused",
        reason: "pair",
      });
      await world().pool.query(`DELETE FROM "KeyValue" WHERE "scope" = 'peer-rest'`);
      expect(await send(team, 3, { limits: { ...limits, mailPerSession: 3 } })).toEqual({
        status: "refused",
        reason: "full",
      });
      expect(await send(team, 3)).toMatchObject({ result: { text: "queued: t1a4" } });
    });

    test("urgent messages pass other bot and background work, and never a person", async () => {
      const team = await newTeam(world());
      const { store } = team.place;
      const plain = await send(team, 0, { text: "plain" });
      await send(team, 1, { text: "urgent", urgent: true });
      await team.place.finish(team.claim, team.turnId);
      const { view, claim, turnId } = await receive(team, plain);
      const [first] = await store.readEntriesById([view.due[0]?.entryId ?? ""]);
      expect(first?.text).toBe("urgent");
      await team.place.finish(claim, turnId);
    });

    test("a stop in the asking conversation reaches what teammates do for it, and its turn asks nobody any more", async () => {
      const team = await newTeam(world());
      const { store } = team.place;
      const working = await receive(team, await send(team, 0));
      await send(team, 1);
      const stop = { conversationKey: team.place.key, by: team.place.ann, mayStopOthers: false };
      const other = { ...team.place.bob, id: `${team.place.bob.id}x` };
      const foreign = await store.requestStop({ ...stop, by: other, dedupeKey: unique("stop") });
      expect(foreign).toMatchObject({ refused: true, cancelled: 0, peerSessionIds: [] });
      expect(await store.requestStop({ ...stop, dedupeKey: unique("stop") })).toMatchObject({
        sessionIds: [team.sessionId],
        peerSessionIds: [working.claim.sessionId],
        cancelled: 1,
      });
      expect(await store.renew(working.claim, 15_000)).toMatchObject({ stopRequested: true });
      expect(await send(team, 2)).toEqual({ status: "refused", reason: "stopped" });
    });

    test("however much one stop ends, it is said once", async () => {
      const team = await newTeam(world());
      const { store, key } = team.place;
      const said = (at: string) => ({ ...team.place.delivery(), kind: "host-card" as const, text: at });
      await store.requestStop({
        conversationKey: key,
        by: team.place.ann,
        mayStopOthers: false,
        dedupeKey: unique("s"),
      });
      const end = { status: "done" as const, outcome: "stopped" as const, nodes: [], progress: noProgress };
      await store.finishTurn(team.claim, { ...end, turnId: team.turnId, hostCards: [said("one"), said("two")] });
      const entries = await store.readEntries({ conversationKey: key, limit: 20 });
      expect(entries.filter((entry) => entry.kind === "host-card").map((entry) => entry.text)).toEqual(["one"]);
    });

    test("mail for a bot that is gone is reported to the session that asked, once", async () => {
      const team = await newTeam(world());
      const { store, bot } = team.place;
      await send(team, 0);
      await team.place.finish(team.claim, team.turnId);
      const { id, name, role, model, lanes, orgId } = bot;
      await store.syncBots(orgId, [{ id, name, role, model, lanes }]);
      expect(await store.reportLostMail()).toContain(team.sessionId);
      expect(await store.reportLostMail()).not.toContain(team.sessionId);
      const view = await store.viewSession(await claimOf(team, team.sessionId));
      expect(view.due.map((mail) => mail.body)).toMatchObject([
        { type: "peer", direction: "report", text: "Bo is no longer here and has not read your message." },
      ]);
    });

    test("the directory of a cycle stays as it began", async () => {
      const team = await newTeam(world());
      expect(await team.place.store.keepDirectory(team.claim, "- Bo")).toBe("- Bo");
      expect(await team.place.store.keepDirectory(team.claim, "- Bo\n- Cy")).toBe("- Bo");
    });
  });

  describe("bots made at run time", () => {
    const bot = (team: Team, name: string) => ({
      ...{ id: unique("new"), orgId: team.place.bot.orgId, name, role: "Helps", model: "demo", lanes: 4 },
    });

    test("are made once by a call, have a name of their own, and are left alone by the settings file", async () => {
      const team = await newTeam(world());
      const { store } = team.place;
      const wanted = bot(team, "Dee");
      const create = (index: number, seed = wanted) =>
        store.createBot(
          team.claim,
          { turnId: team.turnId, step: 1, index },
          { bot: seed, limit: 100, result: { ok: true, text: "made {id}" } },
        );
      const made = await create(0);
      expect(made).toMatchObject({ status: "done", bot: { id: wanted.id }, result: { text: `made ${wanted.id}` } });
      expect(await create(0)).toEqual({ status: "done", result: { ok: true, text: `made ${wanted.id}` } });
      expect(await create(1, { ...bot(team, "DEE") })).toEqual({ status: "taken" });
      expect(await create(1, { ...bot(team, "Eve"), id: wanted.id })).toMatchObject({ bot: { id: `${wanted.id}-2` } });
      const { id, name, role, model, lanes, orgId } = team.place.bot;
      const renamed = await store.updateBot(
        team.claim,
        { turnId: team.turnId, step: 1, index: 2 },
        { bot: { id, orgId, role: "New duties" }, result: { ok: true, text: "changed" } },
      );
      expect(renamed).toMatchObject({ status: "done", bot: { name, role: "New duties", version: 2 } });
      const after = await store.syncBots(orgId, [{ id, name, role, model, lanes }]);
      expect(after.map((one) => [one.name, one.role])).toEqual([
        ["Ada", "New duties"],
        ["Dee", "Helps"],
        ["Eve", "Helps"],
      ]);
    });
  });

  describe("leases", () => {
    test("have one owner until they run out or are given back", async () => {
      const { store, pool } = world();
      const name = unique("intake");
      const hold = (owner: string) => store.holdLease({ name, owner, leaseMs: 15_000 });
      expect([await hold("a"), await hold("b"), await hold("a")]).toEqual([true, false, true]);
      await pool.query(`UPDATE "Lease" SET "leaseUntil" = now() - interval '1 second' WHERE "name" = $1`, [name]);
      expect([await hold("b"), await hold("a")]).toEqual([true, false]);
      await store.releaseLease({ name, owner: "a" });
      expect(await hold("a")).toBe(false);
      await store.releaseLease({ name, owner: "b" });
      expect(await hold("a")).toBe(true);
    });
  });
}
