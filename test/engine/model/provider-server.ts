/**
 * A loopback server that answers like a model provider, one prepared answer per request, and keeps every request. Only what these tests
 * need of each wire format: streams of Anthropic messages, OpenAI responses, Gemini and chat completions.
 */

import { once } from "node:events";
import { createServer, type IncomingHttpHeaders, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { onTestFinished } from "vitest";
import { createSystemClock } from "../../../src/engine/clock.ts";
import { createAiSdkModel } from "../../../src/engine/model/ai-sdk-model.ts";
import type { Model, ModelMessage, ModelReply, ModelRequest } from "../../../src/engine/model/model.ts";
import type { ProviderKind } from "../../../src/engine/model/providers.ts";

export type Json = Record<string, unknown>;
export type Answer = (response: ServerResponse) => void;

export interface Seen {
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: unknown;
  /** The value at a path of the body, undefined when there is none. */
  at(...path: readonly (string | number)[]): unknown;
}

export interface ProviderServer {
  readonly url: string;
  readonly seen: Seen[];
}

/** Starts a server that gives these answers in turn (the last one again and again) and stops with the test. */
export async function startProvider(...answers: readonly Answer[]): Promise<ProviderServer> {
  const seen: Seen[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body: unknown = JSON.parse(Buffer.concat(chunks).toString() || "null");
    seen.push({ path: request.url ?? "", headers: request.headers, body, at: (...path) => valueAt(body, path) });
    const answer = answers[Math.min(seen.length, answers.length) - 1];
    if (answer) answer(response);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, seen };
}

function valueAt(body: unknown, path: readonly (string | number)[]): unknown {
  return path.reduce((value, key) => (value as Record<string | number, unknown> | null | undefined)?.[key], body);
}

/** A model of this kind at that server, with a key and without pictures. */
export function modelAt(
  url: string,
  kind: ProviderKind,
  more: { modelId?: string; modelMs?: number; apiKey?: string } = {},
): Model {
  const modelId = more.modelId ?? DEFAULT_IDS[kind];
  return createAiSdkModel({
    name: `${kind}/${modelId}`,
    modelId,
    provider: { kind, baseURL: url, apiKey: more.apiKey ?? "sk-test-1234567890", keyName: "TEST_KEY" },
    readImage: async () => Buffer.from("picture"),
    clock: createSystemClock(),
    modelMs: more.modelMs ?? 10_000,
  });
}

const DEFAULT_IDS: Readonly<Record<ProviderKind, string>> = {
  anthropic: "claude-sonnet-5",
  openai: "gpt-5",
  google: "gemini-3-pro",
  xai: "grok-4",
  "openai-compatible": "org/qwen3",
};

export const SEND_TOOL = {
  name: "SendMessage",
  description: "Says something",
  schema: { type: "object", properties: { type: { type: "string" }, content: { type: "string" } }, required: ["type"] },
} as const;
export const LOOK_TOOL = { name: "look", description: "Looks", schema: { type: "object", properties: {} } } as const;

export function request(more: Partial<ModelRequest> = {}): ModelRequest {
  return {
    system: "You are Ada.",
    messages: [{ role: "user", text: "hello" }],
    tools: [SEND_TOOL, LOOK_TOOL],
    ...more,
  };
}

export const never = new AbortController().signal;

export function status(code: number, body: unknown, headers: Record<string, string> = {}): Answer {
  return (response) => {
    response.writeHead(code, { "content-type": "application/json", ...headers });
    response.end(typeof body === "string" ? body : JSON.stringify(body));
  };
}

export const hang: Answer = () => undefined;

export function sse(events: readonly Json[], named = false): Answer {
  return (response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    for (const event of events)
      response.write(`${named ? `event: ${event.type}\n` : ""}data: ${JSON.stringify(event)}\n\n`);
    response.end();
  };
}

/** Anthropic: content blocks given whole. Tool input is raw text. */
export function anthropicAnswer(blocks: readonly Json[], stopReason = "end_turn"): Answer {
  const usage = { input_tokens: 5, cache_read_input_tokens: 90, cache_creation_input_tokens: 5, output_tokens: 1 };
  const events: Json[] = [
    {
      type: "message_start",
      message: { id: "msg_1", type: "message", role: "assistant", model: "claude-sonnet-5", content: [], usage },
    },
  ];
  blocks.forEach((block, index) => {
    const { deltas, ...start } = block as { deltas?: Json[] };
    events.push({ type: "content_block_start", index, content_block: start });
    for (const delta of deltas ?? []) events.push({ type: "content_block_delta", index, delta });
    events.push({ type: "content_block_stop", index });
  });
  events.push({
    type: "message_delta",
    delta: { stop_reason: stopReason, stop_sequence: null },
    usage: { output_tokens: 7 },
  });
  events.push({ type: "message_stop" });
  return sse(events, true);
}

export function anthropicCall(id: string, name: string, rawInput: string): Json {
  return { type: "tool_use", id, name, input: {}, deltas: [{ type: "input_json_delta", partial_json: rawInput }] };
}

export function anthropicText(text: string): Json {
  return { type: "text", text: "", deltas: [{ type: "text_delta", text }] };
}

export function anthropicThinking(thinking: string, signature: string): Json {
  return {
    type: "thinking",
    thinking: "",
    signature: "",
    deltas: [
      { type: "thinking_delta", thinking },
      { type: "signature_delta", signature },
    ],
  };
}

/** Chat completions: text, then calls with raw arguments. */
export function chatAnswer(
  text: string,
  calls: readonly { id: string; name: string; raw: string }[] = [],
  finish?: string,
): Answer {
  const base = { id: "c1", object: "chat.completion.chunk", created: 1, model: "m" };
  const chunk = (delta: Json, finishReason: string | null = null) => ({
    ...base,
    choices: [{ index: 0, delta, finish_reason: finishReason }],
  });
  const events: Json[] = [chunk({ role: "assistant", content: "" })];
  if (text) events.push(chunk({ content: text }));
  calls.forEach(({ id, name, raw }, index) => {
    events.push(chunk({ tool_calls: [{ index, id, type: "function", function: { name, arguments: "" } }] }));
    events.push(chunk({ tool_calls: [{ index, function: { arguments: raw } }] }));
  });
  events.push(chunk({}, finish ?? (calls.length > 0 ? "tool_calls" : "stop")));
  events.push({
    ...base,
    choices: [],
    usage: {
      prompt_tokens: 100,
      completion_tokens: 7,
      total_tokens: 107,
      prompt_tokens_details: { cached_tokens: 64 },
    },
  });
  return sse(events);
}

/** Gemini: the parts of one candidate. */
export function geminiAnswer(parts: readonly Json[], finishReason = "STOP"): Answer {
  const usageMetadata = {
    promptTokenCount: 100,
    candidatesTokenCount: 7,
    totalTokenCount: 107,
    cachedContentTokenCount: 50,
  };
  return sse([{ candidates: [{ content: { role: "model", parts }, finishReason, index: 0 }], usageMetadata }]);
}

/** OpenAI responses: finished output items. */
export function responsesAnswer(items: readonly Json[]): Answer {
  const events: Json[] = [{ type: "response.created", response: { id: "resp_1", created_at: 1, model: "gpt-5" } }];
  items.forEach((item, output_index) => {
    const started =
      item.type === "function_call"
        ? { ...item, arguments: "" }
        : item.type === "message"
          ? { ...item, content: [] }
          : item;
    events.push({ type: "response.output_item.added", output_index, item: started });
    if (item.type === "function_call") {
      events.push({
        type: "response.function_call_arguments.delta",
        item_id: item.id,
        output_index,
        delta: item.arguments,
      });
    }
    if (item.type === "message") {
      for (const part of item.content as Json[]) {
        events.push({
          type: "response.output_text.delta",
          item_id: item.id,
          output_index,
          content_index: 0,
          delta: part.text,
        });
      }
    }
    events.push({ type: "response.output_item.done", output_index, item });
  });
  const usage = {
    input_tokens: 100,
    input_tokens_details: { cached_tokens: 80 },
    output_tokens: 7,
    output_tokens_details: { reasoning_tokens: 3 },
  };
  events.push({
    type: "response.completed",
    response: { id: "resp_1", created_at: 1, model: "gpt-5", status: "completed", output: [], usage },
  });
  return sse(events);
}

/** The reply as an answer; fails the test when it is a failure. */
export function ok(reply: ModelReply) {
  if (!reply.ok) throw new Error(`expected an answer, got ${reply.problem}: ${reply.text}`);
  return reply;
}

/** The history after a reply: the assistant's message and results for its calls. */
export function after(reply: ModelReply, first: ModelMessage = { role: "user", text: "hello" }): ModelMessage[] {
  const { text, calls, providerState } = ok(reply);
  return [
    first,
    { role: "assistant", text, calls, ...(providerState ? { providerState } : {}) },
    { role: "tool", results: calls.map((call) => ({ callId: call.id, name: call.name, text: "delivered", ok: true })) },
  ];
}
