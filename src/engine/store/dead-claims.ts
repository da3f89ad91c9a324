/**
 * Frees what a process that is gone still holds, for databases that only one process can use: there nobody has to wait for leases to run out after a
 * crash. Invariant: called before the first claim of this process. On a server, where others may live, leases stay the only proof.
 */
import type { Pool } from "pg";

const freeSessions = `UPDATE "Session" SET "owner" = NULL, "leaseUntil" = NULL WHERE "owner" IS NOT NULL`;

const freeSenders = `UPDATE "SenderClaim" SET "owner" = '', "leaseUntil" = '-infinity' WHERE "owner" <> ''`;

/** What was being sent may still be on its way into the platform, but not for long: its sender is dead. The platform is asked before a repeat. */
const freePieces = `
UPDATE "OutboxPiece" SET "state" = 'due', "dueAt" = greatest("dueAt", "attemptedAt" + interval '3 seconds'),
  "error" = jsonb_build_object('lookUp', true, 'text', 'the process ended while it was sending')
WHERE "state" = 'sending'`;

/** Frees every claim. */
export async function freeDeadClaims(pool: Pool): Promise<void> {
  for (const statement of [freeSessions, freeSenders, freePieces]) await pool.query(statement);
}
