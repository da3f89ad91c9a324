/**
 * Reading the transcript (SPEC I4b, M8). Entries are written by intake and by sends only.
 * Sequence is the order in which things became known here; `at` is the platform's time.
 */

import { type ConversationRef, conversationKey as keyOf } from "../conversation.ts";
import type { FileRef } from "../file-ref.ts";
import type { Entry } from "../transcript.ts";
import { readFileStates } from "./files.ts";
import { entryOf } from "./from-rows.ts";
import type { Database } from "./hot-path.ts";
import type { EntryRow } from "./rows.ts";
import type { Store } from "./store.ts";

type EntryOperations = Pick<Store, "readEntries" | "readEntriesById" | "readEntry" | "nativeIdsOf" | "findTargets">;

/** The newest of the range, oldest first. */
const selectEntries = `
SELECT * FROM (
  SELECT * FROM "Entry" WHERE "conversationKey" = $1 AND "seq" > $2 AND "seq" < $3 ORDER BY "seq" DESC LIMIT $4
) AS newest ORDER BY "seq"`;

const selectEntriesById = `SELECT * FROM "Entry" WHERE "id" = ANY ($1::text[]) ORDER BY "conversationKey", "seq"`;

const selectEntry = `SELECT * FROM "Entry" WHERE "conversationKey" = $1 AND "address" = $2`;

const selectNativeIds = `
SELECT coalesce(
  (SELECT array_agg(p."nativeId" ORDER BY p."index") FROM "OutboxPiece" p WHERE p."entryId" = e."id" AND p."nativeId" IS NOT NULL),
  array_remove(ARRAY[e."platformId"], NULL)) AS ids
FROM "Entry" e WHERE e."conversationKey" = $1 AND e."address" = $2`;

/** $4 is the name in lower case without its sign, $5 the text as written; "#" means channels only, "@" people only. */
const selectTargets = `
SELECT 'channel' AS kind, "channelId", "name" AS "channelName", NULL AS "personId" FROM "Channel"
WHERE "platform" = $1 AND "workspaceId" = $2 AND "members" @> ARRAY[$3] AND NOT starts_with($5, '@') AND (lower("name") = $4 OR "channelId" = $5)
UNION ALL
SELECT 'direct', c."channelId", NULL, p."id"
FROM "Session" s JOIN "Conversation" c ON c."key" = s."conversationKey"
JOIN "Person" p ON p."id" = (
  SELECT e."authorId" FROM "Entry" e WHERE e."conversationKey" = c."key" AND e."authorKind" = 'person' ORDER BY e."seq" DESC LIMIT 1)
WHERE s."botId" = $3 AND c."platform" = $1 AND c."workspaceId" = $2 AND c."kind" = 'direct' AND NOT starts_with($5, '#')
  AND (lower(p."name") = $4 OR p."id" = $5 OR p."platformId" = ltrim($5, '@') OR c."channelId" = $5)`;

interface TargetRow {
  kind: "channel" | "direct";
  channelId: string;
  channelName: string | null;
  personId: string | null;
}

const MAX_SEQ = 2_147_483_647;

/** Entries of rows, with uploads that were still pending when the entry was written shown as they are now. */
export async function readableEntries(database: Database, rows: readonly EntryRow[]): Promise<readonly Entry[]> {
  const entries = rows.map(entryOf);
  const waiting = entries
    .flatMap((entry) => entry.files)
    .flatMap((file) => (file.state && file.fileId ? [file.fileId] : []));
  if (waiting.length === 0) return entries;
  const states = new Map((await readFileStates(database, waiting)).map((file) => [file.fileId, file]));
  const current = (file: FileRef): FileRef => {
    const now = file.state && states.get(file.fileId);
    return now ? { ...now, alt: file.alt } : file;
  };
  return entries.map((entry) => ({ ...entry, files: entry.files.map(current) }));
}

/** The operations that read the transcript. */
export function createEntryOperations(database: Database): EntryOperations {
  const { query } = database;
  return {
    async readEntries({ conversationKey, afterSeq, beforeSeq, limit }) {
      const values = [conversationKey, afterSeq ?? 0, beforeSeq ?? MAX_SEQ, limit];
      return readableEntries(database, await query<EntryRow>(selectEntries, values));
    },
    async readEntriesById(ids) {
      return readableEntries(database, await query<EntryRow>(selectEntriesById, [ids]));
    },
    async findTargets({ botId, platform, workspaceId, text }) {
      const name = text.trim().replace(/^[#@]/, "").toLowerCase();
      const rows = await query<TargetRow>(selectTargets, [platform, workspaceId, botId, name, text.trim()]);
      return rows.map((row) => {
        const ref: ConversationRef = { platform, workspaceId, kind: row.kind, channelId: row.channelId };
        const named = row.channelName ? { ...ref, channelName: row.channelName } : ref;
        return { conversationKey: keyOf(ref), ref: named, ...(row.personId ? { personId: row.personId } : {}) };
      });
    },
    async readEntry(conversationKey, address) {
      const rows = await query<EntryRow>(selectEntry, [conversationKey, address]);
      return (await readableEntries(database, rows))[0] ?? null;
    },
    async nativeIdsOf(conversationKey, address) {
      const [row] = await query<{ ids: string[] }>(selectNativeIds, [conversationKey, address]);
      return row?.ids ?? [];
    },
  };
}
