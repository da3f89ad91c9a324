/** Members at work beside the round (SPEC G7, G8): late ones, passed over ones, and those that tell what a person's answer to their card brought. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DiscussionState } from "../../../src/engine/discussion.ts";
import { afterAnswerTurn, afterCardAnswer, afterTold, beginCardAnswer } from "../../../src/engine/group/asked.ts";
import {
  afterBubble,
  afterLate,
  afterLeaving,
  afterLostBubble,
  afterPerson,
  afterStop,
  afterTurn,
  beginDiscussion,
} from "../../../src/engine/group/discussion.ts";
import { mayBubble, mayTell } from "../../../src/engine/group/group-limits.ts";
import { LIMITS, rosterOf } from "./discussion-play.ts";

const SIX = ["a", "b", "c", "d", "e", "f"];
const ROSTER = rosterOf(SIX);
const all = (...selected: readonly string[]) => beginDiscussion({ selected, named: [] }, rosterOf(SIX));
const late = (state: DiscussionState) => afterLate(state, LIMITS, ROSTER);
const ends = (state: DiscussionState, id: string) => afterTurn(state, id, "done", LIMITS, ROSTER);
const says = (state: DiscussionState, id: string, ...calls: readonly string[]) => afterBubble(state, id, calls, ROSTER);
const may = (state: DiscussionState, id: string) => mayBubble(state, id, LIMITS).open;
const newer = (state: DiscussionState, selected: readonly string[], ...running: readonly string[]) =>
  afterPerson(state, { speakers: { selected, named: selected }, samePerson: true, running }, LIMITS, ROSTER);

/** Whoever has the turn talks as much as it may, until nobody has it. */
function talkOn(from: DiscussionState): DiscussionState {
  let state = from;
  while (state.current !== null) {
    const id = state.current;
    while (may(state, id)) state = says(state, id);
    state = ends(state, id);
  }
  return state;
}

describe("a late member", () => {
  test("that was asked alone: the discussion waits for its words and ends with its turn", () => {
    const waiting = late(all("a"));
    expect(waiting).toMatchObject({ current: null, endReason: null, apart: { a: 2 } });
    expect(may(waiting, "a")).toBe(true);
    expect(ends(says(waiting, "a"), "a")).toMatchObject({ endReason: "passed", total: 1, asked: {} });
  });

  test("that was asked alone and never says anything: failed, when its turn ends", () => {
    expect(ends(late(all("a")), "a")).toMatchObject({ endReason: "failed", total: 0 });
  });

  test("that had said something already may say the rest of its turn, not more", () => {
    const waiting = late(says(all("a"), "a"));
    const told = says(waiting, "a");
    expect([may(waiting, "a"), may(told, "a")]).toEqual([true, false]);
  });

  test("that has said all it may keeps nobody waiting", () => {
    expect(late(says(says(all("a"), "a"), "a")).endReason).toBe("passed");
  });

  test("that speaks after a silent round: the others are asked again, and a silent round ends it", () => {
    let state = ends(ends(late(all("a", "b", "c")), "b"), "c");
    expect(state).toMatchObject({ current: null, endReason: null });
    state = ends(says(state, "a"), "a");
    expect(state).toMatchObject({ current: "b", round: 2, order: ["c"] });
    expect(ends(ends(state, "b"), "c").endReason).toBe("passed");
  });

  test("finds a message kept for it, however much those it called talk", () => {
    const called = late(says(all("a"), "a", "b", "c", "d", "e"));
    const state = talkOn(called);
    expect(state).toMatchObject({ total: 9, current: null, endReason: null });
    expect(may(state, "a")).toBe(true);
    expect(ends(says(state, "a"), "a")).toMatchObject({ total: 10, endReason: "limit" });
  });

  test("calls a teammate when the rounds are over: it speaks", () => {
    expect(ends(says(late(all("a")), "a", "b"), "a")).toMatchObject({ current: "b", endReason: null });
  });

  test("whose message the platform refused may say it again", () => {
    const waiting = late(all("a"));
    expect(afterLostBubble(says(waiting, "a"), "a")).toMatchObject({ apart: { a: 2 }, asked: waiting.asked, total: 0 });
  });

  test("leaves, or is stopped: nobody waits for it", () => {
    expect(afterLeaving(late(all("a")), "a", LIMITS, ROSTER)).toMatchObject({ endReason: "failed", asked: {} });
    expect(afterStop(late(all("a")))).toMatchObject({ endReason: "stopped", apart: {}, asked: {} });
  });
});

describe("a person writes again while members are at work", () => {
  test("for the third time: each of them may say one more", () => {
    const state = newer(newer(all("a"), ["b"], "a"), ["c"], "a", "b");
    expect(state).toMatchObject({ current: "c", apart: { a: 1, b: 1 } });
    const told = says(says(state, "a"), "b");
    expect(["a", "b"].map((id) => may(told, id))).toEqual([false, false]);
    expect(ends(ends(ends(told, "c"), "a"), "b")).toMatchObject({ endReason: "passed", total: 2 });
  });

  test("one that has said its last message says no further one, however often the person writes", () => {
    const once = says(newer(all("a"), ["b"], "a"), "a");
    expect(newer(once, ["c"], "a", "b").apart).toEqual({ b: 1 });
  });

  test("to one that is late and at work: it has the turn again", () => {
    expect(newer(late(all("a", "b")), ["a"], "a", "b")).toMatchObject({ current: "a", apart: { b: 1 } });
  });

  test("by another person: one that is late and has not even begun is not forgotten", () => {
    const words = { speakers: { selected: ["b"], named: ["b"] }, samePerson: false, running: [] };
    expect(afterPerson(late(all("a")), words, LIMITS, ROSTER)).toMatchObject({ members: ["a", "b"], apart: {} });
  });

  test("a turn of an older epoch that ends says nothing about the newer one", () => {
    const state = newer(all("a", "b"), ["a", "b", "c"], "a", "b");
    const again = newer(state, ["b", "a"], "a", "b");
    expect(afterTurn(again, "b", "failed", LIMITS, ROSTER)).toMatchObject({ out: [], served: [] });
  });
});

describe("a person answers a member's card", () => {
  test("when nothing goes on: at most two messages, and whom it calls speaks", () => {
    const begun = beginCardAnswer("k", "a", ROSTER);
    expect(begun).toMatchObject({ current: null, endReason: null, members: ["a"] });
    expect([0, 1, 2].map((said) => mayTell(begun, "k", said, LIMITS).open)).toEqual([true, true, false]);
    const told = afterTold(begun, "k", "a", ["b"], ROSTER);
    expect(afterAnswerTurn(told, "k", LIMITS, ROSTER)).toMatchObject({ current: "b", members: ["a", "b"] });
    expect(afterAnswerTurn(afterTold(begun, "k", "a", [], ROSTER), "k", LIMITS, ROSTER).endReason).toBe("passed");
  });

  test("in the middle of a discussion: beside the round, which waits for it", () => {
    const state = afterCardAnswer(all("b"), "k", "a", LIMITS);
    if (!state) throw new Error("refused");
    const over = ends(says(state, "b"), "b");
    expect(over).toMatchObject({ current: null, endReason: null });
    const told = afterTold(over, "k", "a", ["c"], ROSTER);
    expect(afterAnswerTurn(told, "k", LIMITS, ROSTER)).toMatchObject({ current: "c", answering: {}, total: 2 });
  });

  test("when every message that is left is kept for others: not now", () => {
    const full = { ...LIMITS, maxBubbles: 6 };
    expect(afterCardAnswer(all(...SIX), "k", "a", full)).toBeUndefined();
  });
});

type Move = {
  readonly what: "say" | "end" | "late" | "apart" | "apartEnds" | "card" | "tell" | "cardEnds";
  readonly n: number;
};

test("whatever comes late, is answered or called in whichever order: within the limits, nobody's first message taken, and it ends", () => {
  const what = fc.constantFrom<Move["what"]>(
    ...(["say", "say", "end", "end", "late", "apart", "apartEnds", "card", "tell", "cardEnds"] as const),
  );
  const moves = fc.array(fc.record({ what, n: fc.nat(30) }), { minLength: 20, maxLength: 120 });
  fc.assert(
    fc.property(fc.shuffledSubarray(SIX, { minLength: 1 }), moves, (selected, list) => {
      let state = all(...selected);
      let keys = 0;
      const pick = (ids: readonly string[], n: number) => ids[n % Math.max(1, ids.length)];
      for (const { what: act, n } of list) {
        if (state.endReason !== null) break;
        const { current } = state;
        const apart = pick(Object.keys(state.apart), n);
        const key = pick(Object.keys(state.answering), n);
        const calls = n % 6 === 0 ? [pick(SIX, n) ?? "a"] : [];
        if (act === "say" && current !== null && may(state, current)) state = says(state, current, ...calls);
        else if (act === "end" && current !== null) {
          const isFirst = selected.includes(current) && ![...state.heard, ...state.served].includes(current);
          if (isFirst) expect(may(state, current)).toBe(true);
          state = ends(state, current);
        } else if (act === "late") state = late(state);
        else if (act === "apart" && apart !== undefined) {
          // Chosen by the person, passed by in its first turn before it said a word: its first message is not taken away.
          const { apart: left, heard, served } = state;
          if (selected.includes(apart) && ![...heard, ...served].includes(apart) && left[apart])
            expect(may(state, apart)).toBe(true);
          if (may(state, apart)) state = says(state, apart, ...calls);
        } else if (act === "apartEnds" && apart !== undefined) state = ends(state, apart);
        else if (act === "card") state = afterCardAnswer(state, `k${++keys}`, pick(SIX, n) ?? "a", LIMITS) ?? state;
        else if (act === "tell" && key !== undefined) {
          if (state.asked[key]) expect(mayTell(state, key, 0, LIMITS).open).toBe(true);
          if (mayTell(state, key, 1, LIMITS).open)
            state = afterTold(state, key, state.answering[key] ?? "", calls, ROSTER);
        } else if (act === "cardEnds" && key !== undefined) state = afterAnswerTurn(state, key, LIMITS, ROSTER);
        expect(state.total).toBeLessThanOrEqual(LIMITS.maxBubbles);
      }
      for (let at = 0; state.endReason === null; at += 1) {
        if (at > 50) throw new Error("the discussion does not end");
        state = talkOn(state);
        const [apart] = Object.keys(state.apart);
        const [key] = Object.keys(state.answering);
        if (apart !== undefined) state = ends(state, apart);
        else if (key !== undefined) state = afterAnswerTurn(state, key, LIMITS, ROSTER);
      }
      expect(state.total).toBeLessThanOrEqual(LIMITS.maxBubbles);
    }),
    { numRuns: 1000 },
  );
});
