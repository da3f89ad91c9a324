/** Retries, back-off and fallback models as a table (SPEC T8). */

import { expect, test } from "vitest";
import { createSystemClock } from "../../../src/engine/clock.ts";
import { createFallbackModel, type FailedAttempt, type FallbackOptions } from "../../../src/engine/model/fallback.ts";
import type { ModelProblem, ModelRequest } from "../../../src/engine/model/model.ts";
import {
  createScriptedModel,
  fail,
  inOrder,
  type ScriptedReply,
  think,
} from "../../../src/engine/model/scripted-model.ts";

const REQUEST: ModelRequest = { system: "", messages: [], tools: [] };
const never = new AbortController().signal;

/** A chain whose waits are recorded instead of waited. */
function chain(replies: readonly (readonly ScriptedReply[])[], more: Partial<FallbackOptions> = {}) {
  const waits: number[] = [];
  const failures: FailedAttempt[] = [];
  const clock = { now: () => 0, delay: async (ms: number) => void waits.push(ms) };
  const models = replies.map((list, i) =>
    createScriptedModel({ name: `p/m${i + 1}`, script: inOrder(...list), contextWindow: 1000 * (i + 1) }),
  );
  const model = createFallbackModel(models, {
    clock,
    random: () => 1,
    onFailure: (failure) => failures.push(failure),
    ...more,
  });
  return { model, waits, failures, asked: () => models.map((one) => one.requests.length) };
}

test("a good first answer asks nobody else", async () => {
  const { model, asked } = chain([[think("fine")], [think("spare")]]);
  expect(await model.step(REQUEST, never)).toMatchObject({ ok: true, model: "p/m1", text: "fine" });
  expect(asked()).toEqual([1, 0]);
});

test("name and window are the first model's", () => {
  const { model } = chain([[], []]);
  expect([model.name, model.contextWindow]).toEqual(["p/m1", 1000]);
});

test("a passing failure is retried with growing waits", async () => {
  const { model, waits, failures } = chain([[fail("unavailable"), fail("rate-limited"), think("at last")]]);
  expect(await model.step(REQUEST, never)).toMatchObject({ ok: true, text: "at last" });
  expect(waits).toEqual([500, 1000]);
  expect(failures.map((failure) => [failure.attempt, failure.next, failure.waitMs])).toEqual([
    [1, "retry", 500],
    [2, "retry", 1000],
  ]);
});

test("waits are spread by chance, but never below half", async () => {
  const { model, waits } = chain([[fail("unavailable"), fail("unavailable"), think("ok")]], { random: () => 0 });
  await model.step(REQUEST, never);
  expect(waits).toEqual([250, 500]);
});

test("a provider's retry-after is honoured", async () => {
  const { model, waits } = chain([[fail("rate-limited", 4000), think("ok")]]);
  await model.step(REQUEST, never);
  expect(waits).toEqual([4000]);
});

test("a provider that asks for too long a wait is passed over", async () => {
  const { model, waits, asked } = chain([[fail("rate-limited", 60_000)], [think("spare")]]);
  expect(await model.step(REQUEST, never)).toMatchObject({ ok: true, model: "p/m2" });
  expect([waits, asked()]).toEqual([[], [1, 1]]);
});

test("back-off stops growing at its limit", async () => {
  const replies = Array.from({ length: 6 }, () => fail("unavailable"));
  const { model, waits } = chain([replies], { attempts: 6, baseDelayMs: 1000, maxDelayMs: 3000 });
  await model.step(REQUEST, never);
  expect(waits).toEqual([1000, 2000, 3000, 3000, 3000]);
});

test("after three tries the next model is asked", async () => {
  const down = [fail("unavailable"), fail("unavailable"), fail("unavailable"), think("never reached")];
  const { model, asked, failures } = chain([down, [think("spare")]]);
  expect(await model.step(REQUEST, never)).toMatchObject({ ok: true, model: "p/m2" });
  expect(asked()).toEqual([3, 1]);
  expect(failures.at(-1)?.next).toBe("next-model");
});

test("a model that timed out is tried twice", async () => {
  const { model, asked } = chain([[fail("timeout"), fail("timeout"), fail("timeout")], [think("spare")]]);
  await model.step(REQUEST, never);
  expect(asked()).toEqual([2, 1]);
});

for (const problem of [
  "auth",
  "refused",
  "context-overflow",
  "bad-request",
  "not-configured",
] satisfies ModelProblem[]) {
  test(`${problem} is not retried: the next model is asked at once`, async () => {
    const { model, asked, waits } = chain([[fail(problem), think("never reached")], [think("spare")]]);
    expect(await model.step(REQUEST, never)).toMatchObject({ ok: true, model: "p/m2" });
    expect([asked(), waits]).toEqual([[1, 1], []]);
  });
}

test("when all fail, the last failure counts and the text names every model", async () => {
  const { model, failures } = chain([[fail("auth")], [fail("refused")]]);
  const reply = await model.step(REQUEST, never);
  expect(reply).toMatchObject({ ok: false, model: "p/m2", problem: "refused" });
  expect(reply.ok ? "" : reply.text).toMatch(/p\/m1.*p\/m2/);
  expect(failures.map((failure) => failure.next)).toEqual(["next-model", "give-up"]);
});

test("a fallback that was never set up does not hide why the first one failed", async () => {
  const { model } = chain([[fail("context-overflow")], [fail("not-configured")]]);
  expect(await model.step(REQUEST, never)).toMatchObject({ ok: false, problem: "context-overflow" });
});

test("a stop during a step ends the chain", async () => {
  const stop = new AbortController();
  const hanging = { gate: new Promise(() => undefined) };
  const { model, asked, failures } = chain([[hanging], [think("spare")]]);
  const step = model.step(REQUEST, stop.signal);
  stop.abort();
  expect(await step).toMatchObject({ ok: false, problem: "aborted" });
  expect([asked(), failures]).toEqual([[1, 0], []]);
});

test("a stop during a wait ends the chain at once", async () => {
  const stop = new AbortController();
  const { model, asked } = chain([[fail("unavailable"), think("late")], [think("spare")]], {
    clock: createSystemClock(),
    baseDelayMs: 60_000,
    maxDelayMs: 60_000,
    onFailure: () => setImmediate(() => stop.abort()),
  });
  expect(await model.step(REQUEST, stop.signal)).toMatchObject({ ok: false, problem: "aborted" });
  expect(asked()).toEqual([1, 0]);
});

test("a chain without models is a programming error", () => {
  expect(() => createFallbackModel([], { clock: createSystemClock() })).toThrow(RangeError);
});
