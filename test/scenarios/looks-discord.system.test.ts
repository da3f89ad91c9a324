/** How things look on Discord (SPEC M14): cards, status and receipts can be switched off or on, and nothing but the looks changes. */

import { expect, test } from "vitest";
import { call, done, type LlmRequest, sendMessage, sendWidget } from "../emulators/llm/index.ts";
import { type DiscordStage, openDiscordStage } from "../support/discord-stage.ts";
import { echo, heard, heldBack } from "../support/scripts.ts";

const toolsOf = (request: LlmRequest) => JSON.stringify(JSON.parse(request.raw).tools);

/** Asks, is answered by typing, and says everything that the model was shown. */
async function converse(stage: DiscordStage): Promise<{ shown: string[]; tools: string[]; controls: number }> {
  const { discord, ada, alice, general, llm } = stage;
  llm.script("ada", (request) => {
    if (request.lastRole !== "user") return done();
    if (heard(request).includes("widget_answer")) return sendMessage("thanks for blue");
    return sendWidget("Which colour?", [{ label: "Blue", value: "color-blue" }, "Red"]);
  });
  discord.say(alice, general, `${discord.mention(ada)} ask me`);
  const card = await discord.waitForPost((post) => post.text.includes("Which colour?"), 20_000);
  discord.say(alice, general, `${discord.mention(ada)} blue`);
  await discord.waitForPost((post) => post.text === "thanks for blue", 20_000);
  await discord.waitUntil(() => discord.read(card)?.text.includes("Blue (answered by Alice)"), "the outcome", 10_000);
  const messages = llm.requests.map((request) => JSON.stringify(JSON.parse(request.raw).messages));
  return {
    shown: messages.map((text) => text.replaceAll(/\d{17,20}|call_\w+|crd_\w+/g, "ID")),
    tools: [...new Set(llm.requests.map(toolsOf))],
    controls: card.controls.length,
  };
}

test("with cards on or off the model is shown the same conversation and offered the same tools", async () => {
  const told = [];
  for (const cards of [true, false]) {
    await using stage = await openDiscordStage({ platform: { cards } });
    told.push(await converse(stage));
    expect(stage.discord.refusals).toEqual([]);
  }
  const [on, off] = told;
  expect(on?.controls).toBe(2);
  expect(off?.controls).toBe(0);
  expect(on?.tools[0]).toContain("SendMessage");
  expect(off?.tools).toEqual(on?.tools);
  expect(off?.shown).toEqual(on?.shown);
}, 120_000);

test("with cards off a number answers a question, a hand-off is answered in words, and the texts say so", async () => {
  await using stage = await openDiscordStage({ platform: { cards: false } });
  const { discord, ada, alice, general, llm } = stage;
  llm.script("ada", (request) => {
    if (request.lastRole !== "user") return done();
    if (heard(request).includes("widget_answer"))
      return call("request_human", { instruction: "sign in", reason: "auth" });
    if (request.lastUserText.includes("cannot do it")) return sendMessage("another way then");
    return sendWidget("Which colour?", ["Blue", "Red"]);
  });
  discord.say(alice, general, `${discord.mention(ada)} ask me`);
  const card = await discord.waitForPost((post) => post.text.includes("Which colour?"), 20_000);
  expect(card.text).toContain("1. Blue\n2. Red");
  discord.say(alice, general, "2");
  await discord.waitUntil(() => discord.read(card)?.text.includes("Red (answered by Alice)"), "the outcome", 10_000);
  const help = await discord.waitForPost((post) => post.text.includes("sign in"), 20_000);
  expect(help.controls).toEqual([]);
  discord.say(alice, general, "Can’t");
  await discord.waitForPost((post) => post.text === "another way then", 20_000);
  await discord.waitUntil(() => discord.read(help)?.text.includes("Can't (answered by Alice)"), "the outcome", 10_000);
  expect(discord.read(help)?.text).not.toContain("To answer");
  expect(discord.refusals).toEqual([]);
}, 60_000);

test("with cards off the link for a secret goes into the direct messages of the person asked", async () => {
  await using stage = await openDiscordStage({
    platform: { cards: false },
    settings: { web: { port: 0, publicUrl: "http://127.0.0.1:3999" } },
  });
  const { discord, ada, alice, general, llm } = stage;
  llm.script("ada", (request) =>
    request.lastRole === "user" && heard(request).includes("connect")
      ? call("SendMessage", {
          type: "secret-request",
          secret: { label: "API key", connector: "tickets", field: "key" },
        })
      : done(),
  );
  discord.say(alice, general, `${discord.mention(ada)} connect the tickets`);
  const card = await discord.waitForPost((post) => post.text.includes("API key"), 20_000);
  expect(card.controls).toEqual([]);
  discord.say(alice, general, "enter it privately");
  const link = await discord.waitForPost((post) => post.text.includes("/s/"), 20_000);
  expect(link.channel).toBe(discord.dmChannel(alice, ada));
  expect(discord.posts(general).some((post) => post.text.includes("/s/"))).toBe(false);
  alice.dms = "closed";
  discord.say(alice, general, "enter it privately");
  const sorry = await discord.waitForPost((post) => post.text.includes("cannot write to you directly"), 20_000);
  expect(sorry.text).not.toContain("/s/");
}, 60_000);

test("with the status off nobody sees typing; with receipts a taken message has eyes until it is answered", async () => {
  await using stage = await openDiscordStage({ platform: { status: "off", receipts: true } });
  const { discord, ada, alice, general, llm } = stage;
  const held = heldBack();
  llm.script("ada", held.script);
  const asked = discord.say(alice, general, `${discord.mention(ada)} wait`);
  const eyes = () => (discord.read(asked)?.reactions ?? []).filter((one) => one.emoji === "👀").length;
  await discord.waitUntil(() => eyes() === 1, "eyes", 20_000);
  held.release();
  await discord.waitForPost((post) => post.text === "done waiting", 20_000);
  await discord.waitUntil(() => eyes() === 0, "no eyes", 10_000);
  expect(discord.typings).toEqual([]);
  llm.script("ada", echo);
}, 60_000);
