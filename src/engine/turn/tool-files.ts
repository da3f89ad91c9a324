/** Stored files and the status line, as a running tool may use them. */

import { type Blobs, MAX_FILE_BYTES, MAX_VIDEO_BYTES } from "../store/blobs.ts";
import { toFileLabel } from "../store/file-names.ts";
import type { ToolContext } from "../tool.ts";
import { placeOf, type TurnRun } from "./turn-run.ts";

const PROGRESS_EVERY_MS = 1000;
const PROGRESS_CHARS = 80;

/** Keeping and reading attachments. */
export function createToolFiles({ blobs }: { readonly blobs: Blobs }): Pick<ToolContext, "keepFile" | "openFile"> {
  return {
    async keepFile(source, facts) {
      const put = await blobs.put(source, {
        maxBytes: MAX_FILE_BYTES,
        maxVideoBytes: MAX_VIDEO_BYTES,
        fileName: facts.name,
        mediaType: facts.mediaType,
      });
      if (!put.ok) return { ok: false, text: put.text };
      return { ok: true, file: { ...put.file, name: toFileLabel(facts.name, put.file.ext) } };
    },
    openFile: (id, range) => blobs.open(id, range),
  };
}

/** Shows words in the status line where the platform has one, at most one a second. */
export function createProgress(run: TurnRun): (text: string) => void {
  let shownAt = Number.NEGATIVE_INFINITY;
  return (text) => {
    const now = run.parts.clock.now();
    if (now - shownAt < PROGRESS_EVERY_MS) return;
    shownAt = now;
    const words = run.parts.mask(text).replace(/\s+/g, " ").trim().slice(0, PROGRESS_CHARS);
    run.adapter.showWorking?.(placeOf(run), true, words).catch((error: unknown) => {
      run.parts.log.debug({ turnId: run.turn.id, error: String(error) }, "progress not shown");
    });
  };
}
