/**
 * Files of the playground: uploads by people, and the bytes of everything that was shown.
 * Invariant: bytes are streamed both ways; only files that stood in the timeline (or were just uploaded) are handed out; whatever a browser could
 * run is a download in a sandbox, so a hostile HTML or SVG file never runs as this site.
 */

import { randomBytes } from "node:crypto";
import { type FileRef, isImage } from "../../engine/index.ts";
import { HttpProblem, json, requireSameOrigin } from "./http.ts";
import type { Hub } from "./hub.ts";
import { MAX_UPLOAD_BYTES } from "./limits.ts";
import type { WirePerson } from "./wire.ts";

const SAFE_INLINE = /^(?:audio\/(?:mpeg|mp4|ogg|wav|webm|flac)|video\/(?:mp4|webm|ogg))$/;

/** Stores one uploaded file: the body is the bytes, `x-file-name` the URI-encoded label. Answers with an upload id for a message. */
export async function takeUpload(hub: Hub, person: WirePerson, request: Request): Promise<Response> {
  requireSameOrigin(request);
  const label = request.headers.get("x-file-name");
  if (!label) throw new HttpProblem(400, "Send the file's name, URI-encoded, in the header x-file-name.");
  if (!request.body) throw new HttpProblem(400, "The file is empty.");
  const [bot] = hub.bots.values();
  if (!bot) throw new HttpProblem(503, "The server is starting or stopping. Try again in a moment.");
  const mediaType = request.headers.get("content-type") ?? undefined;
  const facts = { name: decodeLabel(label), ...(mediaType ? { mediaType } : {}) };
  const stored = await bot.context.storeFile(capped(request.body), facts);
  if (!stored.ok) throw new HttpProblem(422, stored.text);
  const uploadId = randomBytes(12).toString("hex");
  await hub.rememberFile(stored.file);
  await hub.kv.set(`upload/${person.id}/${uploadId}`, stored.file);
  const { name, size } = stored.file;
  return json({ uploadId, name, size, mediaType: stored.file.mediaType }, 201);
}

/** The files a person uploaded, by upload id. */
export async function resolveUploads(hub: Hub, person: WirePerson, ids: readonly string[]): Promise<FileRef[]> {
  const files: FileRef[] = [];
  for (const id of ids) {
    const file = /^[0-9a-f]{24}$/.test(id) ? await hub.kv.get(`upload/${person.id}/${id}`) : undefined;
    if (!file) throw new HttpProblem(404, "One of the files is not known here. Attach it again.");
    files.push(file as FileRef);
  }
  return files;
}

/** GET /files/<sha256>.<ext>?as=<name>: the bytes, with ranges so that media can be sought. */
export async function serveFile(hub: Hub, request: Request, name: string): Promise<Response> {
  const file = /^[0-9a-f]{64}\.[a-z0-9]{1,12}$/.test(name) ? await hub.knownFile(name) : null;
  const [bot] = hub.bots.values();
  if (!file || !bot) throw new HttpProblem(404, "There is no such file.");
  const range = parseRange(request.headers.get("range"), file.size);
  if (range === "unsatisfiable") {
    return new Response(null, { status: 416, headers: { "content-range": `bytes */${file.size}` } });
  }
  const etag = `"${file.sha256}"`;
  if (request.headers.get("if-none-match") === etag) return new Response(null, { status: 304, headers: { etag } });
  const headers = fileHeaders(file, new URL(request.url).searchParams.get("as"), etag);
  const source = await bot.context.openFile(file);
  if (!range) {
    headers.set("content-length", String(file.size));
    return new Response(toStream(source), { headers });
  }
  headers.set("content-length", String(range.end - range.start + 1));
  headers.set("content-range", `bytes ${range.start}-${range.end}/${file.size}`);
  return new Response(toStream(slice(source, range.start, range.end)), { status: 206, headers });
}

function fileHeaders(file: FileRef, as: string | null, etag: string): Headers {
  const inline = isImage(file) || SAFE_INLINE.test(file.mediaType);
  const type = /^text\//.test(file.mediaType) && !inline ? "text/plain; charset=utf-8" : file.mediaType;
  const label = encodeURIComponent((as ?? file.name).slice(0, 200)).replace(/['()*]/g, percent);
  return new Headers({
    "content-type": type,
    "content-disposition": inline ? "inline" : `attachment; filename*=UTF-8''${label}`,
    "cache-control": "private, max-age=31536000, immutable",
    "accept-ranges": "bytes",
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "cross-origin-resource-policy": "same-origin",
    "x-content-type-options": "nosniff",
    etag,
  });
}

function percent(char: string): string {
  return `%${char.charCodeAt(0).toString(16).toUpperCase()}`;
}

/** A single byte range; several, or an odd unit, are answered with the whole file as the standard allows. */
function parseRange(header: string | null, size: number): { start: number; end: number } | "unsatisfiable" | null {
  const match = /^bytes=(\d*)-(\d*)$/.exec(header ?? "");
  if (!match || (!match[1] && !match[2])) return null;
  const start = match[1] ? Number(match[1]) : Math.max(0, size - Number(match[2]));
  const end = match[1] && match[2] ? Math.min(Number(match[2]), size - 1) : size - 1;
  return start > end ? "unsatisfiable" : { start, end };
}

async function* slice(source: AsyncIterable<Uint8Array>, start: number, end: number): AsyncGenerator<Uint8Array> {
  let offset = 0;
  for await (const chunk of source) {
    const from = Math.max(start - offset, 0);
    const to = Math.min(end + 1 - offset, chunk.length);
    if (to > from) yield chunk.subarray(from, to);
    offset += chunk.length;
    if (offset > end) return;
  }
}

async function* capped(body: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  let size = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    size += chunk.length;
    if (size > MAX_UPLOAD_BYTES) throw new HttpProblem(413, "A file may have at most 25 MB.");
    yield chunk;
  }
}

function toStream(source: AsyncIterable<Uint8Array>): ReadableStream<Uint8Array> {
  const iterator = source[Symbol.asyncIterator]();
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const next = await iterator.next();
        if (next.done) controller.close();
        else controller.enqueue(next.value);
      },
      async cancel() {
        await iterator.return?.();
      },
    },
    { highWaterMark: 1 },
  );
}

function decodeLabel(label: string): string {
  try {
    return decodeURIComponent(label);
  } catch {
    return label; // A client that did not encode it; the store cleans the name anyway.
  }
}
