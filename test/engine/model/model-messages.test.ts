/** Histories that providers would refuse are made acceptable, always the same way. */

import { expect, test } from "vitest";
import type { ModelMessage } from "../../../src/engine/model/model.ts";
import { toSdkMessages } from "../../../src/engine/model/model-messages.ts";

const MODEL = "p/m";

function convert(messages: readonly ModelMessage[], cacheBreakpoints = false) {
  return toSdkMessages(messages, { model: MODEL, images: new Map(), cacheBreakpoints });
}

const user = (text: string): ModelMessage => ({ role: "user", text });
const call = (id: string, args: unknown = {}, invalid?: string): ModelMessage => ({
  role: "assistant",
  text: "",
  calls: [{ id, name: "look", args, ...(invalid === undefined ? {} : { invalid }) }],
});
const result = (callId: string, text = "seen", ok = true): ModelMessage => ({
  role: "tool",
  results: [{ callId, name: "look", text, ok }],
});

test("an assistant message without words and calls is left out", () => {
  const silent: ModelMessage = { role: "assistant", text: " \n", calls: [] };
  expect(convert([user("a"), silent, user("b")]).map((message) => message.role)).toEqual(["user", "user"]);
});

test("an empty person message says that it is empty", () => {
  expect(convert([user("  ")])).toEqual([{ role: "user", content: "(message without words)" }]);
});

test("an empty history and one that begins with the bot get an opening", () => {
  expect(convert([])).toHaveLength(1);
  expect(convert([call("1"), result("1")])[0]?.role).toBe("user");
});

test("a history never ends with the bot", () => {
  expect(convert([user("a"), { role: "assistant", text: "private", calls: [] }]).at(-1)?.role).toBe("user");
});

test("a call without a result gets one that owns up", () => {
  const [, , tool] = convert([user("a"), call("1"), user("b")]);
  expect(JSON.stringify(tool)).toContain("may or may not have happened");
});

test("a result without a call is dropped", () => {
  expect(convert([user("a"), result("ghost"), user("b")]).map((message) => message.role)).toEqual(["user", "user"]);
});

test("results in several messages stand together, in call order", () => {
  const both: ModelMessage = {
    role: "assistant",
    text: "",
    calls: [
      { id: "1", name: "look", args: {} },
      { id: "2", name: "look", args: {} },
    ],
  };
  const converted = convert([user("a"), both, result("2", "second"), result("1", "first")]);
  expect(converted).toHaveLength(3);
  expect(converted[2]?.content).toMatchObject([
    { toolCallId: "1", output: { value: "first" } },
    { toolCallId: "2", output: { value: "second" } },
  ]);
});

test("a refusal is marked as an error", () => {
  const converted = convert([user("a"), call("1"), result("1", "refused", false)]);
  expect(converted[2]?.content).toMatchObject([{ output: { type: "error-text", value: "refused" } }]);
});

for (const [what, message, input] of [
  ["broken JSON", call("1", {}, '{"a'), { invalid_json: '{"a' }],
  ["a list", call("1", [1, 2]), { value: [1, 2] }],
  ["a word", call("1", "hi"), { value: "hi" }],
  ["nothing", call("1", null), {}],
] as const) {
  test(`arguments that are ${what} go back as an object`, () => {
    expect(convert([user("a"), message, result("1")])[1]?.content).toMatchObject([{ input }]);
  });
}

test("odd ids and names are made acceptable in call and result alike", () => {
  const odd: ModelMessage = { role: "assistant", text: "", calls: [{ id: "a:b/c", name: "functions.look", args: {} }] };
  const [, assistant, tool] = convert([
    user("a"),
    odd,
    { role: "tool", results: [{ callId: "a:b/c", name: "functions.look", text: "x", ok: true }] },
  ]);
  expect(assistant?.content).toMatchObject([{ toolCallId: "a_b_c", toolName: "functions_look" }]);
  expect(tool?.content).toMatchObject([{ toolCallId: "a_b_c", toolName: "functions_look" }]);
});

const state = (text: string) => ({
  model: MODEL,
  data: {
    parts: [
      { type: "reasoning", value: "hm", options: { anthropic: { signature: "S" } } },
      { type: "text", value: text },
      { type: "call", value: "1" },
    ],
  },
});

test("provider state puts thinking back before words and calls", () => {
  const message: ModelMessage = {
    role: "assistant",
    text: "words",
    calls: [{ id: "1", name: "look", args: {} }],
    providerState: state("words"),
  };
  const parts = convert([user("a"), message, result("1")])[1]?.content;
  expect(parts).toMatchObject([{ type: "reasoning" }, { type: "text" }, { type: "tool-call" }]);
});

test("provider state that no longer fits the stored words is not used", () => {
  const message: ModelMessage = {
    role: "assistant",
    text: "[redacted]",
    calls: [{ id: "1", name: "look", args: {} }],
    providerState: state("words"),
  };
  expect(JSON.stringify(convert([user("a"), message, result("1")]))).not.toMatch(/hm|words/);
});

for (const data of [null, "x", { parts: [null] }, { parts: "no" }]) {
  test(`unreadable provider state is ignored: ${JSON.stringify(data)}`, () => {
    const message: ModelMessage = {
      role: "assistant",
      text: "words",
      calls: [],
      providerState: { model: MODEL, data },
    };
    expect(convert([user("a"), message, user("b")])[1]?.content).toMatchObject([{ type: "text", text: "words" }]);
  });
}

test("a longer history begins with the same messages as the shorter one", () => {
  const history = [user("a"), call("1"), result("1"), user("b")];
  const longer = convert([...history, call("2"), result("2")]);
  expect(longer.slice(0, 4)).toEqual(convert(history));
});

test("cache breakpoints stand on the newest two messages that are not the bot's", () => {
  const marked = convert([user("a"), call("1"), result("1"), user("b")], true).map(
    (message) => message.providerOptions !== undefined,
  );
  expect(marked).toEqual([false, false, true, true]);
});
