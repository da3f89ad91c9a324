/** The rules of a discussion (SPEC G3, G4, G7–G9), as tables and as properties over everything members may do. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
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
import { mayBubble } from "../../../src/engine/group/group-limits.ts";
import { type Act, LIMITS, play, rosterOf } from "./discussion-play.ts";

const ABC = ["a", "b", "c"];
const SIX = ["a", "b", "c", "d", "e", "f"];
const ROSTER = rosterOf(SIX);
const all = (selected: readonly string[]) => beginDiscussion({ selected, named: [] }, rosterOf(selected));

describe("rounds", () => {
  test("everybody speaks once in configured order, and a round of silence ends it", () => {
    const { said, state, turns } = play(ABC, ABC, (_id, turn) => ({ tries: turn === 0 ? 1 : 0 }));
    expect(said).toEqual(["a", "b", "c"]);
    expect(state.endReason).toBe("passed");
    expect(turns.filter((turn) => turn.round === 2).map((turn) => turn.botId)).toEqual(["b", "c", "a"]);
  });

  test("a member that was asked alone is not asked again", () => {
    const { turns } = play(ABC, ["b"], (_id, turn) => ({ tries: turn === 0 ? 2 : 0 }));
    expect(turns.map((turn) => turn.botId)).toEqual(["b"]);
  });

  test("talkative members share ten messages, two a turn, with the start moving on", () => {
    const { said, state } = play(ABC, ABC, () => ({ tries: 4 }));
    expect(said.join("")).toBe("aabbccbbcc");
    expect(state).toMatchObject({ endReason: "limit", owed: ["a"] });
  });

  test("six talkative members are all heard in round 1", () => {
    const { said } = play(SIX, SIX, () => ({ tries: 3 }));
    expect(said).toHaveLength(10);
    expect([...new Set(said)].join("")).toBe("abcdef");
  });

  test("three rounds and no more", () => {
    const { said, state } = play(["a", "b"], ["a", "b"], () => ({ tries: 1 }));
    expect(said.join("")).toBe("abbaab");
    expect(state).toMatchObject({ endReason: "limit", owed: [] });
  });

  test("nobody says anything: one round, passed", () => {
    const { turns, state } = play(ABC, ABC, () => ({ tries: 0 }));
    expect(turns.map((turn) => turn.botId)).toEqual(ABC);
    expect(state).toMatchObject({ endReason: "passed", owed: [] });
  });
});

describe("mentions between members", () => {
  test("a member that was mentioned and not heard yet goes first", () => {
    const act = (id: string, turn: number): Act =>
      id === "a" ? { tries: 1, calls: ["c"] } : { tries: turn === 0 ? 1 : 0 };
    expect(play(ABC, ABC, act).said.slice(0, 3)).toEqual(["a", "c", "b"]);
  });

  test("a mention adds a member the person did not choose, and silences nobody", () => {
    const act = (id: string, turn: number): Act =>
      turn > 0 ? { tries: 0 } : { tries: 1, calls: id === "a" ? ["d"] : [] };
    expect(play(SIX, ["a", "b"], act).said).toEqual(["a", "d", "b"]);
  });

  test("mentioned in the last round by the last speaker: it still gets its turn", () => {
    const limits = { ...LIMITS, maxRounds: 1 };
    const act = (id: string): Act => ({ tries: 1, calls: id === "b" ? ["c"] : [] });
    expect(play(ABC, ["a", "b"], act, limits).said).toEqual(["a", "b", "c"]);
  });

  test("mentioned again in the last round after being heard: the end says who is waiting", () => {
    const act = (id: string, turn: number): Act => ({ tries: 1, calls: id === "b" && turn === 2 ? ["a"] : [] });
    const { state } = play(["a", "b"], ["a", "b"], act);
    expect(state).toMatchObject({ endReason: "limit", owed: ["a"] });
  });

  test("two members that always mention each other stop at the limit", () => {
    const { said, state } = play(["a", "b"], ["a"], (id) => ({ tries: 1, calls: [id === "a" ? "b" : "a"] }));
    expect(said.length).toBeLessThanOrEqual(10);
    expect(state.endReason).toBe("limit");
  });
});

describe("failures, lateness, leaving, stop", () => {
  test("a member that fails is passed by and uses up nothing", () => {
    const { said, state, turns } = play(ABC, ABC, (id, turn) => ({ tries: turn === 0 ? 1 : 0, fails: id === "b" }));
    expect(said).toEqual(["a", "c"]);
    expect(state).toMatchObject({ total: 2, endReason: "passed" });
    expect(turns.filter((turn) => turn.botId === "b")).toHaveLength(1);
  });

  test("when all fail the discussion has failed", () => {
    expect(play(ABC, ABC, () => ({ tries: 0, fails: true })).state.endReason).toBe("failed");
  });

  test("a late member is passed by, and what it says afterwards counts", () => {
    const late = afterLate(all(ABC), LIMITS, ROSTER);
    expect(late).toMatchObject({ current: "b", apart: { a: 2 } });
    expect(mayBubble(late, "a", LIMITS).open).toBe(true);
    expect(afterBubble(late, "a", [], rosterOf(ABC))).toMatchObject({ total: 1, apart: { a: 1 }, current: "b" });
    expect(afterTurn(late, "a", "done", LIMITS, ROSTER)).toMatchObject({ current: "b", apart: {} });
  });

  test("a late member does not take what is kept for others", () => {
    let state = afterLate(all(SIX), { ...LIMITS, maxBubbles: 5 }, ROSTER);
    for (let left = 0; left < 1; left += 1)
      expect(mayBubble(state, "a", { ...LIMITS, maxBubbles: 5 }).open).toBe(false);
    state = afterTurn(state, "b", "done", LIMITS, ROSTER);
    expect(mayBubble(state, "a", { ...LIMITS, maxBubbles: 5 }).open).toBe(true);
  });

  test("a member that leaves at its turn hands over; its place is gone", () => {
    expect(afterLeaving(all(ABC), "a", LIMITS, ROSTER)).toMatchObject({ current: "b", members: ["b", "c"] });
    expect(afterLeaving(all(ABC), "c", LIMITS, ROSTER)).toMatchObject({ current: "a", order: ["b"] });
  });

  test("stopped is stopped: nobody may speak", () => {
    const state = afterStop(all(ABC));
    expect(state).toMatchObject({ endReason: "stopped", current: null });
    expect(mayBubble(state, "a", LIMITS)).toMatchObject({ open: false, text: expect.stringContaining("stopped") });
  });

  test("a message the platform refused is given back", () => {
    const said = afterBubble(all(ABC), "a", [], rosterOf(ABC));
    expect(afterLostBubble(said, "a")).toMatchObject({ total: 0, inTurn: 0, heard: [] });
  });
});

describe("a person writes again", () => {
  const spoken = afterTurn(afterBubble(all(ABC), "a", [], rosterOf(ABC)), "a", "done", LIMITS, ROSTER);
  const words = (selected: readonly string[], samePerson: boolean, ...running: readonly string[]) => ({
    speakers: { selected, named: selected },
    samePerson,
    running,
  });

  test("the same person: the new selection replaces the old one", () => {
    const state = afterPerson(spoken, words(["c"], true), LIMITS, rosterOf(ABC));
    expect(state).toMatchObject({ epoch: 2, members: ["c"], current: "c", total: 0, apart: {} });
  });

  test("another person: united with those not heard yet", () => {
    const state = afterPerson(spoken, words(["a"], false), LIMITS, rosterOf(ABC));
    expect(state).toMatchObject({ epoch: 2, members: ["a", "b", "c"], current: "a", order: ["b", "c"] });
  });

  test("a member at work that is selected again stays at turn", () => {
    const state = afterPerson(spoken, words(ABC, true, "b"), LIMITS, rosterOf(ABC));
    expect(state).toMatchObject({ current: "b", order: ["a", "c"], apart: {} });
  });

  test("a member at work that is not selected may say one more message", () => {
    const state = afterPerson(spoken, words(["c"], true, "b"), LIMITS, rosterOf(ABC));
    expect(state).toMatchObject({ current: "c", apart: { b: 1 } });
    expect(mayBubble(state, "b", LIMITS).open).toBe(true);
    expect(mayBubble(afterBubble(state, "b", [], rosterOf(ABC)), "b", LIMITS).open).toBe(false);
  });

  test("somebody who has nothing to do with it may not speak", () => {
    const state = afterPerson(spoken, words(["c"], true), LIMITS, rosterOf(ABC));
    expect(mayBubble(state, "a", LIMITS)).toMatchObject({
      open: false,
      text: expect.stringContaining("no longer your turn"),
    });
  });
});

describe("whatever the members do", () => {
  const names = fc.shuffledSubarray(SIX, { minLength: 1 });
  const limits = fc.record({
    maxRounds: fc.integer({ min: 1, max: 5 }),
    maxBubbles: fc.integer({ min: 6, max: 20 }),
    maxPerTurn: fc.integer({ min: 1, max: 4 }),
  });
  const acts = fc.func(
    fc.record({
      tries: fc.integer({ min: 0, max: 6 }),
      calls: fc.subarray(SIX),
      fails: fc.boolean(),
    }),
  );

  test("it ends, within all limits, and every chosen member was heard in round 1 unless it passed or failed", () => {
    fc.assert(
      fc.property(names, limits, acts, (selected, limit, act) => {
        const { said, turns, state } = play(SIX, selected, act as (id: string, turn: number) => Act, limit);
        expect(said.length).toBeLessThanOrEqual(limit.maxBubbles);
        expect(Math.max(...turns.map((turn) => turn.bubbles))).toBeLessThanOrEqual(limit.maxPerTurn);
        expect(Math.max(...turns.map((turn) => turn.round))).toBeLessThanOrEqual(limit.maxRounds);
        expect(state.endReason).not.toBeNull();
        for (const id of selected) {
          const first = turns.find((turn) => turn.botId === id);
          expect(first?.round).toBe(1);
          const { tries, fails } = act(id, 0) as Act;
          if (tries > 0 && !fails) expect(first?.bubbles).toBeGreaterThan(0);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("nobody has two turns in a row in one round, and nobody who failed is asked again", () => {
    fc.assert(
      fc.property(names, acts, (selected, act) => {
        const { turns } = play(SIX, selected, act as (id: string, turn: number) => Act);
        for (const [at, turn] of turns.entries()) {
          const before = turns[at - 1];
          if (before?.round === turn.round) expect(before.botId).not.toBe(turn.botId);
          if ((act(turn.botId, 0) as Act).fails)
            expect(turns.filter((one) => one.botId === turn.botId)).toHaveLength(1);
        }
      }),
      { numRuns: 1000 },
    );
  });
});
