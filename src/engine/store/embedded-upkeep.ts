/**
 * Checkpoints and vacuum for the embedded database. PostgreSQL as one process has neither checkpointer nor autovacuum, so without this
 * its log would grow until the next start, and often updated tables would fill with dead rows.
 * Works through an ordinary connection, one table per statement, so that other clients get their turns in between.
 */
import type { PoolConfig } from "pg";
import pg from "pg";
import type { Log } from "../log.ts";

/** What upkeep needs; `everyMs` 0 means no rounds by themselves. */
export interface UpkeepOptions {
  poolOptions: PoolConfig;
  log: Log;
  everyMs: number;
}

/** Running upkeep. */
export interface Upkeep {
  /** No further round; one that runs is cut off when the database closes. */
  stop(): void;
}

const logBytesPerCheckpoint = 16 * 1024 * 1024;

const logSinceCheckpoint =
  "SELECT pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::bigint AS bytes FROM pg_control_checkpoint()";

/** The same rule of thumb as autovacuum, with a smaller base: these tables are small and updated often. */
const tablesToVacuum = `
  SELECT format('%I.%I', schemaname, relname) AS name FROM pg_stat_user_tables
  WHERE n_dead_tup > 500 + 0.2 * n_live_tup OR n_mod_since_analyze > 500 + 0.2 * n_live_tup
  ORDER BY n_dead_tup DESC`;

/** A lost connection also rejects the query that waits on it, which is where it is handled. */
const ignoreLoss = () => undefined;

/** One round now: vacuums and analyzes tables that need it, then writes a checkpoint if the log has grown by 16 MB. */
export async function runUpkeep(poolOptions: PoolConfig): Promise<{ vacuumed: string[]; checkpoint: boolean }> {
  const client = new pg.Client(poolOptions);
  client.on("error", ignoreLoss);
  await client.connect();
  try {
    await client.query("SELECT pg_stat_force_next_flush()"); // counters of the last second would still be missing
    const vacuumed: string[] = [];
    for (const { name } of (await client.query<{ name: string }>(tablesToVacuum)).rows) {
      await client.query(`VACUUM (ANALYZE) ${name}`);
      vacuumed.push(name);
    }
    const bytes = Number((await client.query<{ bytes: string }>(logSinceCheckpoint)).rows[0]?.bytes ?? 0);
    const checkpoint = bytes > logBytesPerCheckpoint;
    if (checkpoint) await client.query("CHECKPOINT");
    return { vacuumed, checkpoint };
  } finally {
    await client.end();
  }
}

/** Repeats rounds with a pause between them. A failed round is logged and tried again; its timer keeps no process alive. */
export function startUpkeep(options: UpkeepOptions): Upkeep {
  let stopped = options.everyMs === 0;
  let timer: NodeJS.Timeout | undefined;
  const round = async () => {
    try {
      const done = await runUpkeep(options.poolOptions);
      if (done.vacuumed.length > 0 || done.checkpoint) options.log.debug(done, "embedded database tidied");
    } catch (error) {
      if (!stopped)
        options.log.warn(
          { reason: String(error) },
          "embedded database could not be tidied; next try in the next round",
        );
    }
    plan();
  };
  const plan = () => {
    if (stopped) return;
    timer = setTimeout(() => void round(), options.everyMs);
    timer.unref();
  };
  plan();
  return {
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
