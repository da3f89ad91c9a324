/**
 * Requests a provider refuses must be refused here too, in the provider's own error format, and never reach a script.
 * Each row is the smallest body that breaks one rule.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Llm } from "./llm/index.ts";
import { startLlm } from "./llm/index.ts";

let llm: Llm;

beforeAll(async () => {
  llm = await startLlm();
});
afterAll(() => llm.close());

type Json = Record<string, unknown>;

const SCHEMA = { type: "object", properties: { text: { type: "string" } } };
const USER = { role: "user", content: "hi" };
const TOOL = { type: "function", function: { name: "Send", parameters: SCHEMA } };
const CALL = {
  role: "assistant",
  content: null,
  tool_calls: [{ id: "c1", type: "function", function: { name: "Send", arguments: "{}" } }],
};
const RESULT = { role: "tool", tool_call_id: "c1", content: "ok" };

const USE = { role: "assistant", content: [{ type: "tool_use", id: "t1", name: "Send", input: {} }] };
const USED = { role: "user", content: [{ type: "tool_result", tool_use_id: "t1", content: "ok" }] };
const TOOLS = [{ name: "Send", input_schema: SCHEMA }];
const THINK = { type: "enabled", budget_tokens: 1024 };

function chat(more: Json): Json {
  return { model: "m", messages: [USER], ...more };
}

function messages(more: Json): Json {
  return { model: "m", max_tokens: 4000, messages: [USER], ...more };
}

async function send(
  path: string,
  body: Json,
  headers: Record<string, string>,
): Promise<{ status: number; answer: Json }> {
  const response = await fetch(`${llm.url}${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", ...headers },
    body: JSON.stringify(body),
  });
  return { status: response.status, answer: (await response.json()) as Json };
}

const CHAT_ROWS: [string, Json, RegExp][] = [
  ["no messages", chat({ messages: [] }), /too short/],
  ["no model", { messages: [USER] }, /model/],
  ["an unknown role", chat({ messages: [{ role: "bot", content: "x" }] }), /invalid role/],
  ["an empty user message", chat({ messages: [{ role: "user", content: "" }] }), /empty/],
  [
    "an assistant message of nothing",
    chat({ messages: [USER, { role: "assistant", content: null }, USER] }),
    /expected a string/,
  ],
  ["a result without its call", chat({ messages: [USER, RESULT] }), /must be a response/],
  ["a call without its result", chat({ messages: [USER, CALL] }), /must be followed/],
  ["a person between call and result", chat({ messages: [USER, CALL, USER, RESULT] }), /must be followed/],
  ["the same result twice", chat({ messages: [USER, CALL, RESULT, RESULT] }), /must be a response/],
  [
    "call arguments that are no object",
    chat({
      messages: [USER, { ...CALL, tool_calls: [{ id: "c1", function: { name: "Send", arguments: "[1]" } }] }, RESULT],
    }),
    /JSON object/,
  ],
  ["two tools of one name", chat({ tools: [TOOL, TOOL] }), /unique/],
  ["an empty list of tools", chat({ tools: [] }), /too short/],
  [
    "a tool name with a space",
    chat({ tools: [{ type: "function", function: { name: "Send it", parameters: SCHEMA } }] }),
    /invalid tool name/,
  ],
  [
    "a schema that is no object",
    chat({ tools: [{ type: "function", function: { name: "Send", parameters: { type: "string" } } }] }),
    /type "object"/,
  ],
  [
    "an array schema without items",
    chat({
      tools: [
        {
          type: "function",
          function: { name: "Send", parameters: { type: "object", properties: { list: { type: "array" } } } },
        },
      ],
    }),
    /missing items/,
  ],
  ["a forced tool without tools", chat({ tool_choice: "required" }), /only allowed when tools/],
  [
    "a forced tool that is not offered",
    chat({ tools: [TOOL], tool_choice: { type: "function", function: { name: "Other" } } }),
    /not in tools/,
  ],
  [
    "a plain http image",
    chat({ messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "file:///etc/passwd" } }] }] }),
    /data URL/,
  ],
];

test.each(CHAT_ROWS)("chat completions refuse %s", async (_label, body, reason) => {
  const { status, answer } = await send("/v1/chat/completions", body, { authorization: "Bearer k" });
  expect(status).toBe(400);
  expect((answer.error as Json).message).toMatch(reason);
  expect(llm.requests).toEqual([]);
});

const ANTHROPIC_ROWS: [string, Json, RegExp][] = [
  ["no max_tokens", { model: "m", messages: [USER] }, /max_tokens/],
  ["an assistant message first", messages({ messages: [{ role: "assistant", content: "x" }, USER] }), /first message/],
  ["an assistant message last", messages({ messages: [USER, { role: "assistant", content: "x" }] }), /prefill/],
  ["a system role", messages({ messages: [{ role: "system", content: "x" }, USER] }), /'user' or 'assistant'/],
  ["an empty text", messages({ messages: [{ role: "user", content: "" }] }), /non-whitespace/],
  ["blank text", messages({ messages: [{ role: "user", content: [{ type: "text", text: "  " }] }] }), /non-whitespace/],
  ["tool use without its result", messages({ messages: [USER, USE, USER] }), /tool_use/],
  ["a result without its use", messages({ messages: [USED] }), /unexpected/],
  [
    "text before the results",
    messages({ messages: [USER, USE, { role: "user", content: [{ type: "text", text: "x" }, ...USED.content] }] }),
    /must come first/,
  ],
  ["two tools of one name", messages({ tools: [...TOOLS, ...TOOLS] }), /unique/],
  [
    "a forced tool that is not offered",
    messages({ tools: TOOLS, tool_choice: { type: "tool", name: "Other" } }),
    /not in tools/,
  ],
  [
    "a forced tool together with thinking",
    messages({ tools: TOOLS, tool_choice: { type: "tool", name: "Send" }, thinking: THINK }),
    /Thinking may not be enabled/,
  ],
  [
    "any forced tool together with thinking",
    messages({ tools: TOOLS, tool_choice: { type: "any" }, thinking: THINK }),
    /Thinking may not be enabled/,
  ],
  ["a temperature together with thinking", messages({ temperature: 0, thinking: THINK }), /temperature/],
  ["a thinking budget above max_tokens", messages({ max_tokens: 1024, thinking: THINK }), /greater than/],
  [
    "results returned without the thinking before them",
    messages({ messages: [USER, USE, USED], tools: TOOLS, thinking: THINK }),
    /Expected `thinking`/,
  ],
  [
    "a forged thinking block",
    messages({
      messages: [
        USER,
        { role: "assistant", content: [{ type: "thinking", thinking: "x", signature: "y" }, ...USE.content] },
        USED,
      ],
      tools: TOOLS,
    }),
    /Invalid `signature`/,
  ],
  [
    "five cache marks",
    messages({
      system: Array.from({ length: 5 }, () => ({ type: "text", text: "x", cache_control: { type: "ephemeral" } })),
    }),
    /maximum of 4/,
  ],
];

test.each(ANTHROPIC_ROWS)("Anthropic refuses %s", async (_label, body, reason) => {
  const { status, answer } = await send("/v1/messages", body, { "x-api-key": "k", "anthropic-version": "2023-06-01" });
  expect(status).toBe(400);
  expect(answer.type).toBe("error");
  expect((answer.error as Json).message).toMatch(reason);
});

const RESPONSES_ROWS: [string, Json, RegExp][] = [
  ["no input", { model: "m", input: [] }, /input/],
  ["an unknown reference", { model: "m", input: [{ type: "item_reference", id: "fc_1" }] }, /not found/],
  [
    "an output without its call",
    { model: "m", input: [{ type: "function_call_output", call_id: "c1", output: "ok" }] },
    /No tool call found/,
  ],
  [
    "a call without its output",
    { model: "m", input: [{ type: "function_call", call_id: "c1", name: "Send", arguments: "{}" }] },
    /No tool output found/,
  ],
];

test.each(RESPONSES_ROWS)("the Responses API refuses %s", async (_label, body, reason) => {
  const { status, answer } = await send("/v1/responses", body, { authorization: "Bearer k" });
  expect(status).toBe(400);
  expect((answer.error as Json).message).toMatch(reason);
});

const PART = { text: "x" };
const GEMINI_ROWS: [string, Json, RegExp][] = [
  ["no contents", { contents: [] }, /contents/],
  ["a role it does not know", { contents: [{ role: "assistant", parts: [PART] }] }, /valid role/],
  [
    "a call without its response",
    {
      contents: [
        { role: "user", parts: [PART] },
        { role: "model", parts: [{ functionCall: { name: "Send", args: {} } }] },
      ],
    },
    /followed by a function response/,
  ],
  [
    "fewer responses than calls",
    {
      contents: [
        { role: "model", parts: [{ functionCall: {} }, { functionCall: {} }] },
        { role: "user", parts: [{ functionResponse: {} }] },
      ],
    },
    /number of function response parts/,
  ],
];

test.each(GEMINI_ROWS)("Gemini refuses %s", async (_label, body, reason) => {
  const { status, answer } = await send("/v1beta/models/m:generateContent", body, { "x-goog-api-key": "k" });
  expect(status).toBe(400);
  expect((answer.error as Json).message).toMatch(reason);
});

test("refusals are recorded with their reason", () => {
  expect(llm.refusals.length).toBe(
    CHAT_ROWS.length + ANTHROPIC_ROWS.length + RESPONSES_ROWS.length + GEMINI_ROWS.length,
  );
  expect(llm.requests).toEqual([]);
});
