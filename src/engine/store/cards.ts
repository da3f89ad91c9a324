/**
 * Cards beside intake: reading them, letting them expire, and redrawing those that the platform still shows as they were (SPEC C1, C3).
 * Answering is part of intake, in one transaction with what it causes.
 */
import type { Place, Receipt } from "../adapter.ts";
import { cardOf, given } from "./from-rows.ts";
import type { Database } from "./hot-path.ts";
import type { CardRow } from "./rows.ts";
import type { OwedSettle, Store } from "./store.ts";

type CardOperations = Pick<
  Store,
  "readCard" | "owedSettles" | "closeSettle" | "expireCards" | "createSecretLink" | "readSecretLink"
>;

/**
 * Closed cards whose message is on the platform. Taking one moves its due time on, so that two processes do not redraw at once; if the taker
 * dies it is owed again. A card whose pieces are still under way waits for them.
 */
const takeOwedSettles = `
WITH owed AS (
  UPDATE "Card" SET "settleDueAt" = now() + interval '30 seconds'
  WHERE "id" IN (
    SELECT c."id" FROM "Card" c
    WHERE c."settleOwed" AND (c."settleDueAt" IS NULL OR c."settleDueAt" <= now()) AND c."state" <> 'open'
      AND EXISTS (SELECT FROM "OutboxPiece" p WHERE p."entryId" = c."entryId" AND p."state" = 'sent')
      AND NOT EXISTS (SELECT FROM "OutboxPiece" p WHERE p."entryId" = c."entryId" AND p."state" IN ('due', 'sending'))
    ORDER BY c."settleDueAt" NULLS FIRST LIMIT $1 FOR UPDATE SKIP LOCKED)
  RETURNING *
)
SELECT to_jsonb(owed) AS card, owed."settleAttempts" AS attempts, e."body" AS "deliveryBody", first."payload"->'place' AS place, first."platform",
  (SELECT jsonb_agg(p."receipt" ORDER BY p."index") FROM "OutboxPiece" p WHERE p."entryId" = owed."entryId" AND p."state" = 'sent') AS receipts,
  (SELECT "platformId" FROM "Person" WHERE "id" = owed."answeredBy") AS "byPlatformId"
FROM owed JOIN "Entry" e ON e."id" = owed."entryId"
JOIN "OutboxPiece" first ON first."entryId" = owed."entryId" AND first."index" = 0
ORDER BY owed."answeredAt", owed."id"`;

const expireCards = `
UPDATE "Card" SET "state" = 'expired', "settleOwed" = TRUE, "settleAttempts" = 0, "settleDueAt" = now()
WHERE "id" IN (SELECT "id" FROM "Card" WHERE "state" = 'open' AND "expiresAt" <= now() LIMIT 500 FOR UPDATE SKIP LOCKED) RETURNING "id"`;

const putOffSettle = `
UPDATE "Card" SET "settleAttempts" = "settleAttempts" + 1, "settleDueAt" = now() + $2 * interval '1 millisecond' WHERE "id" = $1`;

const insertSecretLink = `
INSERT INTO "SecretLink" ("tokenHash", "cardId", "expiresAt") VALUES ($1, $2, now() + $3 * interval '1 millisecond')`;

const selectSecretLink = `
SELECT c.* FROM "SecretLink" l JOIN "Card" c ON c."id" = l."cardId" WHERE l."tokenHash" = $1 AND l."usedAt" IS NULL AND l."expiresAt" > now()`;

interface OwedRow {
  card: CardRow;
  attempts: number;
  deliveryBody: unknown;
  place: Place;
  platform: string;
  receipts: Receipt[];
  byPlatformId: string | null;
}

function owedOf(row: OwedRow): OwedSettle {
  const card = cardOf(row.card);
  const { deliveryBody, place, receipts, platform, attempts } = row;
  const outcome = {
    cardId: card.id,
    state: card.state,
    answer: card.answer,
    byName: card.answeredByName,
    byPlatformId: given(row.byPlatformId),
  };
  return { card, outcome, deliveryBody, place, receipts, platform, attempts };
}

/** The operations on cards outside intake. */
export function createCardOperations({ prisma, query }: Database): CardOperations {
  return {
    async readCard(cardId) {
      const [row] = await query<CardRow>(`SELECT * FROM "Card" WHERE "id" = $1`, [cardId]);
      return row ? cardOf(row) : null;
    },
    owedSettles: async (limit) => (await query<OwedRow>(takeOwedSettles, [limit])).map(owedOf),
    async closeSettle(cardId, result) {
      if (result.done) await prisma.card.updateMany({ where: { id: cardId }, data: { settleOwed: false } });
      else await query(putOffSettle, [cardId, result.delayMs]);
    },
    expireCards: async () => (await query(expireCards)).length,
    async createSecretLink({ tokenHash, cardId, ttlMs }) {
      await query(insertSecretLink, [tokenHash, cardId, ttlMs]);
    },
    async readSecretLink(tokenHash) {
      const [row] = await query<CardRow>(selectSecretLink, [tokenHash]);
      return row ? cardOf(row) : null;
    },
  };
}
