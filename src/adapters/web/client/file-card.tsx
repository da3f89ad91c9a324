/** A file: its name, size and a way to keep it; media plays, text shows its beginning. */

import { useEffect, useState } from "preact/hooks";
import type { WireFile } from "../wire.ts";
import { DownloadIcon, FileIcon } from "./icons.tsx";
import { sizeOf } from "./time.ts";

const HEAD_BYTES = 1500;
const HEAD_LINES = 8;

/** A file as a card. */
export function FileCard({ file }: { file: WireFile }) {
  const media = file.mediaType.split("/")[0];
  return (
    <div class="file-card">
      <div class="file-line">
        <span class="file-icon">
          <FileIcon />
          <span aria-hidden="true">{extensionOf(file.name)}</span>
        </span>
        <span class="grow">
          <strong>{file.name}</strong>
          <span class="hint">
            {sizeOf(file.size)}
            {file.alt ? ` · ${file.alt}` : ""}
          </span>
        </span>
        <a class="button quiet icon-button" href={file.url} download={file.name} aria-label={`Download ${file.name}`}>
          <DownloadIcon />
        </a>
      </div>
      {media === "video" && (
        // biome-ignore lint/a11y/useMediaCaption: people's files carry no captions of their own.
        <video src={file.url} controls preload="metadata" />
      )}
      {media === "audio" && (
        // biome-ignore lint/a11y/useMediaCaption: people's files carry no captions of their own.
        <audio src={file.url} controls preload="metadata" />
      )}
      {isText(file) && <TextHead file={file} />}
    </div>
  );
}

function TextHead({ file }: { file: WireFile }) {
  const [head, setHead] = useState("");
  useEffect(() => {
    const left = new AbortController();
    fetch(file.url, { headers: { range: `bytes=0-${HEAD_BYTES - 1}` }, signal: left.signal })
      .then((response) => response.text())
      .then((text) => setHead(text.split("\n").slice(0, HEAD_LINES).join("\n")))
      .catch(() => undefined); // A preview only; the file can still be downloaded.
    return () => left.abort();
  }, [file.url]);
  if (!head.trim()) return null;
  if (/csv/.test(file.mediaType) || /\.csv$/i.test(file.name)) return <CsvHead text={head} />;
  return <pre class="file-head">{head}</pre>;
}

function CsvHead({ text }: { text: string }) {
  const [first, ...rest] = text.trim().split("\n").map(splitCsvLine);
  return (
    <div class="file-head table">
      <table>
        <thead>
          <tr>
            {first?.map((cell, index) => (
              <th key={`${index}-${cell}`}>{cell}</th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rest.map((row, line) => (
            <tr key={`${line}-${row[0]}`}>
              {row.map((cell, index) => (
                <td key={`${index}-${cell}`}>{cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function splitCsvLine(line: string): readonly string[] {
  const cells = line.match(/("(?:[^"]|"")*"|[^,;\t]*)(?:[,;\t]|$)/g) ?? [];
  return cells.slice(0, 8).map((cell) =>
    cell
      .replace(/[,;\t]$/, "")
      .replace(/^"|"$/g, "")
      .replaceAll('""', '"'),
  );
}

function isText(file: WireFile): boolean {
  return (
    /^text\/|json|markdown|csv|yaml|xml$/.test(file.mediaType) || /\.(md|txt|csv|json|ya?ml|log)$/i.test(file.name)
  );
}

function extensionOf(name: string): string {
  return /\.([a-z0-9]{1,4})$/i.exec(name)?.[1]?.toLowerCase() ?? "";
}
