/** Answers of teammates in a discussion (SPEC A1, G3): always told, always within the limit, never at the cost of somebody the person chose. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DiscussionState } from "../../../src/engine/discussion.ts";
import { afterAnswered, afterAsk, afterTold, afterUntold } from "../../../src/engine/group/asked.ts";
import {
  afterBubble,
  afterLeaving,
  afterPerson,
  afterStop,
  afterTurn,
  beginDiscussion,
} from "../../../src/engine/group/discussion.ts";
import { mayAsk, mayBubble, mayTell } from "../../../src/engine/group/group-limits.ts";
import { LIMITS, rosterOf } from "./discussion-play.ts";

const SIX = ["a", "b", "c", "d", "e", "f"];
const ROSTER = rosterOf(SIX);
const all = (selected: readonly string[]) => beginDiscussion({ selected, named: [] }, rosterOf(selected));

/** Everybody talks as much as they may, from here to the end. */
function talkToTheEnd(from: DiscussionState): DiscussionState {
  let state = from;
  while (state.current !== null) {
    const botId = state.current;
    while (mayBubble(state, botId, LIMITS).open) state = afterBubble(state, botId, [], ROSTER);
    state = afterTurn(state, botId, "done", LIMITS, ROSTER);
  }
  return state;
}

describe("an answer", () => {
  test("neither takes the turn nor uses up what the member may say in it", () => {
    const asked = afterAsk(all(["a", "b"]), "k", "a");
    const told = afterTold(asked, "k", "a", ["b"], ROSTER);
    expect(told).toMatchObject({ current: "a", inTurn: 0, heard: [], total: 1, inRound: 1, asked: {}, called: ["b"] });
  });

  test("finds a message kept for it, however much the others talk, also after the end", () => {
    const ended = talkToTheEnd(afterAsk(all(SIX), "k", "a"));
    expect(ended).toMatchObject({ total: 9, endReason: "limit", heard: SIX });
    expect(mayTell(ended, "k", 0, LIMITS).open).toBe(true);
    const told = afterTold(ended, "k", "a", ["b"], ROSTER);
    expect(told).toMatchObject({ total: 10, endReason: "limit", called: ended.called });
    expect(mayTell(told, "k", 1, LIMITS).open).toBe(false);
  });

  test("is at most two messages, however much room there is", () => {
    const state = afterAsk(all(["a"]), "k", "a");
    expect([0, 1, 2].map((said) => mayTell(state, "k", said, LIMITS).open)).toEqual([true, true, false]);
  });

  test("that leads to nothing keeps nothing", () => {
    const state = afterAnswered(afterAsk(all(["a"]), "k", "a"), "k");
    expect(talkToTheEnd(state).asked).toEqual({});
  });

  test("the platform did not take is kept again", () => {
    const asked = afterAsk(all(["a"]), "k", "a");
    expect(afterUntold(afterTold(asked, "k", "a", [], ROSTER), "k", "a")).toEqual(asked);
  });

  test("is silenced by a stop, and by nothing else", () => {
    const stopped = afterStop(afterAsk(all(["a"]), "k", "a"));
    expect(stopped.asked).toEqual({});
    expect(mayTell(stopped, "k", 0, LIMITS)).toMatchObject({ open: false, text: expect.stringContaining("stopped") });
  });

  test("outlives a person's newer message, and leaves with its member", () => {
    const words = { speakers: { selected: ["b"], named: [] }, samePerson: true, running: [] };
    const newer = afterPerson(afterAsk(all(["a"]), "k", "a"), words, LIMITS, ROSTER);
    expect(mayTell(newer, "k", 0, LIMITS).open).toBe(true);
    expect(afterLeaving(newer, "a", LIMITS, ROSTER).asked).toEqual({});
  });
});

test("nobody asks when no message could be kept for the answer", () => {
  let state = all(SIX);
  for (const ask of ["1", "2", "3", "4"]) {
    expect(mayAsk(state, undefined, LIMITS).open).toBe(true);
    state = afterAsk(state, ask, "a");
  }
  const refused = mayAsk(state, undefined, LIMITS);
  expect(refused).toMatchObject({ open: false, text: expect.stringContaining("kept for others") });
  // Somebody who tells an answer may ask further instead of telling it.
  expect(mayAsk(state, "1", LIMITS).open).toBe(true);
});

type Move = { readonly what: "say" | "ask" | "end" | "answer" | "person" | "lost"; readonly n: number };

test("whatever is asked and answered in whichever order: within the limits, every answer told, everybody heard", () => {
  const what = fc.constantFrom<Move["what"]>("say", "say", "ask", "end", "end", "answer", "lost", "person");
  const moves = fc.array(fc.record({ what, n: fc.nat(20) }), { minLength: 20, maxLength: 120 });
  fc.assert(
    fc.property(fc.shuffledSubarray(SIX, { minLength: 1 }), moves, (selected, list) => {
      let state = all(selected);
      let keys = 0;
      let heardFirst = new Set<string>();
      for (const { what: act, n } of list) {
        const open = Object.keys(state.asked);
        const ask = open[n % Math.max(1, open.length)];
        const { current } = state;
        if (act === "answer" && ask !== undefined) {
          if (open.length <= 4) expect(mayTell(state, ask, 0, LIMITS).open).toBe(true);
          if (!mayTell(state, ask, 0, LIMITS).open) continue;
          state = afterTold(state, ask, state.asked[ask] ?? "", [], ROSTER);
          if (n % 5 === 0) state = afterAnswered(afterUntold(state, ask, "a"), ask);
        } else if (act === "person" && n % 10 === 0 && current !== null) {
          const words = { speakers: { selected, named: [] }, samePerson: true, running: [] };
          state = afterPerson(state, words, LIMITS, ROSTER);
          heardFirst = new Set();
        } else if (current === null) continue;
        else if (act === "say" && mayBubble(state, current, LIMITS).open) {
          state = afterBubble(state, current, [], ROSTER);
          heardFirst.add(current);
        } else if (act === "ask" && mayAsk(state, undefined, LIMITS).open)
          state = afterAsk(state, `k${++keys}`, current);
        else if (act === "end") {
          // Whoever the person chose could have spoken in its first turn.
          if (state.round === 1 && !heardFirst.has(current)) expect(mayBubble(state, current, LIMITS).open).toBe(true);
          state = afterTurn(state, current, "done", LIMITS, ROSTER);
        }
        expect(state.total).toBeLessThanOrEqual(LIMITS.maxBubbles);
      }
      const ended = talkToTheEnd(state);
      expect(ended.total).toBeLessThanOrEqual(LIMITS.maxBubbles);
    }),
    { numRuns: 1000 },
  );
});
