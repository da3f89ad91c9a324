/** Gateways hear and workers think: the same bots over several processes on one PostgreSQL and one Redis (SPEC O1). */
import { afterAll, beforeAll, expect, test } from "vitest";
import { done, sendMessage } from "../emulators/llm/index.ts";
import { type OwnRedis, redisProgram, startRedis } from "../support/redis.ts";
import { echo, heard } from "../support/scripts.ts";
import { createServerDatabase, isServerThere } from "../support/server-database.ts";
import { startWorld, type World, type WorldOptions } from "../support/world.ts";

const ready = (await isServerThere()) && redisProgram() !== undefined;
if (!ready) test.skip("split roles: needs PostgreSQL on localhost:5432 and redis-server", () => undefined);

let database: Awaited<ReturnType<typeof createServerDatabase>>;
let redis: OwnRedis;
let gateway: World;
let worker: World;
let standby: World;

beforeAll(async () => {
  if (!ready) return;
  [database, redis] = await Promise.all([createServerDatabase(), startRedis()]);
  const role = (name: string, more: WorldOptions = {}): WorldOptions => ({
    bots: ["Ada", "Bo"],
    process: "own",
    args: ["--role", name],
    env: { DATABASE_URL: database.url, REDIS_URL: redis.url },
    ...more,
  });
  gateway = await startWorld(role("gateway"));
  worker = await startWorld(role("worker", { beside: gateway }));
  standby = await startWorld(role("gateway", { beside: gateway }));
}, 300_000);

afterAll(async () => {
  if (!ready) return;
  for (const world of [standby, worker, gateway]) await world?.close();
  await redis?.close();
  await database?.drop();
}, 120_000);

test.runIf(ready)("a message heard by the gateway is answered by the worker, once", async () => {
  gateway.script("Ada", echo);
  const asked = gateway.say("Alice", "@Ada who thinks?");
  expect((await gateway.answer(asked, 60_000)).text).toBe("You said: @Ada who thinks?");
  await worker.quiet(60_000);
  expect(gateway.answers(asked)).toHaveLength(1);
  expect(worker.logs.some((line) => line.includes('"msg":"turn ended"'))).toBe(true);
  expect(gateway.logs.some((line) => line.includes('"msg":"turn ended"'))).toBe(false);
});

test.runIf(ready)("a worker tells its health, and serves neither people nor platforms", async () => {
  const [health, page] = await Promise.all([fetch(`${worker.url()}/healthz`), fetch(`${worker.url()}/`)]);
  expect([health.status, page.status]).toEqual([200, 404]);
  expect(await health.json()).toMatchObject({ status: "ok" });
  expect((await fetch(`${gateway.url()}/`)).status).toBe(200);
});

test.runIf(ready)("a stop reaches the turn in the other process within a second or two", async () => {
  gateway.script("Ada", (request) => (heard(request).includes("long") ? { hang: true } : done()));
  const asked = gateway.dm("Alice", "a long one", { to: "Ada" });
  await gateway.llm.waitForRequest((request) => heard(request).includes("a long one"), "ada", 60_000);
  const started = Date.now();
  gateway.dm("Alice", "!stop", { to: "Ada" });
  await gateway.slack.waitUntil(
    () => gateway.answers(asked).some((post) => post.text.includes("Stopped")),
    "the stop",
    30_000,
  );
  expect(Date.now() - started).toBeLessThan(15_000);
});

test.runIf(ready)(
  "when the gateway that listens is killed, the other one takes over; nobody is answered twice",
  async () => {
    gateway.script("Ada", echo);
    gateway.script("Bo", (request) => (request.lastRole === "user" ? sendMessage("Bo here") : done()));
    await gateway.crash();
    const listening = () => standby.logs.filter((line) => line.includes('"listens":true')).length;
    await gateway.slack.waitUntil(() => listening() >= 2, "both bots to be taken over", 60_000);
    const asked = standby.say("Alice", "@Ada are you still there?");
    expect((await standby.answer(asked, 60_000)).text).toContain("are you still there?");
    await worker.quiet(60_000);
    expect(standby.answers(asked)).toHaveLength(1);
  },
);
