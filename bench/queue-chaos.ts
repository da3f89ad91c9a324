/** 2,000 messages over 200 bots on two workers, with kill -9 of each, FLUSHALL and a restart of Redis in the middle. Needs PostgreSQL and redis-server. */
import { runQueueChaos } from "../test/support/queue-chaos.ts";
import { redisProgram, startRedis } from "../test/support/redis.ts";
import { createServerDatabase, isServerThere } from "../test/support/server-database.ts";
import { printNote, printTable } from "./table.ts";

const [messages = 2000, bots = 200] = process.argv.slice(2).map(Number);

if ((await isServerThere()) && redisProgram()) {
  const database = await createServerDatabase();
  const redis = await startRedis();
  const started = Date.now();
  const onEvent = (what: string) =>
    console.log(`  ${((Date.now() - started) / 1000).toFixed(1).padStart(6)} s  ${what}`);
  try {
    const tally = await runQueueChaos({ messages, bots, databaseUrl: database.url, redis, onEvent });
    const seconds = Math.round((Date.now() - started) / 1000);
    printTable(
      `${messages} messages over ${bots} bots, two workers, ${seconds} s in all`,
      ["what", "how many"],
      Object.entries(tally).map(([name, count]) => [name, String(count)]),
    );
  } finally {
    await redis.close();
    await database.drop();
  }
} else {
  printNote("Not run: it needs PostgreSQL on localhost:5432 and redis-server.");
}
