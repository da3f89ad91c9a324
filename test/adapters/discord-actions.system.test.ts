/** Clicks, menus, forms and commands: answered at once, whatever else goes on. */

import { expect, test } from "vitest";
import type { AnswerEvent, BubbleContent, MessageEvent, Reception, WidgetOption } from "../../src/engine/index.ts";
import { bubble, deliver, retryCard, waitUntil } from "./deliveries.ts";
import { type DiscordWorld, openDiscordWorld } from "./discord-world.ts";

const option = (label: string, value = label.toLowerCase()): WidgetOption => ({ label, value, style: "default" });
const widget = (more: object = {}, options = [option("Blue"), option("Red")]): BubbleContent => ({
  type: "widget",
  widget: { prompt: "Which colour?", options, allowCustom: false, dismissOnMoveOn: false, ...more },
});

async function post(world: DiscordWorld, content: BubbleContent, cardId = "c1") {
  const place = world.placeIn({ kind: "channel", channelId: world.general.id });
  const receipts = await deliver(world, bubble(`e-${cardId}`, content, cardId), place);
  const id = receipts.at(-1)?.nativeId ?? "";
  const shown = world.discord.read({ channel: world.general, id });
  if (!shown) throw new Error("nothing was posted");
  return shown;
}

const answer = (world: DiscordWorld) =>
  waitUntil(() => world.received.find((one): one is AnswerEvent => one.type === "answer"), "the answer");

test("a click is an answer with the option's value, by the person who clicked, silently acknowledged", async () => {
  const world = await openDiscordWorld();
  const card = await post(world, widget());
  const done = await world.discord.press(world.alice, card, "Red");
  expect(done).toMatchObject({ acked: true, type: 6 });
  expect(await answer(world)).toMatchObject({ cardId: "c1", choices: ["red"], from: { name: "Alice" } });
  expect((await answer(world)).conversation).toMatchObject({ kind: "channel", channelId: world.general.id });
  await world.close();
});

test("many options are a menu, and several may be chosen within the limits", async () => {
  const world = await openDiscordWorld();
  const options = Array.from({ length: 25 }, (_, index) =>
    option(`Option ${index} ${"long ".repeat(25)}`, `value-${index}`),
  );
  const card = await post(world, widget({ multiple: { min: 1, max: 3 } }, options));
  expect(card.controls).toHaveLength(1);
  expect(card.controls[0]).toMatchObject({ kind: "select", min: 1, max: 3 });
  expect(card.controls[0]?.options).toHaveLength(25);
  await world.discord.choose(world.alice, card, ["value-3", "value-24"]);
  expect((await answer(world)).choices).toEqual(["value-3", "value-24"]);
  await world.close();
});

test("values Discord does not take, or takes for the same, come back whole", async () => {
  const world = await openDiscordWorld();
  const long = `v${"x".repeat(250)}`;
  const options = [...Array.from({ length: 11 }, (_, i) => option(`Option ${i}`)), option("Long", long)];
  const card = await post(world, widget({}, options));
  await world.discord.choose(world.alice, card, ["Long"]);
  expect((await answer(world)).choices).toEqual([long]);
  await world.close();
});

test("Other… opens a form at once, and its words are the answer", async () => {
  const world = await openDiscordWorld();
  const card = await post(world, widget({ allowCustom: true }));
  const opened = await world.discord.press(world.alice, card, "Other…");
  expect(opened.type).toBe(9);
  const sent = await world.discord.submit(world.alice, { Answer: "Something else" });
  expect(sent.acked).toBe(true);
  expect(await answer(world)).toMatchObject({ choices: [], text: "Something else", cardId: "c1" });
  await world.close();
});

test("a click works after a restart", async () => {
  const world = await openDiscordWorld();
  const card = await post(world, widget());
  await world.restart();
  await world.discord.press(world.alice, card, "Blue");
  expect((await answer(world)).choices).toEqual(["blue"]);
  await world.close();
});

test("a click is acknowledged within a second though storing takes long, and a late refusal is told privately", async () => {
  const world = await openDiscordWorld();
  const card = await post(world, widget());
  let release: (reception: Reception) => void = () => undefined;
  world.receiveWith(() => new Promise((resolve) => (release = resolve)));
  const done = await world.discord.press(world.bob, card, "Blue");
  expect(done.acked).toBe(true);
  expect(done.ms).toBeLessThan(1500);
  release({ status: "refused", reason: "Only Alice may answer this." });
  await world.discord.waitForNotice(world.bob, (notice) => notice.text.includes("Only Alice"));
  await world.close();
});

test("a click is acknowledged while the server is unavailable and messages pile up", async () => {
  const world = await openDiscordWorld();
  const card = await post(world, widget());
  world.receiveWith((event) =>
    event.type === "message" ? new Promise(() => undefined) : Promise.resolve({ status: "accepted" }),
  );
  for (let index = 0; index < 100; index += 1) world.discord.say(world.alice, world.general, `waiting ${index}`);
  world.discord.holdGuild(world.discord.guild, world.ada);
  const done = await world.discord.press(world.alice, card, "Blue");
  expect(done).toMatchObject({ acked: true, type: 6 });
  await world.close();
});

test("an answer that could not be stored says so, and can be tried again", async () => {
  const world = await openDiscordWorld();
  const card = await post(world, widget());
  world.receiveWith(() => Promise.reject(new Error("the database is away")));
  const done = await world.discord.press(world.alice, card, "Blue");
  expect(done.privately).toContain("try again");
  await world.close();
});

test("a second answer to the same interaction is no fault", async () => {
  const world = await openDiscordWorld();
  const card = await post(world, widget());
  world.discord.fail("POST /interactions/:id/:token/callback", { error: { status: 404, code: 10_062 } });
  world.discord.fail("POST /interactions/:token/callback", { error: { status: 404, code: 10_062 } });
  await world.discord.press(world.alice, card, "Blue");
  await answer(world);
  expect(world.logs.filter((line) => line.includes("could not be answered") && line.includes("10062"))).toEqual([]);
  await world.close();
});

test("a control nobody knows any more gets a reason, not silence", async () => {
  const world = await openDiscordWorld();
  const place = { channel: world.general.id };
  const made = await fetch(`${world.discord.apiUrl}/v10/channels/${place.channel}/messages`, {
    method: "POST",
    headers: {
      authorization: `Bot ${world.ada.token}`,
      "content-type": "application/json",
      "user-agent": "DiscordBot (https://parley.example, 1)",
    },
    body: JSON.stringify({
      content: "old",
      components: [{ type: 1, components: [{ type: 2, style: 1, label: "Old", custom_id: "something-else" }] }],
    }),
  });
  const { id } = (await made.json()) as { id: string };
  const done = await world.discord.press(world.alice, { channel: world.general, id }, "Old");
  expect(done.privately).toContain("nothing that is still open");
  await world.close();
});

test("clicks in direct messages and threads say where they were made", async () => {
  const world = await openDiscordWorld();
  const { discord, alice, ada, general } = world;
  const dm = discord.dmChannel(alice, ada);
  const direct = world.placeIn({ kind: "direct", channelId: dm.id });
  const [first] = await deliver(world, retryCard("e1", "c1"), direct);
  await discord.press(alice, { channel: dm, id: first?.nativeId ?? "" }, "Retry");
  expect(await answer(world)).toMatchObject({
    conversation: { kind: "direct", channelId: dm.id },
    from: { platformId: alice.id },
  });
  world.received.length = 0;
  const thread = discord.startThread(alice, general, "t", { on: discord.say(alice, general, "root") });
  const inThread = world.placeIn({ kind: "thread", channelId: general.id, threadId: thread.id });
  const [second] = await deliver(world, retryCard("e2", "c2"), inThread);
  await discord.press(alice, { channel: thread, id: second?.nativeId ?? "" }, "Retry");
  expect(await answer(world)).toMatchObject({
    conversation: { kind: "thread", channelId: general.id, threadId: thread.id },
  });
  await world.close();
});

test("a slash command says what the typed one says", async () => {
  const world = await openDiscordWorld();
  await waitUntil(() => world.discord.commands(world.ada).length > 0, "the commands");
  const done = await world.discord.command(world.alice, world.general, world.ada, "stop");
  expect(done).toMatchObject({ acked: true, type: 4 });
  await world.discord.command(world.alice, world.general, world.ada, "group on");
  await world.discord.command(world.alice, world.general, world.ada, "group show");
  const texts = world.received.filter((one): one is MessageEvent => one.type === "message").map((one) => one.text);
  expect(texts).toEqual(["@Ada !stop", "@Ada !group on", "@Ada !group"]);
  await world.close();
});
