/** Two workers, one database, one Redis, and everything breaks: a small run of what the bench does at full size. */
import { expect, test } from "vitest";
import { runQueueChaos } from "../support/queue-chaos.ts";
import { redisProgram, startRedis } from "../support/redis.ts";
import { createServerDatabase, isServerThere } from "../support/server-database.ts";

const ready = (await isServerThere()) && redisProgram() !== undefined;
if (!ready) test.skip("workers on Redis: needs PostgreSQL on localhost:5432 and redis-server", () => undefined);

test.runIf(ready)(
  "kill -9 of both workers, FLUSHALL and a restart of Redis: each message once, in order, never two turns of a session at a time",
  async () => {
    const database = await createServerDatabase();
    const redis = await startRedis();
    try {
      const tally = await runQueueChaos({ messages: 240, bots: 30, databaseUrl: database.url, redis });
      expect(tally).toMatchObject({ messages: 240, unanswered: 0, doubled: 0, outOfOrder: 0, overlaps: 0, stuck: 0 });
    } finally {
      await redis.close();
      await database.drop();
    }
  },
  400_000,
);
