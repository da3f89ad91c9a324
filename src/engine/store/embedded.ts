/**
 * The embedded database: a real PostgreSQL (PGlite) in a worker thread, kept in one directory and reached through a unix socket in it.
 * Needs no server, no account and no root; everything above speaks to it with `pg` exactly as to a server.
 * Invariant: one process per directory, and a commit that was acknowledged is on disk before the acknowledgement leaves the thread.
 * Survives kill -9; power loss only as well as the file system keeps names of new files. For several processes use a server.
 */
import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { PoolConfig } from "pg";
import type { Log } from "../log.ts";
import { DatabaseThread } from "./embedded-thread.ts";
import { startUpkeep } from "./embedded-upkeep.ts";
import type { EmbeddedStats } from "./embedded-worker.ts";
import { embeddedPoolOptions } from "./pool.ts";

/** How to open it. */
export interface EmbeddedOptions {
  /** Its own directory, made private (0700); nothing else belongs inside. */
  dir: string;
  log: Log;
  /** Called at most once when the database dies after it was opened: nothing can be stored any more, so the process should end. */
  onFatal: (error: Error) => void;
  /** Archive of an empty cluster; default is the one that the build makes. Without one the first start takes seconds longer. */
  templateFile?: string;
  /** A client that holds a transaction this long without using it, while others wait, is dropped (default 30,000). */
  idleTransactionMs?: number;
  /** Pause between signs of life that are asked of the database's thread; after four without an answer it counts as dead (default 30,000). */
  watchMs?: number;
  /** Pause between rounds of checkpoint and vacuum (default 60,000; 0 = never). */
  upkeepMs?: number;
}

/** An open embedded database. */
export interface EmbeddedDatabase {
  /** Options for a `pg` Pool or Client. */
  readonly poolOptions: PoolConfig;
  /** The same as a URL, for other processes of this machine and user (for example `psql`). */
  readonly connectionString: string;
  /** Whether the directory already held a database, or a new one was unpacked or made. */
  readonly origin: "found" | "unpacked" | "made";
  stats(): Promise<EmbeddedStats>;
  /** Rolls back what is open, writes a checkpoint and frees the directory; takes 3 s at most. Close pools first. Calling it again is harmless. */
  close(): Promise<void>;
}

/**
 * Opens the database in `dir`, making it on the first start. Throws DatabaseInUseError when another process holds the directory,
 * ConfigError when it cannot be opened.
 */
export async function openEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const task = {
    directory: resolve(options.dir),
    templateFile: options.templateFile ?? findTemplate(),
    idleTransactionMs: options.idleTransactionMs ?? 30_000,
  };
  const thread = new DatabaseThread(task, options.log, options.onFatal, options.watchMs ?? 30_000);
  const ready = await thread.ready;
  const poolOptions = embeddedPoolOptions(ready.host, ready.port);
  const upkeep = startUpkeep({ poolOptions, log: options.log, everyMs: options.upkeepMs ?? 60_000 });
  const connectionString = `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(ready.host)}&port=${ready.port}`;
  options.log.info({ directory: task.directory, origin: ready.origin }, "embedded database open");
  return {
    poolOptions,
    connectionString,
    origin: ready.origin,
    stats: () => thread.stats(),
    close: async () => {
      upkeep.stop();
      await thread.close();
    },
  };
}

function findTemplate(): string | undefined {
  const places = ["../../database-template.tar.gz", "../../../dist/database-template.tar.gz"];
  return places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((file) => existsSync(file));
}
