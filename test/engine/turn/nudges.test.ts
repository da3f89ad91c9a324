/** When a bot is reminded, and how a silent turn ends (SPEC M11, M12). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { TurnProgress } from "../../../src/engine/session.ts";
import { afterSend, mustEnd } from "../../../src/engine/turn/gate.ts";
import {
  afterForcedStep,
  afterToolCall,
  decideEnd,
  dueReminder,
  mustSpeak,
  remindUntold,
  spokeInVain,
} from "../../../src/engine/turn/nudges.ts";
import { afterJoin } from "../../../src/engine/turn/turn-input.ts";
import { newProgress } from "../../../src/engine/turn/turn-run.ts";

/** s = a bubble said · 1–9 = a step with that many other calls. Returns the reminders given, with the number of calls before each. */
function remindersOf(script: string): readonly string[] {
  let progress = newProgress(1);
  let calls = 0;
  const given: string[] = [];
  for (const step of script) {
    const count = step === "s" ? 0 : Number(step);
    if (step === "s") progress = afterSend(progress, `${given.length}-${calls}`);
    for (let i = 0; i < count; i += 1) progress = afterToolCall(progress);
    calls += count;
    const due = dueReminder(progress);
    if (!due) continue;
    given.push(`${due.kind}@${calls}`);
    progress = { ...progress, reminded: [...progress.reminded, due.mark] };
  }
  return given;
}

describe("reminders while it works", () => {
  test.each<[string, string, string[]]>([
    ["nothing after one call", "1", []],
    ["an acknowledgement after more than one call without a word", "11", ["acknowledge@2"]],
    ["an acknowledgement after two calls side by side", "2", ["acknowledge@2"]],
    ["only once", "1111", ["acknowledge@2"]],
    ["a long silence after more than six calls", "111111", ["acknowledge@2"]],
    ["a long silence at seven", "1111111", ["acknowledge@2", "long-silence@7"]],
    [
      "again every seven",
      "111111111111111111111",
      ["acknowledge@2", "long-silence@7", "long-silence@14", "long-silence@21"],
    ],
    ["one for a step with many calls side by side", "9", ["long-silence@9"]],
    ["the next seven after it", "91111", ["long-silence@9"]],
    ["the next seven are reached", "911111", ["long-silence@9", "long-silence@14"]],
    ["nothing after a bubble alone", "s", []],
    ["an early result after a call behind a bubble", "s1", ["early-result@1"]],
    ["an early result once per silent streak", "s1111", ["early-result@1"]],
    ["an early result again in the next streak", "s11s11", ["early-result@1", "early-result@3"]],
    ["an early result, then a long silence", "s1111111", ["early-result@1", "long-silence@7"]],
    ["counting from the last bubble", "111s111s111111", ["acknowledge@2", "early-result@4", "early-result@7"]],
    ["no acknowledgement once something was said", "s11", ["early-result@1"]],
  ])("%s", (_name, script, reminders) => {
    expect(remindersOf(script)).toEqual(reminders);
  });

  test("never say the same twice in one streak, whatever happens", () => {
    const step = fc.constantFrom("s", "1", "1", "2", "3", "9");
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const given = remindersOf(steps.join(""));
        const streaks = steps.filter((one) => one === "s").length + 1;
        const count = (kind: string) => given.filter((one) => one.startsWith(kind)).length;
        return count("acknowledge") <= 1 && count("early-result") < streaks;
      }),
      { numRuns: 300 },
    );
  });
});

describe("a turn that ends without a word", () => {
  const kinds = (progress: TurnProgress) => {
    const steps: string[] = [];
    let now = progress;
    for (;;) {
      const decision = decideEnd(now, true);
      steps.push(decision.do === "remind" ? decision.kind : decision.do);
      if (decision.do === "end" || decision.do === "notice") return steps;
      now = decision.progress;
    }
  };

  test("is reminded, then forced, then the host says so", () => {
    expect(kinds(newProgress(1))).toEqual(["unanswered", "force", "notice"]);
  });

  test("is reminded the same way after silent work", () => {
    expect(kinds(afterToolCall(newProgress(1)))).toEqual(["unanswered", "force", "notice"]);
  });

  test("ends at once when it spoke last, or reacted", () => {
    expect(kinds(afterSend(newProgress(1), "x"))).toEqual(["end"]);
    expect(kinds({ ...newProgress(1), reacted: true })).toEqual(["end"]);
    expect(kinds({ ...afterToolCall(afterSend(newProgress(1), "x")), reacted: true })).toEqual(["end"]);
  });

  test("gets one closing try after an acknowledgement and work", () => {
    expect(kinds(afterToolCall(afterSend(newProgress(1), "x")))).toEqual(["unfinished", "end"]);
  });

  test("gets one more try when a newer message came after it spoke", () => {
    const answered = { ...afterToolCall(afterSend(newProgress(1), "x")), closingTried: true, reacted: true };
    expect(kinds({ ...answered, ...afterJoin(2) })).toEqual(["unanswered", "end"]);
    expect(kinds({ ...newProgress(1), ...afterJoin(2) })).toEqual(["unanswered", "force", "notice"]);
  });

  test("may be silent when no person is owed an answer", () => {
    expect(decideEnd(newProgress(0), false)).toEqual({ do: "end" });
  });
});

describe("a turn that may be silent", () => {
  test("is reminded once when it ends in words nobody reads", () => {
    const reminded = remindUntold(newProgress(0), "Bo says 42");
    expect(reminded?.reminded).toEqual(["untold"]);
    expect(remindUntold(reminded ?? newProgress(0), "Bo says 42")).toBeUndefined();
  });

  test("is left alone when it wrote nothing, spoke or reacted", () => {
    expect(remindUntold(newProgress(0), " \n")).toBeUndefined();
    expect(remindUntold(afterSend(newProgress(0), "x"), "done")).toBeUndefined();
    expect(remindUntold({ ...newProgress(0), reacted: true }, "done")).toBeUndefined();
  });
});

describe("a step that must speak", () => {
  const forced = { ...newProgress(1), silentTries: 2 };
  test("may fail a few times, because a wrong call can be mended, but not for ever", () => {
    let progress: TurnProgress = forced;
    let steps = 0;
    while (!spokeInVain(progress)) {
      expect(mustSpeak(progress)).toBe(true);
      progress = afterForcedStep(progress);
      steps += 1;
    }
    expect(steps).toBe(4);
  });

  test("is over once something was said", () => {
    const said = afterForcedStep(afterSend(forced, "x"));
    expect([mustSpeak(said), spokeInVain(said), said.silentTries]).toEqual([false, false, 0]);
  });

  test("is no other step", () => {
    for (const silentTries of [0, 1]) {
      const progress = { ...newProgress(1), silentTries };
      expect([mustSpeak(progress), afterForcedStep(progress)]).toEqual([false, progress]);
    }
  });
});

test("a model that never ends its turn by speaking cannot go on for ever", () => {
  /** What a model does in a step: nothing, a call, a bubble that is said, refused as a repeat, refused as wrong, or not taken by the platform. */
  const action = fc.constantFrom("nothing", "call", "said", "repeat", "wrong", "lost");
  const isOver = (progress: TurnProgress) => spokeInVain(progress) || mustEnd(progress, { bubblesPerTurn: 25 });
  fc.assert(
    fc.property(fc.array(action, { minLength: 1, maxLength: 8 }), (script) => {
      let progress = newProgress(1);
      for (let step = 0; step < 400; step += 1) {
        const what = script[step % script.length];
        if (what === "nothing") {
          const decision = decideEnd(progress, true);
          if (decision.do === "end" || decision.do === "notice") return true;
          progress = decision.progress;
          continue;
        }
        if (what === "call") progress = afterToolCall(progress);
        if (what === "said") progress = afterSend(progress, String(step));
        if (what === "repeat" || what === "lost") progress = { ...progress, refusedInRow: progress.refusedInRow + 1 };
        progress = afterForcedStep(progress);
        if (isOver(progress)) return true;
      }
      // Calls and wrong calls alone are bounded by the turn's limit of steps.
      return script.every((what) => what === "call" || what === "wrong");
    }),
    { numRuns: 500 },
  );
});
