/**
 * What Discord refuses must be refused here with the same code and place, through the real REST client, and must change
 * nothing. Each row is the smallest request that breaks one rule.
 */
import type { RawFile } from "discord.js";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Bot, Channel, Discord, Post, User } from "./discord/index.ts";
import { startDiscord } from "./discord/index.ts";
import { refusalOf, restOf } from "./discord-clients.ts";

type Json = Record<string, unknown>;

let discord: Discord;
let ada: Bot;
let bo: Bot;
let alice: User;
let general: Channel;
let own: Post;
let foreign: Post;

beforeAll(async () => {
  discord = await startDiscord({
    limits: { message: { limit: 1000, windowMs: 1000 }, global: { limit: 1000, windowMs: 1000 } },
  });
  ada = discord.addBot({ name: "Ada" });
  bo = discord.addBot({ name: "Bo" });
  alice = discord.addPerson("Alice");
  general = discord.addChannel("general");
  await send({ content: "own" });
  own = await discord.waitForPost();
  foreign = discord.say(alice, general, "foreign");
});
afterAll(() => discord.close());

const send = (body: Json, files?: RawFile[], channel = general) =>
  restOf(discord, ada).post(`/channels/${channel.id}/messages`, { body, files });

const many = (count: number, item: unknown = {}) => Array.from({ length: count }, () => item);
const text = (content: string) => ({ type: 10, content });
const v2 = (...components: Json[]) => ({ flags: 32_768, components });

test("empty messages are 50006", async () => {
  for (const body of [{}, { content: "" }, { content: " \n " }, { content: "", embeds: [] }])
    expect((await refusalOf(send(body))).code).toBe("400 50006");
});

test("files over the guild's limit are 413, in a boosted guild larger ones pass", async () => {
  const large = [{ name: "a.bin", data: Buffer.alloc(10 * 1024 * 1024 + 1) }];
  expect((await refusalOf(send({ content: "text" }, large))).code).toBe("413 40005");
  const boosted = discord.addGuild("Boosted", { tier: 2 });
  discord.install(ada, boosted);
  expect((await refusalOf(send({}, large, discord.addChannel("big", { guild: boosted })))).code).toBe("ok");
  const eleven = many(11).map((_, index) => ({ name: `${index}.txt`, data: "x" }));
  expect((await refusalOf(send({}, eleven))).reasons).toContain("attachments");
});

test("places refuse with their own codes", async () => {
  const refused = async (channel: Channel) => (await refusalOf(send({ content: "x" }, undefined, channel))).code;
  const mute = discord.addChannel("mute");
  discord.permit(mute, ada, { deny: ["SendMessages"] });
  const locked = discord.startThread(alice, general, "locked");
  discord.setThread(locked, { locked: true });
  const archived = discord.startThread(alice, general, "archived");
  discord.setThread(archived, { archived: true });
  const closed = discord.addPerson("Closed", { dms: "closed" });
  const stranger = discord.addPerson("Stranger", { guilds: [] });
  const gone = discord.addChannel("gone");
  discord.removeChannel(gone);
  expect({
    hidden: await refused(discord.addChannel("hidden", { members: [alice] })),
    mute: await refused(mute),
    forum: await refused(discord.addChannel("forum", { kind: "forum" })),
    category: await refused(discord.addChannel("category", { kind: "category" })),
    locked: await refused(locked),
    archived: await refused(archived),
    closed: await refused(discord.dmChannel(closed, ada)),
    stranger: await refused(discord.dmChannel(stranger, ada)),
    foreignDm: await refused(discord.dmChannel(alice, bo)),
    gone: await refused(gone),
  }).toEqual({
    hidden: "403 50001",
    mute: "403 50013",
    forum: "400 40058",
    category: "400 50008",
    locked: "400 160005",
    archived: "ok",
    closed: "403 50007",
    stranger: "403 50278",
    foreignDm: "403 50001",
    gone: "404 10003",
  });
  expect(archived.thread?.archived).toBe(false);
});

test("permissions for files, replies and slow mode are asked for", async () => {
  const place = discord.addChannel("strict", { slowmode: 60 });
  discord.permit(place, ada, { deny: ["AttachFiles", "ReadMessageHistory"] });
  const said = discord.say(alice, place, "reply to me");
  const reply = { content: "x", message_reference: { message_id: said.id } };
  expect((await refusalOf(send({}, [{ name: "a", data: "x" }], place))).code).toBe("403 50013");
  expect((await refusalOf(send(reply, undefined, place))).code).toBe("400 160002");
  expect((await refusalOf(send({ content: "first" }, undefined, place))).code).toBe("ok");
  const rest = restOf(discord, ada);
  rest.options.rejectOnRateLimit = () => true;
  await expect(rest.post(`/channels/${place.id}/messages`, { body: { content: "second" } })).rejects.toThrow();
  expect(discord.refusals.at(-1)).toMatchObject({ status: 429, code: 20016, bot: ada });
});

test("a missing reply target is survived when asked for", async () => {
  const lost = { message_id: "123456789012345678", fail_if_not_exists: false };
  expect((await refusalOf(send({ content: "survived", message_reference: lost }))).code).toBe("ok");
  expect((await discord.waitForPost(({ text: said }) => said === "survived")).replyTo).toBeNull();
  const system = discord.say(alice, general, "", { type: 7 });
  const answer = { message_id: system.id, fail_if_not_exists: false };
  expect((await refusalOf(send({ content: "x", message_reference: answer }))).reasons).toContain("system message");
});

test("edits and deletions are refused with their codes", async () => {
  const rest = restOf(discord, ada);
  const path = (post: Post) => `/channels/${post.channel.id}/messages/${post.id}` as const;
  const edit = (post: Post, body: Json) => refusalOf(rest.patch(path(post), { body }));
  expect((await edit(foreign, { content: "x" })).code).toBe("403 50005");
  expect((await edit(own, { content: "x".repeat(2001) })).code).toBe("400 50035");
  expect((await edit(own, { content: "" })).code).toBe("400 50006");
  expect((await edit(own, v2(text("x")))).reasons).toContain("LEGACY_FIELDS");
  expect((await edit(own, { ...v2(text("x")), content: null })).code).toBe("ok");
  expect((await edit(own, { flags: 0, content: "back" })).reasons).toContain("CANNOT_REMOVE");
  expect((await refusalOf(rest.delete(path(foreign)))).code).toBe("403 50013");
  const direct = discord.dm(alice, ada, "mine");
  expect((await refusalOf(rest.delete(path(direct)))).code).toBe("403 50003");
  discord.erase(direct);
  expect((await refusalOf(rest.get(path(direct)))).code).toBe("404 10008");
  expect(discord.read(own)?.text).toBe("x");
});

test("threads, reactions, DMs and commands are refused with their codes", async () => {
  const rest = restOf(discord, ada);
  const start = (body: Json) =>
    refusalOf(rest.post(`/channels/${general.id}/messages/${foreign.id}/threads`, { body }));
  expect((await start({ name: "" })).code).toBe("400 50035");
  expect((await start({ name: "x", auto_archive_duration: 5 })).code).toBe("400 50035");
  expect((await start({ name: "x" })).code).toBe("ok");
  expect((await start({ name: "x" })).code).toBe("400 160004");
  const emoji = (name: string) =>
    refusalOf(rest.put(`/channels/${general.id}/messages/${foreign.id}/reactions/${encodeURIComponent(name)}/@me`));
  expect((await emoji("wrong")).code).toBe("400 10014");
  expect((await emoji("wrong:123456789012345678")).code).toBe("400 10014");
  const open = (recipient: string) =>
    refusalOf(rest.post("/users/@me/channels", { body: { recipient_id: recipient } }));
  expect((await open(bo.userId)).code).toBe("403 50007");
  expect((await open("123456789012345678")).code).toBe("400 50033");
  const commands = (body: Json[]) => refusalOf(rest.put(`/applications/${ada.applicationId}/commands`, { body }));
  expect((await commands([{ name: "Loud", description: "x" }])).code).toBe("400 50035");
  expect((await commands([{ name: "quiet", description: "" }])).code).toBe("400 50035");
  expect((await commands(many(2, { name: "twice", description: "x" }) as Json[])).code).toBe("400 50035");
});

test("clients without a name, a token or readable JSON are turned away", async () => {
  const url = `${discord.apiUrl}/v10/channels/${general.id}/messages`;
  const agent = { "user-agent": "DiscordBot (https://example.com, 1.0)" };
  const token = { authorization: `Bot ${ada.token}`, "content-type": "application/json" };
  const status = async (headers: Record<string, string>, body: string, address = url) => {
    const answer = await fetch(address, { method: "POST", headers, body });
    return `${answer.status} ${((await answer.json()) as { code: number }).code}`;
  };
  expect(await status(token, "{}")).toBe("403 40333");
  expect(await status(agent, "{}")).toBe("401 0");
  expect(await status({ ...agent, ...token }, "{")).toBe("400 50109");
  expect(await status({ ...agent, ...token }, "{}", url.replace("v10", "v1"))).toBe("400 50041");
  expect(await status({ ...agent, ...token }, "{}", `${url}/nowhere`)).toBe("404 0");
});

test("a channel id that is none is a form error, one nobody has is unknown", async () => {
  const rest = restOf(discord, ada);
  expect((await refusalOf(rest.get("/channels/general"))).reasons).toContain("not snowflake");
  expect((await refusalOf(rest.get("/channels/123456789012345678"))).code).toBe("404 10003");
});

test("every refusal is recorded with its reasons", () => {
  const refusal = discord.refusals.find(({ code }) => code === 50_035);
  expect(refusal).toMatchObject({
    route: "POST /channels/:id/messages",
    status: 400,
    code: 50_035,
    problems: ["attachments: BASE_TYPE_MAX_LENGTH"],
    bot: ada,
  });
});
