/** How names become models, and what a missing setting says. */

import { expect, test } from "vitest";
import { createSystemClock } from "../../../src/engine/clock.ts";
import type { Log } from "../../../src/engine/log.ts";
import { createModels, type ModelsOptions } from "../../../src/engine/model/models.ts";
import { chatAnswer, never, request, startProvider, status } from "./provider-server.ts";

function models(more: Partial<ModelsOptions> = {}) {
  const lines: object[] = [];
  const log: Log = {
    debug: () => undefined,
    info: () => undefined,
    warn: (fields) => void lines.push(fields),
    error: () => undefined,
    child: () => log,
  };
  const found = createModels({
    providers: {},
    keys: {},
    defaultModel: "demo",
    fallbackModels: [],
    readImage: async () => null,
    clock: createSystemClock(),
    log,
    modelMs: 5000,
    demoFiles: { images: [], document: { url: "file:///notes.md", alt: "" } },
    ...more,
  });
  return { ...found, lines };
}

test("the first slash splits provider and model; the model may hold more", async () => {
  const server = await startProvider(chatAnswer("ok"));
  const found = models({
    providers: { local: { kind: "openai-compatible", baseURL: server.url, contextWindow: 9000 } },
  });
  const model = found.get("local/org/qwen3:8b");
  expect(await model.step(request(), never)).toMatchObject({ ok: true, model: "local/org/qwen3:8b" });
  expect(server.seen[0]?.at("model")).toBe("org/qwen3:8b");
  expect(server.seen[0]?.headers.authorization).toBeUndefined();
  expect([model.name, model.contextWindow]).toEqual(["local/org/qwen3:8b", 9000]);
});

test("an empty name is the default model, and demo needs no key", async () => {
  expect(models().get("").name).toBe("demo");
  expect(await models().get("demo").step(request(), never)).toMatchObject({ ok: true, model: "demo" });
});

test("the same name gives the same model", () => {
  const found = models();
  expect(found.get("openai/gpt-5")).toBe(found.get("openai/gpt-5"));
});

for (const [name, words] of [
  ["anthropic/claude-sonnet-5", "set ANTHROPIC_API_KEY"],
  ["openai/gpt-5", "set OPENAI_API_KEY"],
  ["google/gemini-3-pro", "set GOOGLE_GENERATIVE_AI_API_KEY"],
  ["xai/grok-4", "set XAI_API_KEY"],
  ["nowhere/x", 'no provider "nowhere"'],
  ["constructor/x", 'no provider "constructor"'],
  ["qwen3", "provider/model"],
  ["/x", "provider/model"],
  ["openai/", "provider/model"],
  ["bare/x", "set providers.bare.baseURL"],
] as const) {
  test(`${name} answers not-configured and says what to do`, async () => {
    const reply = await models({ providers: { bare: { kind: "openai-compatible" } } })
      .get(name)
      .step(request(), never);
    expect(reply).toMatchObject({ ok: false, problem: "not-configured", text: expect.stringContaining(words) });
  });
}

test("a provider of the settings may replace the address of a built-in one and keep its usual key", async () => {
  const server = await startProvider(status(401, { error: { message: "no" } }));
  const found = models({
    providers: { openai: { kind: "openai", baseURL: server.url } },
    keys: { openai: "sk-usual-key" },
  });
  await found.get("openai/gpt-5").step(request(), never);
  expect(server.seen[0]?.headers.authorization).toBe("Bearer sk-usual-key");
});

test("the usual key of a provider is not sent to an address of another kind", async () => {
  const server = await startProvider(chatAnswer("ok"));
  const found = models({
    providers: { openai: { kind: "openai-compatible", baseURL: server.url } },
    keys: { openai: "sk-usual-key" },
  });
  await found.get("openai/gpt-5").step(request(), never);
  expect(server.seen[0]?.headers.authorization).toBeUndefined();
});

test("a failing model falls back, and each failed attempt is logged without content", async () => {
  const broken = await startProvider(status(401, { error: { message: "bad key" } }));
  const spare = await startProvider(chatAnswer("spare"));
  const found = models({
    providers: {
      a: { kind: "openai-compatible", baseURL: broken.url },
      b: { kind: "openai-compatible", baseURL: spare.url },
    },
    fallbackModels: ["a/one", "b/two"],
  });
  expect(await found.get("a/one").step(request(), never)).toMatchObject({ ok: true, model: "b/two", text: "spare" });
  expect(broken.seen).toHaveLength(1);
  expect(found.lines).toMatchObject([{ model: "a/one", problem: "auth", next: "next-model" }]);
  expect(JSON.stringify(found.lines)).not.toContain("hello");
});

test("known windows are used where the settings give none", () => {
  const found = models({ keys: { anthropic: "k", openai: "k", google: "k", xai: "k" } });
  const windows = [
    "anthropic/claude-sonnet-5",
    "openai/gpt-5",
    "openai/gpt-4o",
    "google/gemini-3-pro",
    "xai/grok-4",
  ].map((name) => found.get(name).contextWindow);
  expect(windows).toEqual([200_000, 272_000, 128_000, 1_000_000, 256_000]);
});
