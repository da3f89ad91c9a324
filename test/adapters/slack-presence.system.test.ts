/** Signs that a bot works, reactions both ways, greetings and slash commands, on an emulated Slack. */

import { expect, test } from "vitest";
import { toShortName } from "../../src/adapters/slack/gestures.ts";
import type { MessageEvent, ReactionEvent, StopEvent } from "../../src/engine/index.ts";
import { createMemoryKv } from "../support/memory-kv.ts";
import { bubble, deliver, waitUntil } from "./deliveries.ts";
import { openSlackWorld, type SlackWorld, type SlackWorldOptions } from "./slack-world.ts";

function scene(title: string, run: (world: SlackWorld) => Promise<void>, options: SlackWorldOptions = {}): void {
  test(title, async () => {
    const world = await openSlackWorld(options);
    try {
      await run(world);
    } finally {
      await world.close();
    }
  });
}

const text = (content: string, entryId = "e1") => bubble(entryId, { type: "text", content, images: [] });
const hear = async (w: SlackWorld, words: string): Promise<MessageEvent> => {
  w.slack.say(w.alice, w.general, `${w.slack.mention(w.ada)} ${words}`);
  return w.message(words);
};
const sessions = (w: SlackWorld) =>
  w.slack.statuses.filter((line) => line.method === "agents.sessions.setStatus").map((line) => line.status);
const lines = (w: SlackWorld) => w.slack.calls("assistant.threads.setStatus").map(({ args }) => args.status);
const reactions = (w: SlackWorld) => w.received.filter((one): one is ReactionEvent => one.type === "reaction");

scene("work shows a line and a Stop button, and both end with it", async (w) => {
  const event = await hear(w, "think");
  const place = w.placeFor(event);
  await w.adapter.showWorking?.(place, true);
  expect(w.slack.status(w.ada, { channel: w.general, ts: event.platformId })).toBe("is thinking…");
  await waitUntil(() => sessions(w).length === 1, "a Stop button for work that lasts");
  expect(sessions(w)).toEqual(["processing"]);
  await w.adapter.showWorking?.(place, false);
  expect(w.slack.status(w.ada, { channel: w.general, ts: event.platformId })).toBe("");
  expect(sessions(w)).toEqual(["processing", "active"]);
});

scene("an end that overtakes a slow beginning is still the last word", async (w) => {
  const event = await hear(w, "quick");
  const place = w.placeFor(event);
  w.slack.fail("assistant.threads.setStatus", { delayMs: 300 });
  const begin = w.adapter.showWorking?.(place, true);
  const end = w.adapter.showWorking?.(place, false);
  await Promise.all([begin, end]);
  expect(w.slack.status(w.ada, { channel: w.general, ts: event.platformId })).toBe("");
  expect(sessions(w)).toEqual([]);
});

scene("a quick answer is one call: Slack takes the line away with the message", async (w) => {
  const event = await hear(w, "quick answer");
  const place = w.placeFor(event);
  await w.adapter.showWorking?.(place, true);
  await deliver(w, text("here"), place);
  await w.adapter.showWorking?.(place, false);
  expect(lines(w)).toEqual(["is thinking…"]);
  expect(sessions(w)).toEqual([]);
  expect(w.slack.status(w.ada, { channel: w.general, ts: event.platformId })).toBe("");
});

scene("work that goes on shows the line again only before Slack would take it away", async (w) => {
  const place = w.placeFor(await hear(w, "long work"));
  const again = () => w.adapter.showWorking?.(place, true);
  await again();
  w.later(45_000);
  await again();
  expect(lines(w)).toHaveLength(1);
  w.later(45_000);
  await again();
  expect(lines(w)).toHaveLength(2);
  await w.adapter.showWorking?.(place, false);
  expect(lines(w).at(-1)).toBe("");
});

scene("a bubble in the middle of the work takes the line away; it comes back, but not after the end", async (w) => {
  const event = await hear(w, "long work");
  const place = w.placeFor(event);
  const shown = () => w.slack.status(w.ada, { channel: w.general, ts: event.platformId });
  await w.adapter.showWorking?.(place, true);
  await deliver(w, text("halfway"), place);
  await waitUntil(() => shown() === "is thinking…", "the line again");
  await w.adapter.showWorking?.(place, false);
  await deliver(w, text("done", "e2"), place);
  await w.slack.settle(100);
  expect(shown()).toBe("");
});

scene("an app that is no agent has the line alone, and is not asked again", async (w) => {
  Object.assign(w.ada, { agent: false });
  const place = w.placeFor(await hear(w, "plain"));
  for (const _turn of [1, 2]) {
    const calls = w.slack.calls("agents.sessions.setStatus").length;
    await w.adapter.showWorking?.(place, true);
    if (calls === 0) await waitUntil(() => w.slack.calls("agents.sessions.setStatus").length === 1, "the one question");
    await w.adapter.showWorking?.(place, false);
  }
  expect(w.slack.calls("agents.sessions.setStatus")).toHaveLength(1);
  expect(lines(w)).toEqual(["is thinking…", "", "is thinking…", ""]);
});

scene("no failure of a status disturbs anybody", async (w) => {
  const place = w.placeFor(await hear(w, "unlucky"));
  w.slack.fail("assistant.threads.setStatus", { rateLimit: 5 });
  w.slack.fail("agents.sessions.setStatus", { status: 500 });
  await expect(w.adapter.showWorking?.(place, true)).resolves.toBeUndefined();
});

test("what a killed process left shown is cleared by the next one", async () => {
  const kv = createMemoryKv();
  const world = await openSlackWorld({ start: false });
  try {
    const context = { ...world.context, kv };
    const thread = world.slack.say(world.alice, world.general, "before the crash");
    await kv.set(`slack:working:${world.installation(world.ada)}:${world.general.id}:${thread.ts}`, { working: true });
    const settings = { botToken: world.ada.botToken, appToken: world.ada.appToken };
    await world.adapter.start({ botId: "ada", name: "Ada", role: "Tester", settings }, context);
    await waitUntil(() => sessions(world).includes("active"), "the session moved out of processing");
    await waitUntil(() => kv.keys().every((key) => !key.startsWith("slack:working:")), "no note left");
    expect(world.slack.calls("assistant.threads.setStatus").map(({ args }) => args.status)).toEqual([""]);
  } finally {
    await world.close();
  }
});

scene("the Stop button reaches the engine and ends the session at once", async (w) => {
  const event = await hear(w, "stop me");
  await w.adapter.showWorking?.(w.placeFor(event), true);
  await waitUntil(() => sessions(w).length === 1, "a Stop button");
  w.slack.pressStop(w.alice, w.ada, { channel: w.general, ts: event.platformId });
  const stop = await waitUntil(() => w.received.find((one): one is StopEvent => one.type === "stop"), "a stop");
  expect(stop).toMatchObject({ conversation: { kind: "thread", threadId: event.platformId }, from: { name: "Alice" } });
  await waitUntil(() => sessions(w).at(-1) === "active", "an ended session");
});

test("an app that does not listen to the Stop button says so in its health", async () => {
  const world = await openSlackWorld({ start: false });
  try {
    Object.assign(world.ada, { events: ["app_mention", "message.channels"] });
    await world.startBot(world.ada);
    await world.adapter.showWorking?.(world.placeFor(await hear(world, "show")), true);
    await waitUntil(() => sessions(world).length === 1, "the session in processing");
    await waitUntil(() => world.adapter.health()[0]?.remedy, "a remedy");
    expect(world.adapter.health()).toMatchObject([{ remedy: expect.stringContaining("agent_session_stopped") }]);
  } finally {
    await world.close();
  }
});

scene("a person's reaction to a bot's answer arrives in the thread it belongs to, once per happening", async (w) => {
  const event = await hear(w, "like this");
  const [receipt] = await deliver(w, text("an answer"), w.placeFor(event));
  w.slack.react(w.alice, { channel: w.general, ts: receipt?.nativeId ?? "" }, "tada");
  const [reaction] = await waitUntil(() => (reactions(w).length > 0 ? reactions(w) : undefined), "a reaction");
  expect(reaction).toMatchObject({
    platformId: receipt?.nativeId,
    emoji: "tada",
    change: "added",
    from: { name: "Alice", kind: "member" },
    conversation: { kind: "thread", threadId: event.platformId },
  });
});

scene("a reaction to what a person said at the top of a channel names the thread an answer would open", async (w) => {
  const event = await hear(w, "top");
  w.slack.react(w.bob, { channel: w.general, ts: event.platformId }, "+1");
  const [reaction] = await waitUntil(() => (reactions(w).length > 0 ? reactions(w) : undefined), "a reaction");
  expect(reaction).toMatchObject({ conversation: { kind: "channel" }, opensThread: event.platformId });
});

scene(
  "two bots hear one reaction with one key; their own reactions are nothing to them",
  async (w) => {
    const event = await hear(w, "both");
    await w.adapter.react?.(w.placeFor(event), event.platformId, "👀");
    w.slack.react(w.alice, { channel: w.general, ts: event.platformId }, "heart");
    await waitUntil(() => reactions(w).length === 2, "two copies");
    await w.slack.settle(100);
    expect(new Set(reactions(w).map((one) => one.dedupeKey)).size).toBe(1);
    expect(reactions(w).map((one) => one.emoji)).toEqual(["heart", "heart"]);
  },
  { bots: ["Ada", "Bo"] },
);

test.each([
  ["👍", "thumbsup"],
  ["👍🏽", "thumbsup::skin-tone-4"],
  ["❤️", "heart"],
  [":white_check_mark:", "white_check_mark"],
  ["+1", "+1"],
  ["Eyes", "eyes"],
  ["☑", "ballot_box_with_check"],
  ["🫥", undefined],
  ["two words", undefined],
  ["<!here>", undefined],
])("%s is the emoji %s", (emoji, name) => {
  expect(toShortName(emoji)).toBe(name);
});

scene("the first opening of a bot's direct messages brings a greeting and prompts, later ones nothing", async (w) => {
  for (let i = 0; i < 3; i += 1) w.slack.openHome(w.alice, w.ada);
  w.slack.openHome(w.alice, w.ada, "home");
  const greeting = await w.slack.waitForPost();
  expect(greeting.text).toContain("I am");
  await w.slack.settle(150);
  expect(w.slack.posts()).toHaveLength(1);
  expect(w.slack.calls("assistant.threads.setSuggestedPrompts")).toHaveLength(1);
  w.slack.openHome(w.bob, w.ada);
  await waitUntil(() => w.slack.posts().length === 2, "a greeting for the next person");
});

scene("guests and other companies' people are not greeted; a greeting that failed comes next time", async (w) => {
  const guest = w.slack.addPerson("Gus", { guest: true });
  w.slack.openHome(guest, w.ada);
  w.slack.fail("chat.postMessage", { error: "internal_error" }, { times: 0 });
  w.slack.fail("chat.postMessage", { rateLimit: 1 });
  w.slack.openHome(w.alice, w.ada);
  await w.slack.settle(200);
  expect(w.slack.posts()).toEqual([]);
  w.slack.openHome(w.alice, w.ada);
  await w.slack.waitForPost();
});
