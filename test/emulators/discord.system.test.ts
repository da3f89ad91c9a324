/**
 * Drives the emulated Discord with the real clients, REST of discord.js and its gateway package: what people do
 * reaches the bots, what bots do is seen by people.
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

test("a bot gets READY, its guild, and what is said in a channel", async () => {
  const client = await join(ada);
  await discord.waitUntil(() => client.named("GUILD_CREATE").length === 1, "the guild");
  const said = discord.say(alice, general, `${discord.mention(ada)} hello`);
  await discord.waitUntil(() => client.named("MESSAGE_CREATE").length === 1, "the message");
  const [message] = client.named("MESSAGE_CREATE");
  expect(message).toMatchObject({
    id: said.id,
    content: `<@${ada.userId}> hello`,
    guild_id: discord.guild.id,
    channel_type: 0,
  });
  expect(message?.mentions).toMatchObject([{ id: ada.userId }]);
  expect(client.errors).toEqual([]);
});

test("without MESSAGE_CONTENT only mentions, pinging replies and DMs carry content", async () => {
  const client = await join(bo);
  const role = discord.roleOf(bo);
  discord.say(alice, general, "plain", { files: [{ name: "a.txt", bytes: "x" }] });
  discord.say(alice, general, `${discord.mention(role)} by role`);
  discord.say(alice, general, `${discord.mention(bo)} by name`);
  const own = await restOf(discord, bo).post(CREATE(general), { body: { content: "own" } });
  const post = await discord.waitForPost((each) => each.bot === bo && each.text === "own");
  discord.reply(alice, post, "without ping", { ping: false });
  discord.reply(alice, post, "with ping");
  discord.dm(alice, bo, "in private");
  await discord.waitUntil(() => client.named("MESSAGE_CREATE").length === 7, "all copies");
  const heard = client.named("MESSAGE_CREATE");
  expect(heard.map(({ content }) => content)).toEqual([
    "",
    "",
    `<@${bo.userId}> by name`,
    "own",
    "",
    "with ping",
    "in private",
  ]);
  expect(heard[0]).toMatchObject({ attachments: [], embeds: [], components: [] });
  expect(heard[1]?.mention_roles).toEqual([role.id]);
  expect(heard[6]).not.toHaveProperty("guild_id");
  expect(own).toMatchObject({ content: "own" });
  const history = (await restOf(discord, bo).get(CREATE(general))) as { content: string }[];
  expect(history.map(({ content }) => content).slice(0, 5)).toEqual([
    "with ping",
    "",
    "own",
    `<@${bo.userId}> by name`,
    "",
  ]);
});

test("a forward has no text of its own, and a preview is no edit", async () => {
  const client = await join(ada);
  const said = discord.say(alice, general, "look at https://example.com");
  discord.forward(bob, said, general);
  discord.unfurl(said);
  discord.edit(said, "changed");
  discord.erase(said);
  await discord.waitUntil(() => client.named("MESSAGE_DELETE").length === 1, "the deletion");
  const [, forwarded] = client.named("MESSAGE_CREATE");
  expect(forwarded).toMatchObject({
    content: "",
    message_reference: { type: 1, message_id: said.id },
    message_snapshots: [{ message: { content: "look at https://example.com" } }],
  });
  const [preview, edited] = client.named("MESSAGE_UPDATE");
  expect(preview).toMatchObject({ edited_timestamp: null, content: "look at https://example.com" });
  expect(edited?.edited_timestamp).toBeTypeOf("string");
  expect(edited?.content).toBe("changed");
});

test("a reply to a deleted message arrives with an empty target", async () => {
  const client = await join(ada);
  const said = discord.say(alice, general, "gone soon");
  discord.erase(said);
  discord.reply(bob, said, "to nothing");
  await discord.waitUntil(() => client.named("MESSAGE_CREATE").length === 2, "both");
  expect(client.named("MESSAGE_CREATE")[1]).toMatchObject({ type: 19, referenced_message: null });
});

test("raw event fields may be taken away", async () => {
  const client = await join(ada);
  discord.dm(alice, ada, "old style", { event: { channel_type: undefined } });
  await discord.waitUntil(() => client.named("MESSAGE_CREATE").length === 1, "the message");
  expect(client.named("MESSAGE_CREATE")[0]).not.toHaveProperty("channel_type");
});

test("threads and forum posts arrive with their first message", async () => {
  const client = await join(ada);
  const said = discord.say(alice, general, "start here");
  const thread = discord.startThread(alice, general, "talk", { on: said });
  discord.say(alice, thread, "inside");
  const forum = discord.addChannel("ideas", { kind: "forum" });
  const { thread: idea, post } = discord.startForumPost(alice, forum, "An idea", "here it is");
  const hidden = discord.startThread(alice, general, "secret", { private: true });
  discord.say(alice, hidden, "nobody hears this");
  await discord.waitUntil(() => client.named("MESSAGE_CREATE").length === 4, "four messages");
  expect(thread.id).toBe(said.id);
  expect(post.id).toBe(idea.id);
  expect(client.named("THREAD_CREATE").map(({ parent_id }) => parent_id)).toEqual([general.id, forum.id]);
  const heard = client.named("MESSAGE_CREATE").map(({ type, content }) => `${type} ${content}`);
  expect(heard).toEqual(["0 start here", "21 ", "0 inside", "0 here it is"]);
});

test("an uploaded file is fetched by its signed link only", async () => {
  const client = await join(ada);
  discord.say(alice, general, "", { files: [{ name: "my notes.txt", bytes: "secret plan" }] });
  await discord.waitUntil(() => client.named("MESSAGE_CREATE").length === 1, "the message");
  const [attachment] = (client.named("MESSAGE_CREATE")[0]?.attachments ?? []) as {
    id: string;
    url: string;
    filename: string;
  }[];
  const url = attachment?.url ?? "";
  expect(attachment?.filename).toBe("my_notes.txt");
  expect(await (await fetch(url)).text()).toBe("secret plan");
  expect((await fetch(url.split("?")[0] ?? "")).status).toBe(404);
  discord.loseFile(attachment?.id ?? "");
  expect((await fetch(url)).status).toBe(404);
  expect(discord.requests.filter(({ route }) => route === "download").map(({ status }) => status)).toEqual([
    200, 404, 404,
  ]);
});

test("hidden channels stay hidden, for events too", async () => {
  const client = await join(ada);
  const closed = discord.addChannel("closed", { members: [alice, bo] });
  discord.say(alice, closed, "private");
  discord.say(alice, general, "public");
  await discord.waitUntil(() => client.named("MESSAGE_CREATE").length === 1, "the public one");
  expect(client.named("MESSAGE_CREATE")[0]?.content).toBe("public");
});

test("several bots hear one message with the same id, in the asked order and gap", async () => {
  const [first, second] = [await join(ada), await join(bo)];
  const said = discord.say(alice, general, "to both", { first: bo, gapMs: 30 });
  await discord.waitUntil(() => first.named("MESSAGE_CREATE").length === 1, "the later copy");
  expect(second.named("MESSAGE_CREATE")[0]?.id).toBe(said.id);
  const copies = discord.deliveries.filter(({ event, data }) => event === "MESSAGE_CREATE" && data.id === said.id);
  expect(copies.map(({ bot }) => bot.name)).toEqual(["Bo", "Ada"]);
});
