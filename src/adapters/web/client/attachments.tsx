/** The composer's button for files and the list of those chosen. */

import { useRef } from "preact/hooks";
import { ClipIcon, CloseIcon, FileIcon } from "./icons.tsx";
import { sizeOf } from "./time.ts";
import type { useAttachments } from "./use-attachments.ts";

/** Opens the browser's file dialog. */
export function AttachButton({ onFiles }: { onFiles: (files: FileList | null) => void }) {
  const input = useRef<HTMLInputElement>(null);
  return (
    <>
      <input
        ref={input}
        type="file"
        multiple
        hidden
        onChange={(event) => {
          onFiles(event.currentTarget.files);
          event.currentTarget.value = "";
        }}
      />
      <button type="button" class="quiet icon-button" aria-label="Attach files" onClick={() => input.current?.click()}>
        <ClipIcon />
      </button>
    </>
  );
}

/** Chosen files with their state. */
export function AttachedFiles({ attachments }: { attachments: ReturnType<typeof useAttachments> }) {
  if (attachments.items.length === 0) return null;
  return (
    <ul class="attached" aria-label="Attached files">
      {attachments.items.map((item) => (
        <li key={item.key} class={item.error ? "failed" : item.sent ? "" : "busy"}>
          <FileIcon />
          <span class="grow">
            <span>{item.file.name}</span>
            <span class="hint" role={item.error ? "alert" : undefined}>
              {item.error ?? (item.sent ? sizeOf(item.file.size) : "Uploading…")}
            </span>
          </span>
          <button
            type="button"
            class="quiet icon-button"
            aria-label={`Remove ${item.file.name}`}
            onClick={() => attachments.remove(item.key)}
          >
            <CloseIcon />
          </button>
        </li>
      ))}
    </ul>
  );
}
