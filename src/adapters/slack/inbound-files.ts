/**
 * Fetches a file a person uploaded (SPEC W8). The bot's token goes to Slack's own hosts and nowhere else; what lies elsewhere is fetched without.
 * Invariant: a sign-in page is never taken for the file, an answer larger than the cap is cut off, and failure texts name the host at most. Keeping,
 * sniffing and describing the bytes are left to the engine.
 */

import type { Download, DownloadFailure, InboundFile } from "../../engine/index.ts";
import { type Fields, toFields, toText } from "../shared/fields.ts";
import type { SlackBot } from "./bot.ts";
import { problemOf } from "./errors.ts";
import { DOWNLOAD_TIMEOUT_MS, INBOUND_FILE_BYTES, INBOUND_VIDEO_BYTES } from "./limits.ts";
import { downloadFromOwnServer, isOwnServer } from "./own-server.ts";

/** No bytes. With `retryAfterMs` it may work later; the text is for the model. */
export interface FileFailure {
  readonly ok: false;
  readonly text: string;
  readonly retryAfterMs?: number;
}

/** Hosts that Slack serves files from, and that the token may be shown to. */
const SLACK_HOSTS = [
  "slack.com",
  "*.slack.com",
  "slack-files.com",
  "*.slack-files.com",
  "slack-gov.com",
  "*.slack-gov.com",
];
const PASSING = new Set(["timeout", "too-slow", "connection", "unknown-host", "cancelled"]);
const AGAIN_MS = 2000;
const SIGN_IN =
  "Slack answered with its sign-in page instead of the file: the app lacks the permission files:read. An administrator adds it under OAuth & Permissions and installs the app again.";

/** Fetches one file, asking Slack first where it lies when the event did not say. Rejects never. */
export async function fetchFile(
  bot: SlackBot,
  file: InboundFile,
  signal: AbortSignal,
): Promise<Download | FileFailure> {
  const known = file.url === undefined ? await describeFile(bot, file) : { ok: true as const, file, url: file.url };
  if (!known.ok) return known;
  const maxBytes = (known.file.mediaType ?? "").startsWith("video/") ? INBOUND_VIDEO_BYTES : INBOUND_FILE_BYTES;
  if ((known.file.size ?? 0) > maxBytes) {
    return failed(
      `The file ${file.name} is larger than ${Math.round(maxBytes / 1_048_576)} MB, the most that is read.`,
    );
  }
  const answer = await download(bot, known.url, maxBytes, signal);
  if (!answer.ok) return toFailure(answer, file.name);
  return checkAnswer(answer, known.file, isSlackHost(known.url, bot.apiUrl));
}

type Described = { readonly ok: true; readonly file: InboundFile; readonly url: string } | FileFailure;

/** Shared channels of two companies send only a file's id; where it lies has to be asked. */
async function describeFile(bot: SlackBot, file: InboundFile): Promise<Described> {
  try {
    const fields = toFields(toFields(await bot.calls.web("files.info", { file: file.platformFileId })).file);
    const url = toText(fields.url_private_download) ?? toText(fields.url_private);
    if (fields.mode === "tombstone") return failed("The file was deleted in Slack.");
    if (fields.mode === "hidden_by_limit")
      return failed("The workspace's plan hides this file; Slack does not give it out.");
    if (url === undefined) return { ...failed("Slack has not made the file ready yet."), retryAfterMs: AGAIN_MS };
    return { ok: true, url, file: withFacts(file, fields) };
  } catch (error) {
    const problem = problemOf(error);
    if (problem.problem === "wait" || problem.problem === "unknown") {
      return { ...failed("Slack could not say where the file is."), retryAfterMs: Math.max(problem.waitMs, AGAIN_MS) };
    }
    if (problem.code === "file_not_found" || problem.code === "file_deleted") {
      return failed(`Slack no longer has the file ${file.name}, or the bot may not see it.`);
    }
    return failed(
      problem.problem === "bot" ? problem.text : `Slack does not give out this file (Slack: ${problem.code}).`,
    );
  }
}

function withFacts(file: InboundFile, fields: Fields): InboundFile {
  const mediaType = toText(fields.mimetype) ?? file.mediaType;
  const size = typeof fields.size === "number" ? fields.size : file.size;
  const name = toText(fields.name) ?? file.name;
  return { ...file, name, ...(mediaType === undefined ? {} : { mediaType }), ...(size === undefined ? {} : { size }) };
}

function download(
  bot: SlackBot,
  url: string,
  maxBytes: number,
  signal: AbortSignal,
): Promise<Download | DownloadFailure> {
  const limits = { maxBytes, timeoutMs: DOWNLOAD_TIMEOUT_MS, signal };
  const headers = { authorization: `Bearer ${bot.token.reveal()}` };
  if (isOwnServer(url, bot.apiUrl)) return downloadFromOwnServer(url, { ...limits, headers }, bot.context.guardedFetch);
  if (!isSlackHost(url, bot.apiUrl)) return bot.context.guardedFetch(url, limits);
  return bot.context.guardedFetch(url, { ...limits, headers, allowedHosts: SLACK_HOSTS });
}

/** True for https addresses on Slack's hosts, and for the server the settings name as Slack. */
export function isSlackHost(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  if (isOwnServer(url, apiUrl)) return true;
  const { protocol, hostname } = new URL(url);
  const isListed = (host: string) => (host.startsWith("*") ? hostname.endsWith(host.slice(1)) : hostname === host);
  return protocol === "https:" && SLACK_HOSTS.some(isListed);
}

/** Slack shows its sign-in page with status 200: it is told from the file by its type, and by how it begins. */
async function checkAnswer(answer: Download, file: InboundFile, fromSlack: boolean): Promise<Download | FileFailure> {
  const claimsHtml = isHtmlFile(file);
  if (answer.mediaType === "text/html" && !claimsHtml) {
    answer.cancel();
    return failed(fromSlack ? SIGN_IN : elsewhere(answer.finalUrl));
  }
  const peeked = await peek(answer);
  if (!peeked.ok) return peeked;
  if (!claimsHtml && looksLikeHtml(peeked.start) && !isTextFile(file)) {
    answer.cancel();
    return failed(fromSlack ? SIGN_IN : elsewhere(answer.finalUrl));
  }
  if (claimsHtml && fromSlack && isSignIn(peeked.start, answer.finalUrl)) {
    answer.cancel();
    return failed(SIGN_IN);
  }
  return { ...answer, body: peeked.body };
}

function isHtmlFile(file: InboundFile): boolean {
  return /html/i.test(file.mediaType ?? "") || /\.x?html?$/i.test(file.name);
}

/** A text file may well hold a page's source. */
function isTextFile(file: InboundFile): boolean {
  return (file.mediaType ?? "").startsWith("text/");
}

function looksLikeHtml(start: string): boolean {
  return /^\s*(?:<!doctype\s+html|<html[\s>])/i.test(start);
}

function isSignIn(start: string, finalUrl: string): boolean {
  const path = URL.canParse(finalUrl) ? new URL(finalUrl).pathname : "";
  return looksLikeHtml(start) && !/^\/files(-pri|-tmb)?\//.test(path);
}

function elsewhere(finalUrl: string): string {
  const host = URL.canParse(finalUrl) ? new URL(finalUrl).hostname : "another server";
  return `The file lies outside Slack, at ${host}, which answered with a web page instead. Ask for the file itself.`;
}

type Peeked = { readonly ok: true; readonly start: string; readonly body: AsyncIterable<Uint8Array> } | FileFailure;

/** The first bytes as text, and all bytes again. */
async function peek(answer: Download): Promise<Peeked> {
  const chunks = answer.body[Symbol.asyncIterator]();
  try {
    const first = await chunks.next();
    const start = first.done ? "" : Buffer.from(first.value).subarray(0, 256).toString("latin1");
    return { ok: true, start, body: again(first, chunks) };
  } catch (error) {
    return { ...failed(error instanceof Error ? error.message : "The download broke off."), retryAfterMs: AGAIN_MS };
  }
}

async function* again(first: IteratorResult<Uint8Array>, rest: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    for (let item = first; !item.done; item = await rest.next()) yield item.value;
  } finally {
    await rest.return?.();
  }
}

function toFailure(answer: DownloadFailure, name: string): FileFailure {
  const { reason, status, retryAfterMs } = answer;
  const passing = PASSING.has(reason) || status === 404 || status === 429 || (status ?? 0) >= 500;
  const text =
    reason === "host-not-listed"
      ? `The address of ${name} leads away from Slack's own hosts, so it was not followed.`
      : `The file ${name} could not be fetched: ${answer.text}`;
  return passing ? { ok: false, text, retryAfterMs: Math.max(retryAfterMs ?? 0, AGAIN_MS) } : failed(text);
}

function failed(text: string): FileFailure {
  return { ok: false, text };
}
