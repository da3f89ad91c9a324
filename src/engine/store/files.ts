/**
 * Uploads of people, fetched after the acknowledgement (SPEC W8). Bytes lie in the blob store; here is only how far fetching got.
 * Invariant: a file that somebody fetches is offered to nobody else for a minute; if its fetcher dies it is offered again.
 */
import type { FileRef } from "../file-ref.ts";
import type { File } from "./generated/client.ts";
import type { Database } from "./hot-path.ts";
import type { PendingFile, Store } from "./store.ts";

type FileOperations = Pick<Store, "dueFiles" | "closeFile" | "fileStates">;

/** Counts the attempt and moves the due time on, so that no second worker takes the same file meanwhile. */
const takeDueFiles = `
UPDATE "File" SET "attempts" = "attempts" + 1, "dueAt" = now() + interval '60 seconds'
WHERE "id" IN (
  SELECT "id" FROM "File" WHERE "state" = 'pending' AND "dueAt" <= now() ORDER BY "dueAt" LIMIT $1 FOR UPDATE SKIP LOCKED)
RETURNING *`;

const putOff = `UPDATE "File" SET "dueAt" = now() + $2 * interval '1 millisecond' WHERE "id" = $1 AND "state" = 'pending'`;

function pendingOf(row: File): PendingFile & { attempts: number } {
  return {
    id: row.id,
    name: row.name,
    mediaType: row.mediaType ?? undefined,
    size: row.size ?? undefined,
    source: row.source,
    audience: row.audience,
    attempts: row.attempts - 1,
  };
}

function fileRefOf(row: File): FileRef {
  const known = {
    sha256: row.sha256 ?? "",
    ext: row.ext ?? "",
    name: row.name,
    mediaType: row.mediaType ?? "application/octet-stream",
    size: row.size ?? 0,
    fileId: row.id,
  };
  if (row.state === "failed") return { ...known, state: "failed", ...(row.error ? { problem: row.error } : {}) };
  return row.state === "pending" ? { ...known, state: "pending" } : known;
}

/** References of files in the order asked for; unknown ids are left out. */
export async function readFileStates({ prisma }: Database, ids: readonly string[]): Promise<readonly FileRef[]> {
  const rows = await prisma.file.findMany({ where: { id: { in: [...ids] } } });
  const known = new Map(rows.map((row) => [row.id, fileRefOf(row)]));
  return ids.flatMap((id) => known.get(id) ?? []);
}

/** The operations on uploads. */
export function createFileOperations(database: Database): FileOperations {
  const { prisma, query } = database;
  return {
    dueFiles: async (limit) => (await query<File>(takeDueFiles, [limit])).map(pendingOf),
    async closeFile(id, result) {
      if (result.state === "pending") {
        await query(putOff, [id, result.delayMs]);
      } else if (result.state === "failed") {
        await prisma.file.updateMany({ where: { id }, data: { state: "failed", error: result.text } });
      } else {
        const { sha256, ext, name, mediaType, size } = result.file;
        await prisma.file.updateMany({
          where: { id },
          data: { state: "stored", sha256, ext, name, mediaType, size, error: null },
        });
      }
    },
    fileStates: (ids) => readFileStates(database, ids),
  };
}
