/**
 * How the store speaks to the database: one call of an SQL function per hot operation, and plain statements for the rest.
 * Invariant: one call is one transaction and one round trip; a deadlock or serialisation failure has changed nothing and is tried again;
 * a lost claim arrives as FenceLostError, a discussion that somebody else moved as DiscussionMovedError. The functions themselves are in prisma/migrations (docs/decisions/0003-hot-path-sql.md).
 */
import type { Pool, QueryResultRow } from "pg";
import { DatabaseError } from "pg";
import { DiscussionMovedError, FenceLostError } from "../errors.ts";
import type { PrismaClient } from "./generated/client.ts";

/** SQL functions that the store calls; each takes one JSON object and returns JSON. */
export type HotOperation =
  | "parley_read_place"
  | "parley_take_in"
  | "parley_broadcast"
  | "parley_amend"
  | "parley_request_stop"
  | "parley_add_context"
  | "parley_meet"
  | "parley_post_mail"
  | "parley_post_host_card"
  | "parley_claim"
  | "parley_renew"
  | "parley_due_sessions"
  | "parley_view_session"
  | "parley_begin_turn"
  | "parley_resume_turn"
  | "parley_commit_input"
  | "parley_commit_reply"
  | "parley_start_call"
  | "parley_commit_call"
  | "parley_commit_send"
  | "parley_finish_turn"
  | "parley_step_discussion"
  | "parley_sync_memberships"
  | "parley_commit_peer"
  | "parley_report_peer"
  | "parley_create_bot"
  | "parley_update_bot"
  | "parley_commit_workflow"
  | "parley_claim_sender"
  | "parley_start_piece"
  | "parley_save_piece_progress"
  | "parley_close_piece";

/** Both ways into the same pool. */
export interface Database {
  /** For reads and writes without times: its adapter drops their zone, which is wrong where the session's zone is not UTC. */
  readonly prisma: PrismaClient;
  /** Calls one SQL function. Throws FenceLostError when the claim in `input` is no longer held. */
  call<Result>(operation: HotOperation, input: object): Promise<Result>;
  /** Runs one statement and returns its rows. */
  query<Row extends QueryResultRow>(text: string, values?: readonly unknown[]): Promise<readonly Row[]>;
}

const FENCE_LOST = "FL001";
const DISCUSSION_MOVED = "GR001";
/** serialization_failure and deadlock_detected: the transaction was rolled back as a whole. */
const REPEATABLE = new Set(["40001", "40P01"]);
const MAX_ATTEMPTS = 5;

/** Joins a pool and a Prisma client that uses the same pool. */
export function createDatabase(pool: Pool, prisma: PrismaClient): Database {
  const query = async <Row extends QueryResultRow>(text: string, values: readonly unknown[] = []) => {
    for (let attempt = 1; ; attempt += 1) {
      try {
        return (await pool.query<Row>(text, [...values])).rows;
      } catch (error) {
        const code = sqlStateOf(error);
        if (code === FENCE_LOST) throw new FenceLostError("Another worker holds this claim now.", { cause: error });
        if (code === DISCUSSION_MOVED) throw new DiscussionMovedError("The discussion has gone on.", { cause: error });
        if (attempt >= MAX_ATTEMPTS || !REPEATABLE.has(code)) throw withoutContent(error);
      }
    }
  };
  const call = async <Result>(operation: HotOperation, input: object) => {
    const rows = await query<{ result: Result }>(`SELECT ${operation}($1::jsonb) AS result`, [toJson(input)]);
    return (rows[0] as { result: Result }).result;
  };
  return { prisma, call, query };
}

/**
 * JSON that PostgreSQL accepts: NUL characters and broken surrogate pairs, which it refuses, become U+FFFD. People can type them and models can
 * write them, and neither may keep an event from being stored.
 */
export function toJson(value: unknown): string {
  const text = JSON.stringify(value ?? null);
  return text.replace(/\\(u[0-9a-f]{4}|.)/g, (written, code: string) =>
    /^u(0000|d[89a-f])/.test(code) ? "\\ufffd" : written,
  );
}

/** PostgreSQL quotes rows and parameters in an error's detail and context; what people wrote must not reach a log that way (SPEC O5). */
function withoutContent(error: unknown): unknown {
  return error instanceof DatabaseError ? Object.assign(error, { detail: undefined, where: undefined }) : error;
}

function sqlStateOf(error: unknown): string {
  return error instanceof Error && "code" in error ? String(error.code) : "";
}
