/** Whom a server's question reaches, and what comes of it. */
import { expect, test } from "vitest";
import type { PersonReply, ToolContext } from "../../../src/engine/index.ts";
import type { Flight } from "../../../src/tools/mcp/connection-call.ts";
import { elicit } from "../../../src/tools/mcp/elicitation.ts";

function flightOf(sessionId: string, outcome: PersonReply["outcome"] = "declined") {
  const asked: unknown[] = [];
  const context = {
    ...{ sessionId, conversationKey: "one place", bot: { name: "Ada" } },
    askPerson: async (question: unknown) => {
      asked.push(question);
      return outcome === "answered" ? { outcome, answer: { values: ["accept"], labels: ["Accept"] } } : { outcome };
    },
  } as unknown as ToolContext;
  const flight: Flight = { context, connector: "it", asking: 0 };
  return { flight, asked };
}
const consent = { message: "Delete it all?", requestedSchema: { type: "object", properties: {} } };
const { signal } = new AbortController();

test("with calls of two bots in one place under way nobody is asked, for it could be the wrong person", async () => {
  const [one, two] = [flightOf("s1"), flightOf("s2")];
  expect(await elicit([one.flight, two.flight], consent, signal)).toEqual({ action: "cancel" });
  expect([...one.asked, ...two.asked]).toEqual([]);
});

test.each([
  ["answered", { action: "accept", content: {} }],
  ["declined", { action: "decline" }],
  ["cancelled", { action: "cancel" }],
] as const)("a question without fields that is %s is just that", async (outcome, expected) => {
  const { flight, asked } = flightOf("s1", outcome);
  expect(await elicit([flight], consent, signal)).toEqual(expected);
  expect(asked).toHaveLength(1);
});

test.each([
  ["no address of the web", { mode: "url", message: "m", url: "javascript:alert(1)" }],
  [
    "too many fields",
    {
      message: "m",
      requestedSchema: { properties: Object.fromEntries(Array.from({ length: 16 }, (_, i) => [`f${i}`, {}])) },
    },
  ],
  ["no question", { nothing: true }],
])("%s is not put before anybody", async (_what, params) => {
  const { flight, asked } = flightOf("s1", "answered");
  expect(await elicit([flight], params, signal)).toEqual({ action: "cancel" });
  expect(asked).toEqual([]);
});
