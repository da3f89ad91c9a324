/**
 * Small durable state of adapters: JSON under a key in a scope, ordered by code point.
 * Invariant: `insert` has one winner and `increment` never gives a number twice, across processes.
 */
import type { KeyValueStore } from "../adapter.ts";
import type { Database } from "./hot-path.ts";
import { toJson } from "./hot-path.ts";

const selectValue = `SELECT "value" FROM "KeyValue" WHERE "scope" = $1 AND "key" = $2`;

const upsertValue = `
INSERT INTO "KeyValue" ("scope", "key", "value", "updatedAt") VALUES ($1, $2, $3::jsonb, now())
ON CONFLICT ("scope", "key") DO UPDATE SET "value" = excluded."value", "updatedAt" = now()`;

const insertValue = `
INSERT INTO "KeyValue" ("scope", "key", "value", "updatedAt") VALUES ($1, $2, $3::jsonb, now())
ON CONFLICT ("scope", "key") DO NOTHING RETURNING "key"`;

const deleteValue = `DELETE FROM "KeyValue" WHERE "scope" = $1 AND "key" = $2`;

const incrementValue = `
INSERT INTO "KeyValue" ("scope", "key", "value", "updatedAt") VALUES ($1, $2, '1', now())
ON CONFLICT ("scope", "key") DO UPDATE SET "value" = to_jsonb(("KeyValue"."value"#>>'{}')::bigint + 1), "updatedAt" = now()
RETURNING ("value"#>>'{}')::float8 AS number`;

/** The prefix is bounded on both sides, so that the primary key's index is walked only where it matters. */
function listValues(reverse: boolean): string {
  const [compare, direction] = reverse ? ["<", "DESC"] : [">", "ASC"];
  return `
SELECT "key", "value" FROM "KeyValue"
WHERE "scope" = $1 AND "key" >= $2 AND "key" < $2 || chr(1114111) AND starts_with("key", $2) AND ($3::text IS NULL OR "key" ${compare} $3)
ORDER BY "key" ${direction} LIMIT $4`;
}

/** The store of one scope. */
export function createKeyValues({ query }: Database, scope: string): KeyValueStore {
  return {
    async get(key) {
      return (await query<{ value: unknown }>(selectValue, [scope, key]))[0]?.value;
    },
    async set(key, value) {
      await query(upsertValue, [scope, key, toJson(value)]);
    },
    async insert(key, value) {
      return (await query(insertValue, [scope, key, toJson(value)])).length > 0;
    },
    async list({ prefix, after, limit, reverse = false }) {
      const rows = await query<{ key: string; value: unknown }>(listValues(reverse), [scope, prefix, after, limit]);
      return rows.map(({ key, value }) => ({ key, value }));
    },
    async delete(key) {
      await query(deleteValue, [scope, key]);
    },
    async increment(key) {
      return (await query<{ number: number }>(incrementValue, [scope, key]))[0]?.number ?? 1;
    },
  };
}
