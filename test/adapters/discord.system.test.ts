/** What comes in from Discord, with the real gateway client on an emulated Discord. */

import { expect, test } from "vitest";
import type { DeleteEvent, EditEvent, MessageEvent } from "../../src/engine/index.ts";
import { waitUntil } from "./deliveries.ts";
import { openDiscordWorld } from "./discord-world.ts";

test("a mention arrives with clean words, the bot named, and the channel's name", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, alice, general } = world;
  const said = discord.say(alice, general, `${discord.mention(ada)} hello ${discord.mention(alice)}`);
  const event = await world.message("hello");
  expect(event).toMatchObject({
    text: "@Ada hello @Alice",
    namesBot: true,
    platformId: said.id,
    opensThread: said.id,
    conversation: { kind: "channel", workspaceId: discord.guild.id, channelId: general.id, channelName: "general" },
    from: { id: `discord:@me:${alice.id}`, name: "Alice", kind: "member" },
  });
  expect(event.mentions[0]).toEqual({ platformId: ada.userId, start: 0, end: 4 });
  await world.close();
});

test.each([
  ["with", {}],
  ["without", { channel_type: undefined }],
])("a direct message %s channel_type arrives", async (_title, event) => {
  const world = await openDiscordWorld();
  world.discord.dm(world.alice, world.ada, "psst", { event });
  expect((await world.message("psst")).conversation).toMatchObject({ kind: "direct", workspaceId: "@me" });
  await world.close();
});

test("messages in threads and first messages of forum posts belong to the thread", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, alice, general } = world;
  const asked = discord.say(alice, general, "root");
  const thread = discord.startThread(alice, general, "a thread", { on: asked });
  discord.say(alice, thread, `${discord.mention(ada)} inside`);
  expect((await world.message("inside")).conversation).toMatchObject({
    kind: "thread",
    channelId: general.id,
    threadId: thread.id,
    channelName: "general",
  });
  const forum = discord.addChannel("forum", { kind: "forum" });
  const { thread: post } = discord.startForumPost(alice, forum, "title", `${discord.mention(ada)} a post`);
  const event = await world.message("a post");
  expect(event.conversation).toMatchObject({ kind: "thread", channelId: forum.id, threadId: post.id });
  expect(event.platformId).toBe(post.id);
  await world.close();
});

test("after a resumed session places are asked for instead of being unknown", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, alice, general } = world;
  const thread = discord.startThread(alice, general, "a thread", { on: discord.say(alice, general, "root") });
  await waitUntil(() => world.isAllRemembered(), "the session to be kept");
  await world.restart();
  discord.say(alice, thread, `${discord.mention(ada)} inside`);
  expect((await world.message("inside")).conversation).toMatchObject({ kind: "thread", channelId: general.id });
  await world.close();
});

test("a message in a thread waits until Discord says where the thread belongs", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, alice, general } = world;
  const thread = discord.startThread(alice, general, "a thread", { on: discord.say(alice, general, "root") });
  await waitUntil(() => world.isAllRemembered(), "the session to be kept");
  await world.restart();
  discord.fail("GET /channels/:id", { status: 503 }, { times: 4 });
  discord.say(alice, thread, `${discord.mention(ada)} inside`);
  expect((await world.message("inside")).conversation).toMatchObject({ kind: "thread", channelId: general.id });
  await world.close();
});

test("Discord's own notices are no messages", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, alice, general } = world;
  discord.startThread(alice, general, "only a name");
  discord.pin(alice, discord.say(alice, general, "pinned"));
  for (const type of [7, 8, 20, 21, 46])
    discord.say(alice, general, `${discord.mention(ada)} notice ${type}`, { type });
  discord.say(alice, general, "the end");
  await world.message("the end");
  expect(world.received.filter((event) => event.type === "message").map((event) => event.text)).toEqual([
    "pinned",
    "the end",
  ]);
  expect(world.received.some((event) => event.type === "edit")).toBe(false);
  await world.close();
});

test("an edit arrives once with the new words; a link preview and a pin are none", async () => {
  const world = await openDiscordWorld();
  const { discord, alice, general } = world;
  const said = discord.say(alice, general, "see https://example.com");
  discord.unfurl(said);
  discord.edit(said, "see there");
  discord.redeliver(said);
  const edit = await waitUntil(() => world.received.find((one): one is EditEvent => one.type === "edit"), "the edit");
  expect(edit).toMatchObject({ platformId: said.id, text: "see there" });
  discord.pin(alice, said);
  discord.say(alice, general, "the end");
  await world.message("the end");
  const edits = world.received.filter((event) => event.type === "edit");
  expect(new Set(edits.map((event) => event.dedupeKey)).size).toBe(1);
  await world.close();
});

test("a deleted message, and many at once, are reported", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, alice, general } = world;
  const said = discord.say(alice, general, "oops");
  discord.erase(said);
  discord.sendEvent(ada, "MESSAGE_DELETE_BULK", {
    ids: ["1".repeat(18), "2".repeat(18)],
    channel_id: general.id,
    guild_id: discord.guild.id,
  });
  await waitUntil(
    () => world.received.filter((one): one is DeleteEvent => one.type === "delete").length === 3,
    "the deletions",
  );
  await world.close();
});

test("a reply whose target is not in the event is asked for once, and goes on without when it is gone", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, alice, bob, general } = world;
  const question = discord.say(bob, general, "the number is 42");
  discord.reply(alice, question, `${discord.mention(ada)} what does this mean?`, {
    event: { referenced_message: undefined },
  });
  const event = await world.message("what does this mean?");
  expect(event.text).toContain("[In reply to Bob]\n> the number is 42");
  expect(event.repliesTo).toBe(question.id);
  discord.erase(question);
  discord.reply(alice, question, `${discord.mention(ada)} and now?`, { event: { referenced_message: undefined } });
  expect((await world.message("and now?")).text).toBe("@Ada and now?");
  await world.close();
});

test("a reply to the bot is said to it, with or without a ping; a bot's reply is not", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, alice, general } = world;
  const place = world.placeIn({ kind: "channel", channelId: general.id });
  const piece = {
    id: "p1",
    index: 0,
    place,
    content: { kind: "text", content: "an answer", users: [] },
    progress: null,
    attempts: 0,
  };
  const { nativeId } = await world.adapter.deliver(piece, () => Promise.resolve());
  discord.reply(alice, { channel: general, id: nativeId }, "and then?", { ping: false });
  expect((await world.message("and then?")).answersAccount).toBe(ada.userId);
  const other = discord.addForeignBot("Other");
  discord.reply(other, { channel: general, id: nativeId }, "beep");
  const beep = await world.message("beep");
  expect([beep.answersAccount, beep.namesBot, beep.from.kind]).toEqual([undefined, false, "bot"]);
  await world.close();
});

test("a forwarded message arrives with its words and files, which address nobody", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, alice, bob, general } = world;
  const original = discord.say(bob, general, `${discord.mention(ada)} secret plan`, {
    files: [{ name: "plan.txt", bytes: "x" }],
  });
  const other = discord.addChannel("other");
  discord.forward(alice, original, other);
  const event = await waitUntil(
    () => world.messages("secret plan").find((one) => one.conversation.channelId === other.id),
    "the forward",
  );
  expect(event.text).toContain("[Forwarded message]");
  expect(event.namesBot).toBe(false);
  expect(event.quoted).toEqual([{ start: 0, end: event.text.length }]);
  expect(event.files.map((file) => file.name)).toEqual(["plan.txt"]);
  await world.close();
});

test("voice messages, stickers and polls are described", async () => {
  const world = await openDiscordWorld();
  const { discord, alice, ada } = world;
  const dm = discord.dmChannel(alice, ada);
  discord.sayByVoice(alice, dm, Buffer.from("ogg"), 12);
  expect((await world.message("Voice message")).text).toBe("[Voice message, 12 s]");
  expect(world.messages("Voice")[0]?.files[0]).toMatchObject({ mediaType: "audio/ogg" });
  discord.dm(alice, ada, "", { stickers: ["Wave"] });
  expect((await world.message("Sticker")).text).toBe("[Sticker: Wave]");
  discord.dm(alice, ada, "", { poll: "Lunch?" });
  expect((await world.message("Poll")).text).toBe("[Poll: Lunch? — Yes / No]");
  await world.close();
});

test("picking the role that looks like the bot counts as naming it", async () => {
  const world = await openDiscordWorld();
  const { discord, ada, alice, general } = world;
  discord.say(alice, general, `${discord.mention(discord.roleOf(ada))} hi there`);
  const event = await world.message("hi there");
  expect(event.namesBot).toBe(true);
  expect(event.mentions[0]?.members).toEqual([ada.userId]);
  await world.close();
});

test("a bot that may not read the words of such a message still answers, and says what to do", async () => {
  const world = await openDiscordWorld({ deaf: ["Ada"] });
  const { discord, ada, alice, general } = world;
  discord.say(alice, general, "nothing for anybody");
  discord.say(alice, general, `${discord.mention(discord.roleOf(ada))} hi there`);
  const event = await waitUntil(
    () => world.received.find((one): one is MessageEvent => one.type === "message"),
    "the hint",
  );
  expect(event.namesBot).toBe(true);
  expect(event.text).toContain("pick the bot itself");
  expect(world.received).toHaveLength(1);
  await world.close();
});
