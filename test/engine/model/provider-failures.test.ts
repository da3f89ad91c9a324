/** Failures of providers as the engine sees them: typed values, quickly, without keys. */

import { expect, test } from "vitest";
import type { ModelReply } from "../../../src/engine/model/model.ts";
import { readProviderError } from "../../../src/engine/model/provider-errors.ts";
import {
  type Answer,
  anthropicAnswer,
  chatAnswer,
  geminiAnswer,
  hang,
  modelAt,
  never,
  request,
  sse,
  startProvider,
  status,
} from "./provider-server.ts";

function failed(reply: ModelReply) {
  if (reply.ok) throw new Error("expected a failure");
  return reply;
}

const anthropicError = (type: string, message: string) => ({ type: "error", error: { type, message } });
const openaiError = (message: string, code: string | null = null, type = "invalid_request_error") => ({
  error: { message, type, code, param: null },
});
const googleError = (code: number, message: string, details: unknown[] = []) => ({
  error: { code, message, status: "X", details },
});

const TABLE: readonly (readonly [
  "anthropic" | "openai" | "google" | "xai" | "openai-compatible",
  string,
  Answer,
  string,
  number?,
])[] = [
  [
    "anthropic",
    "429 with seconds",
    status(429, anthropicError("rate_limit_error", "slow down"), { "retry-after": "7" }),
    "rate-limited",
    7000,
  ],
  ["anthropic", "529", status(529, anthropicError("overloaded_error", "Overloaded")), "unavailable"],
  ["anthropic", "401", status(401, anthropicError("authentication_error", "invalid x-api-key")), "auth"],
  [
    "anthropic",
    "prompt too long",
    status(400, anthropicError("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")),
    "context-overflow",
  ],
  [
    "anthropic",
    "413",
    status(413, anthropicError("request_too_large", "Request exceeds the maximum size")),
    "context-overflow",
  ],
  [
    "anthropic",
    "no credit",
    status(400, anthropicError("invalid_request_error", "Your credit balance is too low")),
    "auth",
  ],
  ["anthropic", "unknown model", status(404, anthropicError("not_found_error", "model: claude-x")), "bad-request"],
  ["anthropic", "refusal", anthropicAnswer([], "refusal"), "refused"],
  [
    "anthropic",
    "overloaded inside the stream",
    sse([{ type: "error", error: { type: "overloaded_error", message: "Overloaded" } }], true),
    "unavailable",
  ],
  [
    "openai",
    "429 with milliseconds",
    status(429, openaiError("limit", "rate_limit_exceeded"), { "retry-after-ms": "1500" }),
    "rate-limited",
    1500,
  ],
  [
    "openai",
    "quota used up",
    status(429, openaiError("You exceeded your current quota", "insufficient_quota")),
    "auth",
  ],
  ["openai", "context length", status(400, openaiError("too long", "context_length_exceeded")), "context-overflow"],
  ["openai", "content policy", status(400, openaiError("flagged", "content_policy_violation")), "refused"],
  ["openai", "500", status(500, openaiError("oops", null, "server_error")), "unavailable"],
  [
    "google",
    "429 with a delay in the body",
    status(429, googleError(429, "Resource has been exhausted", [{ retryDelay: "34s" }])),
    "rate-limited",
    34_000,
  ],
  ["google", "bad key", status(400, googleError(400, "API key not valid. Please pass a valid API key.")), "auth"],
  [
    "google",
    "token count",
    status(
      400,
      googleError(400, "The input token count (2000000) exceeds the maximum number of tokens allowed (1048576)."),
    ),
    "context-overflow",
  ],
  ["google", "503", status(503, googleError(503, "The model is overloaded.")), "unavailable"],
  ["google", "safety", geminiAnswer([], "SAFETY"), "refused"],
  [
    "xai",
    "prompt length",
    status(400, { error: "This model's maximum prompt length is 131072 but the request contains 140000 tokens." }),
    "context-overflow",
  ],
  ["openai-compatible", "402", status(402, openaiError("pay first")), "auth"],
  ["openai-compatible", "403", status(403, openaiError("forbidden")), "auth"],
  ["openai-compatible", "408", status(408, openaiError("slow")), "timeout"],
  ["openai-compatible", "HTML from a proxy", status(502, "<html>Bad gateway</html>"), "unavailable"],
  ["openai-compatible", "an answer that is not a stream of answers", sse([{ nonsense: true }]), "unavailable"],
  [
    "openai-compatible",
    "an error inside the stream",
    sse([{ error: { message: "Rate limit reached", type: "requests", code: "rate_limit" } }]),
    "rate-limited",
  ],
  ["openai-compatible", "content filter", chatAnswer("", [], "content_filter"), "refused"],
  ["openai-compatible", "a wrong field", status(422, openaiError("messages[0] is bad")), "bad-request"],
];

for (const [kind, what, answer, problem, retryAfterMs] of TABLE) {
  test(`${kind}: ${what} → ${problem}`, async () => {
    const server = await startProvider(answer);
    const reply = failed(await modelAt(server.url, kind).step(request(), never));
    expect([reply.problem, reply.retryAfterMs]).toEqual([problem, retryAfterMs]);
    expect(reply.text).toMatch(new RegExp(`^${kind}/`));
    expect(server.seen).toHaveLength(1);
  });
}

test("a connection that breaks in the middle is unavailable", async () => {
  const server = await startProvider((response) => {
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(
      'data: {"id":"c","object":"chat.completion.chunk","created":1,"model":"m","choices":[{"index":0,"delta":{"content":"ha"},"finish_reason":null}]}\n\n',
    );
    setImmediate(() => response.destroy());
  });
  expect(failed(await modelAt(server.url, "openai-compatible").step(request(), never)).problem).toBe("unavailable");
});

test("a stream that ends without a finish is unavailable", async () => {
  const server = await startProvider(
    sse([
      {
        id: "c",
        object: "chat.completion.chunk",
        created: 1,
        model: "m",
        choices: [{ index: 0, delta: { content: "ha" }, finish_reason: null }],
      },
    ]),
  );
  expect(failed(await modelAt(server.url, "openai-compatible").step(request(), never)).problem).toBe("unavailable");
});

test("nobody listening is unavailable", async () => {
  expect(failed(await modelAt("http://127.0.0.1:1/v1", "openai-compatible").step(request(), never)).problem).toBe(
    "unavailable",
  );
});

test("a provider that hangs is a timeout", async () => {
  const server = await startProvider(hang);
  const reply = failed(await modelAt(server.url, "openai-compatible", { modelMs: 150 }).step(request(), never));
  expect(reply.problem).toBe("timeout");
});

test("a stop settles the step within 100 ms and closes the connection", async () => {
  let onClose: () => void = () => undefined;
  const connectionClosed = new Promise<void>((resolve) => {
    onClose = resolve;
  });
  let onArrive: () => void = () => undefined;
  const arrived = new Promise<void>((resolve) => {
    onArrive = resolve;
  });
  const server = await startProvider((response) => {
    response.on("close", onClose);
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.write(": waiting\n\n");
    onArrive();
  });
  const stop = new AbortController();
  const step = modelAt(server.url, "openai-compatible").step(request(), stop.signal);
  await arrived;
  stop.abort(new Error("a reason of our own"));
  expect(failed(await step).problem).toBe("aborted");
  await connectionClosed;
});

test("a stop before the step sends nothing", async () => {
  const server = await startProvider(hang);
  const reply = failed(await modelAt(server.url, "openai-compatible").step(request(), AbortSignal.abort()));
  expect([reply.problem, server.seen.length]).toEqual(["aborted", 0]);
});

test("the text says what to check and never holds the key", async () => {
  const server = await startProvider(
    status(
      401,
      openaiError("Incorrect API key provided: sk-test-1234567890. Bearer sk-test-1234567890", "invalid_api_key"),
    ),
  );
  const { text } = failed(await modelAt(server.url, "openai-compatible").step(request(), never));
  expect(text).toContain("Check TEST_KEY");
  expect(text).not.toContain("1234567890");
});

test("retry-after may be a date", () => {
  const now = Date.parse("2026-01-01T00:00:00Z");
  const error = {
    statusCode: 429,
    message: "slow",
    responseHeaders: { "Retry-After": "Thu, 01 Jan 2026 00:00:09 GMT" },
  };
  expect(readProviderError(error, { model: "m/x", now }).retryAfterMs).toBe(9000);
});

for (const odd of [undefined, null, "boom", 7, new Error("x"), { error: null }]) {
  test(`whatever is thrown is classified: ${String(odd)}`, () => {
    expect(readProviderError(odd, { model: "m/x", now: 0 }).problem).toBe("unavailable");
  });
}
