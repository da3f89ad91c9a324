/**
 * What a process may do when it alone can have the database: everything a former process of this directory had claimed is free at once, because the
 * directory's lock proves that it is gone. With a database server leases decide instead.
 */
import type { Pool } from "pg";

/** How long a request that was on its way when the former process died may take to show, ms. */
const LANDING_MS = 2000;

const statements = [
  `UPDATE "Session" SET "owner" = NULL, "leaseUntil" = NULL WHERE "owner" IS NOT NULL`,
  `UPDATE "SenderClaim" SET "owner" = '', "leaseUntil" = '-infinity' WHERE "owner" <> ''`,
  `UPDATE "OutboxPiece" SET "state" = 'due', "error" = coalesce("error", '{}'::jsonb) || '{"lookUp": true}'::jsonb,
     "dueAt" = greatest(now(), "attemptedAt" + ${LANDING_MS} * interval '1 millisecond') WHERE "state" = 'sending'`,
];

/** Frees all claims. Attempts that were under way are looked up on the platform before they are repeated (SPEC T3). */
export async function takeOverAll(pool: Pool): Promise<void> {
  for (const statement of statements) await pool.query(statement);
}
