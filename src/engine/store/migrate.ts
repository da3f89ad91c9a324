/**
 * Brings a database to the schema of this version: runs the SQL files of prisma/migrations that are missing, in order, one transaction
 * each, and records them in Prisma's own table, so that `prisma migrate deploy` and this applier may be used on the same database.
 * Invariant: a migration is applied whole and recorded, or not at all. Files that were applied must never change afterwards.
 * Several processes may start at once: they take turns on an advisory lock, the second finds nothing left to do.
 */
import { createHash, randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Pool, PoolClient, QueryConfig } from "pg";
import { ConfigError } from "../errors.ts";

/** What a run did: names of the migrations it applied, oldest first. */
export interface MigrationResult {
  applied: string[];
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

interface Recorded {
  name: string;
  checksum: string;
  finished: boolean;
}

/** The number that Prisma's own migrate uses, so that both exclude each other. */
const lockNumber = 72_707_369;

/** A migration may rewrite large tables; waiting for locks of others is what must end early. */
const migrationMs = 600_000;
const lockWaitMs = 60_000;

const createTable = `
CREATE TABLE IF NOT EXISTS _prisma_migrations (
  id                  VARCHAR(36) PRIMARY KEY NOT NULL,
  checksum            VARCHAR(64) NOT NULL,
  finished_at         TIMESTAMPTZ,
  migration_name      VARCHAR(255) NOT NULL,
  logs                TEXT,
  rolled_back_at      TIMESTAMPTZ,
  started_at          TIMESTAMPTZ NOT NULL DEFAULT now(),
  applied_steps_count INTEGER NOT NULL DEFAULT 0
)`;

const selectRecorded = `
SELECT migration_name AS name, checksum, finished_at IS NOT NULL AS finished
FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`;

const insertRecord = `
INSERT INTO _prisma_migrations (id, checksum, migration_name, started_at, finished_at, applied_steps_count)
VALUES ($1, $2, $3, clock_timestamp(), clock_timestamp(), 1)`;

/** Folder of this version's migrations: beside the built files, else in the source tree. */
export function findMigrations(): string {
  const places = ["../../migrations", "../../../prisma/migrations"].map((place) =>
    fileURLToPath(new URL(place, import.meta.url)),
  );
  const found = places.find((place) => existsSync(place));
  if (found === undefined)
    throw new ConfigError(`No migrations found at ${places.join(" or ")}. Install Parley again, or run npm run build.`);
  return found;
}

/**
 * Applies what is missing. Throws ConfigError when the database and the files contradict each other: a changed or missing file, a newer
 * database, or a run of another tool that failed half-way. Any error leaves the database as it was before the failed migration.
 */
export async function applyMigrations(pool: Pool, folder: string = findMigrations()): Promise<MigrationResult> {
  const migrations = await readMigrations(folder);
  const client = await pool.connect();
  const ignoreLoss = () => undefined; // a lost connection also rejects the query that waits on it
  client.on("error", ignoreLoss);
  try {
    const applied: string[] = [];
    for (;;) {
      const name = await applyNext(client, migrations);
      if (name === undefined) return { applied };
      applied.push(name);
    }
  } finally {
    client.off("error", ignoreLoss);
    client.release();
  }
}

async function readMigrations(folder: string): Promise<Migration[]> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(names.sort().map((name) => readMigration(folder, name)));
}

/** Prisma's checksum of a file is the SHA-256 of its text. */
async function readMigration(folder: string, name: string): Promise<Migration> {
  try {
    const sql = await readFile(join(folder, name, "migration.sql"), "utf8");
    return { name, sql, checksum: createHash("sha256").update(sql).digest("hex") };
  } catch (error) {
    throw new ConfigError(
      `The folder ${join(folder, name)} has no migration.sql that can be read. Restore it, or remove the folder.`,
      {
        cause: error,
      },
    );
  }
}

/** One transaction: waits for the lock, looks what is missing, runs the first of it. Returns its name, or undefined when all are there. */
async function applyNext(client: PoolClient, migrations: Migration[]): Promise<string | undefined> {
  const run = (text: string, values?: unknown[]) =>
    client.query({ text, values, query_timeout: migrationMs } as QueryConfig);
  await run("BEGIN");
  try {
    await run(`SET LOCAL lock_timeout = ${lockWaitMs}; SET LOCAL statement_timeout = ${migrationMs}`);
    await run("SELECT pg_advisory_xact_lock($1)", [lockNumber]);
    await run(createTable);
    const recorded = (await run(selectRecorded)).rows as Recorded[];
    const next = firstMissing(migrations, recorded);
    if (next !== undefined) {
      await runMigration(next, run);
      await run(insertRecord, [randomUUID(), next.checksum, next.name]);
    }
    await run("COMMIT");
    return next?.name;
  } catch (error) {
    await run("ROLLBACK").catch(() => undefined); // the first error is the one to tell; a lost connection rolls back by itself
    throw error;
  }
}

async function runMigration(migration: Migration, run: (text: string) => Promise<unknown>): Promise<void> {
  try {
    await run(migration.sql);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `Migration ${migration.name} failed and was rolled back: ${reason}. The database is unchanged; ` +
        "start the previous version again, or fix what the message names and start anew.",
      { cause: error },
    );
  }
}

function firstMissing(migrations: Migration[], recorded: Recorded[]): Migration | undefined {
  const files = new Map(migrations.map((migration) => [migration.name, migration]));
  for (const record of recorded) {
    const file = files.get(record.name);
    if (!record.finished) {
      throw new ConfigError(
        `Migration ${record.name} was begun by another tool and never finished. Repair the database, then mark it with ` +
          `"prisma migrate resolve --applied ${record.name}" or "--rolled-back".`,
      );
    }
    if (file === undefined) {
      throw new ConfigError(
        `The database was written by a newer version: it has migration ${record.name}, which this version does not know. ` +
          "Start the newer version, or restore a backup from before the update.",
      );
    }
    if (file.checksum !== record.checksum) {
      throw new ConfigError(
        `The file of migration ${record.name} was changed after it had been applied. Restore prisma/migrations/${record.name} ` +
          "from the release, and put changes into a new migration.",
      );
    }
  }
  const done = new Set(recorded.map((record) => record.name));
  return migrations.find((migration) => !done.has(migration.name));
}
