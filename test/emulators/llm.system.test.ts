/**
 * Drives the model server with the real AI SDK providers: whole answers, streams, tools, thinking, refusals and faults
 * must look to them like the real thing.
 */
import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createOpenAI } from "@ai-sdk/openai";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import type { LanguageModel } from "ai";
import { APICallError, generateText, jsonSchema, stepCountIs, streamText, tool } from "ai";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import type { Llm, Reply, Script } from "./llm/index.ts";
import { call, done, inTurn, sendMessage, startLlm, think, together } from "./llm/index.ts";

let llm: Llm;

beforeAll(async () => {
  llm = await startLlm();
});
afterAll(() => llm.close());
beforeEach(() => llm.calm());

const SEND = tool({
  description: "Sends a message",
  inputSchema: jsonSchema<{ type: string; content: string }>({
    type: "object",
    properties: { type: { type: "string" }, content: { type: "string" } },
    required: ["type", "content"],
  }),
  execute: async ({ content }) => `delivered ${content}`,
});

type Provider = (model: string) => LanguageModel;

const PROVIDERS: [string, () => Provider][] = [
  ["an OpenAI-compatible server", () => createOpenAICompatible({ name: "local", baseURL: llm.openaiUrl, apiKey: "k" })],
  ["OpenAI's Responses API", () => createOpenAI({ baseURL: llm.openaiUrl, apiKey: "k" })],
  ["OpenAI's chat API", () => createOpenAI({ baseURL: llm.openaiUrl, apiKey: "k" }).chat],
  ["Anthropic", () => createAnthropic({ baseURL: llm.anthropicUrl, apiKey: "k" })],
  ["Gemini", () => createGoogleGenerativeAI({ baseURL: llm.geminiUrl, apiKey: "k" })],
];

let counter = 0;

/** A fresh model name with this script, and the model of a provider under that name. */
function scripted(provider: () => Provider, script: Script): { name: string; model: LanguageModel } {
  counter += 1;
  const name = `model-${counter}`;
  llm.script(name, script);
  return { name, model: provider()(name) };
}

test.each(PROVIDERS)("%s: a tool call, its result and the end of the turn", async (_label, provider) => {
  const { name, model } = scripted(provider, inTurn([sendMessage("hello"), think("finished")]));
  const result = await generateText({
    model,
    system: "You are Ada.",
    prompt: "hi",
    tools: { SendMessage: SEND },
    stopWhen: stepCountIs(5),
    maxRetries: 0,
    maxOutputTokens: 4000,
  });
  expect(result.text).toBe("finished");
  const [first, second] = llm.requestsOf(name);
  expect(first?.system).toBe("You are Ada.");
  expect(first?.lastUserText).toBe("hi");
  expect(first?.tools.map((item) => item.name)).toEqual(["SendMessage"]);
  expect(second?.lastToolResult).toContain("delivered hello");
  expect(second?.calls.map((item) => item.args)).toEqual([{ type: "text", content: "hello" }]);
  expect(result.totalUsage.inputTokens).toBeGreaterThan(0);
  expect(llm.refusals).toEqual([]);
});

test.each(PROVIDERS)("%s: a streamed answer with parallel calls arrives piece by piece", async (_label, provider) => {
  const answer = together(sendMessage("one ".repeat(30)), sendMessage("two"));
  const { name, model } = scripted(provider, inTurn([{ ...answer, text: "Let me see. ".repeat(10) }, done()]));
  const result = streamText({
    model,
    prompt: "hi",
    tools: { SendMessage: SEND },
    stopWhen: stepCountIs(5),
    maxRetries: 0,
    maxOutputTokens: 4000,
  });
  const parts: string[] = [];
  for await (const part of result.fullStream) if (part.type === "text-delta") parts.push(part.text);
  expect(parts.join("")).toBe("Let me see. ".repeat(10));
  expect(parts.length).toBeGreaterThan(2);
  expect((await result.steps)[0]?.toolCalls.map((item) => item.input)).toEqual([
    { type: "text", content: "one ".repeat(30) },
    { type: "text", content: "two" },
  ]);
  expect(llm.requestsOf(name).at(-1)?.toolResults.length).toBe(2);
  expect(llm.refusals).toEqual([]);
});

test.each(PROVIDERS)("%s: a forced tool is called even when the script forgot it", async (_label, provider) => {
  const { name, model } = scripted(provider, () => think("I would rather talk"));
  const result = await generateText({
    model,
    prompt: "hi",
    tools: { SendMessage: SEND },
    toolChoice: { type: "tool", toolName: "SendMessage" },
    maxRetries: 0,
    maxOutputTokens: 4000,
  });
  expect(result.toolCalls.map((item) => item.input)).toEqual([{ type: "text", content: "I would rather talk" }]);
  expect(llm.requestsOf(name)[0]?.forced).toBe(true);
});

test.each(PROVIDERS)("%s: failures arrive as the provider's errors", async (_label, provider) => {
  const { name, model } = scripted(provider, () => think("ok"));
  const attempt = () => generateText({ model, prompt: "hi", maxRetries: 0, maxOutputTokens: 4000 });
  const failure = async (reply: Reply) => {
    llm.fail(reply, { model: name });
    const error = await attempt().then(
      () => null,
      (reason: unknown) => reason,
    );
    if (!APICallError.isInstance(error)) throw new Error(`expected an APICallError, got ${String(error)}`);
    return error;
  };
  const limited = await failure({ status: 429, message: "slow down", headers: { "retry-after": "7" } });
  expect([limited.statusCode, limited.message, limited.responseHeaders?.["retry-after"]]).toEqual([
    429,
    "slow down",
    "7",
  ]);
  expect((await failure({ status: 503 })).isRetryable).toBe(true);
  expect((await failure({ status: 401 })).statusCode).toBe(401);
  expect((await failure({ contextLength: true })).message).toMatch(/maximum|context window|prompt is too long/);
  expect((await attempt()).text).toBe("ok");
});

test.each(PROVIDERS)("%s: a stream that breaks off is an error, not a short answer", async (_label, provider) => {
  const { name, model } = scripted(provider, () => ({ text: "word ".repeat(100), breakStream: 4 }));
  const errors: unknown[] = [];
  const result = streamText({
    model,
    prompt: "hi",
    maxRetries: 0,
    maxOutputTokens: 4000,
    onError: ({ error }) => void errors.push(error),
  });
  for await (const part of result.fullStream) if (part.type === "error") errors.push(part.error);
  expect(errors.length).toBeGreaterThan(0);
  expect(llm.requestsOf(name)[0]?.outcome).toBe("cut by the server");
});

test.each(PROVIDERS)("%s: a request without a key is refused", async (_label, provider) => {
  const locked = await startLlm({ apiKey: "the-right-key" });
  const open = llm;
  llm = locked;
  try {
    const error: unknown = await generateText({ model: provider()("any"), prompt: "hi", maxRetries: 0 }).catch(
      (reason: unknown) => reason,
    );
    expect(APICallError.isInstance(error)).toBe(true);
    expect(locked.requests).toEqual([]);
    expect(locked.refusals.length).toBe(1);
  } finally {
    llm = open;
    await locked.close();
  }
});

test("a hanging model is left by the client, and the server knows it", async () => {
  const { name, model } = scripted(PROVIDERS[0]?.[1] ?? (() => () => ""), () => ({ hang: true }));
  const patience = AbortSignal.timeout(150);
  await expect(
    generateText({ model, prompt: "hi", maxRetries: 0, maxOutputTokens: 4000, abortSignal: patience }),
  ).rejects.toThrow();
  const request = await llm.waitForRequest((item) => item.outcome === "cut by the client", name);
  expect(request.lastUserText).toBe("hi");
});

test("Anthropic's thinking comes with a signature and must be returned unchanged", async () => {
  const provider = createAnthropic({ baseURL: llm.anthropicUrl, apiKey: "k" });
  llm.script("thinker", inTurn([{ ...sendMessage("hello"), thinking: "They greet me." }, think("done")]));
  const options = { anthropic: { thinking: { type: "enabled", budgetTokens: 2000 } } } as const;
  const result = await generateText({
    model: provider("thinker"),
    prompt: "hi",
    tools: { SendMessage: SEND },
    stopWhen: stepCountIs(3),
    providerOptions: options,
    maxRetries: 0,
    maxOutputTokens: 4000,
  });
  expect(result.steps[0]?.reasoningText).toBe("They greet me.");
  expect(result.text).toBe("done");
  expect(llm.requestsOf("thinker").map((request) => request.thinking)).toEqual([true, true]);
});

test("Anthropic's cache counts: a marked prompt is written once and read afterwards", async () => {
  const provider = createAnthropic({ baseURL: llm.anthropicUrl, apiKey: "k" });
  llm.script("cached", () => think("ok"));
  const system = {
    role: "system" as const,
    content: "A long introduction. ".repeat(500),
    providerOptions: { anthropic: { cacheControl: { type: "ephemeral" as const } } },
  };
  const ask = (text: string) =>
    generateText({
      model: provider("cached"),
      messages: [system, { role: "user", content: text }],
      maxRetries: 0,
      maxOutputTokens: 4000,
    });
  const first = await ask("one");
  const second = await ask("two");
  expect(first.usage.cachedInputTokens ?? 0).toBe(0);
  expect(second.usage.cachedInputTokens).toBeGreaterThan(2000);
  expect(llm.requestsOf("cached")[1]?.sharedPrefix).toBeGreaterThan(0.95);
});

test("a model without a script answers people through SendMessage once and then stops", async () => {
  const provider = createOpenAICompatible({ name: "local", baseURL: llm.openaiUrl, apiKey: "k" });
  const result = await generateText({
    model: provider("unknown-model"),
    prompt: "hello there",
    tools: { SendMessage: SEND },
    stopWhen: stepCountIs(5),
    maxRetries: 0,
    maxOutputTokens: 4000,
  });
  expect(result.steps.flatMap((step) => step.toolCalls).length).toBe(1);
  expect(result.text).toBe("");
});

test("the models of the scripts are listed", async () => {
  llm.script("listed", () => done());
  const answer = (await (await fetch(`${llm.openaiUrl}/models`)).json()) as { data: { id: string }[] };
  expect(answer.data.map((model) => model.id)).toContain("listed");
});

test("scripted calls may carry broken arguments, as models sometimes do", async () => {
  const { model } = scripted(PROVIDERS[0]?.[1] ?? (() => () => ""), () => ({
    calls: [{ name: "SendMessage", args: '{"type": "text", "cont' }],
  }));
  const result = await generateText({
    model,
    prompt: "hi",
    tools: { SendMessage: SEND },
    maxRetries: 0,
    maxOutputTokens: 4000,
  });
  expect(result.toolCalls[0]?.invalid).toBe(true);
});

test("a call of another tool than the forced one is replaced", async () => {
  const { model } = scripted(PROVIDERS[0]?.[1] ?? (() => () => ""), () => call("Other", {}));
  const result = await generateText({
    model,
    prompt: "hi",
    tools: { SendMessage: SEND, Other: SEND },
    toolChoice: { type: "tool", toolName: "SendMessage" },
    maxRetries: 0,
    maxOutputTokens: 4000,
  });
  expect(result.toolCalls.map((item) => item.toolName)).toEqual(["SendMessage"]);
});
