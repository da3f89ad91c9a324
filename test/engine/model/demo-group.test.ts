/** The demo model as a member of a Group: what a person sees in the playground's #general. */
import { expect, test } from "vitest";
import { createSystemClock } from "../../../src/engine/clock.ts";
import { groupReminder } from "../../../src/engine/context/group-input.ts";
import { reminder } from "../../../src/engine/context/reminders.ts";
import { createDemoModel } from "../../../src/engine/model/demo-model.ts";
import type { ModelMessage } from "../../../src/engine/model/model.ts";

const ROSTER = ["Ada", "Bo"].map((name) => ({ botId: name.toLowerCase(), name }));
const NOBODY = new AbortController().signal;

/** The next bubble of this member, or undefined when it passes. */
async function next(name: string, messages: readonly ModelMessage[]): Promise<string | undefined> {
  const model = createDemoModel({ files: { images: [], document: { url: "", alt: "" } }, clock: createSystemClock() });
  const tools = [{ name: "SendMessage", description: "", schema: {} }];
  const system = `You are ${name}, a teammate who lives in this team's chat.\n\nYour duties: Keeps notes.`;
  const reply = await model.step({ system, messages, tools }, NOBODY);
  return reply.ok ? (reply.calls[0]?.args as { content?: string } | undefined)?.content : undefined;
}

const turn = (words: string, botId: string, named = false): ModelMessage => {
  const place = { roster: ROSTER, round: 1, maxRounds: 3, maxPerTurn: 2, named, askedBy: "Alice", steered: false };
  return {
    role: "user",
    text: `[t1u] Alice (web:local:u1): ${words}\n\n${reminder(groupReminder(place, botId, true))}`,
  };
};
const spoke = (text: string): readonly ModelMessage[] => [
  { role: "assistant", text: "", calls: [{ id: "1", name: "SendMessage", args: { type: "text", content: text } }] },
  { role: "tool", results: [{ callId: "1", name: "SendMessage", text: "delivered: t1s1", ok: true }] },
];

test("the first of the Group answers for all", async () => {
  expect(await next("Ada", [turn("hello", "ada")])).toContain("Hello Alice");
});

test("another introduces itself in one message and then passes", async () => {
  const first = turn("hello", "bo");
  expect(await next("Bo", [first])).toContain("I am **Bo**: Keeps notes");
  expect(await next("Bo", [first, ...spoke("I am Bo")])).toBeUndefined();
  expect(await next("Bo", [first, ...spoke("I am Bo"), turn("anything else?", "bo")])).toBeUndefined();
});

test("one that is named answers", async () => {
  expect(await next("Bo", [turn("@Bo are you a demo?", "bo", true)])).toContain("demo model");
});

test("one that has introduced itself answers again when everybody is asked", async () => {
  const asked = turn("@everyone are you a demo?", "bo");
  expect(await next("Bo", [turn("hello", "bo"), ...spoke("I am Bo"), asked])).toContain("demo model");
});

test("a turn in which nobody wrote anything new is passed", async () => {
  const later: ModelMessage = {
    role: "user",
    text: `[t1s2] Bo (bo): I am Bo\n\n${reminder(groupReminder({ roster: ROSTER, round: 2, maxRounds: 3, maxPerTurn: 2, named: false, askedBy: "Alice", steered: false }, "ada", true))}`,
  };
  const spokenTwice = [...spoke("Hello"), ...spoke("menu")];
  expect(await next("Ada", [turn("hello", "ada"), ...spokenTwice, later])).toBeUndefined();
});

test("what the Group's limits refuse is not argued about", async () => {
  const refused: readonly ModelMessage[] = [
    { role: "assistant", text: "", calls: [{ id: "1", name: "SendMessage", args: {} }] },
    { role: "tool", results: [{ callId: "1", name: "SendMessage", text: "Not sent: limit", ok: false }] },
  ];
  expect(await next("Ada", [turn("show progress", "ada"), ...refused])).toBeUndefined();
});
