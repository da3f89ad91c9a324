/** The scripted model keeps the contract of a real one. */

import { expect, test } from "vitest";
import type { ModelRequest } from "../../../src/engine/model/model.ts";
import {
  callBroken,
  callTool,
  createScriptedModel,
  fail,
  finish,
  inOrder,
  say,
  think,
  together,
} from "../../../src/engine/model/scripted-model.ts";

const REQUEST: ModelRequest = { system: "", messages: [{ role: "user", text: "hi" }], tools: [] };
const never = new AbortController().signal;

test("plays replies in order and then has nothing more to say", async () => {
  const model = createScriptedModel({ script: inOrder(say("one"), think("private")) });
  const replies = [
    await model.step(REQUEST, never),
    await model.step(REQUEST, never),
    await model.step(REQUEST, never),
  ];
  expect(replies).toMatchObject([
    { calls: [{ id: "call_0_0", name: "SendMessage", args: { type: "text", content: "one" } }], finish: "calls" },
    { text: "private", calls: [] },
    { text: "", calls: [], finish: "stop" },
  ]);
});

test("several calls of one step have ids of their own", async () => {
  const model = createScriptedModel({
    script: () => together(say("a"), callTool("look", {}), callBroken("look", "{")),
  });
  const reply = await model.step(REQUEST, never);
  expect(reply.ok && reply.calls.map((call) => [call.id, call.invalid])).toEqual([
    ["call_0_0", undefined],
    ["call_0_1", undefined],
    ["call_0_2", "{"],
  ]);
});

test("fails as scripted", async () => {
  const model = createScriptedModel({ script: () => fail("rate-limited", 50) });
  expect(await model.step(REQUEST, never)).toMatchObject({ ok: false, problem: "rate-limited", retryAfterMs: 50 });
});

test("a script that throws is a failure, not an exception", async () => {
  const model = createScriptedModel({
    script: () => {
      throw new Error("typo");
    },
  });
  expect(await model.step(REQUEST, never)).toMatchObject({
    ok: false,
    problem: "unavailable",
    text: expect.stringContaining("typo"),
  });
});

test("a gate holds the reply back until it opens", async () => {
  let open: () => void = () => undefined;
  const gate = new Promise<void>((resolve) => {
    open = resolve;
  });
  const model = createScriptedModel({ script: () => ({ ...think("late"), gate }) });
  let settled = false;
  const step = model.step(REQUEST, never).finally(() => {
    settled = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  expect(settled).toBe(false);
  open();
  expect(await step).toMatchObject({ text: "late" });
});

test("an abort ends a held reply", async () => {
  const stop = new AbortController();
  const model = createScriptedModel({ script: () => ({ ...finish(), gate: new Promise(() => undefined) }) });
  const step = model.step(REQUEST, stop.signal);
  stop.abort();
  expect(await step).toMatchObject({ ok: false, problem: "aborted" });
  expect([model.requests.length, model.aborted]).toEqual([1, 1]);
});

test("requests are kept as they were", async () => {
  const model = createScriptedModel({ script: () => finish() });
  const messages = [{ role: "user" as const, text: "first" }];
  await model.step({ ...REQUEST, messages }, never);
  messages.push({ role: "user", text: "later" });
  expect(model.requests[0]?.messages).toHaveLength(1);
});
