/**
 * Who may work on what (SPEC T2, T3): claims on sessions, and the sweep that finds work nobody was rung for.
 * Invariant: a session has at most one live claim, a bot at most as many as it has lanes; the fence rises with every claim.
 */
import type { Claim } from "../session.ts";
import type { Database } from "./hot-path.ts";
import type { ClaimResult, Store } from "./store.ts";

type ClaimOperations = Pick<Store, "claim" | "renew" | "release" | "dueSessions">;

const renewClaim = `
UPDATE "Session" s SET "leaseUntil" = parley_now() + parley_ms($4)
WHERE s."id" = $1 AND s."owner" = $2 AND s."fence" = $3
RETURNING
  EXISTS (SELECT FROM "Turn" t WHERE t."sessionId" = s."id" AND t."status" IN ('running', 'settling') AND t."stopRequestedAt" IS NOT NULL)
    AS "stopRequested",
  EXISTS (SELECT FROM "Mail" m WHERE m."sessionId" = s."id" AND m."state" = 'due' AND m."dueAt" <= now()) AS "mailDue"`;

const releaseClaim = `UPDATE "Session" SET "owner" = NULL, "leaseUntil" = NULL WHERE "id" = $1 AND "owner" = $2 AND "fence" = $3`;

/** A bot that is busy is rung only for people, who may open a lane; other work waits until its session ends and rings by itself. */
const selectDue = `
SELECT "sessionId", "rank" FROM (
  SELECT DISTINCT ON (b."id") work.*
  FROM (
    SELECT "sessionId", "botId", "rank", "orderAt" FROM "Mail" WHERE "state" = 'due' AND "dueAt" <= now()
    UNION ALL
    SELECT t."sessionId", t."botId", coalesce((SELECT min(m."rank") FROM "Mail" m WHERE m."turnId" = t."id"), 0), t."startedAt"
    FROM "Turn" t WHERE t."status" IN ('running', 'settling')
  ) AS work
  JOIN "Bot" b ON b."id" = work."botId" AND b."retiredAt" IS NULL
  JOIN "Session" s ON s."id" = work."sessionId" AND (s."owner" IS NULL OR s."leaseUntil" <= now())
  WHERE work."rank" = 0 OR NOT EXISTS (
    SELECT FROM "Session" held WHERE held."botId" = b."id" AND held."owner" IS NOT NULL AND held."leaseUntil" > now())
  ORDER BY b."id", work."rank", work."orderAt"
) AS first ORDER BY "rank", "orderAt" LIMIT $1`;

type ClaimRow = { claim: Claim } | { claim?: undefined; retryInMs: number | null };

/** The operations on claims. */
export function createClaimOperations({ query, call }: Database): ClaimOperations {
  return {
    async claim(request): Promise<ClaimResult> {
      const row = await call<ClaimRow>("parley_claim", request);
      if (row.claim) return { claim: row.claim };
      return row.retryInMs === null ? { claim: null } : { claim: null, retryInMs: Math.max(0, row.retryInMs) };
    },
    async renew({ sessionId, owner, fence }, leaseMs) {
      const values = [sessionId, owner, fence, leaseMs];
      const [row] = await query<{ stopRequested: boolean; mailDue: boolean }>(renewClaim, values);
      return row ? { held: true, ...row } : { held: false, stopRequested: false, mailDue: false };
    },
    async release({ sessionId, owner, fence }) {
      await query(releaseClaim, [sessionId, owner, fence]);
    },
    dueSessions: (limit) => query<{ sessionId: string; rank: number }>(selectDue, [limit]),
  };
}
