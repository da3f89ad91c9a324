/** Several bots, several channels, many people. */

import { expect, test } from "vitest";
import { waitUntil } from "./deliveries.ts";
import { openDiscordWorld } from "./discord-world.ts";

test("copies of one message at several bots have one key, and the one with words wins", async () => {
  const world = await openDiscordWorld({ bots: ["Ada", "Bo", "Cy"], deaf: ["Ada", "Bo", "Cy"] });
  const { discord, alice, general } = world;
  const [ada, bo] = world.bots;
  if (!ada || !bo) throw new Error("three bots");
  discord.say(alice, general, `${discord.mention(bo)} for the second`, { first: ada });
  const event = await world.message("for the second");
  expect(event).toMatchObject({ namesBot: true, text: "@Bo for the second" });
  await discord.settle(1700);
  expect(world.received).toHaveLength(1);
  expect(event.installationId).toContain(bo.applicationId);
  await world.close();
});

test("what our own bots say is never heard as a message", async () => {
  const world = await openDiscordWorld({ bots: ["Ada", "Bo"] });
  const place = world.placeIn({ kind: "channel", channelId: world.general.id });
  const piece = {
    id: "p1",
    index: 0,
    place,
    content: { kind: "text", content: "from Ada", users: [] },
    progress: null,
    attempts: 0,
  };
  await world.adapter.deliver(piece, () => Promise.resolve());
  world.discord.say(world.alice, world.general, "the end");
  await world.message("the end");
  expect(world.messages("from Ada")).toEqual([]);
  await world.close();
});

test("a slow channel holds up no other one", async () => {
  const world = await openDiscordWorld();
  const { discord, alice, general } = world;
  let release: () => void = () => undefined;
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  world.receiveWith(async (event) => {
    if (event.type === "message" && event.text === "slow") await held;
    return { status: "accepted" };
  });
  discord.say(alice, general, "slow");
  await world.message("slow");
  discord.say(alice, discord.addChannel("other"), "quick");
  await world.message("quick");
  release();
  await world.close();
});

test("a reaction arrives with the person and the emoji", async () => {
  const world = await openDiscordWorld();
  const { discord, alice, general } = world;
  const said = discord.say(alice, general, "nice");
  discord.react(alice, said, "👍");
  const event = await waitUntil(() => world.received.find((one) => one.type === "reaction"), "the reaction");
  expect(event).toMatchObject({ platformId: said.id, emoji: "👍", change: "added", from: { name: "Alice" } });
  await world.close();
});

test("5,000 messages of 2,000 people leave nothing behind in the bot", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, general } = world;
  for (let index = 0; index < 5000; index += 1) {
    const author = { id: String(900_000_000_000_000_000n + BigInt(index % 2000)), username: `u${index % 2000}` };
    discord.sendEvent(ada, "MESSAGE_CREATE", {
      ...{
        id: String(800_000_000_000_000_000n + BigInt(index)),
        channel_id: general.id,
        guild_id: discord.guild.id,
        type: 0,
      },
      ...{ author, content: `m${index}`, mentions: [], attachments: [], member: { nick: null } },
    });
  }
  await waitUntil(() => world.received.length === 5000, "all messages", 20_000);
  await waitUntil(() => world.isAllRemembered(), "all to be taken in");
  await world.close();
});
