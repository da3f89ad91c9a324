/**
 * Bots that were made or changed at run time, read for the doctor without opening the store: from a PostgreSQL server, or from the embedded database of
 * a running Parley. Changes nothing; an embedded database that does not run is not started for it.
 */
import { readdirSync } from "node:fs";
import { Client } from "pg";
import type { Bot } from "../bot.ts";
import { botOf } from "./from-rows.ts";
import { embeddedPoolOptions, serverPoolOptions } from "./pool.ts";
import type { BotRow } from "./rows.ts";

const READ_MS = 5000;

/** Undefined when no database could be asked: not running, not reachable, or still without tables. Never throws. */
export async function readRuntimeBots(place: {
  /** "" = embedded. */
  readonly databaseUrl: string;
  readonly directory: string;
}): Promise<readonly Bot[] | undefined> {
  try {
    const options = place.databaseUrl ? serverPoolOptions(place.databaseUrl) : runningEmbedded(place.directory);
    if (!options) return undefined;
    const client = new Client({ ...options, connectionTimeoutMillis: READ_MS, query_timeout: READ_MS });
    // A connection lost after the answer is nobody's concern here, but without a listener it would end the process.
    client.on("error", () => undefined);
    await client.connect();
    const found = await client
      .query<BotRow>(
        `SELECT * FROM "Bot" WHERE "source" = 'runtime' AND "retiredAt" IS NULL ORDER BY "createdAt", "id"`,
      )
      .finally(() => client.end());
    return found.rows.map(botOf);
  } catch {
    // Why the database does not answer is said by its own check.
    return undefined;
  }
}

/** The socket of the embedded database lies in its folder while it runs. */
function runningEmbedded(directory: string) {
  const port = readdirSync(directory)
    .map((name) => /^\.s\.PGSQL\.(\d+)$/.exec(name)?.[1])
    .find(Boolean);
  return port ? embeddedPoolOptions(directory, Number(port)) : undefined;
}
