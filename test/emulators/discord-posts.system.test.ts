/**
 * What bots do in the emulated Discord through the real REST client: posts, files, edits, pings, threads, commands.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Bot, Channel, Discord, User } from "./discord/index.ts";
import { startDiscord } from "./discord/index.ts";
import type { GatewayClient } from "./discord-clients.ts";
import { connect, readOpenApi, restOf } from "./discord-clients.ts";

const running: GatewayClient[] = [];
let discord: Discord;
let ada: Bot;
let bo: Bot;
let alice: User;
let bob: User;
let general: Channel;

beforeAll(async () => {
  discord = await startDiscord({ openApi: readOpenApi() });
  ada = discord.addBot({ name: "Ada" });
  bo = discord.addBot({ name: "Bo", messageContent: false });
  alice = discord.addPerson("Alice");
  bob = discord.addPerson("Bob");
  general = discord.addChannel("general");
});
afterEach(async () => {
  for (const client of running.splice(0)) await client.manager.destroy();
});
afterAll(() => discord.close());

async function join(bot: Bot, intents?: number): Promise<GatewayClient> {
  const client = await connect(discord, bot, intents === undefined ? {} : { intents });
  running.push(client);
  return client;
}

const CREATE = (channel: Channel) => `/channels/${channel.id}/messages` as const;

test("a bot's reply is seen, keeps its nonce, and pings only whom it may", async () => {
  const asked = discord.say(alice, general, "question");
  await restOf(discord, ada).post(CREATE(general), {
    body: {
      content: `answer for <@${bob.id}> and @everyone`,
      nonce: "n-1",
      enforce_nonce: true,
      allowed_mentions: { parse: [], users: [bob.id], replied_user: false },
      message_reference: { message_id: asked.id, fail_if_not_exists: false },
    },
  });
  const post = await discord.waitForPost((each) => each.text.includes("answer"));
  expect(post).toMatchObject({ replyTo: asked.id, nonce: "n-1", bot: ada });
  expect(post.pings).toEqual({ users: [bob], roles: [], everyone: false, reply: null });
});

test("a bot's file and gallery come with bytes and alt text", async () => {
  const rest = restOf(discord, ada);
  await rest.post(CREATE(general), {
    body: { content: "a file", attachments: [{ id: "0", description: "what it is" }] },
    files: [{ name: "data.csv", data: Buffer.from("a,b"), contentType: "text/csv" }],
  });
  await rest.post(CREATE(general), {
    body: {
      flags: 32_768,
      components: [
        { type: 10, content: "two pictures" },
        { type: 12, items: [{ media: { url: "attachment://one.png" }, description: "the first" }] },
      ],
    },
    files: [
      { name: "one.png", data: Buffer.from("png1") },
      { name: "unused.png", data: Buffer.from("png2") },
    ],
  });
  const file = await discord.waitForPost(({ text }) => text === "a file");
  expect(file.files[0]).toMatchObject({ name: "data.csv", description: "what it is", type: "text/csv", shown: true });
  expect(String(file.files[0]?.bytes)).toBe("a,b");
  const gallery = await discord.waitForPost(({ text }) => text === "two pictures");
  expect(gallery.isV2).toBe(true);
  expect(gallery.files.map(({ name, shown, description }) => [name, shown, description])).toEqual([
    ["one.png", true, "the first"],
    ["unused.png", false, ""],
  ]);
});

test("the same nonce of the same bot gives the message that is there", async () => {
  const rest = restOf(discord, ada);
  const send = (content: string, nonce: string) =>
    rest.post(CREATE(general), { body: { content, nonce, enforce_nonce: true } }) as Promise<{ id: string }>;
  const first = await send("once", "same");
  expect((await send("once", "same")).id).toBe(first.id);
  expect((await send("twice", "other")).id).not.toBe(first.id);
  expect(discord.posts(general).filter(({ text }) => text === "once")).toHaveLength(1);
});

test("an edit without allowed_mentions pings with the defaults", async () => {
  const rest = restOf(discord, ada);
  const quiet = { allowed_mentions: { parse: [] } };
  const sent = (await rest.post(CREATE(general), { body: { content: "hello", ...quiet } })) as { id: string };
  const place = { channel: general, id: sent.id };
  await rest.patch(`/channels/${general.id}/messages/${sent.id}`, { body: { content: "@everyone", ...quiet } });
  expect(discord.read(place)?.pings.everyone).toBe(false);
  await rest.patch(`/channels/${general.id}/messages/${sent.id}`, { body: { content: "@everyone!" } });
  expect(discord.read(place)?.pings.everyone).toBe(true);
  expect(discord.read(place)?.notified).toContain(alice);
});

test("tokens in code and escaped ones ping nobody, shown text of components does", async () => {
  const rest = restOf(discord, ada);
  const content = `\`<@${bob.id}>\` \\<@${bob.id}> \`\`\`\n@everyone\n\`\`\` coded`;
  await rest.post(CREATE(general), { body: { content } });
  const components = [{ type: 17, components: [{ type: 10, content: `shown <@${bob.id}>` }] }];
  await rest.post(CREATE(general), { body: { flags: 32_768, components } });
  expect((await discord.waitForPost(({ text }) => text.endsWith("coded"))).pings).toMatchObject({
    users: [],
    everyone: false,
  });
  expect((await discord.waitForPost(({ text }) => text.startsWith("shown"))).pings.users).toEqual([bob]);
});

test("typing is shown until the bot posts", async () => {
  const rest = restOf(discord, ada);
  await rest.post(`/channels/${general.id}/typing`);
  expect(discord.isTyping(ada, general)).toBe(true);
  await rest.post(CREATE(general), { body: { content: "done" } });
  expect(discord.isTyping(ada, general)).toBe(false);
});

test("history comes newest first and pages by id", async () => {
  const place = discord.addChannel("history");
  const said = ["1", "2", "3", "4"].map((text) => discord.say(alice, place, text));
  const rest = restOf(discord, ada);
  const page = async (query: Record<string, string>) =>
    ((await rest.get(CREATE(place), { query: new URLSearchParams(query) })) as { content: string }[]).map(
      ({ content }) => content,
    );
  expect(await page({ limit: "2" })).toEqual(["4", "3"]);
  expect(await page({ after: said[0]?.id ?? "", limit: "2" })).toEqual(["3", "2"]);
  expect(await page({ before: said[2]?.id ?? "" })).toEqual(["2", "1"]);
  discord.permit(place, ada, { deny: ["ReadMessageHistory"] });
  expect(await page({})).toEqual([]);
});

test("reactions of bots and people are counted and told", async () => {
  const client = await join(ada);
  const said = discord.say(alice, general, "react to me");
  await restOf(discord, ada).put(
    `/channels/${general.id}/messages/${said.id}/reactions/${encodeURIComponent("👀")}/@me`,
  );
  discord.react(bob, said, "👀");
  await discord.waitUntil(() => client.named("MESSAGE_REACTION_ADD").length === 2, "two reactions");
  expect(discord.read(said)?.reactions).toEqual([{ emoji: "👀", users: [ada.userId, bob.id] }]);
});

test("a bot opens a thread on a message and writes there", async () => {
  const rest = restOf(discord, ada);
  const said = discord.say(alice, general, "a topic");
  const made = (await rest.post(`/channels/${general.id}/messages/${said.id}/threads`, {
    body: { name: "Topic" },
  })) as { id: string };
  expect(made.id).toBe(said.id);
  await rest.post(`/channels/${made.id}/messages`, { body: { content: "in the thread" } });
  const post = await discord.waitForPost(({ text }) => text === "in the thread");
  expect(post.channel.parent).toBe(general);
  expect(discord.posts(general, { threads: true }).at(-1)?.id).toBe(post.id);
});

test("an application reads and sets its content flag, and commands are overwritten in one go", async () => {
  const rest = restOf(discord, bo);
  expect(await rest.get("/applications/@me")).toMatchObject({ id: bo.applicationId, flags: 0 });
  await rest.patch("/applications/@me", { body: { flags: 1 << 19 } });
  expect(bo.messageContent).toBe(true);
  await rest.patch("/applications/@me", { body: { flags: 0 } });
  const body = [{ name: "stop", description: "Stops" }];
  await rest.put(`/applications/${bo.applicationId}/commands`, { body });
  expect(discord.commands(bo)).toMatchObject([{ name: "stop", application_id: bo.applicationId }]);
});

test("the client of discord.js as a whole gets ready and answers", async () => {
  const { Client, Events } = await import("discord.js");
  const client = new Client({
    intents: 1 | 512 | 32_768,
    rest: { api: discord.apiUrl, version: "10", makeRequest: (url, init) => fetch(url, init as RequestInit) as never },
  });
  client.on(Events.MessageCreate, async (message) => {
    if (!message.author.bot) await message.reply({ content: "whole", allowedMentions: { repliedUser: false } });
  });
  const ready = new Promise((resolve) => client.once(Events.ClientReady, resolve));
  await client.login(ada.token);
  await ready;
  const place = discord.addChannel("client");
  const said = discord.say(alice, place, "hi");
  const post = await discord.waitForPost(({ text }) => text === "whole");
  expect(post).toMatchObject({ replyTo: said.id, pings: { users: [], reply: null } });
  await client.destroy();
});
