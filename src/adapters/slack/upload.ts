/**
 * Files into a conversation, in Slack's three steps: ask for an address, send the bytes, share. Bytes are streamed and never whole in memory.
 * Invariant: what was done is saved before the next step, so a repeated attempt uploads nothing twice and shares once; a share that succeeded but
 * does not show a message yet counts as sent, because sending again would show it twice.
 */

import { request as httpRequest } from "node:http";
import { request as httpsRequest } from "node:https";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { FileRef, Piece, Receipt } from "../../engine/index.ts";
import { DeliveryError } from "../../engine/index.ts";
import { type Fields, toFields, toList, toText, toTexts } from "../shared/fields.ts";
import type { SlackBot } from "./bot.ts";
import { problemOf } from "./errors.ts";
import { clip, SHARE_WAIT_MS, UPLOAD_BUDGET_MS } from "./limits.ts";
import { isSlackUrl } from "./notices.ts";
import type { FilesContent } from "./render.ts";

/** Stores the adapter's note on a piece before the next step. */
export type SaveProgress = (progress: unknown) => Promise<void>;

/** Where files are shared. */
export interface ShareTarget {
  readonly channelId: string;
  readonly threadTs?: string;
}

interface Progress {
  /** Slack's ids of the files whose bytes arrived, in order. */
  readonly uploaded: readonly string[];
  /** The share was asked for; its outcome may be unknown. */
  readonly sharing: boolean;
}

const POLL_MS = [150, 250, 500, 1000, 1500, 2000, 2500, 2500];
const ALREADY_SHARED = new Set(["file_already_completed", "file_already_shared", "already_shared"]);

/** Uploads what is missing and shares everything in one message. */
export async function shareFiles(
  bot: SlackBot,
  piece: Piece,
  content: FilesContent,
  target: ShareTarget,
  saveProgress: SaveProgress,
): Promise<Receipt> {
  const before = readProgress(piece.progress);
  if (before.sharing) {
    // Whoever calls has waited for it already if that was needed; one more look catches what came since.
    const shared = await lookForShare(bot, before, target.channelId, [0]);
    if (shared) return shared;
  }
  const uploaded = [...before.uploaded];
  // An attempt that went on past its time would share at the same moment as the attempt that follows it.
  const until = bot.context.clock.now() + UPLOAD_BUDGET_MS;
  for (const file of content.files.slice(uploaded.length)) {
    uploaded.push(await uploadFile(bot, file, until));
    await saveProgress({ uploaded: [...uploaded], sharing: false });
  }
  await saveProgress({ uploaded, sharing: true });
  await completeShare(bot, content, uploaded, target);
  const first = uploaded[0] ?? "";
  return (
    (await waitForShare(bot, first, target.channelId)) ?? { nativeId: `file:${first}`, extra: { files: uploaded } }
  );
}

/** The share of an earlier attempt, or null when it did not happen. Waits up to ten seconds for it, because shares appear late. */
export function findShare(bot: SlackBot, piece: Piece, channelId: string): Promise<Receipt | null> {
  return lookForShare(bot, readProgress(piece.progress), channelId, POLL_MS);
}

async function lookForShare(
  bot: SlackBot,
  { uploaded, sharing }: Progress,
  channelId: string,
  pauses: readonly number[],
): Promise<Receipt | null> {
  const [first] = uploaded;
  return sharing && first !== undefined ? waitForShare(bot, first, channelId, pauses) : null;
}

function readProgress(progress: unknown): Progress {
  const fields = toFields(progress);
  return { uploaded: toTexts(fields.uploaded), sharing: fields.sharing === true };
}

async function uploadFile(bot: SlackBot, file: FileRef, until: number): Promise<string> {
  if (file.size < 1) throw new DeliveryError("content", `The file ${file.name} is empty; Slack takes no empty files.`);
  const ticket = toFields(
    await bot.calls.web("files.getUploadURLExternal", {
      filename: file.name,
      length: file.size,
      ...(file.alt === undefined ? {} : { alt_text: clip(file.alt, 1000) }),
    }),
  );
  const url = toText(ticket.upload_url);
  const id = toText(ticket.file_id);
  if (url === undefined || id === undefined || !isSlackUrl(url, bot.apiUrl)) {
    throw new DeliveryError("unknown", "Slack gave no usable address for the upload.");
  }
  const leftMs = until - bot.context.clock.now();
  if (leftMs <= 0) throw new DeliveryError("wait", "The uploads to Slack go on in the next attempt.", { waitMs: 100 });
  await sendBytes(url, await bot.context.openFile(file), file.size, leftMs);
  return id;
}

/** Posts a stream of known length. No token goes along: the address itself is the permission. */
async function sendBytes(url: string, source: AsyncIterable<Uint8Array>, size: number, limitMs: number): Promise<void> {
  const request = url.startsWith("https:") ? httpsRequest : httpRequest;
  const signal = AbortSignal.timeout(limitMs);
  const outgoing = request(url, {
    method: "POST",
    signal,
    headers: { "content-type": "application/octet-stream", "content-length": size },
  });
  const status = new Promise<number>((resolve, reject) => {
    outgoing.on("response", (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    outgoing.on("error", reject);
  });
  try {
    const [code] = await Promise.all([status, pipeline(Readable.from(source), outgoing)]);
    if (code === 200) return;
    throw new DeliveryError("wait", `Slack's upload server answered ${code}.`, { waitMs: 2000 });
  } catch (error) {
    // Bytes without a share are invisible, so an upload may simply be repeated.
    if (error instanceof DeliveryError) throw error;
    throw new DeliveryError("wait", "The upload to Slack broke off.", { waitMs: 2000, cause: error });
  }
}

async function completeShare(
  bot: SlackBot,
  content: FilesContent,
  uploaded: readonly string[],
  target: ShareTarget,
): Promise<void> {
  const files = uploaded.map((id, index) => ({ id, title: titleOf(content.files[index]) }));
  try {
    await bot.calls.web("files.completeUploadExternal", {
      files,
      channel_id: target.channelId,
      ...(target.threadTs === undefined ? {} : { thread_ts: target.threadTs }),
      ...(content.comment === "" ? {} : { initial_comment: content.comment }),
    });
  } catch (error) {
    if (!ALREADY_SHARED.has(problemOf(error).code)) throw error;
  }
}

/** Descriptions are shown as the title too, because not every client shows the description itself. */
function titleOf(file: FileRef | undefined): string {
  return clip(file?.alt?.trim() || file?.name || "file", 250);
}

/** Sharing is asynchronous: asks until the message is there, at most ten seconds. */
async function waitForShare(
  bot: SlackBot,
  fileId: string,
  channelId: string,
  pauses: readonly number[] = POLL_MS,
): Promise<Receipt | null> {
  const { clock } = bot.context;
  const until = clock.now() + SHARE_WAIT_MS;
  for (const pause of pauses) {
    const ts = await shareTs(bot, fileId, channelId);
    if (ts !== undefined) return { nativeId: ts, extra: { channel: channelId, file: fileId } };
    if (clock.now() + pause > until) break;
    await clock.delay(pause);
  }
  return null;
}

async function shareTs(bot: SlackBot, fileId: string, channelId: string): Promise<string | undefined> {
  try {
    const answer = toFields(await bot.calls.fast("files.info", { file: fileId }));
    const shares = toFields(toFields(answer.file).shares);
    for (const kind of [shares.public, shares.private]) {
      const ts = tsIn(toFields(kind)[channelId]);
      if (ts !== undefined) return ts;
    }
  } catch (error) {
    // Asking is only for the anchor; the share itself is done.
    bot.log.debug({ code: problemOf(error).code }, "slack could not tell about a share");
  }
  return undefined;
}

function tsIn(shares: unknown): string | undefined {
  const [first] = toList(shares);
  return toText((first ?? ({} as Fields)).ts);
}
