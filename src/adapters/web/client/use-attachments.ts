/** Files being attached: each is uploaded as soon as it was chosen, so that sending is quick and a refused file is known before. */

import { useRef, useState } from "preact/hooks";
import { ApiError, upload } from "./api.ts";
import type { SentFile } from "./model.ts";
import { randomId } from "./random-id.ts";

/** One chosen file. */
export interface Attachment {
  readonly key: string;
  readonly file: File;
  readonly sent?: SentFile;
  readonly error?: string;
}

const MAX_BYTES = 25 * 1024 * 1024;
const MAX_FILES = 10;

/** The composer's files. */
export function useAttachments() {
  const [items, setItems] = useState<readonly Attachment[]>([]);
  const latest = useRef(items);
  const put = (next: readonly Attachment[]) => {
    latest.current = next;
    setItems(next);
  };
  const change = (key: string, part: Partial<Attachment>) =>
    put(latest.current.map((item) => (item.key === key ? { ...item, ...part } : item)));
  const start = async (item: Attachment) => {
    try {
      change(item.key, { sent: await upload(item.file) });
    } catch (error) {
      change(item.key, { error: error instanceof ApiError ? error.message : "It could not be uploaded." });
    }
  };
  const add = (files: FileList | null | undefined) => {
    const room = MAX_FILES - latest.current.length;
    const added = [...(files ?? [])].slice(0, room).map((file): Attachment => {
      const problem = file.size > MAX_BYTES ? "Larger than 25 MB" : file.size === 0 ? "The file is empty" : undefined;
      return { key: randomId(), file, ...(problem ? { error: problem } : {}) };
    });
    put([...latest.current, ...added]);
    for (const item of added) if (!item.error) void start(item);
  };
  return {
    items,
    add,
    remove: (key: string) => put(latest.current.filter((item) => item.key !== key)),
    clear: () => put([]),
    done: items.flatMap((item) => item.sent ?? []),
    busy: items.some((item) => !item.sent && !item.error),
  };
}
