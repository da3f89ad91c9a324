/**
 * The emulated gateway under the real gateway client: resuming, invalid sessions, lost connections, refused sessions,
 * and for protocol errors a bare socket.
 */
import { constants, inflateSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Bot, Channel, Discord, User } from "./discord/index.ts";
import { startDiscord } from "./discord/index.ts";
import type { GatewayClient } from "./discord-clients.ts";
import { connect, gatewayOf, refusalOf, restOf } from "./discord-clients.ts";

type Json = Record<string, unknown>;

const running: GatewayClient[] = [];
const sockets: WebSocket[] = [];
let discord: Discord;
let ada: Bot;
let alice: User;
let general: Channel;

beforeAll(async () => {
  discord = await startDiscord();
  alice = discord.addPerson("Alice");
  general = discord.addChannel("general");
});
/** A bot of its own for each test, so that counts start at nothing. */
function fresh(options: { messageContent?: boolean; identifies?: number } = {}): Bot {
  ada = discord.addBot({ name: "Ada", ...options });
  return ada;
}
afterEach(async () => {
  discord.calm();
  for (const client of running.splice(0)) await client.manager.destroy();
  for (const socket of sockets.splice(0)) socket.terminate();
});
afterAll(() => discord.close());

async function join(): Promise<GatewayClient> {
  const client = await connect(discord, fresh());
  running.push(client);
  await discord.waitUntil(() => client.named("GUILD_CREATE").length > 0, "the guild");
  return client;
}

const contents = (client: GatewayClient) => client.named("MESSAGE_CREATE").map(({ content }) => content);
const heard = (client: GatewayClient, count: number) =>
  discord.waitUntil(() => contents(client).length >= count, `${count} messages, there are ${contents(client).join()}`);
const resumed = (client: GatewayClient) => discord.waitUntil(() => client.named("RESUMED").length > 0, "RESUMED");

test("after op 7 the client resumes and gets what it missed, once", async () => {
  const client = await join();
  discord.say(alice, general, "before");
  await heard(client, 1);
  discord.refuseUpgrades({ bot: ada, times: 1 });
  discord.reconnect(ada);
  await discord.waitUntil(() => discord.sockets(ada) === 0, "the end of the first connection");
  discord.say(alice, general, "meanwhile");
  await resumed(client);
  discord.say(alice, general, "after");
  await heard(client, 3);
  expect(contents(client)).toEqual(["before", "meanwhile", "after"]);
  expect(discord.identifies(ada)).toBe(1);
  expect(discord.resumes(ada)).toBe(1);
});

test("a cut connection and one closed with 4000 are resumed", async () => {
  const client = await join();
  expect(discord.cut(ada)).toBe(1);
  await resumed(client);
  discord.closeWith(4000, ada);
  await discord.waitUntil(() => client.named("RESUMED").length === 2, "the second RESUMED");
  expect(discord.identifies(ada)).toBe(1);
  expect(client.closes).toEqual([1006, 4000]);
});

test("an invalid session is identified anew and nothing is replayed", async () => {
  const client = await join();
  discord.invalidate(ada, false);
  await discord.waitUntil(() => client.named("READY").length === 2, "the second READY", 10_000);
  expect(discord.identifies(ada)).toBe(2);
  expect(discord.sockets(ada)).toBe(1);
});

test("a forgotten session answers RESUME with op 9", async () => {
  const client = await join();
  discord.refuseUpgrades({ bot: ada, times: 1 });
  discord.cut(ada);
  await discord.waitUntil(() => discord.sockets(ada) === 0, "the loss");
  discord.forgetSessions(ada);
  await discord.waitUntil(() => client.named("READY").length === 2, "the second READY", 10_000);
  expect(discord.resumes(ada)).toBe(1);
});

test("a dead resume host makes the client try again", async () => {
  const client = await join();
  discord.refuseUpgrades({ bot: ada, address: "resume", times: 2 });
  discord.cut(ada);
  await discord.waitUntil(() => client.named("RESUMED").length + client.named("READY").length > 1, "a session", 15_000);
  expect(discord.sockets(ada)).toBe(1);
});

test("a session survives a client that closes with 4200 and is resumed by the next one", async () => {
  let session: unknown = null;
  const options = {
    retrieveSessionInfo: () => session as never,
    updateSessionInfo: (_shard: number, info: unknown) => {
      session = info ?? session;
    },
  };
  const first = await connect(discord, fresh(), options);
  await first.manager.destroy({ code: 4200 });
  discord.say(alice, general, "between two lives");
  const second = gatewayOf(discord, ada, options);
  running.push(second);
  await second.manager.connect();
  await heard(second, 1);
  expect(contents(second)).toEqual(["between two lives"]);
  expect(discord.identifies(ada)).toBe(1);
});

test("closing with 1000 ends the session", async () => {
  let session: unknown = null;
  const options = {
    retrieveSessionInfo: () => session as never,
    updateSessionInfo: (_shard: number, info: unknown) => {
      session = info ?? session;
    },
  };
  const first = await connect(discord, fresh(), options);
  await first.manager.destroy();
  const second = gatewayOf(discord, ada, options);
  running.push(second);
  await second.manager.connect();
  expect(discord.resumes(ada)).toBe(1);
  expect(discord.identifies(ada)).toBe(2);
});

test.each([4004, 4014])("a refused IDENTIFY closes with %i and only that bot is hit", async (code) => {
  const other = await join();
  const client = gatewayOf(discord, fresh());
  running.push(client);
  discord.refuseIdentify(code, { bot: ada });
  await expect(client.manager.connect()).rejects.toThrow();
  expect(client.closes).toEqual([code]);
  discord.say(alice, general, "still there");
  await heard(other, 1);
});

test("an intent that is not switched on closes with 4014", async () => {
  const client = gatewayOf(discord, fresh({ messageContent: false }), { intents: 1 | 512 | 32_768 });
  running.push(client);
  await expect(client.manager.connect()).rejects.toThrow("disallowed intents");
  expect(client.closes).toEqual([4014]);
});

test("every IDENTIFY costs budget, and past its end the token is reset", async () => {
  const bot = fresh({ identifies: 2 });
  for (const expected of [1, 0]) {
    const client = await connect(discord, bot);
    running.push(client);
    const info = (await restOf(discord, bot).get("/gateway/bot")) as { session_start_limit: Json };
    expect(info.session_start_limit).toMatchObject({ total: 2, remaining: expected, max_concurrency: 1 });
  }
  const bare = await open();
  bare.send(2, { token: bot.token, intents: 1, properties: { os: "linux" } });
  expect(await bare.closed).toBe(4004);
  expect((await refusalOf(restOf(discord, bot).get("/users/@me"))).code).toBe("401 0");
});

test("events are doubled, dropped, delayed and swapped on demand", async () => {
  const client = await join();
  const event = "MESSAGE_CREATE";
  discord.disturb({ duplicate: 1, event }, { bot: ada });
  discord.say(alice, general, "twice");
  discord.disturb({ drop: true, event }, { bot: ada });
  discord.say(alice, general, "never");
  discord.disturb({ reorder: true, event }, { bot: ada });
  discord.say(alice, general, "second");
  discord.say(alice, general, "first");
  discord.disturb({ delayMs: 50, event }, { bot: ada });
  discord.say(alice, general, "late");
  discord.say(alice, general, "early");
  await heard(client, 6);
  expect(contents(client)).toEqual(["twice", "twice", "first", "second", "early", "late"]);
  const numbers = client.events.map(({ s }) => s);
  expect(numbers).toEqual([...numbers].sort((a, b) => a - b));
});

test("a guild may be unavailable for a while", async () => {
  const client = await join();
  discord.holdGuild(discord.guild, ada);
  discord.say(alice, general, "unheard");
  discord.releaseGuild(discord.guild, ada);
  discord.say(alice, general, "heard");
  await heard(client, 1);
  expect(contents(client)).toEqual(["heard"]);
  expect(client.named("GUILD_DELETE")).toMatchObject([{ id: discord.guild.id, unavailable: true }]);
});

test("a message may be delivered again", async () => {
  const client = await join();
  const said = discord.say(alice, general, "again");
  discord.redeliver(said);
  await heard(client, 2);
  expect(client.named("MESSAGE_CREATE").map(({ id }) => id)).toEqual([said.id, said.id]);
});

test("silent connections and missing acknowledgements make the client resume", async () => {
  const quick = await startDiscord({ heartbeatMs: 60 });
  const bot = quick.addBot({ name: "Quick" });
  const person = quick.addPerson("Alice");
  const place = quick.addChannel("general");
  const client = await connect(quick, bot);
  await quick.waitUntil(() => quick.heartbeats(bot) > 1, "heartbeats");
  quick.withholdAcks(bot);
  await quick.waitUntil(() => client.named("RESUMED").length === 1, "the first RESUMED");
  quick.silence(bot);
  quick.say(person, place, "into the void");
  await quick.waitUntil(() => client.named("RESUMED").length === 2, "the second RESUMED");
  expect(contents(client)).toEqual(["into the void"]);
  await client.manager.destroy();
  await quick.close();
});

/** A bare connection. */
async function open(query = "v=10&encoding=json") {
  const socket = new WebSocket(`ws://${discord.host}/gateway?${query}`);
  sockets.push(socket);
  const frames: Json[] = [];
  const binary: Buffer[] = [];
  socket.on("message", (data, isBinary) => {
    if (isBinary) binary.push(data as Buffer);
    else frames.push(JSON.parse(String(data)) as Json);
  });
  const closed = new Promise<number>((resolve) => socket.once("close", resolve));
  await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
  return { socket, frames, binary, closed, send: (op: number, d: unknown) => socket.send(JSON.stringify({ op, d })) };
}

const identity = (bot: Bot, more: Json = {}) => ({
  token: bot.token,
  intents: 1,
  properties: { os: "linux" },
  ...more,
});

test.each([
  ["an unknown op before IDENTIFY", 4003, [[3, { status: "online" }]]],
  ["a wrong token", 4004, [[2, { token: "x", intents: 1, properties: { os: "linux" } }]]],
  ["no properties", 4002, [[2, "properties"]]],
  ["impossible intents", 4013, [[2, "intents"]]],
  ["an impossible shard", 4010, [[2, "shard"]]],
  [
    "a second IDENTIFY",
    4005,
    [
      [2, "good"],
      [2, "good"],
    ],
  ],
  [
    "an unknown op",
    4001,
    [
      [2, "good"],
      [99, {}],
    ],
  ],
] as [string, number, [number, unknown][]][])("%s closes with %i", async (_name, code, frames) => {
  const bot = fresh();
  const bodies: Record<string, Json> = {
    good: identity(bot),
    properties: identity(bot, { properties: {} }),
    intents: identity(bot, { intents: 1 << 30 }),
    shard: identity(bot, { shard: [2, 1] }),
  };
  const bare = await open();
  for (const [op, body] of frames) bare.send(op, typeof body === "string" ? bodies[body] : body);
  expect(await bare.closed).toBe(code);
});

test("garbage, long frames, old versions and floods are closed", async () => {
  const garbage = await open();
  garbage.socket.send("{");
  expect(await garbage.closed).toBe(4002);
  const long = await open();
  long.send(1, "x".repeat(5000));
  expect(await long.closed).toBe(4002);
  expect(await (await open("v=6&encoding=json")).closed).toBe(4012);
  const flood = await open();
  for (let count = 0; count < 121; count += 1) flood.send(1, null);
  expect(await flood.closed).toBe(4008);
});

test("resuming with a sequence number from the future closes with 4007", async () => {
  const client = await join();
  const bare = await open();
  bare.send(6, { token: ada.token, session_id: client.named("READY")[0]?.session_id, seq: 1_000_000 });
  expect(await bare.closed).toBe(4007);
});

test("clients that ask for zlib-stream get it", async () => {
  const bare = await open("v=10&encoding=json&compress=zlib-stream");
  await discord.waitUntil(() => bare.binary.length > 0, "a compressed hello");
  const text = inflateSync(Buffer.concat(bare.binary), { finishFlush: constants.Z_SYNC_FLUSH });
  expect(JSON.parse(String(text))).toMatchObject({ op: 10, d: { heartbeat_interval: 41_250 } });
});
