/**
 * What nobody needs any more: what people said to each other and no bot was asked (SPEC I4), dedupe marks that outlived every redelivery, links that
 * can no longer be opened, rests and leases that are over.
 * Deletes in small portions, so that no lock is held long.
 */
import type { Database } from "./hot-path.ts";

const PORTION = 5_000;

const statements = [
  `DELETE FROM "Entry" WHERE "id" IN (
     SELECT e."id" FROM "Entry" e WHERE e."createdAt" < now() - interval '30 days' AND e."authorKind" = 'person'
       AND e."kind" IN ('message', 'context') AND NOT EXISTS (SELECT 1 FROM "Mail" m WHERE m."entryId" = e."id") LIMIT ${PORTION}) RETURNING "id"`,
  `DELETE FROM "InboundMark" WHERE "key" IN (
     SELECT "key" FROM "InboundMark" WHERE "receivedAt" < now() - interval '30 days' LIMIT ${PORTION}) RETURNING "key"`,
  `DELETE FROM "SecretLink" WHERE "tokenHash" IN (
     SELECT "tokenHash" FROM "SecretLink" WHERE "expiresAt" < now() - interval '1 day' LIMIT ${PORTION}) RETURNING "tokenHash"`,
  `DELETE FROM "KeyValue" WHERE "scope" = 'peer-rest' AND "key" IN (
     SELECT "key" FROM "KeyValue" WHERE "scope" = 'peer-rest' AND "updatedAt" < now() - interval '1 day' LIMIT ${PORTION}) RETURNING "key"`,
  `DELETE FROM "Lease" WHERE "name" IN (
     SELECT "name" FROM "Lease" WHERE "leaseUntil" < now() - interval '1 day' LIMIT ${PORTION}) RETURNING "name"`,
];

/** Removes what is past its time. Safe to run anywhere, any time, in several processes. */
export async function pruneRows({ query }: Database): Promise<void> {
  for (const statement of statements) {
    for (;;) {
      const removed = await query(statement);
      if (removed.length < PORTION) break;
    }
  }
}
