/** Doorbells on Redis: the common suite, and what happens when Redis goes away. */
import { expect, test } from "vitest";
import { createSystemClock } from "../../../src/engine/clock.ts";
import { createBullmqRunQueue } from "../../../src/engine/queue/bullmq-run-queue.ts";
import { isRedisThere, redisProgram, SHARED_REDIS, startRedis, uniquePrefix } from "../../support/redis.ts";
import { silentLog } from "../store/silent-log.ts";
import { ringUntil, testRunQueue, until } from "./run-queue-contract.ts";

const parts = { clock: createSystemClock(), log: silentLog };
const there = await isRedisThere();

if (there) {
  testRunQueue(
    "Redis",
    (count, concurrency) => {
      const prefix = uniquePrefix();
      const options = { ...parts, redisUrl: SHARED_REDIS, prefix, ...(concurrency ? { concurrency } : {}) };
      return Promise.all(Array.from({ length: count }, () => createBullmqRunQueue(options)));
    },
    true,
  );
} else {
  test.skip("rings on Redis: no Redis answers on 127.0.0.1:6379", () => undefined);
}

test.runIf(redisProgram())(
  "while Redis is away rings are handled by the process itself, and afterwards by any process again",
  async () => {
    const redis = await startRedis();
    const prefix = uniquePrefix();
    const [one, other] = await Promise.all(
      [1, 2].map(() => createBullmqRunQueue({ ...parts, redisUrl: redis.url, prefix })),
    );
    const seen: string[] = [];
    one?.serve(
      async (id) => void seen.push(id),
      () => undefined,
    );
    other?.ring("before", 0);
    await until(() => seen.includes("before"), "a ring through Redis");
    await redis.kill();
    await ringUntil(one, "meanwhile", () => seen.includes("meanwhile"));
    await redis.restart();
    await ringUntil(other, "after", () => seen.includes("after"));
    await redis.flush();
    await ringUntil(other, "flushed", () => seen.includes("flushed"));
    await Promise.all([one?.close(1000), other?.close(1000)]);
    await redis.close();
  },
  60_000,
);

test("an address where no Redis answers is refused with the setting's name", async () => {
  const opening = createBullmqRunQueue({ ...parts, redisUrl: "redis://127.0.0.1:1", prefix: uniquePrefix() });
  await expect(opening).rejects.toThrow(/REDIS_URL .*cannot be reached/);
});
