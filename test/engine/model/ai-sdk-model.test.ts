/** How a step copes with what providers and models cannot do: forced choice, broken arguments, pictures, limits. */

import { expect, test, vi } from "vitest";
import type { ModelMessage } from "../../../src/engine/model/model.ts";
import {
  after,
  anthropicAnswer,
  anthropicCall,
  anthropicText,
  chatAnswer,
  LOOK_TOOL,
  modelAt,
  never,
  ok,
  request,
  responsesAnswer,
  SEND_TOOL,
  startProvider,
  status,
} from "./provider-server.ts";

const SAY = '{"type":"text","content":"hi"}';

test("a provider that refuses forced choice is offered only that tool, and not asked again", async () => {
  const refusal = status(400, {
    error: { message: "tool_choice is not supported with this model", type: "invalid_request_error" },
  });
  const server = await startProvider(refusal, chatAnswer("", [{ id: "c1", name: "SendMessage", raw: SAY }]));
  const model = modelAt(server.url, "openai-compatible");
  const reply = ok(await model.step(request({ forceTool: "SendMessage" }), never));
  await model.step(request({ forceTool: "SendMessage" }), never);
  expect(reply.calls[0]?.name).toBe("SendMessage");
  expect(server.seen).toHaveLength(3);
  for (const seen of server.seen.slice(1)) {
    expect(seen.at("tools")).toMatchObject([{ function: { name: "SendMessage" } }]);
    expect(["auto", undefined]).toContain(seen.at("tool_choice"));
  }
});

test("anthropic: a model known to refuse a forced choice is offered only that tool, without a warning on the console", async () => {
  const print = vi.spyOn(console, "warn").mockReturnValue(undefined);
  const server = await startProvider(anthropicAnswer([anthropicCall("t", "SendMessage", SAY)], "tool_use"));
  await modelAt(server.url, "anthropic", { modelId: "claude-opus-5-5" }).step(
    request({ forceTool: "SendMessage" }),
    never,
  );
  const printed = print.mock.calls.length;
  print.mockRestore();
  expect(server.seen[0]?.at("tools")).toMatchObject([{ name: "SendMessage" }]);
  expect(server.seen[0]?.at("tool_choice", "type")).toBe("auto");
  expect(printed).toBe(0);
});

test("a forced call that the model ignores is still an answer", async () => {
  const server = await startProvider(chatAnswer("I would rather talk"));
  const reply = ok(await modelAt(server.url, "openai-compatible").step(request({ forceTool: "SendMessage" }), never));
  expect(reply).toMatchObject({ text: "I would rather talk", calls: [] });
});

const BROKEN = '{"type":"text","content":"cut of';
for (const [kind, answer] of [
  ["anthropic", anthropicAnswer([anthropicCall("t1", "SendMessage", BROKEN)], "tool_use")],
  ["openai-compatible", chatAnswer("", [{ id: "t1", name: "SendMessage", raw: BROKEN }])],
  [
    "openai",
    responsesAnswer([
      { type: "function_call", id: "fc", call_id: "t1", name: "SendMessage", arguments: BROKEN, status: "completed" },
    ]),
  ],
] as const) {
  test(`${kind}: a call with broken JSON keeps its raw text and can be sent back`, async () => {
    const server = await startProvider(answer);
    const model = modelAt(server.url, kind);
    const first = ok(await model.step(request(), never));
    expect(first.calls).toEqual([{ id: "t1", name: "SendMessage", args: {}, invalid: BROKEN }]);
    await model.step(request({ messages: after(first) }), never);
    const wire = JSON.stringify(server.seen[1]?.body);
    expect(wire).toContain("invalid_json");
    expect(wire).toContain("delivered");
  });
}

test("a call of a tool that does not exist keeps its arguments", async () => {
  const server = await startProvider(chatAnswer("", [{ id: "t1", name: "made.up", raw: '{"a":1}' }]));
  const model = modelAt(server.url, "openai-compatible");
  const first = ok(await model.step(request(), never));
  expect(first.calls).toEqual([{ id: "t1", name: "made.up", args: { a: 1 } }]);
  await model.step(request({ messages: after(first) }), never);
  expect(server.seen[1]?.at("messages", 2, "tool_calls", 0, "function", "name")).toBe("made_up");
});

test("two calls with one id become two calls", async () => {
  const server = await startProvider(
    chatAnswer("", [
      { id: "same", name: "look", raw: "{}" },
      { id: "same", name: "SendMessage", raw: SAY },
    ]),
  );
  const { calls } = ok(await modelAt(server.url, "openai-compatible").step(request(), never));
  expect(new Set(calls.map((call) => call.id)).size).toBe(2);
});

test("an answer cut off at the length limit says so", async () => {
  const server = await startProvider(chatAnswer("half a", [], "length"));
  expect(ok(await modelAt(server.url, "openai-compatible").step(request(), never)).finish).toBe("length");
});

test("the answer's length is limited even when the request does not say", async () => {
  const server = await startProvider(anthropicAnswer([anthropicText("ok")]));
  await modelAt(server.url, "anthropic").step(request(), never);
  await modelAt(server.url, "anthropic").step(request({ maxOutputTokens: 77 }), never);
  expect(server.seen.map((seen) => seen.at("max_tokens"))).toEqual([16_384, 77]);
});

test("pictures travel with the person's words", async () => {
  const server = await startProvider(anthropicAnswer([anthropicText("ok")]));
  const picture = { sha256: "0", ext: "png", name: "cat.png", mediaType: "image/png", size: 7 };
  await modelAt(server.url, "anthropic").step(
    request({ messages: [{ role: "user", text: "look", images: [picture] }] }),
    never,
  );
  expect(server.seen[0]?.at("messages", 0, "content")).toMatchObject([
    { type: "text", text: "look" },
    { type: "image", source: { type: "base64", data: Buffer.from("picture").toString("base64") } },
  ]);
});

test("a model that does not see pictures gets the words and a note, also in later steps", async () => {
  const blind = status(400, { error: { message: "this model does not support image input" } });
  const server = await startProvider(blind, chatAnswer("ok"));
  const model = modelAt(server.url, "openai-compatible");
  const picture = { sha256: "0", ext: "png", name: "cat.png", mediaType: "image/png", size: 7 };
  const messages: ModelMessage[] = [{ role: "user", text: "look", images: [picture] }];
  ok(await model.step(request({ messages }), never));
  ok(await model.step(request({ messages }), never));
  expect(server.seen).toHaveLength(3);
  expect(server.seen[2]?.at("messages", 1, "content")).toContain('Picture "cat.png" is left out');
});

test("tools are offered with their schemas, and none when there are none", async () => {
  const server = await startProvider(chatAnswer("ok"));
  const model = modelAt(server.url, "openai-compatible");
  await model.step(request({ tools: [LOOK_TOOL, SEND_TOOL] }), never);
  await model.step(request({ tools: [] }), never);
  expect(server.seen[0]?.at("tools", 1, "function", "parameters", "required")).toEqual(["type"]);
  expect(server.seen[1]?.at("tools")).toBeUndefined();
});
