/** The page's model: records in any order of arrival end in the same picture, nothing twice and nothing lost. */

import { expect, test } from "vitest";
import { mentionAt, mentionables } from "../../src/adapters/web/client/mentions.ts";
import {
  type Model,
  START,
  timelineOf,
  withCurrent,
  withOutgoing,
  withPage,
  withRecord,
  withSent,
  withState,
} from "../../src/adapters/web/client/model.ts";
import type { WirePost, WireState } from "../../src/adapters/web/wire.ts";

const STATE: WireState = {
  me: { id: "u1", name: "Sam" },
  bots: [{ id: "ada", name: "Ada", role: "Research", demo: true }],
  people: [
    { id: "u1", name: "Sam" },
    { id: "u2", name: "Alex" },
  ],
  channels: [{ id: "general", kind: "channel", name: "general", bots: ["ada"], head: 0, read: 0, unread: 0 }],
  working: [],
  cursor: "",
};

const post = (seq: number, more: Partial<WirePost> = {}): WirePost => ({
  type: "post",
  channelId: "general",
  seq,
  at: "2026-01-01T10:00:00.000Z",
  author: { kind: "bot", id: "ada", name: "Ada" },
  content: { type: "text", html: `<p>${seq}</p>`, images: [] },
  ...more,
});

const page = (posts: readonly WirePost[], head: number) => ({ posts, head, first: 1, more: false });
const seqs = (model: Model) => timelineOf(model, "general").posts.map((one) => one.seq);
const open = () => withPage(withState(START, STATE), "general", page([], 0));

test("a record that comes twice is shown once", () => {
  expect(seqs(withRecord(withRecord(open(), post(1)), post(1)))).toEqual([1]);
});

test("what arrives while the first page loads is kept for it", () => {
  const early = withRecord(withRecord(withState(START, STATE), post(1)), post(2));
  expect(seqs(withPage(early, "general", page([post(1)], 1)))).toEqual([1, 2]);
});

test("a settled card is settled for later records too", () => {
  const outcome = { state: "answered" as const, byName: "Sam" };
  const settled = withRecord(withRecord(open(), post(1)), {
    type: "settle",
    channelId: "general",
    seq: 2,
    target: 1,
    outcome,
  });
  expect(timelineOf(withRecord(settled, post(3)), "general").posts[0]?.outcome).toEqual(outcome);
});

const waiting = (model: Model): Model => ({
  ...model,
  outgoing: [{ clientId: "m1", channelId: "general", text: "hi", files: [], at: "", state: "sending" }],
});

const own = post(1, { author: { kind: "person", id: "u1", name: "Sam" }, clientId: "m1" });

test("a sent message turns into its post, whichever of answer and record comes first", () => {
  const answerFirst = withRecord(withSent(waiting(open()), "m1", own), own);
  const recordFirst = withSent(withRecord(waiting(open()), own), "m1", own);
  for (const model of [answerFirst, recordFirst]) {
    expect(seqs(model)).toEqual([1]);
    expect(model.outgoing).toEqual([]);
  }
});

test("a confirmed message stays visible until the records before it have come", () => {
  const late = { ...own, seq: 2 };
  const confirmed = withSent(waiting(open()), "m1", late);
  expect(confirmed.outgoing[0]?.state).toBe("sent");
  const caughtUp = withRecord(withRecord(confirmed, post(1)), late);
  expect(caughtUp.outgoing).toEqual([]);
  expect(seqs(caughtUp)).toEqual([1, 2]);
});

test("a refused message keeps its reason", () => {
  const model = withOutgoing(waiting(open()), "m1", { state: "failed", error: "Too long" });
  expect(model.outgoing[0]).toMatchObject({ state: "failed", error: "Too long" });
});

test("others' posts count as unread, one's own do not", () => {
  const model = withRecord(withRecord(open(), post(1)), { ...own, seq: 2 });
  expect(model.channels[0]?.unread).toBe(1);
  expect(withCurrent(model, "general").unreadFrom).toBe(0);
});

test("an @ offers the channel's bots first, then people, never oneself", () => {
  const model = withState(START, STATE);
  const channel = STATE.channels[0];
  if (!channel) throw new Error("no channel");
  expect(mentionAt("hello @al", 9)).toEqual({ start: 6, query: "al" });
  expect(mentionAt("mail me@al", 10)).toBeUndefined();
  expect(mentionables(model, channel, "").map((one) => one.name)).toEqual(["Ada", "Alex"]);
});
