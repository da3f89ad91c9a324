/**
 * Files: the three steps of an upload, `files.info`, and the bytes behind `upload_url` and `url_private`.
 * Invariant: completing an upload answers at once with empty shares; the message and its timestamp come a little
 * later, so a client has to look for them. A download without a token that may read files gets the sign-in page with
 * HTTP 200, as Slack gives it.
 */
import type { Arrived, Fields } from "../../loopback.ts";
import { asFields, asText, isFields, sendText } from "../../loopback.ts";
import { applyAfter, applyBefore, appOf, recordRequest, tokenOf } from "../api.ts";
import { readMultipart } from "../arguments.ts";
import type { Call, Method } from "../call.ts";
import { memberChannel, readThread, requireArguments } from "../call.ts";
import { readBlocks } from "../content.ts";
import { tellMessage } from "../events.ts";
import { takeFault } from "../faults.ts";
import type { App, Channel, StoredFile } from "../model.ts";
import { refuse, refuseArguments } from "../refusal.ts";
import { clearStatus } from "../statuses.ts";
import type { Workspace } from "../workspace.ts";
import { later, newId } from "../workspace.ts";
import { addBotMessage } from "./chat.ts";

/** More files than this in one share fail inside Slack. */
const MAX_SHARED = 14;
const TYPES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
  pdf: "application/pdf",
  txt: "text/plain",
  md: "text/markdown",
  csv: "text/csv",
  json: "application/json",
  html: "text/html",
  mp4: "video/mp4",
  mp3: "audio/mpeg",
};

/** The methods of this family. */
export const FILE_METHODS: Readonly<Record<string, Method>> = {
  "files.getUploadURLExternal": { scopes: ["files:write"], run: reserve },
  "files.completeUploadExternal": { scopes: ["files:write"], run: complete },
  "files.info": { scopes: ["files:read"], run: (call) => ({ file: visibleFile(call).body, comments: [] }) },
  "files.delete": { scopes: ["files:write"], run: remove },
};

/** Adds a file; `bytes` null while it waits for its upload. */
export function addFile(
  workspace: Workspace,
  file: { name: string; bytes: Buffer | null; size: number; user: string; app: App | null; type?: string },
): StoredFile {
  const id = newId("F");
  const extension = file.name.includes(".") ? (file.name.split(".").pop() ?? "").toLowerCase() : "";
  const path = `${workspace.base}/files-pri/${file.user}-${id}`;
  const body: Fields = {
    id,
    created: Math.floor(Date.now() / 1000),
    timestamp: Math.floor(Date.now() / 1000),
    name: file.name,
    title: file.name,
    mimetype: file.type ?? TYPES[extension] ?? "application/octet-stream",
    filetype: extension,
    user: file.user,
    user_team: workspace.team.id,
    size: file.size,
    mode: "hosted",
    is_external: false,
    is_public: false,
    file_access: "visible",
    url_private: `${path}/${encodeURIComponent(file.name)}`,
    url_private_download: `${path}/download/${encodeURIComponent(file.name)}`,
    permalink: `${workspace.base}/files/${id}`,
    channels: [],
    shares: {},
  };
  const stored: StoredFile = {
    id,
    app: file.app,
    expected: file.size,
    bytes: file.bytes,
    completed: file.bytes !== null,
    shareLost: false,
    alt: "",
    body,
  };
  workspace.files.set(id, stored);
  return stored;
}

function reserve(call: Call): Fields {
  requireArguments(call.args, "filename", "length");
  const size = Number(call.args.length);
  if (!Number.isInteger(size) || size < 1)
    refuse("missing_argument", { response_metadata: { messages: ["[ERROR] length must be above 0"] } });
  if (call.args.snippet_type !== undefined && size > 1_000_000) refuse("snippet_too_large");
  const file = addFile(call.workspace, {
    name: asText(call.args.filename),
    bytes: null,
    size,
    user: call.app.userId,
    app: call.app,
  });
  // With the spelling of the written documentation the share silently never appears.
  file.shareLost = call.args.alt_txt !== undefined;
  file.alt = asText(call.args.alt_text);
  if (file.alt.length > 1000) refuseArguments("must be less than 1001 characters [json-pointer:/alt_text]");
  if (file.alt !== "") file.body.alt_txt = file.alt;
  return { upload_url: `${call.workspace.base}/upload/v1/${file.id}`, file_id: file.id };
}

function ownFile(call: Call, value: unknown): StoredFile {
  if (!isFields(value) || typeof value.id !== "string")
    return refuseArguments("a file needs an id [json-pointer:/files]");
  const file = call.workspace.files.get(value.id);
  if (!file || file.app !== call.app) return refuse("file_not_found");
  if (file.bytes === null) refuse("file_update_failed");
  if (file.completed) refuse("file_already_completed");
  return file;
}

function complete(call: Call): Fields {
  const list = call.args.files;
  if (!Array.isArray(list) || list.length === 0) return refuseArguments("missing required field: files");
  if (list.length > MAX_SHARED) refuse("internal_error");
  if (call.args.thread_ts !== undefined && !call.args.channel_id) refuseArguments("thread_ts needs channel_id");
  const files = list.map((value) => ownFile(call, value));
  const target = call.args.channel_id === undefined ? null : shareTarget(call);
  for (const [index, file] of files.entries()) {
    file.completed = true;
    const title = asFields(list[index]).title;
    if (typeof title === "string" && title !== "") file.body.title = title;
  }
  const answer = { files: files.map((file) => structuredClone(file.body)) };
  if (target) scheduleShare(call, files, target);
  return answer;
}

interface ShareTarget {
  readonly channel: Channel;
  readonly thread: string | null;
  readonly text: string;
  readonly blocks: Fields[] | undefined;
}

function shareTarget(call: Call): ShareTarget {
  const id = asText(call.args.channel_id);
  if (!/^[CGD]/.test(id)) refuse("invalid_channel");
  const channel = memberChannel(call, id);
  if (channel.archived) refuse("is_archived");
  const thread = readThread(channel, call.args.thread_ts);
  const text = asText(call.args.initial_comment);
  // A comment wins over blocks, as documented.
  const blocks = text === "" ? readBlocks(call.args.blocks) : undefined;
  return { channel, thread, text, blocks };
}

function scheduleShare(call: Call, files: StoredFile[], target: ShareTarget): void {
  const { workspace } = call;
  const lost = workspace.lostShares > 0;
  if (lost) workspace.lostShares -= 1;
  const landing = files.filter((file) => !file.shareLost);
  if (lost || landing.length === 0) return;
  later(workspace, workspace.timing.shareDelayMs, () => share(call, landing, target));
}

function share(call: Call, files: StoredFile[], target: ShareTarget): void {
  const { channel, thread, text, blocks } = target;
  const content = { text, blocks, attachments: undefined, metadata: undefined };
  const shareCall: Call = { ...call, args: {} };
  const bodies = files.map((file) => file.body);
  const message = addBotMessage(shareCall, channel, content, thread, {
    subtype: "file_share",
    upload: true,
    files: bodies,
  });
  const kind = channel.kind === "channel" ? "public" : "private";
  for (const { body } of files) {
    body.channels = [channel.id];
    body.shares = {
      [kind]: { [channel.id]: [{ ts: message.body.ts, ...(thread ? { thread_ts: thread } : {}), reply_count: 0 }] },
    };
  }
  tellMessage(call.workspace, message);
  clearStatus(call.workspace, call.app, channel, thread);
}

function visibleFile(call: Call): StoredFile {
  return call.workspace.files.get(asText(call.args.file)) ?? refuse("file_not_found");
}

function remove(call: Call): Fields {
  const file = visibleFile(call);
  if (file.app !== call.app) refuse("cant_delete_file");
  call.workspace.files.delete(file.id);
  return {};
}

/** Takes the bytes of a reserved file, raw or as a multipart part; a wrong size is refused. */
export async function serveUpload(workspace: Workspace, arrived: Arrived, id: string): Promise<void> {
  const request = recordRequest(workspace, "upload", arrived);
  const type = arrived.headers["content-type"] ?? "";
  const bytes = type.startsWith("multipart/form-data") ? await firstPart(arrived.body, type) : arrived.body;
  request.args = { file: id, length: bytes.length };
  const fault = takeFault(workspace.faults, request);
  if (fault && (await applyBefore(fault, arrived, request))) return;
  const file = workspace.files.get(id);
  if (!file || file.completed) return sendText(arrived.response, 404, "no such upload");
  if (bytes.length !== file.expected) {
    const messages = [`expected ${file.expected} bytes, got ${bytes.length}`];
    workspace.refusals.push({
      method: "upload",
      error: "size_mismatch",
      messages,
      args: request.args,
      app: file.app,
      at: Date.now(),
    });
    return sendText(arrived.response, 400, "size mismatch");
  }
  file.bytes = Buffer.from(bytes);
  if (fault && applyAfter(fault, arrived, request)) return;
  request.answer = { status: 200 };
  sendText(arrived.response, 200, `OK - ${bytes.length}`);
}

async function firstPart(body: Buffer, type: string): Promise<Buffer> {
  const [part] = await readMultipart(body, type);
  const value = part?.[1] ?? "";
  return typeof value === "string" ? Buffer.from(value) : Buffer.from(await value.arrayBuffer());
}

/** Gives out a file's bytes to an app that may read files. */
export async function serveDownload(workspace: Workspace, arrived: Arrived, id: string): Promise<void> {
  const request = recordRequest(workspace, "download", arrived);
  request.args = { file: id };
  request.token = tokenOf(arrived, {});
  request.app = appOf(workspace, request.token);
  const fault = takeFault(workspace.faults, request);
  if (fault && (await applyBefore(fault, arrived, request))) return;
  const file = workspace.files.get(id);
  if (!file) return sendText(arrived.response, 404, "no such file");
  if (!request.app?.scopes.includes("files:read") || request.token !== request.app.botToken) {
    return sendText(
      arrived.response,
      200,
      "<!DOCTYPE html><html><title>Slack</title><body>Sign in to your workspace</body></html>",
      "text/html",
    );
  }
  request.answer = { status: 200 };
  if (fault && applyAfter(fault, arrived, request)) return;
  const bytes = file.bytes ?? Buffer.alloc(0);
  arrived.response.writeHead(200, { "content-type": asText(file.body.mimetype), "content-length": bytes.length });
  arrived.response.end(bytes);
}
