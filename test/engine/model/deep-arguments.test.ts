/** Tool arguments nested absurdly deep are arguments that are no JSON, from whichever provider; they are no outage. */

import { expect, test } from "vitest";
import { isTooDeep, MAX_NESTING } from "../../../src/engine/model/deep-arguments.ts";
import {
  type Answer,
  anthropicAnswer,
  anthropicCall,
  chatAnswer,
  modelAt,
  never,
  request,
  responsesAnswer,
  startProvider,
} from "./provider-server.ts";

const nested = (depth: number) => `{"content":${"[".repeat(depth)}${"]".repeat(depth)}}`;
const DEEP = nested(20_000);

/** Gemini sends arguments as an object, which no test could write by way of JSON.stringify. */
const gemini: Answer = (response) => {
  response.writeHead(200, { "content-type": "text/event-stream" });
  const call = `{"functionCall":{"name":"SendMessage","args":${DEEP}}}`;
  const content = `{"role":"model","parts":[${call}]}`;
  response.end(`data: {"candidates":[{"content":${content},"finishReason":"STOP","index":0}]}\n\n`);
};

test("google: the client itself cannot read them, and the model finds in its place what was wrong", async () => {
  const provider = await startProvider(gemini);
  const reply = await modelAt(provider.url, "google").step(request(), never);
  expect(reply).toMatchObject({ ok: true, calls: [], text: expect.stringContaining("nested too deep") });
});

test.each<["anthropic" | "openai" | "openai-compatible", Answer]>([
  ["anthropic", anthropicAnswer([anthropicCall("toolu_1", "SendMessage", DEEP)], "tool_use")],
  [
    "openai",
    responsesAnswer([
      {
        type: "function_call",
        id: "fc_1",
        call_id: "call_1",
        name: "SendMessage",
        arguments: DEEP,
        status: "completed",
      },
    ]),
  ],
  ["openai-compatible", chatAnswer("", [{ id: "call_1", name: "SendMessage", raw: DEEP }])],
])("%s: the call comes back with what it said, marked as unreadable", async (kind, answer) => {
  const provider = await startProvider(answer);
  const reply = await modelAt(provider.url, kind).step(request(), never);
  expect(reply).toMatchObject({ ok: true, calls: [{ name: "SendMessage", args: {} }] });
  const [call] = reply.ok ? reply.calls : [];
  expect(isTooDeep(call?.invalid ?? "")).toBe(true);
  expect(call?.invalid?.length).toBeLessThan(1000);
});

test.each([
  ["as deep as allowed", nested(MAX_NESTING - 1), false],
  ["one level deeper", nested(MAX_NESTING), true],
  ["wide but flat", `{"a":[${"[],".repeat(5000)}[]]}`, false],
  ["brackets inside a text", JSON.stringify({ a: '[{"\\'.repeat(5000) }), false],
  ["no JSON at all", "]".repeat(500), false],
])("%s", (_what, json, tooDeep) => {
  expect(isTooDeep(json)).toBe(tooDeep);
});
