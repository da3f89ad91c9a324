/**
 * Files: storing bytes, signed links, and their downloads.
 * Invariant: a link works only with its signature and before it expires; a forgotten file answers 404.
 */
import { createHmac } from "node:crypto";
import type { Arrived, Fields } from "../loopback.ts";
import { sendText } from "../loopback.ts";
import type { Channel, StoredFile, User } from "./model.ts";
import type { World } from "./world.ts";
import { newId } from "./world.ts";

const LINK_SECONDS = 86_400;

/** A file before it is stored. */
export interface FileSource {
  readonly name: string;
  readonly bytes: Buffer;
  /** null = Discord does not know the type. */
  readonly type?: string | null;
  readonly description?: string;
  /** Raw fields laid over the attachment (duration_secs, waveform, size, …). */
  readonly fields?: Fields;
}

/** Stores a file of a channel; gives its attachment object. */
export function storeFile(world: World, channel: Channel, uploader: User, source: FileSource): Fields {
  const id = newId(world);
  const name = safeName(source.name);
  const type = source.type === undefined ? typeOf(name) : source.type;
  const file: StoredFile = {
    id,
    channelId: channel.id,
    name,
    bytes: source.bytes,
    type: type ?? "",
    uploader,
    gone: false,
  };
  world.files.set(id, file);
  const url = `${world.base}/attachments/${channel.id}/${id}/${name}`;
  return {
    id,
    filename: name,
    size: source.bytes.length,
    url,
    proxy_url: url,
    ...(type === null ? {} : { content_type: type }),
    ...(type?.startsWith("image/") ? { width: 64, height: 64, placeholder: "", placeholder_version: 1 } : {}),
    ...(source.description ? { description: source.description } : {}),
    content_scan_version: 0,
    ...source.fields,
  };
}

/** Discord keeps letters, digits, dot, dash and underscore. */
function safeName(name: string): string {
  return name.replace(/[^\w.-]+/g, "_").slice(-260) || "unknown";
}

function typeOf(name: string): string | null {
  const endings: Readonly<Record<string, string>> = {
    png: "image/png",
    jpg: "image/jpeg",
    jpeg: "image/jpeg",
    gif: "image/gif",
    webp: "image/webp",
    txt: "text/plain; charset=utf-8",
    md: "text/markdown; charset=utf-8",
    json: "application/json; charset=utf-8",
    csv: "text/csv; charset=utf-8",
    pdf: "application/pdf",
    mp3: "audio/mpeg",
    ogg: "audio/ogg",
    mp4: "video/mp4",
  };
  return endings[name.toLowerCase().split(".").at(-1) ?? ""] ?? null;
}

/** Adds expiry and signature to the bare address of a file; other addresses stay as they are. */
export function signUrl(world: World, url: string, now = Date.now()): string {
  if (!url.startsWith(`${world.base}/attachments/`)) return url;
  const bare = url.split("?")[0] ?? url;
  const is = Math.floor(now / 1000).toString(16);
  const ex = (Math.floor(now / 1000) + LINK_SECONDS).toString(16);
  return `${bare}?ex=${ex}&is=${is}&hm=${signature(bare, ex, is)}&`;
}

function signature(bare: string, ex: string, is: string): string {
  return createHmac("sha256", "cdn")
    .update(`${new URL(bare).pathname}|${ex}|${is}`)
    .digest("hex");
}

/** Answers a download; gives the status. */
export function serveFile(world: World, { url, response }: Arrived): number {
  const [, , , id = ""] = url.pathname.split("/");
  const file = world.files.get(id);
  const ex = url.searchParams.get("ex") ?? "";
  const good = signature(`${world.base}${url.pathname}`, ex, url.searchParams.get("is") ?? "");
  const valid = url.searchParams.get("hm") === good && Number.parseInt(ex, 16) * 1000 > Date.now();
  if (!file || file.gone || !valid) {
    sendText(response, 404, "This content is no longer available.");
    return 404;
  }
  const type = file.type === "" ? "application/octet-stream" : file.type;
  response.writeHead(200, {
    "content-type": type,
    "content-length": file.bytes.length,
    "content-disposition": `attachment; filename="${file.name}"`,
  });
  response.end(file.bytes);
  return 200;
}
