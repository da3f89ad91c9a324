/**
 * Leases: things that one process does at a time, such as listening for a bot's events (SPEC O1). Invariant: one owner until the lease runs out by
 * the database's clock; whoever stops renewing is replaced.
 */
import type { Database } from "./hot-path.ts";
import type { Store } from "./store.ts";

type LeaseOperations = Pick<Store, "holdLease" | "releaseLease">;

const hold = `
INSERT INTO "Lease" ("name", "owner", "leaseUntil") VALUES ($1, $2, now() + $3 * interval '1 millisecond')
ON CONFLICT ("name") DO UPDATE SET "owner" = excluded."owner", "leaseUntil" = excluded."leaseUntil"
WHERE "Lease"."owner" = excluded."owner" OR "Lease"."leaseUntil" <= now() RETURNING "name"`;

/** The operations on leases. */
export function createLeaseOperations({ query }: Database): LeaseOperations {
  return {
    holdLease: async ({ name, owner, leaseMs }) => (await query(hold, [name, owner, leaseMs])).length > 0,
    async releaseLease({ name, owner }) {
      await query(`DELETE FROM "Lease" WHERE "name" = $1 AND "owner" = $2`, [name, owner]);
    },
  };
}
