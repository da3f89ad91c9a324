/** Reading what is there already, and reactions. */

import { expect, test } from "vitest";
import { findPosted } from "../../src/adapters/discord/find.ts";
import { openDiscordWorld } from "./discord-world.ts";

test("first contact in a thread reads its first message and the newest ones, oldest first", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, alice, bob, general } = world;
  const root = discord.say(alice, general, "the number is 42");
  const thread = discord.startThread(alice, general, "t", { on: root });
  for (let index = 0; index < 6; index += 1) discord.say(bob, thread, `reply ${index} to ${discord.mention(ada)}`);
  const { installationId, ref } = world.placeIn({ kind: "thread", channelId: general.id, threadId: thread.id });
  const found = await world.adapter.history(installationId, ref, 4);
  expect(found.map((one) => [one.text, one.from.name, one.isRoot])).toEqual([
    ["the number is 42", "Alice", true],
    ["reply 3 to @Ada", "Bob", false],
    ["reply 4 to @Ada", "Bob", false],
    ["reply 5 to @Ada", "Bob", false],
  ]);
  expect(await world.adapter.history(installationId, ref, 1)).toHaveLength(1);
  await world.close();
});

test("a forum post begins with its own first message; a channel has no history of its own", async () => {
  const world = await openDiscordWorld();
  const { discord, alice } = world;
  const forum = discord.addChannel("forum", { kind: "forum" });
  const { thread } = discord.startForumPost(alice, forum, "title", "the post");
  const { installationId, ref } = world.placeIn({ kind: "thread", channelId: forum.id, threadId: thread.id });
  expect(await world.adapter.history(installationId, ref, 10)).toMatchObject([{ text: "the post", isRoot: true }]);
  const channel = world.placeIn({ kind: "channel", channelId: world.general.id });
  expect(await world.adapter.history(installationId, channel.ref, 10)).toEqual([]);
  await world.close();
});

test("reactions by name or sign, also on the message a thread hangs on and on a forum post", async () => {
  const world = await openDiscordWorld();
  const { discord, alice, general } = world;
  const said = discord.say(alice, general, "nice");
  const channel = world.placeIn({ kind: "channel", channelId: general.id });
  await world.adapter.react?.(channel, said.id, "thumbsup");
  await world.adapter.react?.(channel, said.id, "👍");
  expect(discord.read(said)?.reactions).toMatchObject([{ emoji: "👍" }]);
  const thread = discord.startThread(alice, general, "t", { on: said });
  const inThread = world.placeIn({ kind: "thread", channelId: general.id, threadId: thread.id });
  await world.adapter.react?.(inThread, said.id, "👀");
  expect(discord.read(said)?.reactions.map((one) => one.emoji)).toContain("👀");
  const forum = discord.addChannel("forum", { kind: "forum" });
  const { thread: post } = discord.startForumPost(alice, forum, "title", "the post");
  await world.adapter.react?.(world.placeIn({ kind: "thread", channelId: forum.id, threadId: post.id }), post.id, "🎉");
  expect(discord.read({ channel: post, id: post.id })?.reactions.map((one) => one.emoji)).toEqual(["🎉"]);
  await expect(world.adapter.react?.(channel, said.id, "nonsense")).rejects.toMatchObject({ problem: "content" });
  await world.close();
});

test("where history tells no nonces, the same content by the same bot since the attempt counts", async () => {
  const world = await openDiscordWorld();
  const place = world.placeIn({ kind: "channel", channelId: world.general.id });
  const content = { kind: "text", content: "Only once", users: [] };
  const piece = { id: "p1", index: 0, place, content, progress: null, attempts: 1, attemptedAt: new Date() };
  const message = (more: object) => ({ id: "1", author: { id: world.ada.userId }, content: "Only once", ...more });
  const look = (found: object) => {
    const calls = { call: () => Promise.resolve([found]) };
    const bot = {
      self: { botUserId: world.ada.userId },
      calls,
      echoes: { find: () => undefined },
      context: world.context,
    };
    return findPosted(bot as unknown as Parameters<typeof findPosted>[0], piece, world.general.id);
  };
  expect(await look(message({}))).toMatchObject({ id: "1" });
  expect(await look(message({ content: "Something else" }))).toBeUndefined();
  expect(await look(message({ author: { id: "9" } }))).toBeUndefined();
  expect(await look(message({ nonce: "another" }))).toBeUndefined();
  await world.close();
});
