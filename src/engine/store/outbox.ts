/**
 * The outbox: native messages waiting to be posted, one sender per native channel, strictly in order (SPEC T3).
 * Invariant: a later piece never overtakes an earlier open one of its channel, and only the holder of the sender's claim changes pieces.
 * Posting, looking up and pacing are delivery's; here is only what was said and what is proven to have landed.
 */
import { given, pieceOf } from "./from-rows.ts";
import type { Database } from "./hot-path.ts";
import type { PieceRow } from "./rows.ts";
import type { ClosedPiece, SenderClaim, SendState, Store } from "./store.ts";

type OutboxOperations = Pick<
  Store,
  | "claimSender"
  | "releaseSender"
  | "nextPiece"
  | "startPiece"
  | "saveProgress"
  | "closePiece"
  | "sendState"
  | "dueChannels"
>;

/** The row stays with its fence, so that fences of a channel only ever rise. */
const releaseSender = `
UPDATE "SenderClaim" SET "owner" = '', "leaseUntil" = '-infinity' WHERE "nativeChannel" = $1 AND "owner" = $2 AND "fence" = $3`;

/** A piece left in `sending` may still be on its way: it becomes due only when that attempt must be over. */
const selectNextPiece = `
SELECT p.*,
  p."state" = 'sending' OR coalesce((p."error"->>'lookUp')::boolean, false) AS "lookUp",
  greatest(0, ceil(1000 * extract(epoch FROM greatest(
    p."dueAt", CASE WHEN p."state" = 'sending' THEN p."attemptedAt" + parley_ms($2) END) - clock_timestamp())))::float8 AS "dueInMs"
FROM "OutboxPiece" p
WHERE p."nativeChannel" = $1 AND p."state" IN ('due', 'sending') ORDER BY p."seq" LIMIT 1`;

const selectSendState = `
SELECT e."id" AS "entryId", e."conversationKey", e."address",
  count(*) FILTER (WHERE p."state" IN ('due', 'sending'))::int AS open,
  count(*) FILTER (WHERE p."state" = 'sent')::int AS sent,
  (array_agg(p."error"->>'text' ORDER BY p."index") FILTER (WHERE p."state" = 'failed'))[1] AS failed,
  coalesce(array_agg(p."nativeId" ORDER BY p."index") FILTER (WHERE p."nativeId" IS NOT NULL), '{}') AS "nativeIds"
FROM "Entry" e LEFT JOIN "OutboxPiece" p ON p."entryId" = e."id"
WHERE e."id" = $1 GROUP BY e."id"`;

/** Channels whose oldest open piece is due and which nobody is sending to. */
const selectDueChannels = `
SELECT head."nativeChannel" FROM (
  SELECT DISTINCT ON ("nativeChannel") "nativeChannel", "seq", "dueAt" FROM "OutboxPiece"
  WHERE "state" IN ('due', 'sending') ORDER BY "nativeChannel", "seq"
) AS head
WHERE head."dueAt" <= now() AND NOT EXISTS (
  SELECT FROM "SenderClaim" c WHERE c."nativeChannel" = head."nativeChannel" AND c."owner" <> '' AND c."leaseUntil" > now())
ORDER BY head."seq" LIMIT $1`;

interface SendStateRow {
  entryId: string;
  conversationKey: string;
  address: string | null;
  open: number;
  sent: number;
  failed: string | null;
  nativeIds: string[];
}

interface ClosedRow extends Omit<ClosedPiece, "sessionId"> {
  readonly sessionId: string | null;
}

function sendStateOf(row: SendStateRow): SendState {
  return { ...row, address: given(row.address), failed: given(row.failed) };
}

/** The operations of the outbox. */
export function createOutboxOperations({ query, call }: Database): OutboxOperations {
  return {
    async claimSender(input) {
      const row = await call<{ fence: number; takenOver: boolean } | null>("parley_claim_sender", input);
      return row && { nativeChannel: input.nativeChannel, owner: input.owner, ...row };
    },
    async releaseSender({ nativeChannel, owner, fence }) {
      await query(releaseSender, [nativeChannel, owner, fence]);
    },
    async nextPiece(nativeChannel, attemptTimeoutMs = 0) {
      const values = [nativeChannel, attemptTimeoutMs];
      const [row] = await query<PieceRow & { lookUp: boolean; dueInMs: number }>(selectNextPiece, values);
      return row ? { piece: pieceOf(row), dueInMs: row.dueInMs, lookUp: row.lookUp } : null;
    },
    async startPiece(sender: SenderClaim, pieceId) {
      await call("parley_start_piece", { sender, pieceId });
    },
    async saveProgress(sender, pieceId, progress) {
      await call("parley_save_piece_progress", { sender, pieceId, progress });
    },
    async closePiece(sender, pieceId, close) {
      const row = await call<ClosedRow>("parley_close_piece", { sender, pieceId, close });
      return { ...row, sessionId: given(row.sessionId) };
    },
    async sendState(entryId) {
      const [row] = await query<SendStateRow>(selectSendState, [entryId]);
      return row ? sendStateOf(row) : null;
    },
    async dueChannels(limit) {
      return (await query<{ nativeChannel: string }>(selectDueChannels, [limit])).map((row) => row.nativeChannel);
    },
  };
}
