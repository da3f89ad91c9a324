/**
 * Fetches what people uploaded (SPEC W8): rows are written with the message, the bytes are fetched right after the acknowledgement because links expire,
 * and again with back-off when that fails. The turn waits a little for them; what could not be had is said, never guessed.
 */

import type { Clock } from "../clock.ts";
import type { Download } from "../download.ts";
import type { FileRef } from "../file-ref.ts";
import type { InboundFile } from "../inbound-event.ts";
import type { Log } from "../log.ts";
import { type Blobs, MAX_FILE_BYTES, MAX_VIDEO_BYTES } from "../store/blobs.ts";
import { toFileLabel } from "../store/file-names.ts";
import type { PendingFile, Store } from "../store/store.ts";

/** Where an upload lies: kept in the row, never shown. */
export interface FileSource {
  readonly platform: string;
  readonly installationId: string;
  readonly file: InboundFile;
}

/** Fetches one upload with its platform's credentials. */
export type FetchUpload = (
  source: FileSource,
  signal: AbortSignal,
) => Promise<Download | { readonly ok: false; readonly text: string; readonly retryAfterMs?: number }>;

/** Uploads of this process. */
export interface Attachments {
  /** Fetches what is due; overlapping calls are merged. */
  run(): Promise<void>;
  /** The files with what is known now; waits up to `ms` for those still pending. */
  settled(files: readonly FileRef[], ms: number, signal: AbortSignal): Promise<readonly FileRef[]>;
}

const MAX_ATTEMPTS = 4;
const FETCH_MS = 55_000;
const POLL_MS = 150;

/** One per process. */
export function createAttachments(parts: {
  readonly store: Store;
  readonly blobs: Blobs;
  readonly fetchUpload: FetchUpload;
  readonly clock: Clock;
  readonly log: Log;
}): Attachments {
  const busy = new Set<string>();
  return {
    async run() {
      const due = (await parts.store.dueFiles(20)).filter((file) => !busy.has(file.id));
      await Promise.all(
        due.map(async (file) => {
          busy.add(file.id);
          await fetchOne(parts, file).finally(() => busy.delete(file.id));
        }),
      );
    },
    settled: (files, ms, signal) => waitSettled(parts, files, ms, signal),
  };
}

type Parts = Parameters<typeof createAttachments>[0];

async function fetchOne(parts: Parts, file: PendingFile & { readonly attempts: number }): Promise<void> {
  const result = await fetchUpload(parts, file);
  if (result.ok) {
    await parts.store.closeFile(file.id, { state: "stored", file: { ...result.file, fileId: file.id } });
    return;
  }
  const last = file.attempts + 1 >= MAX_ATTEMPTS || result.permanent;
  parts.log.warn({ fileId: file.id, last, reason: result.text }, "an uploaded file could not be fetched");
  const delayMs = Math.max(result.retryAfterMs ?? 0, 1000 * 4 ** file.attempts);
  await parts.store.closeFile(file.id, last ? { state: "failed", text: result.text } : { state: "pending", delayMs });
}

type Fetched =
  | { readonly ok: true; readonly file: FileRef }
  | { readonly ok: false; readonly text: string; readonly permanent: boolean; readonly retryAfterMs?: number };

async function fetchUpload(parts: Parts, file: PendingFile): Promise<Fetched> {
  const over = new AbortController();
  const timer = new AbortController();
  void parts.clock.delay(FETCH_MS, timer.signal).then(() => over.abort());
  try {
    const answer = await parts.fetchUpload(file.source as FileSource, over.signal);
    if (!answer.ok) return { ...answer, permanent: answer.retryAfterMs === undefined };
    const put = await parts.blobs.put(answer.body, {
      maxBytes: MAX_FILE_BYTES,
      maxVideoBytes: MAX_VIDEO_BYTES,
      fileName: file.name,
      mediaType: file.mediaType,
    });
    if (!put.ok) return { ok: false, text: put.text, permanent: put.reason !== "source" };
    return { ok: true, file: { ...put.file, name: toFileLabel(file.name, put.file.ext) } };
  } catch (error) {
    return { ok: false, text: error instanceof Error ? error.message : String(error), permanent: false };
  } finally {
    timer.abort();
  }
}

async function waitSettled(
  parts: Parts,
  files: readonly FileRef[],
  ms: number,
  signal: AbortSignal,
): Promise<readonly FileRef[]> {
  const ids = files.flatMap((file) => (file.state === "pending" && file.fileId ? [file.fileId] : []));
  if (ids.length === 0) return files;
  const end = parts.clock.now() + ms;
  for (;;) {
    const states = new Map((await parts.store.fileStates(ids)).map((file) => [file.fileId, file]));
    const now = files.map((file) => states.get(file.fileId) ?? file);
    const waiting = now.some((file) => file.state === "pending");
    if (!waiting || parts.clock.now() >= end || signal.aborted) return now;
    await parts.clock.delay(POLL_MS, signal);
  }
}
