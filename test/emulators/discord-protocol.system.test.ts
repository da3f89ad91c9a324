/**
 * Protocol errors at the emulated gateway, with a bare socket: close codes, frames Discord does not take, the budget of
 * IDENTIFYs, compression.
 */
import { constants, inflateSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { WebSocket } from "ws";
import type { Bot, Discord } from "./discord/index.ts";
import { startDiscord } from "./discord/index.ts";
import { refusalOf, restOf } from "./discord-clients.ts";

type Json = Record<string, unknown>;

const sockets: WebSocket[] = [];
let discord: Discord;

beforeAll(async () => {
  discord = await startDiscord();
});
afterEach(() => {
  for (const socket of sockets.splice(0)) socket.terminate();
});
afterAll(() => discord.close());

const fresh = (options: { identifies?: number } = {}): Bot => discord.addBot({ name: "Ada", ...options });

/** A bare connection. */
async function open(query = "v=10&encoding=json", host = discord.host) {
  const socket = new WebSocket(`ws://${host}/gateway?${query}`);
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
  const bot = fresh();
  const first = await open();
  first.send(2, identity(bot));
  const ready = await discord.waitUntil(() => first.frames.find(({ t }) => t === "READY"), "READY");
  const bare = await open();
  bare.send(6, { token: bot.token, session_id: (ready.d as Json).session_id, seq: 1_000_000 });
  expect(await bare.closed).toBe(4007);
});

test("every IDENTIFY costs budget, and past its end the token is reset", async () => {
  const bot = fresh({ identifies: 1 });
  const first = await open();
  first.send(2, identity(bot));
  await discord.waitForSocket(bot);
  const info = (await restOf(discord, bot).get("/gateway/bot")) as { session_start_limit: Json };
  expect(info.session_start_limit).toMatchObject({ total: 1, remaining: 0, max_concurrency: 1 });
  const second = await open();
  second.send(2, identity(bot));
  expect(await Promise.all([first.closed, second.closed])).toEqual([4004, 4004]);
  expect((await refusalOf(restOf(discord, bot).get("/users/@me"))).code).toBe("401 0");
});

test("two IDENTIFYs within the spacing get op 9", async () => {
  const strict = await startDiscord({ identifyEveryMs: 60_000 });
  const bot = strict.addBot({ name: "Ada" });
  const frames: Json[][] = [];
  for (let index = 0; index < 2; index += 1) {
    const bare = await open("v=10&encoding=json", strict.host);
    bare.send(2, identity(bot));
    await strict.waitUntil(() => bare.frames.length > 1, "an answer");
    frames.push(bare.frames);
  }
  expect(frames.map((list) => list[1]?.op)).toEqual([0, 9]);
  await strict.close();
});

test("clients that ask for zlib-stream get it", async () => {
  const bare = await open("v=10&encoding=json&compress=zlib-stream");
  await discord.waitUntil(() => bare.binary.length > 0, "a compressed hello");
  const text = inflateSync(Buffer.concat(bare.binary), { finishFlush: constants.Z_SYNC_FLUSH });
  expect(JSON.parse(String(text))).toMatchObject({ op: 10, d: { heartbeat_interval: 41_250 } });
});
