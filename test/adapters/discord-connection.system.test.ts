/** Discord's gateway as it really is: restarts, lost sessions, refused connections, several bots. */

import { expect, test } from "vitest";
import { waitUntil } from "./deliveries.ts";
import { type DiscordWorld, openDiscordWorld, QUICK } from "./discord-world.ts";

const says = (world: DiscordWorld, text: string) =>
  world.discord.say(world.alice, world.general, `${world.discord.mention(world.ada)} ${text}`);
const count = (world: DiscordWorld, text: string) => world.messages(text).length;

test("a restart goes on with the old session, and what was written meanwhile arrives", async () => {
  const world = await openDiscordWorld();
  says(world, "before");
  await world.message("before");
  await waitUntil(() => world.isAllRemembered(), "the session to be kept");
  await world.adapter.stop();
  says(world, "meanwhile");
  await world.restart();
  await world.message("meanwhile");
  expect(world.discord.identifies(world.ada)).toBe(1);
  expect(world.discord.resumes(world.ada)).toBe(1);
  expect(count(world, "before")).toBe(1);
  await world.close();
});

test("what was being stored when the process ended comes again to the next one", async () => {
  const world = await openDiscordWorld();
  world.receiveWith(() => Promise.reject(new Error("the database is away")));
  says(world, "unlucky");
  await world.message("unlucky");
  await world.adapter.stop();
  world.receiveWith(() => Promise.resolve({ status: "accepted" }));
  world.received.length = 0;
  await world.restart();
  await world.message("unlucky");
  await world.close();
});

test("a session that was forgotten is begun anew, and history is read instead", async () => {
  const world = await openDiscordWorld();
  says(world, "before");
  await world.message("before");
  await waitUntil(() => world.isAllRemembered(), "the session to be kept");
  await world.adapter.stop();
  world.discord.dm(world.alice, world.ada, "never seen before");
  says(world, "meanwhile");
  world.discord.forgetSessions();
  await world.restart();
  await world.message("meanwhile");
  expect(world.discord.identifies(world.ada)).toBe(2);
  const keys = world.received.map((event) => event.dedupeKey);
  expect(keys.filter((key) => key === world.messages("before")[0]?.dedupeKey).length).toBe(count(world, "before"));
  await world.close();
});

test("history has the same key as the live event, so it is answered once", async () => {
  const world = await openDiscordWorld();
  says(world, "twice");
  await world.message("twice");
  world.discord.invalidate(world.ada);
  await waitUntil(() => count(world, "twice") === 2, "the copy from history");
  expect(new Set(world.messages("twice").map((event) => event.dedupeKey)).size).toBe(1);
  await world.close();
});

test("direct messages written during an absence are read as well", async () => {
  const world = await openDiscordWorld();
  world.discord.dm(world.alice, world.ada, "first");
  await world.message("first");
  await waitUntil(() => world.isAllRemembered(), "the session to be kept");
  await world.adapter.stop();
  world.discord.dm(world.alice, world.ada, "second");
  world.discord.forgetSessions();
  await world.restart();
  expect((await world.message("second")).conversation.kind).toBe("direct");
  await world.close();
});

test("news older than the bound is left alone", async () => {
  const backfill = { maxAgeMs: 0, maxPlaces: 10, maxMessages: 10 };
  const world = await openDiscordWorld({ connection: { backfill } });
  says(world, "old");
  await world.message("old");
  await world.adapter.stop();
  says(world, "stale");
  world.discord.forgetSessions();
  await new Promise((resolve) => setTimeout(resolve, 30));
  await world.restart();
  says(world, "fresh");
  await world.message("fresh");
  expect(count(world, "stale")).toBe(0);
  await world.close();
});

test("asked to reconnect, cut, or closed, the bot resumes and loses nothing", async () => {
  const world = await openDiscordWorld();
  const { discord, ada } = world;
  const disturb = [() => discord.reconnect(ada), () => discord.cut(ada), () => discord.closeWith(4000, ada)];
  for (const [index, how] of disturb.entries()) {
    how();
    says(world, `during ${index}`);
    await world.message(`during ${index}`);
    await waitUntil(() => world.adapter.health()[0]?.state === "connected", "the connection");
  }
  expect(discord.identifies(ada)).toBe(1);
  expect(discord.sockets(ada)).toBe(1);
  await world.close();
});

test("a gateway that refuses at first leads to exactly one session", async () => {
  const world = await openDiscordWorld({ start: false });
  world.discord.refuseUpgrades({ times: 6, status: 503 });
  await world.startBot(world.ada);
  expect(world.adapter.health()).toMatchObject([{ state: "connected" }]);
  await world.discord.settle(300);
  expect(world.discord.identifies(world.ada)).toBe(1);
  expect(world.discord.sockets(world.ada)).toBe(1);
  await world.close();
});

test("a host for resuming that answers nothing but 503 is given up for a fresh session, and nothing is lost", async () => {
  const world = await openDiscordWorld();
  const { discord, ada } = world;
  discord.refuseUpgrades({ address: "resume", status: 503, times: 10_000 });
  discord.cut(ada);
  says(world, "during the search");
  await world.message("during the search");
  await waitUntil(() => world.adapter.health()[0]?.state === "connected", "the connection");
  says(world, "afterwards");
  await world.message("afterwards");
  expect(discord.identifies(ada)).toBe(2);
  expect(discord.sockets(ada)).toBe(1);
  await world.close();
});

test("a connection that stays open and hears nothing is replaced, and what was said meanwhile arrives", async () => {
  const world = await openDiscordWorld({ discord: { heartbeatMs: 200 } });
  const { discord, ada } = world;
  discord.silence(ada);
  says(world, "into the silence");
  await world.message("into the silence");
  await waitUntil(() => world.adapter.health()[0]?.state === "connected", "the connection");
  expect(discord.sockets(ada)).toBe(1);
  discord.withholdAcks(ada);
  await waitUntil(() => world.adapter.health()[0]?.state === "reconnecting", "the doubt");
  await waitUntil(() => world.adapter.health()[0]?.state === "connected", "the next connection");
  says(world, "afterwards");
  await world.message("afterwards");
  expect([count(world, "into the silence"), discord.sockets(ada), discord.identifies(ada)]).toEqual([1, 1, 1]);
  await world.close();
});

test("stopping while the gateway refuses leaves no ghost behind", async () => {
  const world = await openDiscordWorld();
  world.discord.refuseUpgrades({ times: 1000, status: 503 });
  world.discord.cut(world.ada);
  await waitUntil(() => world.adapter.health()[0]?.state === "reconnecting", "the loss to be seen");
  await world.adapter.stop();
  world.discord.calm();
  await new Promise((resolve) => setTimeout(resolve, 700));
  expect(world.discord.sockets(world.ada)).toBe(0);
  expect(world.discord.identifies(world.ada)).toBe(1);
  await world.discord.close();
});

test("sessions that are refused one after the other are spaced ever wider", async () => {
  const budget = { baseMs: 150, longestMs: 5000, steadyMs: 60_000 };
  const world = await openDiscordWorld({ start: false, connection: { budget } });
  world.discord.refuseIdentify(null, { times: 1000 });
  void world.startBot(world.ada);
  await waitUntil(() => world.discord.identifies(world.ada) >= 4, "four starts", 20_000);
  const stored = (await world.context.kv.get(`starts:${world.ada.applicationId}`)) as { starts: number[]; row: number };
  const gaps = stored.starts.slice(1).map((at, index) => at - (stored.starts[index] ?? 0));
  expect(gaps[2]).toBeGreaterThanOrEqual(300);
  expect(stored.row).toBeGreaterThanOrEqual(3);
  await world.close();
});

test("no start is made when Discord says that none are left", async () => {
  const world = await openDiscordWorld({ start: false });
  world.ada.identifies.remaining = 0;
  world.ada.identifies.resetAt = Date.now() + 60_000;
  void world.startBot(world.ada);
  await waitUntil(
    () => world.discord.connections(world.ada).length > 0 || world.discord.calls("GET /gateway/bot").length > 0,
    "the question",
  );
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(world.discord.identifies(world.ada)).toBe(0);
  await world.close();
});

test("one bot that may not read what it asks for does not touch the others", async () => {
  const world = await openDiscordWorld({ bots: ["Ada", "Bo", "Cy"], start: false });
  const [ada, bo, cy] = world.bots;
  if (!ada || !bo || !cy) throw new Error("three bots");
  world.discord.refuseIdentify(4014, { bot: bo, times: 1 });
  await Promise.all(world.bots.map((bot) => world.startBot(bot)));
  const health = new Map(world.adapter.health().map((one) => [one.botId, one]));
  expect([health.get("ada")?.state, health.get("cy")?.state]).toEqual(["connected", "connected"]);
  // Tried again, the switch being on, it connects as well.
  await waitUntil(() => world.adapter.health().every((one) => one.state === "connected"), "all to be connected");
  expect(world.logs.some((line) => line.includes("Message Content") && line.includes("failed"))).toBe(true);
  await world.close();
});

test("a bad token is a failed bot with a remedy; a good one in its place is taken up", async () => {
  const world = await openDiscordWorld({ connection: { ...QUICK, refusedMs: 50 } });
  world.discord.revoke(world.ada);
  await waitUntil(() => world.adapter.health()[0]?.state === "failed", "the failure");
  expect(world.adapter.health()[0]?.remedy).toContain("Reset Token");
  world.ada.revoked = false;
  await waitUntil(() => world.adapter.health()[0]?.state === "connected", "the recovery");
  await world.close();
});

test("bots without the switch do not ask for message content", async () => {
  const world = await openDiscordWorld({ bots: ["Ada", "Bo"], deaf: ["Bo"] });
  const [ada, bo] = world.bots;
  if (!ada || !bo) throw new Error("two bots");
  expect((world.discord.intents(ada) ?? 0) & 32_768).toBe(32_768);
  expect((world.discord.intents(bo) ?? 0) & 32_768).toBe(0);
  await world.close();
});

test("commands are written once, and not again by five restarts", async () => {
  const world = await openDiscordWorld();
  await waitUntil(() => world.discord.commands(world.ada).length > 0, "the commands");
  expect(world.discord.commands(world.ada).map((command) => command.name)).toEqual([
    "stop",
    "new",
    "status",
    "memory",
    "help",
    "group",
  ]);
  for (let round = 0; round < 5; round += 1) await world.restart();
  await world.discord.settle(200);
  expect(world.discord.requests.filter((request) => request.route.startsWith("PUT /applications"))).toHaveLength(1);
  await world.close();
});

test("a bot works without its commands when Discord does not take them", async () => {
  const world = await openDiscordWorld({ start: false });
  world.discord.fail(
    "*",
    { error: { status: 400, code: 30_034 } },
    { when: (request) => request.route.startsWith("PUT /applications") },
  );
  await world.startBot(world.ada);
  says(world, "hello");
  await world.message("hello");
  expect(world.discord.commands(world.ada)).toEqual([]);
  await world.close();
});
