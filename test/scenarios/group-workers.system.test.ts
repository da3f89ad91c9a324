/** Two workers share a Group on one PostgreSQL and one Redis: whichever is killed in the middle of a round, the other goes on where it was (SPEC G9, G12, T3). */
import { afterAll, beforeAll, expect, test } from "vitest";
import { done, type LlmRequest, type Script, sendMessage } from "../emulators/llm/index.ts";
import { type OwnRedis, redisProgram, startRedis } from "../support/redis.ts";
import { heldBack } from "../support/scripts.ts";
import { createServerDatabase, isServerThere } from "../support/server-database.ts";
import { startWorld, type World, type WorldOptions } from "../support/world.ts";

const NAMES = ["Ada", "Bo", "Cy", "Dee"];
const ready = (await isServerThere()) && redisProgram() !== undefined;
if (!ready) test.skip("two workers: needs PostgreSQL on localhost:5432 and redis-server", () => undefined);

let database: Awaited<ReturnType<typeof createServerDatabase>>;
let redis: OwnRedis;
let gateway: World;
let workers: World[] = [];

beforeAll(async () => {
  if (!ready) return;
  [database, redis] = await Promise.all([createServerDatabase(), startRedis()]);
  const role = (name: string, more: WorldOptions = {}): WorldOptions => ({
    bots: NAMES,
    process: "own",
    args: ["--role", name],
    env: { DATABASE_URL: database.url, REDIS_URL: redis.url },
    ...more,
  });
  gateway = await startWorld(role("gateway"));
  workers = [
    await startWorld(role("worker", { beside: gateway })),
    await startWorld(role("worker", { beside: gateway })),
  ];
}, 300_000);

afterAll(async () => {
  if (!ready) return;
  for (const world of [...workers, gateway]) await world?.close();
  await redis?.close();
  await database?.drop();
}, 120_000);

const isAsked = (request: LlmRequest) => request.lastRole === "user" && request.calls.length === 0;
const once =
  (words: string): Script =>
  (request) =>
    isAsked(request) ? sendMessage(words) : done();

/** Kills the worker that holds this bot's turn, for real; the other one stays. */
async function killWorkerOf(botId: string): Promise<World> {
  const [row] = await gateway
    .database()
    .rows<{ owner: string }>(`SELECT "owner" FROM "Session" WHERE "botId" = $1 AND "owner" IS NOT NULL`, [botId]);
  const pid = row?.owner.split(":").at(-2);
  const worker = workers.find((one) => one.logs.some((line) => line.includes(`"pid":${pid},`)));
  if (!pid || !worker) throw new Error(`nobody works for ${botId}: ${row?.owner}`);
  await worker.crash();
  return worker;
}

test.runIf(ready)(
  "killed before a member has spoken, and again after another one has: everybody is heard once, in order",
  async () => {
    for (const name of NAMES) gateway.script(name, once(`${name} is here`));
    const bo = heldBack(sendMessage("Bo is here"));
    gateway.script("Bo", (request) => (isAsked(request) ? bo.script(request) : done()));
    const cy = heldBack(done());
    gateway.script("Cy", (request) => {
      if (isAsked(request)) return sendMessage("Cy is here");
      return request.lastRole === "tool" ? cy.script(request) : done();
    });
    const asked = gateway.say("Alice", "who is here?", { in: gateway.channel("shared") });
    const texts = () => gateway.answers(asked).map((post) => post.text);

    await gateway.llm.waitForRequest((request) => isAsked(request), "bo", 60_000);
    const first = await killWorkerOf("bo");
    bo.release();
    await gateway.until(() => texts().includes("Cy is here"), "Bo and Cy on the other worker", 90_000);
    expect(texts()).toEqual(["Ada is here", "Bo is here", "Cy is here"]);

    await first.start();
    await gateway.llm.waitForRequest((request) => request.lastRole === "tool", "cy", 60_000);
    await killWorkerOf("cy");
    cy.release();
    await gateway.until(() => texts().includes("Dee is here"), "Dee on the first worker", 90_000);
    await first.quiet(90_000);
    expect(texts()).toEqual(NAMES.map((name) => `${name} is here`));
    const rows = await gateway
      .database()
      .rows<{ endReason: string; state: { total: number; heard: string[] } }>(
        `SELECT "endReason", "state" FROM "Discussion"`,
      );
    expect(rows).toMatchObject([{ endReason: "passed", state: { total: 4, heard: ["ada", "bo", "cy", "dee"] } }]);
    const [overlaps] = await gateway.database().rows<{ n: number }>(
      `SELECT count(*)::int AS n FROM "Turn" a JOIN "Turn" b ON a."discussionId" = b."discussionId" AND a."id" < b."id"
       AND a."startedAt" < b."endedAt" AND b."startedAt" < a."endedAt"`,
    );
    expect(overlaps?.n).toBe(0);
  },
  300_000,
);
