/**
 * Opens the database the settings name: a PostgreSQL server, or the embedded one in a directory. Same schema and code behind both; migrations are
 * applied before anything else may read.
 */

import pg from "pg";
import type { Log } from "../log.ts";
import { openEmbeddedDatabase } from "./embedded.ts";
import { applyMigrations } from "./migrate.ts";
import { serverPoolOptions } from "./pool.ts";
import { createPrismaStore } from "./prisma-store.ts";
import type { Store } from "./store.ts";
import { takeOverAll } from "./take-over.ts";

/** Which database, and what to tell when it dies. */
export interface OpenStoreOptions {
  /** "" = embedded. */
  readonly databaseUrl: string;
  /** Directory of the embedded database. */
  readonly directory: string;
  readonly log: Log;
  /** The embedded database died; nothing can be stored any more and the process should end. */
  readonly onFatal: (error: Error) => void;
}

/** An open store. */
export interface OpenedStore {
  readonly store: Store;
  readonly kind: "embedded" | "server";
  /** Closes the store and then the embedded database, which writes a checkpoint. */
  close(): Promise<void>;
}

/** Throws ConfigError (or DatabaseInUseError) when the database cannot be opened. */
export async function openStore(options: OpenStoreOptions): Promise<OpenedStore> {
  const { log } = options;
  const embedded = options.databaseUrl
    ? undefined
    : await openEmbeddedDatabase({ dir: options.directory, log, onFatal: options.onFatal });
  const pool = new pg.Pool(embedded ? embedded.poolOptions : serverPoolOptions(options.databaseUrl));
  // An idle connection that breaks is replaced by the pool; without a listener it would end the process.
  pool.on("error", (error) => log.warn({ error: error.message }, "an idle database connection broke"));
  try {
    const { applied } = await applyMigrations(pool);
    if (applied.length > 0) log.info({ applied }, "database migrated");
    if (embedded) await takeOverAll(pool);
    const store = await createPrismaStore({ pool, log });
    return {
      store,
      kind: embedded ? "embedded" : "server",
      async close() {
        await store.close();
        await embedded?.close();
      },
    };
  } catch (error) {
    await pool.end();
    await embedded?.close();
    throw error;
  }
}
