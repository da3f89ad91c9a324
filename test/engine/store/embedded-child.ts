/**
 * A process for the crash tests: opens the embedded database in the given directory, commits one row after another and prints each
 * number once its commit was acknowledged. It never ends by itself. Prints `open` first, or the error and ends with 1.
 */
import pg from "pg";
import { openEmbeddedDatabase } from "../../../src/engine/store/embedded.ts";
import { silentLog } from "./silent-log.ts";

async function commitForever(dir: string): Promise<void> {
  const db = await openEmbeddedDatabase({ dir, log: silentLog, onFatal: () => process.exit(1) });
  process.stdout.write("open\n");
  const pool = new pg.Pool(db.poolOptions);
  await pool.query("CREATE TABLE IF NOT EXISTS acknowledged (n int PRIMARY KEY, filler text)");
  const writer = async (first: number) => {
    for (let n = first; ; n += 4) {
      await pool.query("INSERT INTO acknowledged VALUES ($1, repeat('x', 500))", [n]);
      process.stdout.write(`${n}\n`);
    }
  };
  const start = Number((await pool.query("SELECT coalesce(max(n), 0) + 1 AS n FROM acknowledged")).rows[0].n);
  await Promise.all([0, 1, 2, 3].map((lane) => writer(start + lane)));
}

await commitForever(process.argv[2] ?? "").catch((error: unknown) => {
  process.stdout.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exit(1);
});
