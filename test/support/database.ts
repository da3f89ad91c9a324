/**
 * Looks at the rows of a running product, embedded or on a server, over a connection of its own. Reading only: what the product should do is told
 * to it through its front door.
 */
import { existsSync, readdirSync } from "node:fs";
import pg from "pg";

/** Rows of a running product. */
export interface Database {
  rows<T extends object = Record<string, unknown>>(sql: string, values?: readonly unknown[]): Promise<T[]>;
  /** Number of rows, for example `count("Turn", "outcome = 'sent'")`. */
  count(table: string, where?: string): Promise<number>;
  close(): Promise<void>;
}

/** Opens it; null while the embedded database in `folder` is not running. */
export function openDatabase(where: { readonly url: string; readonly folder: string }): Database | null {
  const address = where.url ? { connectionString: where.url } : embeddedAddress(where.folder);
  if (!address) return null;
  const pool = new pg.Pool({ ...address, max: 1 });
  // The product under test may be killed at any moment; the next query says so.
  pool.on("error", () => undefined);
  const rows = async <T extends object>(sql: string, values: readonly unknown[] = []) =>
    (await pool.query<T>(sql, [...values])).rows;
  return {
    rows,
    count: async (table, condition = "true") => {
      const [row] = await rows<{ n: number }>(`SELECT count(*)::int AS n FROM "${table}" WHERE ${condition}`);
      return row?.n ?? 0;
    },
    close: () => pool.end(),
  };
}

function embeddedAddress(folder: string): pg.PoolConfig | null {
  const names = existsSync(folder) ? readdirSync(folder) : [];
  const port = names.map((name) => /^\.s\.PGSQL\.(\d+)$/.exec(name)?.[1]).find(Boolean);
  return port ? { host: folder, port: Number(port), user: "postgres", database: "postgres" } : null;
}

/** How much is still to be done, over everything the product keeps; 0 = it has finished. */
export const OPEN_WORK = `
SELECT (SELECT count(*) FROM "Mail" WHERE "state" IN ('due', 'taken'))
  + (SELECT count(*) FROM "Turn" WHERE "status" IN ('running', 'settling'))
  + (SELECT count(*) FROM "OutboxPiece" WHERE "state" IN ('due', 'sending'))
  + (SELECT count(*) FROM "Card" WHERE "settleOwed") AS "open"`;
