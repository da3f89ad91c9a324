/**
 * Trouble on demand over REST, seen by the real client: limits, failures before and after the work, broken answers,
 * revoked tokens, the lock-out of an address.
 */
import { RateLimitError } from "discord.js";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Bot, Channel, Discord, Fault, User } from "./discord/index.ts";
import { startDiscord } from "./discord/index.ts";
import { refusalOf, restOf } from "./discord-clients.ts";

const CREATE = "POST /channels/:id/messages";

let discord: Discord;
let ada: Bot;
let bo: Bot;
let alice: User;
let general: Channel;

beforeAll(async () => {
  discord = await startDiscord();
  ada = discord.addBot({ name: "Ada" });
  bo = discord.addBot({ name: "Bo" });
  alice = discord.addPerson("Alice");
  general = discord.addChannel("general");
});
afterEach(() => discord.calm());
afterAll(() => discord.close());

const send = (content: string, bot = ada) =>
  restOf(discord, bot).post(`/channels/${general.id}/messages`, { body: { content } });
const posted = (text: string) => discord.posts(general).filter((post) => post.text === text).length;

test.each([
  ["503", { status: 503 }, "503", 0],
  ["an error of Discord's own", { error: { status: 400, code: 30_046 } }, "400 30046", 0],
  ["502 after the work", { acceptThen: 502 }, "502", 1],
] as [string, Fault, string, number][])("%s on demand", async (name, fault, code, count) => {
  discord.fail(CREATE, fault, { bot: ada });
  await send(`other bot: ${name}`, bo);
  expect((await refusalOf(send(name))).code).toBe(code);
  expect(posted(name)).toBe(count);
  await send(`after ${name}`);
  expect(posted(`after ${name}`)).toBe(1);
});

test.each([
  ["reset", { reset: true }, 0],
  ["dropped after the work", { acceptThen: "drop" }, 1],
  ["hanging", { hang: true }, 0],
  ["hanging after the work", { acceptThen: "hang" }, 1],
  ["broken JSON", { malformed: true }, 1],
] as [string, Fault, number][])("a connection %s on demand", async (name, fault, count) => {
  discord.fail(CREATE, fault, { when: ({ body }) => body.content === name });
  const rest = restOf(discord, ada);
  rest.options.timeout = 500;
  await expect(rest.post(`/channels/${general.id}/messages`, { body: { content: name } })).rejects.toThrow();
  await discord.waitUntil(() => posted(name) === count, `${count} posts`);
});

test("a late answer on demand", async () => {
  discord.fail(CREATE, { delayMs: 60 });
  const start = Date.now();
  await send("late");
  expect(Date.now() - start).toBeGreaterThanOrEqual(55);
});

test("a 429 on demand makes the client wait, and says which kind", async () => {
  discord.fail(CREATE, { rateLimit: 0.05 });
  await send("patient");
  expect(posted("patient")).toBe(1);
  discord.fail(CREATE, { rateLimit: 30, scope: "shared" });
  const impatient = restOf(discord, ada);
  impatient.options.rejectOnRateLimit = () => true;
  const before = discord.invalidRequests();
  await expect(impatient.post(`/channels/${general.id}/messages`, { body: { content: "no" } })).rejects.toBeInstanceOf(
    RateLimitError,
  );
  expect(discord.invalidRequests()).toBe(before);
  expect(posted("no")).toBe(0);
});

test("a bucket runs empty and says when it is full again", async () => {
  const strict = await startDiscord({ limits: { message: { limit: 2, windowMs: 800 } } });
  const bot = strict.addBot({ name: "Ada" });
  const place = strict.addChannel("general");
  const post = (content: string) =>
    fetch(`${strict.apiUrl}/v10/channels/${place.id}/messages`, {
      method: "POST",
      headers: {
        authorization: `Bot ${bot.token}`,
        "content-type": "application/json",
        "user-agent": "DiscordBot (https://example.com, 1.0)",
      },
      body: JSON.stringify({ content }),
    });
  const answers = [await post("1"), await post("2"), await post("3")];
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 429]);
  expect(answers.map(({ headers }) => headers.get("x-ratelimit-remaining"))).toEqual(["1", "0", "0"]);
  expect(await answers[2]?.json()).toMatchObject({ global: false, retry_after: expect.any(Number) });
  const rest = restOf(strict, bot);
  for (const text of ["4", "5", "6"]) await rest.post(`/channels/${place.id}/messages`, { body: { content: text } });
  expect(strict.posts(place).map(({ text }) => text)).toEqual(["1", "2", "4", "5", "6"]);
  await strict.close();
});

test("the global limit counts all routes but those of interactions", async () => {
  const strict = await startDiscord({ limits: { global: { limit: 2, windowMs: 60_000 } } });
  const rest = restOf(strict, strict.addBot({ name: "Ada" }));
  rest.options.rejectOnRateLimit = () => true;
  await rest.get("/users/@me");
  await rest.get("/gateway/bot");
  await expect(rest.get("/users/@me/guilds")).rejects.toBeInstanceOf(RateLimitError);
  const callback = rest.post("/interactions/100000000000000000/x/callback", { body: { type: 6 }, auth: false });
  expect((await refusalOf(callback)).code).toBe("404 10062");
  await strict.close();
});

test("too many invalid requests lock the address out", async () => {
  const strict = await startDiscord({ limits: { invalid: { limit: 3, windowMs: 60_000 } } });
  const rest = restOf(strict, strict.addBot({ name: "Ada" }));
  const place = strict.addChannel("closed", { members: [] });
  for (let count = 0; count < 3; count += 1)
    expect((await refusalOf(rest.get(`/channels/${place.id}`))).code).toBe("403 50001");
  const answer = await fetch(`${strict.apiUrl}/v10/users/@me`);
  expect([answer.status, answer.headers.get("via"), await answer.text()]).toEqual([429, null, "error code: 1015"]);
  await strict.close();
});

test("a revoked token is 401, a reset one works again", async () => {
  const bot = discord.addBot({ name: "Once" });
  discord.revoke(bot);
  expect((await refusalOf(restOf(discord, bot).get("/users/@me"))).code).toBe("401 0");
  discord.resetToken(bot);
  expect(await restOf(discord, bot).get("/users/@me")).toMatchObject({ id: bot.userId });
});

test("downloads fail on demand", async () => {
  const post = discord.say(alice, general, "", { files: [{ name: "a.bin", bytes: Buffer.alloc(10) }] });
  const message = (await restOf(discord, ada).get(`/channels/${general.id}/messages/${post.id}`)) as {
    attachments: { url: string }[];
  };
  const url = message.attachments[0]?.url ?? "";
  discord.fail("download", { status: 500 });
  expect((await fetch(url)).status).toBe(500);
  discord.fail("download", { acceptThen: "drop" });
  await expect(fetch(url).then((answer) => answer.arrayBuffer())).rejects.toThrow();
  expect((await fetch(url)).status).toBe(200);
});
