/**
 * What people ask of sessions by command: beginning anew (SPEC X4: a new cycle). The transcript stays; only the model's private state is left behind.
 * Invariant: while a turn or a discussion is unfinished in the conversation none of its sessions is touched, and a repeated command changes nothing.
 */
import { FenceLostError } from "../errors.ts";
import type { Database } from "./hot-path.ts";
import type { Store } from "./store.ts";

type SessionOperations = Pick<Store, "startOver" | "keepDirectory">;

/** One statement: the mark makes it happen once; what is unfinished is counted, and then everything is left alone. */
const startOver = `
WITH mark AS (
  INSERT INTO "InboundMark" ("key", "outcome") VALUES ($1, 'stored') ON CONFLICT ("key") DO NOTHING RETURNING "key"
), place AS (
  SELECT s."id", c."lastSeq",
    EXISTS (SELECT 1 FROM "Turn" t WHERE t."sessionId" = s."id" AND t."status" IN ('running', 'settling')) AS "busy"
  FROM "Session" s JOIN "Conversation" c ON c."key" = s."conversationKey"
  WHERE s."conversationKey" = $2 AND ($3::text IS NULL OR s."botId" = $3) AND EXISTS (SELECT 1 FROM mark)
), unfinished AS (
  SELECT (SELECT count(*) FROM place WHERE "busy")
    + (SELECT count(*) FROM "Discussion" d WHERE d."threadKey" = $2 AND d."endReason" IS NULL AND EXISTS (SELECT 1 FROM mark)) AS "n"
), renewed AS (
  UPDATE "Session" s SET "stateHead" = NULL, "teammates" = '{}', "directory" = NULL, "skills" = NULL, "skillsTold" = NULL,
    "cycle" = s."cycle" + 1, "cursor" = p."lastSeq", "updatedAt" = now()
  FROM place p, unfinished u WHERE p."id" = s."id" AND u."n" = 0 RETURNING s."id"
)
SELECT EXISTS (SELECT 1 FROM mark) AS "first",
  (SELECT count(*) FROM renewed)::int AS "renewed",
  (SELECT "n" FROM unfinished)::int AS "busy"`;

const keepDirectory = `
UPDATE "Session" SET "directory" = coalesce("directory", $4) WHERE "id" = $1 AND "owner" = $2 AND "fence" = $3 RETURNING "directory"`;

/** The operations on sessions. */
export function createSessionOperations({ query }: Database): SessionOperations {
  return {
    async startOver({ dedupeKey, conversationKey, botId }) {
      const [row] = await query<{ first: boolean; renewed: number; busy: number }>(startOver, [
        dedupeKey,
        conversationKey,
        botId ?? null,
      ]);
      return row ?? { first: false, renewed: 0, busy: 0 };
    },
    async keepDirectory({ sessionId, owner, fence }, directory) {
      const [row] = await query<{ directory: string }>(keepDirectory, [sessionId, owner, fence, directory]);
      if (!row) throw new FenceLostError("Another worker holds this claim now.");
      return row.directory;
    },
  };
}
