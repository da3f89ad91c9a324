/** Stories on Discord through the front door: the same promises as on Slack. */

import { expect, test } from "vitest";
import { done, sendMessage, sendWidget } from "../emulators/llm/index.ts";
import { openDiscordStage } from "../support/discord-stage.ts";
import { answering, heard } from "../support/scripts.ts";

test("a mention and a direct message are answered once, in their place; nobody else is", async () => {
  await using stage = await openDiscordStage();
  const { discord, ada, alice, bob, general } = stage;
  const asked = discord.say(alice, general, `${discord.mention(ada)} are you there?`);
  discord.say(bob, general, "@everyone lunch?");
  discord.say(bob, general, `${discord.mention(alice)} can you look?`);
  discord.dm(bob, ada, "hello");
  const answer = await discord.waitForPost((post) => post.text.includes("are you there?"), 20_000);
  expect([answer.replyTo, answer.channel]).toEqual([asked.id, general]);
  const direct = await discord.waitForPost((post) => post.text.includes("hello"), 20_000);
  expect(direct.channel).toBe(discord.dmChannel(bob, ada));
  await discord.settle(500);
  expect(
    discord
      .posts()
      .map((post) => post.text)
      .sort(),
  ).toEqual(["You said: @Ada are you there?", "You said: hello"]);
  expect(discord.refusals).toEqual([]);
});

test("a question is answered by the person asked only, after a restart too, and the card is frozen", async () => {
  await using stage = await openDiscordStage();
  const { discord, ada, alice, bob, general, llm } = stage;
  llm.script("ada", (request) => {
    if (request.lastRole !== "user") return done();
    if (heard(request).includes("widget_answer")) return sendMessage("thanks for blue");
    return sendWidget("Which colour?", [{ label: "Blue", value: "color-blue" }, "Red"]);
  });
  discord.say(alice, general, `${discord.mention(ada)} ask me`);
  const card = await discord.waitForPost((post) => post.text.includes("Which colour?"), 20_000);
  const foreign = await discord.press(bob, card, "Blue");
  expect(foreign.acked).toBe(true);
  await discord.waitForNotice(bob, (notice) => notice.text.includes("somebody else"));
  await stage.restart();
  const own = await discord.press(alice, card, "Blue");
  expect(own.acked).toBe(true);
  await discord.waitForPost((post) => post.text === "thanks for blue", 20_000);
  const frozen = await discord.waitUntil(
    () => discord.read(card)?.controls.length === 0 && discord.read(card),
    "the card to be frozen",
    10_000,
  );
  expect(frozen.text).toContain("Blue (answered by Alice)");
  const late = await discord.press(alice, card, "Blue", { force: true });
  expect(late.privately).toContain("already answered");
});

test("a person's file reaches the model though its link expires", async () => {
  await using stage = await openDiscordStage();
  const { discord, ada, alice, general, llm } = stage;
  llm.script(
    "ada",
    answering((words) => (words.includes("note.txt") ? "got note.txt" : "no file")),
  );
  discord.say(alice, general, `${discord.mention(ada)} read this`, {
    files: [{ name: "note.txt", bytes: "forty-two", type: "text/plain" }],
  });
  await discord.waitForPost((post) => post.text === "got note.txt", 20_000);
});

test("what is written while the product is down is answered when it is back", async () => {
  await using stage = await openDiscordStage();
  const { discord, ada, alice, general } = stage;
  discord.say(alice, general, `${discord.mention(ada)} first`);
  await discord.waitForPost((post) => post.text.includes("first"), 20_000);
  await discord.settle(700);
  await stage.stop();
  discord.say(alice, general, `${discord.mention(ada)} second`);
  await stage.restart();
  await discord.waitForPost((post) => post.text.includes("second"), 20_000);
  expect(discord.posts(general).filter((post) => post.text.includes("first"))).toHaveLength(1);
});
