/**
 * Stores for the contract suite: on the embedded database, and on PostgreSQL where one answers on this machine's standard port with trust.
 * Each world is a database of its own; `openAnother` gives a store with its own connections, as a second process has.
 */
import { randomUUID } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { PoolConfig } from "pg";
import { Client, Pool } from "pg";
import { openEmbeddedDatabase } from "../../../src/engine/store/embedded.ts";
import { applyMigrations } from "../../../src/engine/store/migrate.ts";
import { serverPoolOptions } from "../../../src/engine/store/pool.ts";
import { createPrismaStore } from "../../../src/engine/store/prisma-store.ts";
import type { Store } from "../../../src/engine/store/store.ts";
import { silentLog } from "./silent-log.ts";

export interface StoreWorld {
  readonly store: Store;
  /** For looking at rows and for turning back the clock of one. */
  readonly pool: Pool;
  openAnother(): Promise<Store>;
  close(): Promise<void>;
}

const SERVER = "postgresql://postgres@localhost:5432";

async function worldOn(options: PoolConfig, closeDatabase: () => Promise<void>): Promise<StoreWorld> {
  const pool = new Pool(options);
  await applyMigrations(pool);
  const opened: Store[] = [];
  const openAnother = async () => {
    const store = await createPrismaStore({ pool: { ...options, max: 8 }, log: silentLog });
    opened.push(store);
    return store;
  };
  return {
    store: await openAnother(),
    pool,
    openAnother,
    async close() {
      for (const store of opened) await store.close();
      await pool.end();
      await closeDatabase();
    },
  };
}

/** A new embedded database in a temporary folder. */
export async function openOnEmbedded(): Promise<StoreWorld> {
  const home = mkdtempSync(join(tmpdir(), "parley-store-"));
  const db = await openEmbeddedDatabase({
    dir: join(home, "db"),
    log: silentLog,
    onFatal: () => undefined,
    upkeepMs: 0,
  });
  return worldOn(db.poolOptions, async () => {
    await db.close();
    rmSync(home, { recursive: true, force: true, maxRetries: 3 });
  });
}

async function onServer(statement: string): Promise<void> {
  const client = new Client({ connectionString: `${SERVER}/postgres`, connectionTimeoutMillis: 2_000 });
  await client.connect();
  await client.query(statement).finally(() => client.end());
}

/** True when the server answers. */
export async function isServerThere(): Promise<boolean> {
  return onServer("SELECT 1").then(
    () => true,
    () => false, // no server is an ordinary case; the suite then says that it was skipped
  );
}

/** A new database on the server, in a time zone far from UTC so that times which are not handled properly show. */
export async function openOnServer(): Promise<StoreWorld> {
  const name = `parley_test_${randomUUID().replaceAll("-", "")}`;
  await onServer(`CREATE DATABASE ${name}`);
  await onServer(`ALTER DATABASE ${name} SET timezone TO 'Asia/Kathmandu'`);
  return worldOn(serverPoolOptions(`${SERVER}/${name}`), () => onServer(`DROP DATABASE ${name} WITH (FORCE)`));
}
