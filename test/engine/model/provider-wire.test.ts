/** What a step looks like on the wire of each provider, and what comes back of it. */

import { expect, test, vi } from "vitest";
import type { ModelMessage } from "../../../src/engine/model/model.ts";
import {
  after,
  anthropicAnswer,
  anthropicCall,
  anthropicText,
  anthropicThinking,
  chatAnswer,
  geminiAnswer,
  modelAt,
  never,
  ok,
  request,
  responsesAnswer,
  sse,
  startProvider,
  status,
} from "./provider-server.ts";

const SAY = '{"type":"text","content":"hi"}';
const message = (text: string) => ({
  type: "message",
  id: "msg_1",
  role: "assistant",
  content: [{ type: "output_text", text, annotations: [] }],
});

const PROVIDERS = [
  [
    "anthropic",
    anthropicAnswer([anthropicText("thinking"), anthropicCall("toolu_1", "SendMessage", SAY)], "tool_use"),
    90,
  ],
  [
    "openai",
    responsesAnswer([
      message("thinking"),
      {
        type: "function_call",
        id: "fc_1",
        call_id: "call_1",
        name: "SendMessage",
        arguments: SAY,
        status: "completed",
      },
    ]),
    80,
  ],
  [
    "google",
    geminiAnswer([{ text: "thinking" }, { functionCall: { name: "SendMessage", args: JSON.parse(SAY) } }]),
    50,
  ],
  ["xai", chatAnswer("thinking", [{ id: "call_1", name: "SendMessage", raw: SAY }]), 64],
  ["openai-compatible", chatAnswer("thinking", [{ id: "call_1", name: "SendMessage", raw: SAY }]), 64],
] as const;

for (const [kind, answer, cached] of PROVIDERS) {
  test(`${kind}: text, calls and usage come back, from exactly one request`, async () => {
    const server = await startProvider(answer);
    const reply = ok(await modelAt(server.url, kind).step(request(), never));
    expect(server.seen).toHaveLength(1);
    expect(reply).toMatchObject({
      text: "thinking",
      finish: "calls",
      usage: { inputTokens: 100, outputTokens: 7, cachedTokens: cached },
    });
    expect(reply.calls).toEqual([
      { id: expect.any(String), name: "SendMessage", args: { type: "text", content: "hi" } },
    ]);
  });

  test(`${kind}: results go back next to their call`, async () => {
    const server = await startProvider(answer);
    const model = modelAt(server.url, kind);
    const first = await model.step(request(), never);
    await model.step(request({ messages: after(first) }), never);
    const wire = JSON.stringify(server.seen[1]?.body);
    expect(wire).toContain("delivered");
    expect(wire.indexOf("SendMessage")).toBeLessThan(wire.lastIndexOf("delivered"));
  });

  test(`${kind}: nothing is printed to the console`, async () => {
    const prints = (["log", "info", "warn", "error"] as const).map((level) =>
      vi.spyOn(console, level).mockReturnValue(undefined),
    );
    const server = await startProvider(answer, status(500, { error: { message: "down" } }));
    const model = modelAt(server.url, kind, { modelId: "some-unknown-model" });
    await model.step(request(), never);
    await model.step(request(), never);
    const printed = prints.flatMap((print) => print.mock.calls);
    for (const print of prints) print.mockRestore();
    expect(printed).toEqual([]);
  });
}

test("anthropic: system, newest and next to newest message are cache breakpoints", async () => {
  const server = await startProvider(anthropicAnswer([anthropicText("ok")]));
  const messages: ModelMessage[] = [
    { role: "user", text: "one" },
    { role: "assistant", text: "", calls: [{ id: "a1", name: "look", args: {} }] },
    { role: "tool", results: [{ callId: "a1", name: "look", text: "seen", ok: true }] },
    { role: "user", text: "two" },
    { role: "assistant", text: "private", calls: [] },
    { role: "user", text: "three" },
  ];
  await modelAt(server.url, "anthropic").step(request({ messages }), never);
  expect(server.seen[0]?.at("system", 0, "cache_control")).toEqual({ type: "ephemeral" });
  const sent = server.seen[0]?.at("messages") as { content: { cache_control?: unknown; text?: string }[] }[];
  const marked = sent.flatMap((one) => one.content.filter((part) => part.cache_control));
  expect(marked.map((part) => part.text)).toEqual(["two", "three"]);
});

test("anthropic: a forced call names the tool and turns thinking off", async () => {
  const server = await startProvider(anthropicAnswer([anthropicCall("t", "SendMessage", SAY)], "tool_use"));
  await modelAt(server.url, "anthropic").step(request({ forceTool: "SendMessage" }), never);
  expect(server.seen[0]?.body).toMatchObject({
    tool_choice: { type: "tool", name: "SendMessage" },
    thinking: { type: "disabled" },
  });
});

test("anthropic: thinking is left to the model in ordinary steps", async () => {
  const server = await startProvider(anthropicAnswer([anthropicText("ok")]));
  await modelAt(server.url, "anthropic").step(request(), never);
  expect(server.seen[0]?.at("thinking")).toBeUndefined();
});

test("anthropic: signed thinking goes back unchanged to the same model, and not to another", async () => {
  const thinking = anthropicThinking("Let me see", "sig==");
  const server = await startProvider(
    anthropicAnswer([thinking, anthropicCall("toolu_1", "SendMessage", SAY)], "tool_use"),
  );
  const first = await modelAt(server.url, "anthropic").step(request(), never);
  const stored = JSON.parse(JSON.stringify(after(first)));
  await modelAt(server.url, "anthropic").step(request({ messages: stored }), never);
  await modelAt(server.url, "anthropic", { modelId: "claude-opus-5" }).step(request({ messages: stored }), never);
  expect(ok(first).text).toBe("");
  expect(server.seen[1]?.at("messages", 1, "content")).toMatchObject([
    { type: "thinking", thinking: "Let me see", signature: "sig==" },
    { type: "tool_use", id: "toolu_1", input: { type: "text", content: "hi" } },
  ]);
  expect(JSON.stringify(server.seen[2]?.body)).not.toContain("sig==");
});

test("openai: encrypted reasoning and item ids go back, nothing is stored there, and the cache key is sent", async () => {
  const reasoning = { type: "reasoning", id: "rs_1", encrypted_content: "ENC", summary: [] };
  const call = {
    type: "function_call",
    id: "fc_1",
    call_id: "call_1",
    name: "SendMessage",
    arguments: SAY,
    status: "completed",
  };
  const server = await startProvider(responsesAnswer([reasoning, call]));
  const model = modelAt(server.url, "openai");
  const first = await model.step(request({ cacheKey: "session-1" }), never);
  await model.step(request({ messages: JSON.parse(JSON.stringify(after(first))), cacheKey: "session-1" }), never);
  expect(server.seen[0]?.body).toMatchObject({
    store: false,
    include: ["reasoning.encrypted_content"],
    prompt_cache_key: "session-1",
  });
  expect(server.seen[1]?.at("input")).toContainEqual({
    type: "reasoning",
    id: "rs_1",
    encrypted_content: "ENC",
    summary: [],
  });
});

test("openai: a forced call names the function, and optional fields stay optional", async () => {
  const server = await startProvider(responsesAnswer([message("ok")]));
  await modelAt(server.url, "openai").step(request({ forceTool: "SendMessage" }), never);
  expect(server.seen[0]?.at("tool_choice")).toEqual({ type: "function", name: "SendMessage" });
  expect(server.seen[0]?.at("tools", 0)).toMatchObject({ name: "SendMessage", strict: false });
});

test("openai: a cache key that is too long is shortened the same way every time", async () => {
  const server = await startProvider(responsesAnswer([message("ok")]));
  const model = modelAt(server.url, "openai");
  await model.step(request({ cacheKey: "k".repeat(200) }), never);
  await model.step(request({ cacheKey: "k".repeat(200) }), never);
  const [one, two] = server.seen.map((seen) => seen.at("prompt_cache_key"));
  expect(one).toHaveLength(64);
  expect(one).toBe(two);
});

test("google: thought signatures go back with their call, forced calls allow one function", async () => {
  const part = { functionCall: { name: "SendMessage", args: JSON.parse(SAY) }, thoughtSignature: "THOUGHT" };
  const server = await startProvider(geminiAnswer([part]));
  const model = modelAt(server.url, "google");
  const first = await model.step(request({ forceTool: "SendMessage" }), never);
  await model.step(request({ messages: JSON.parse(JSON.stringify(after(first))) }), never);
  expect(server.seen[0]?.at("toolConfig", "functionCallingConfig")).toMatchObject({
    mode: "ANY",
    allowedFunctionNames: ["SendMessage"],
  });
  expect(server.seen[1]?.at("contents", 1, "parts", 0)).toMatchObject({
    functionCall: { name: "SendMessage" },
    thoughtSignature: "THOUGHT",
  });
});

test("openai-compatible: reasoning goes back to the model that wrote it", async () => {
  const chunk = { id: "c", object: "chat.completion.chunk", created: 1, model: "m" };
  const server = await startProvider(
    sse([
      { ...chunk, choices: [{ index: 0, delta: { reasoning_content: "hm" }, finish_reason: null }] },
      {
        ...chunk,
        choices: [
          {
            index: 0,
            delta: { tool_calls: [{ index: 0, id: "c1", function: { name: "look", arguments: "{}" } }] },
            finish_reason: null,
          },
        ],
      },
      { ...chunk, choices: [{ index: 0, delta: {}, finish_reason: "tool_calls" }] },
    ]),
  );
  const model = modelAt(server.url, "openai-compatible");
  const first = ok(await model.step(request(), never));
  expect(first.text).toBe("");
  await model.step(request({ messages: after(first) }), never);
  expect(server.seen[1]?.at("messages", 2)).toMatchObject({ role: "assistant", reasoning_content: "hm" });
});

test("xai: the session goes to the same server", async () => {
  const server = await startProvider(chatAnswer("ok"));
  await modelAt(server.url, "xai").step(request({ cacheKey: "session-1" }), never);
  expect(server.seen[0]?.headers["x-grok-conv-id"]).toBe("session-1");
});
