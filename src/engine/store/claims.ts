/**
 * Who may work on what (SPEC T2, T3): claims on sessions, and the sweep that finds work nobody was rung for.
 * Invariant: a session has at most one live claim, a bot at most as many as it has lanes; the fence rises with every claim.
 */
import type { Claim } from "../session.ts";
import type { Database } from "./hot-path.ts";
import type { ClaimResult, Store } from "./store.ts";

type ClaimOperations = Pick<Store, "claim" | "renew" | "release" | "dueSessions">;

const releaseClaim = `UPDATE "Session" SET "owner" = NULL, "leaseUntil" = NULL WHERE "id" = $1 AND "owner" = $2 AND "fence" = $3`;

type Renewed = Awaited<ReturnType<Store["renew"]>>;

type ClaimRow = { claim: Claim } | { claim?: undefined; retryInMs: number | null };

/** The operations on claims. */
export function createClaimOperations({ query, call }: Database): ClaimOperations {
  return {
    async claim(request): Promise<ClaimResult> {
      const row = await call<ClaimRow>("parley_claim", request);
      if (row.claim) return { claim: row.claim };
      return row.retryInMs === null ? { claim: null } : { claim: null, retryInMs: Math.max(0, row.retryInMs) };
    },
    async renew(claim, leaseMs) {
      const state = await call<Renewed | null>("parley_renew", { claim, leaseMs });
      return state ?? { held: false, stopRequested: false, mailDue: false };
    },
    async release({ sessionId, owner, fence }) {
      await query(releaseClaim, [sessionId, owner, fence]);
    },
    dueSessions: (limit, platforms) => call("parley_due_sessions", { limit, platforms }),
  };
}
