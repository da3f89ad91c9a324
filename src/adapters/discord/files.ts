/**
 * Fetches what people uploaded (SPEC W8). Discord's links are signed and expire, so one that no longer works is asked for again once.
 * Invariant: only from the hosts of the settings, redirects included, within size and time limits; failure texts are for the model and never hold a
 * link.
 */

import type { Download, InboundFile } from "../../engine/index.ts";
import { toFields, toList, toText } from "../shared/fields.ts";
import type { DiscordBot } from "./bot.ts";

/** No bytes, and why; with a wait when it may work later. */
export interface FetchRefusal {
  readonly ok: false;
  readonly text: string;
  readonly retryAfterMs?: number;
}

/** Where files may be fetched from. */
export interface FileHosts {
  readonly apiUrl: string;
  readonly cdnHosts: readonly string[];
}

const MAX_BYTES = 25 * 1024 * 1024;
const MAX_VIDEO_BYTES = 200 * 1024 * 1024;
const TIMEOUT_MS = 50_000;
const RETRY_MS = 2000;
/** What the link's server says once its signature is too old. */
const EXPIRED = new Set([401, 403, 404, 410]);

/** Opens an upload. */
export async function fetchUpload(
  bot: DiscordBot,
  hosts: FileHosts,
  file: InboundFile,
  signal: AbortSignal,
): Promise<Download | FetchRefusal> {
  const maxBytes = file.mediaType?.startsWith("video/") ? MAX_VIDEO_BYTES : MAX_BYTES;
  if ((file.size ?? 0) > maxBytes) {
    return refusal(
      `The file has ${Math.ceil((file.size ?? 0) / 1024 / 1024)} MiB; at most ${maxBytes / 1024 / 1024} MiB are read.`,
    );
  }
  if (file.url === undefined) return refusal("Discord gave no address for this file.");
  const first = await open(bot, hosts, file.url, maxBytes, signal);
  if (first.ok || !EXPIRED.has(first.status ?? 0)) return forEngine(first);
  const fresh = await freshUrl(bot, file.platformFileId);
  if (fresh === undefined)
    return refusal("The file's link has expired and the message that held it cannot be read again.");
  return forEngine(await open(bot, hosts, fresh, maxBytes, signal));
}

type Opened =
  | Download
  | { readonly ok: false; readonly text: string; readonly status?: number; readonly retryAfterMs?: number };

function forEngine(opened: Opened): Download | FetchRefusal {
  if (opened.ok) return opened;
  const isLasting = opened.status !== undefined && opened.status < 500 && opened.status !== 429;
  const retryAfterMs = opened.retryAfterMs ?? (isLasting ? undefined : RETRY_MS);
  return { ok: false, text: opened.text, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
}

async function open(
  bot: DiscordBot,
  hosts: FileHosts,
  url: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Opened> {
  const address = URL.canParse(url) ? new URL(url) : undefined;
  if (!address || !hosts.cdnHosts.includes(address.hostname)) {
    return { ok: false, text: "The file lies on a host that is not Discord's.", status: 400 };
  }
  if (address.protocol === "http:" && hosts.apiUrl.startsWith("http:")) return openPlain(address, maxBytes, signal);
  const opened = await bot.context.guardedFetch(url, {
    maxBytes,
    timeoutMs: TIMEOUT_MS,
    signal,
    allowedHosts: hosts.cdnHosts,
    maxRedirects: 2,
  });
  if (opened.ok || opened.reason !== "host-not-listed") return opened;
  return { ok: false, text: opened.text, status: 400 };
}

/** Only where the settings name a Discord without encryption, which is one on this machine. */
async function openPlain(address: URL, maxBytes: number, signal: AbortSignal): Promise<Opened> {
  try {
    const limit = AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)]);
    const answer = await fetch(address, { redirect: "error", signal: limit });
    if (!answer.ok || !answer.body) {
      await answer.body?.cancel();
      return { ok: false, text: `The file could not be fetched (status ${answer.status}).`, status: answer.status };
    }
    const mediaType = answer.headers.get("content-type")?.split(";")[0]?.trim().toLowerCase();
    const { body } = answer;
    return {
      ok: true,
      status: answer.status,
      headers: Object.fromEntries(answer.headers),
      mediaType: mediaType || "application/octet-stream",
      finalUrl: address.href,
      body: capped(body, maxBytes),
      cancel: () => void body.cancel().catch(() => undefined),
    };
  } catch {
    // Whatever broke, nothing was read; the caller tries again.
    return { ok: false, text: "The file could not be fetched: the connection broke." };
  }
}

async function* capped(body: AsyncIterable<Uint8Array>, maxBytes: number): AsyncIterable<Uint8Array> {
  let size = 0;
  for await (const part of body) {
    size += part.byteLength;
    if (size > maxBytes) throw new Error(`The file is larger than ${maxBytes / 1024 / 1024} MiB.`);
    yield part;
  }
}

/** A new link from the message the file was posted with. */
async function freshUrl(bot: DiscordBot, platformFileId: string): Promise<string | undefined> {
  const [channelId, messageId, fileId] = platformFileId.split("/");
  try {
    const message = toFields(await bot.calls.call("get", `/channels/${channelId}/messages/${messageId}`));
    const forwarded = toList(message.message_snapshots).flatMap((one) => toList(toFields(one.message).attachments));
    const file = [...toList(message.attachments), ...forwarded].find((one) => one.id === fileId);
    return toText(file?.url);
  } catch {
    // Deleted, hidden or out of reach: the caller says that the file cannot be had.
    return undefined;
  }
}

function refusal(text: string): FetchRefusal {
  return { ok: false, text };
}
