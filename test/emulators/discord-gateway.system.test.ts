/**
 * The emulated gateway under the real gateway client: resuming, invalid sessions, lost connections, refused sessions,
 * disturbed events.
 */
import type { SessionInfo } from "@discordjs/ws";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import type { Bot, Channel, Discord, User } from "./discord/index.ts";
import { startDiscord } from "./discord/index.ts";
import type { GatewayClient } from "./discord-clients.ts";
import { connect, gatewayOf } from "./discord-clients.ts";

const running: GatewayClient[] = [];
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
  await discord.waitUntil(() => client.named("RESUMED").length >= 2, "the second RESUMED");
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

/** A session kept over the end of its client: until `live`, the null that ending writes is ignored. */
function keptSession() {
  let session: SessionInfo | null = null;
  let kept = true;
  const options = {
    retrieveSessionInfo: () => session,
    updateSessionInfo: (_shard: number, info: SessionInfo | null) => {
      session = kept ? (info ?? session) : info;
    },
  };
  const live = () => {
    kept = false;
  };
  return { options, live };
}

test("a session survives a client that closes with 4200 and is resumed by the next one", async () => {
  const { options, live } = keptSession();
  const first = await connect(discord, fresh(), options);
  await first.manager.destroy({ code: 4200 });
  live();
  discord.say(alice, general, "between two lives");
  const second = gatewayOf(discord, ada, options);
  running.push(second);
  await second.manager.connect();
  await heard(second, 1);
  expect(contents(second)).toEqual(["between two lives"]);
  expect(discord.identifies(ada)).toBe(1);
});

test("closing with 1000 ends the session", async () => {
  const { options, live } = keptSession();
  const first = await connect(discord, fresh(), options);
  await first.manager.destroy();
  live();
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
  const quick = await startDiscord({ heartbeatMs: 300 });
  const bot = quick.addBot({ name: "Quick" });
  const person = quick.addPerson("Alice");
  const place = quick.addChannel("general");
  const client = await connect(quick, bot);
  await quick.waitUntil(() => quick.heartbeats(bot) > 1, "heartbeats");
  quick.withholdAcks(bot);
  await quick.waitUntil(() => client.named("RESUMED").length >= 1, "the first RESUMED");
  quick.silence(bot);
  quick.say(person, place, "into the void");
  await quick.waitUntil(() => client.named("RESUMED").length >= 2, "the second RESUMED");
  expect(contents(client)).toEqual(["into the void"]);
  await client.manager.destroy();
  await quick.close();
});
