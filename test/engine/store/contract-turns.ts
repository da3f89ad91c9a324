/** Turns: every write under the fence, and after a crash everything is there to go on with (SPEC T3, T4). */
import { describe, expect, test } from "vitest";
import { FenceLostError } from "../../../src/engine/errors.ts";
import type { Claim } from "../../../src/engine/session.ts";
import type { StateNode } from "../../../src/engine/store/store.ts";
import type { TestPlace } from "./store-place.ts";
import { newPlace, noProgress, unique } from "./store-place.ts";
import type { StoreWorld } from "./store-world.ts";

const userNode = (hash: string, parent: string | null, kind: StateNode["kind"] = "input"): StateNode => ({
  hash,
  parent,
  kind,
  message: { role: "user", text: hash },
});

/** Everything that writes under a claim. */
const writes: readonly (readonly [string, (place: TestPlace, claim: Claim, turnId: string) => Promise<unknown>])[] = [
  ["viewing the session", (place, claim) => place.store.viewSession(claim)],
  ["beginning a turn", (place, claim) => place.beginWith(claim, unique("t"), [])],
  ["resuming a turn", (place, claim, turnId) => place.store.resumeTurn(claim, turnId)],
  [
    "committing input",
    (place, claim, turnId) =>
      place.store.commitInput(claim, { turnId, nodes: [], mailIds: [], cursor: 1, progress: noProgress }),
  ],
  ["committing a reply", (place, claim, turnId) => place.replyWith(claim, turnId, 2, 1)],
  ["starting a call", (place, claim, turnId) => place.store.startCall(claim, { turnId, step: 1, index: 0 })],
  [
    "committing a result",
    (place, claim, turnId) =>
      place.store.commitCall(claim, { turnId, step: 1, index: 0 }, { ok: true, text: "" }, noProgress),
  ],
  [
    "sending",
    (place, claim, turnId) =>
      place.store.commitSend(claim, { turnId, step: 1, index: 0 }, place.delivery(), noProgress),
  ],
  ["finishing", (place, claim, turnId) => place.finish(claim, turnId)],
];

export function testTurns(world: () => StoreWorld): void {
  describe("after the claim has passed to another worker", () => {
    test.each(writes)("%s fails and changes nothing", async (_name, write) => {
      const place = await newPlace(world().store);
      const { claim, turnId, sessionId } = await place.reply();
      await world().pool.query(`UPDATE "Session" SET "leaseUntil" = now() - interval '1 second' WHERE "id" = $1`, [
        sessionId,
      ]);
      const next = await place.claim(sessionId);
      const before = await place.store.viewSession(next);
      await expect(write(place, claim, turnId)).rejects.toThrow(FenceLostError);
      expect(await place.store.viewSession(next)).toEqual(before);
      await expect(write(place, next, turnId)).resolves.not.toThrow();
    });
  });

  test("a claimed session shows bot, place, installation and due mail, and no turn yet", async () => {
    const place = await newPlace(world().store);
    const view = await place.store.viewSession(await place.claim(await place.wake()));
    expect(view.session).toMatchObject({
      botId: place.bot.id,
      conversationKey: place.key,
      cursor: 0,
      cycle: 1,
      stateHead: undefined,
    });
    expect(view).toMatchObject({
      bot: place.bot,
      installation: place.installation,
      calls: [],
      taken: [],
      turn: undefined,
    });
    expect(view.conversation).toEqual({
      ...place.ref,
      key: place.key,
      personCount: 1,
      lastSeq: 1,
      contextLoaded: false,
    });
    expect(view.due).toMatchObject([{ authorName: "Ann", body: { type: "message" }, hops: 0 }]);
  });

  test("due mail is shown in order: people first, then by time, at most fifty", async () => {
    const place = await newPlace(world().store);
    const at = (minute: number) => new Date(Date.UTC(2026, 0, 1, 0, minute));
    for (const minute of [3, 1, 2]) await place.say(`m${minute}`, { at: at(minute) });
    const sessionId = await place.wake("timer", { at: at(0), mail: { kind: "background" } });
    for (let i = 10; i < 58; i += 1) await place.say(`m${i}`, { at: at(i), mailLimit: 100 });
    const { due } = await place.store.viewSession(await place.claim(sessionId));
    expect(due).toHaveLength(50);
    expect(due.slice(0, 3).map((mail) => mail.orderAt)).toEqual([at(1), at(2), at(3)]);
    expect(due.every((mail) => mail.kind === "person")).toBe(true);
  });

  test("input moves cursor, state and mail together", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.begin(await place.wake());
    await place.say("joins");
    const { due } = await place.store.viewSession(claim);
    const [first, second] = [unique("n"), unique("n")];
    const authority = { role: "guest" as const, personIds: ["p"], names: {} };
    const input = {
      turnId,
      nodes: [userNode(first, null), userNode(second, first)],
      authority,
      cursor: 2,
      progress: { ...noProgress, personCount: 2 },
    };
    await place.store.commitInput(claim, { ...input, mailIds: due.map((mail) => mail.id) });
    const view = await place.store.viewSession(claim);
    expect(view.session).toMatchObject({ cursor: 2, stateHead: second });
    expect(view.turn).toMatchObject({ authority, progress: { personCount: 2 }, route: { conversationKey: place.key } });
    expect(view.taken).toHaveLength(2);
    expect(view.due).toEqual([]);
    expect((await place.store.loadState(claim.sessionId, second)).map((node) => node.hash)).toEqual([first, second]);
  });

  test("a turn may begin together with its first input", async () => {
    const place = await newPlace(world().store);
    const claim = await place.claim(await place.wake());
    const { due } = await place.store.viewSession(claim);
    const node = userNode(unique("n"), null);
    const mailIds = due.map((mail) => mail.id);
    await place.beginWith(claim, unique("t"), mailIds, { nodes: [node], cursor: 1 });
    const view = await place.store.viewSession(claim);
    expect(view.session).toMatchObject({ cursor: 1, stateHead: node.hash });
    expect(view.taken).toHaveLength(1);
  });

  test("the cursor never goes back, and the same node twice is one node", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.begin(await place.wake());
    const node = userNode(unique("n"), null);
    for (const cursor of [5, 3])
      await place.store.commitInput(claim, { turnId, nodes: [node], mailIds: [], cursor, progress: noProgress });
    expect((await place.store.viewSession(claim)).session).toMatchObject({ cursor: 5, stateHead: node.hash });
  });

  test("state is loaded from the summary that began the cycle", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.begin(await place.wake());
    const [a, b, c] = [unique("n"), unique("n"), unique("n")];
    const nodes = [userNode(a, null), userNode(b, a, "summary"), userNode(c, b)];
    await place.store.commitInput(claim, { turnId, nodes, mailIds: [], cursor: 1, progress: noProgress });
    expect((await place.store.loadState(claim.sessionId, c)).map((node) => node.hash)).toEqual([b, c]);
  });

  test("state comes back as it was written, to the order of its keys", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.begin(await place.wake());
    const args = { zebra: 1, a: { long_name: "x", b: [1.5, null, "\u0000"] } };
    const message = { role: "assistant" as const, text: "thinking", calls: [{ id: "c", name: "T", args }] };
    const node = { hash: unique("n"), parent: null, kind: "reply" as const, message };
    await place.store.commitReply(claim, { turnId, step: 1, node, calls: message.calls, progress: noProgress });
    const [loaded] = await place.store.loadState(claim.sessionId, node.hash);
    expect(JSON.stringify(loaded?.message)).toBe(JSON.stringify(message).replace("\\u0000", "\ufffd"));
  });

  test("after a crash the reply, its open calls and the taken mail are there, and the attempt is counted", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId, sessionId } = await place.reply(3);
    await place.store.commitCall(
      claim,
      { turnId, step: 1, index: 0 },
      { ok: true, text: "done" },
      { ...noProgress, bubbles: 1 },
    );
    await place.store.startCall(claim, { turnId, step: 1, index: 1 });
    await world().pool.query(`UPDATE "Session" SET "leaseUntil" = now() - interval '1 second' WHERE "id" = $1`, [
      sessionId,
    ]);
    const next = await place.claim(sessionId);
    expect(await place.store.resumeTurn(next, turnId)).toBe(1);
    expect(await place.store.resumeTurn(next, turnId)).toBe(2);
    const view = await place.store.viewSession(next);
    expect(view.turn).toMatchObject({ id: turnId, step: 1, status: "running", attempts: 2, progress: { bubbles: 1 } });
    expect(view.calls).toMatchObject([
      { index: 0, state: "done", result: { ok: true, text: "done" }, call: { id: "c0", args: { n: 0 } } },
      { index: 1, state: "started", result: undefined },
      { index: 2, state: "pending" },
    ]);
    expect(view.taken).toMatchObject([{ authorName: "Ann" }]);
    expect(view.due).toEqual([]);
  });

  test("arguments that were not JSON survive", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.begin(await place.wake());
    const calls = [{ id: "c", name: "T", args: null, invalid: '{"broken' }];
    const node = {
      hash: unique("n"),
      parent: null,
      kind: "reply" as const,
      message: { role: "assistant" as const, text: "", calls },
    };
    await place.store.commitReply(claim, { turnId, step: 1, node, calls, progress: noProgress });
    expect((await place.store.viewSession(claim)).calls[0]?.call).toEqual(calls[0]);
  });

  test("the first result of a call stays", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId } = await place.reply();
    for (const text of ["first", "second"])
      await place.store.commitCall(claim, { turnId, step: 1, index: 0 }, { ok: true, text }, noProgress);
    expect((await place.store.viewSession(claim)).calls[0]?.result).toEqual({ ok: true, text: "first" });
  });

  test("the end of a turn closes its mail, leaves what is owed, says host cards and frees the session", async () => {
    const place = await newPlace(world().store);
    const { claim, turnId, sessionId } = await place.reply();
    await place.say("mine, cancelled", { by: place.bob });
    const hostCard = place.delivery({ kind: "host-card", card: place.card({ kind: "retry", sessionId }) });
    const apology = place.mailOf({ kind: "background", body: { type: "host", text: "sorry" }, delayMs: 0 });
    await place.finish(claim, turnId, { hostCards: [hostCard], mail: [apology], cancelMailOf: place.bob.id });
    await expect(place.store.viewSession(claim)).rejects.toThrow(FenceLostError);
    const next = await place.store.viewSession(await place.claim(sessionId));
    expect(next.turn).toBeUndefined();
    expect(next.due.map((mail) => mail.body)).toEqual([{ type: "host", text: "sorry" }]);
    const [entry] = await place.store.readEntries({ conversationKey: place.key, limit: 1 });
    expect(entry).toMatchObject({
      id: hostCard.entryId,
      kind: "host-card",
      address: undefined,
      author: { kind: "host" },
    });
    expect(await place.store.readCard(hostCard.card?.id ?? "")).toMatchObject({
      kind: "retry",
      state: "open",
      sessionId,
    });
  });

  test("mail and host cards from outside a turn happen once for each key", async () => {
    const place = await newPlace(world().store);
    const sessionId = await place.wake();
    const mail = {
      sessionId,
      mail: place.mailOf({ kind: "background", body: { type: "host", text: "failed" } }),
      dedupeKey: unique("d"),
    };
    const posted = await Promise.all(Array.from({ length: 10 }, () => place.store.postMail(mail)));
    expect(posted.filter(Boolean)).toHaveLength(1);
    const card = { dedupeKey: unique("d"), delivery: place.delivery({ kind: "host-card" }) };
    const shown = await Promise.all(Array.from({ length: 10 }, () => place.store.postHostCard(card)));
    expect(shown.filter(Boolean)).toHaveLength(1);
    expect((await place.store.viewSession(await place.claim(sessionId))).due).toHaveLength(2);
  });
}
