/** Posting to Discord: once, in order, in place, and quiet. */

import { expect, test } from "vitest";
import type { CardContent } from "../../src/adapters/discord/render.ts";
import type { BubbleContent, Piece, Place } from "../../src/engine/index.ts";
import { bubble, deliver, noProgress, pieces, waitUntil } from "./deliveries.ts";
import { type DiscordWorld, openDiscordWorld } from "./discord-world.ts";

const MESSAGES = "POST /channels/:id/messages";
const text = (content: string): BubbleContent => ({ type: "text", content, images: [] });
const here = (world: DiscordWorld, more: Partial<Place> = {}): Place => ({
  ...world.placeIn({ kind: "channel", channelId: world.general.id }),
  ...more,
});
const texts = (world: DiscordWorld) => world.discord.posts(world.general).map((post) => post.text);
const only = (world: DiscordWorld, content: BubbleContent, place = here(world)): Piece => {
  const [piece] = pieces(world, bubble("e1", content), place);
  if (!piece) throw new Error("nothing was rendered");
  return piece;
};

test("what a model writes pings nobody, in a post, in a card, and when a card is redrawn", async () => {
  const world = await openDiscordWorld();
  const { discord, bob, ada } = world;
  const loud = `@everyone @here ${discord.mention(bob)} ${discord.mention(discord.roleOf(ada))}`;
  await deliver(world, bubble("e1", text(loud)), here(world));
  const widget: BubbleContent = {
    type: "widget",
    widget: {
      prompt: loud,
      helpText: loud,
      options: [{ label: loud.slice(0, 30), value: "a", style: "default" }],
      allowCustom: true,
      dismissOnMoveOn: false,
    },
  };
  const card = bubble("e2", widget, "c2");
  const receipts = await deliver(world, card, here(world));
  await deliver(
    world,
    bubble("e3", { type: "attachment", file: { ...world.file("n.txt", "text/plain", "x"), alt: loud } }),
    here(world),
  );
  const outcome = { cardId: "c2", state: "answered", answer: { values: [], labels: [loud] }, byName: loud } as const;
  await world.adapter.settle(card, here(world), receipts, outcome);
  for (const post of discord.posts(world.general)) expect(post.notified, post.text).toEqual([]);
  const writes = discord.requests.filter((request) => /^(POST|PATCH) \/channels\/:id\/messages/.test(request.route));
  for (const write of writes) expect(write.body).toHaveProperty("allowed_mentions.parse", []);
  await world.close();
});

test("a person the host allows is pinged by name, once and by id", async () => {
  const world = await openDiscordWorld();
  const { alice } = world;
  const person = { id: `discord:@me:${alice.id}`, platformId: alice.id, name: "Alice", kind: "member" } as const;
  const delivery = { ...bubble("e1", text("@Alice look")), mentionable: [person] };
  await deliver(world, delivery, here(world));
  expect(world.discord.posts(world.general)[0]?.pings.users.map((user) => user.name)).toEqual(["Alice"]);
  await world.close();
});

test("pieces go in order, and a failure in the middle is resumed where it was", async () => {
  const world = await openDiscordWorld();
  const long = Array.from({ length: 5 }, (_, index) => `part ${index} ${"word ".repeat(370)}`).join("\n\n");
  const all = pieces(world, bubble("e1", text(long)), here(world));
  expect(all.length).toBeGreaterThanOrEqual(5);
  for (const [index, piece] of all.entries()) {
    if (index === 2) {
      world.discord.fail(MESSAGES, { rateLimit: 0.5 });
      world.discord.fail(MESSAGES, { status: 500 });
      await expect(world.adapter.deliver(piece, noProgress)).rejects.toMatchObject({ problem: "wait" });
      await new Promise((resolve) => setTimeout(resolve, 1100));
      await expect(world.adapter.deliver(piece, noProgress)).rejects.toMatchObject({ problem: "unknown" });
      expect(await world.adapter.find({ ...piece, attempts: 2, attemptedAt: new Date() })).toBeNull();
    }
    await world.adapter.deliver(piece, noProgress);
  }
  const shown = texts(world);
  expect(shown).toHaveLength(all.length);
  for (let index = 0; index < 5; index += 1) expect(shown.join("\n").split(`part ${index} `).length).toBe(2);
  expect(shown.join("\n").indexOf("part 1")).toBeLessThan(shown.join("\n").indexOf("part 4"));
  await world.close();
});

test.each([
  ["the connection broke", { acceptThen: "drop" }],
  ["the server answered 503", { acceptThen: 503 }],
  ["the answer was cut", { malformed: true }],
] as const)("a post that landed though %s is not made twice", async (_title, fault) => {
  const world = await openDiscordWorld();
  const piece = only(world, text("Only once"));
  world.discord.fail(MESSAGES, fault);
  await expect(world.adapter.deliver(piece, noProgress)).rejects.toMatchObject({ problem: "unknown" });
  const again = { ...piece, attempts: 1, attemptedAt: new Date() };
  const found = await world.adapter.find(again);
  // Even a sender that does not look first makes no second message.
  const repeated = await world.adapter.deliver(again, noProgress);
  expect(found?.nativeId).toBe(repeated.nativeId);
  expect(texts(world)).toEqual(["Only once"]);
  await world.close();
});

test("a lost answer is found in history by another process as well", async () => {
  const world = await openDiscordWorld();
  const piece = only(world, text("Only once"));
  world.discord.fail(MESSAGES, { acceptThen: "drop" });
  await expect(world.adapter.deliver(piece, noProgress)).rejects.toMatchObject({ problem: "unknown" });
  const adapter = await world.restart();
  expect((await adapter.find({ ...piece, attempts: 1, attemptedAt: new Date() }))?.nativeId).toBeDefined();
  await world.close();
});

test("the first message of an answer shows what it answers, the others do not", async () => {
  const world = await openDiscordWorld();
  const asked = world.discord.say(world.alice, world.general, "question");
  await deliver(world, bubble("e1", text(`${"word ".repeat(700)}`)), here(world, { nativeReplyTo: asked.id }));
  const shown = world.discord.posts(world.general);
  expect(shown.map((post) => post.replyTo)).toEqual([asked.id, null]);
  expect(shown[0]?.notified).toEqual([]);
  await world.close();
});

test("an answer to a message that was deleted is said without the reply", async () => {
  const world = await openDiscordWorld();
  const asked = world.discord.say(world.alice, world.general, "question");
  world.discord.erase(asked);
  await deliver(world, bubble("e1", text(`${"word ".repeat(700)}`)), here(world, { nativeReplyTo: asked.id }));
  expect(world.discord.posts(world.general)).toHaveLength(2);
  await world.close();
});

test("an answer to a notice of Discord, which cannot be replied to, is said without the reply", async () => {
  const world = await openDiscordWorld();
  const place = here(world, { nativeReplyTo: world.discord.say(world.alice, world.general, "q").id });
  world.discord.fail(MESSAGES, { error: { status: 403, code: 160_002 } });
  await deliver(world, bubble("e1", text("answer")), place);
  expect(texts(world)).toEqual(["answer"]);
  await world.close();
});

test("in a place without permission the bot tries once, then waits for a change", async () => {
  const world = await openDiscordWorld();
  world.discord.permit(world.general, world.ada, { deny: ["SendMessages"] });
  const piece = only(world, text("hello"));
  await expect(world.adapter.deliver(piece, noProgress)).rejects.toMatchObject({ problem: "place" });
  const before = world.discord.calls(MESSAGES).length;
  await expect(world.adapter.deliver(piece, noProgress)).rejects.toThrow("Send Messages");
  await world.adapter.showWorking?.(here(world), true);
  expect(world.discord.calls(MESSAGES)).toHaveLength(before);
  expect(world.discord.typings).toEqual([]);
  world.discord.permit(world.general, world.ada, { allow: ["SendMessages"] });
  await waitUntil(
    async () => (await world.adapter.deliver(piece, noProgress).catch(() => undefined)) !== undefined,
    "the post",
  );
  await world.close();
});

test("somebody who takes no direct messages: the text says what to do instead", async () => {
  const world = await openDiscordWorld();
  const shy = world.discord.addPerson("Shy", { dms: "closed" });
  const place = world.placeIn({ kind: "direct", channelId: world.discord.dmChannel(shy, world.ada).id });
  await expect(world.adapter.deliver(only(world, text("hi"), place), noProgress)).rejects.toThrow(
    /does not take direct messages.*channel/,
  );
  await world.close();
});

test("a rate limit is handed back at once instead of being slept through", async () => {
  const world = await openDiscordWorld();
  world.discord.fail(MESSAGES, { rateLimit: 30 });
  const began = Date.now();
  await expect(world.adapter.deliver(only(world, text("x")), noProgress)).rejects.toMatchObject({ problem: "wait" });
  expect(Date.now() - began).toBeLessThan(5000);
  await world.close();
});

test("typing is shown while working, never after the answer", async () => {
  const world = await openDiscordWorld();
  await world.adapter.showWorking?.(here(world), true);
  await waitUntil(() => world.discord.isTyping(world.ada, world.general), "typing");
  await deliver(world, bubble("e1", text("the answer")), here(world));
  const shown = world.discord.typings.length;
  await world.discord.settle(300);
  expect(world.discord.typings).toHaveLength(shown);
  expect(world.discord.isTyping(world.ada, world.general)).toBe(false);
  await world.close();
});

test("where answers go into threads, the first one opens it and the next use it", async () => {
  const world = await openDiscordWorld();
  const asked = world.discord.say(world.alice, world.general, `${world.discord.mention(world.ada)} plan the trip`);
  const place = {
    ...world.placeIn({ kind: "thread", channelId: world.general.id, threadId: asked.id }),
    nativeReplyTo: asked.id,
  };
  await deliver(world, bubble("e1", text("one")), place);
  await deliver(world, bubble("e2", text("two")), place);
  const [thread, ...more] = world.discord.threads(world.general);
  if (!thread) throw new Error("no thread");
  expect([thread.id, thread.name, more.length]).toEqual([asked.id, "plan the trip", 0]);
  expect(world.discord.posts(thread).map((post) => post.text)).toEqual(["one", "two"]);
  expect(world.discord.refusals.filter((one) => one.status !== 404)).toEqual([]);
  await world.close();
});

test("a thread that somebody else opened meanwhile is used", async () => {
  const world = await openDiscordWorld();
  const asked = world.discord.say(world.alice, world.general, "question");
  const place = world.placeIn({ kind: "thread", channelId: world.general.id, threadId: asked.id });
  world.discord.fail("GET /channels/:id", { error: { status: 404, code: 10_003 } });
  world.discord.startThread(world.bob, world.general, "mine", { on: asked });
  await deliver(world, bubble("e1", text("inside")), place);
  expect(world.discord.threads(world.general)).toHaveLength(1);
  await world.close();
});

test("a question of 3,500 CJK signs is shown whole, and its controls work", async () => {
  const world = await openDiscordWorld();
  const prompt = "漢".repeat(2900);
  const widget: BubbleContent = {
    type: "widget",
    widget: {
      prompt: `${prompt} ${"字".repeat(600)}`,
      options: [{ label: "Yes", value: "yes", style: "default" }],
      allowCustom: false,
      dismissOnMoveOn: false,
    },
  };
  await deliver(world, bubble("e1", widget, "c1"), here(world));
  const shown = world.discord.posts(world.general);
  expect([...texts(world).join("").matchAll(/漢/g)]).toHaveLength(2900);
  expect([...texts(world).join("").matchAll(/字/g)]).toHaveLength(600);
  expect(shown.at(-1)?.controls.map((control) => control.label)).toEqual(["Yes"]);
  expect(world.discord.refusals).toEqual([]);
  await world.close();
});

test("a card that Discord fails on is sent in plain form by the next attempt, and frozen in it", async () => {
  const world = await openDiscordWorld();
  const content: BubbleContent = {
    type: "widget",
    widget: {
      prompt: "Which?",
      options: [{ label: "Yes", value: "yes", style: "default" }],
      allowCustom: false,
      dismissOnMoveOn: false,
    },
  };
  const delivery = bubble("e1", content, "c1");
  const [piece] = pieces(world, delivery, here(world));
  if (!piece) throw new Error("nothing was rendered");
  world.discord.fail(
    MESSAGES,
    { status: 500 },
    { times: 100, when: (request) => JSON.stringify(request.body).includes('"type":17') },
  );
  let progress: unknown = null;
  const save = (next: unknown) => {
    progress = next;
    return Promise.resolve();
  };
  await expect(world.adapter.deliver(piece, save)).rejects.toMatchObject({ problem: "unknown" });
  const receipt = await world.adapter.deliver({ ...piece, progress, attempts: 1 }, save);
  expect(world.discord.posts(world.general)[0]).toMatchObject({ isV2: false, content: "Which?" });
  const outcome = {
    cardId: "c1",
    state: "answered",
    answer: { values: ["yes"], labels: ["Yes"] },
    byName: "Alice",
  } as const;
  await world.adapter.settle(delivery, here(world), [receipt], outcome);
  const settled = world.discord.posts(world.general)[0];
  expect(settled?.controls).toEqual([]);
  expect(settled?.text).toContain("Yes (answered by Alice)");
  expect((piece.content as CardContent).kind).toBe("card");
  await world.close();
});
