/**
 * Takes a request through its dialect: key, checks, record, script, faults, answer or stream.
 * Invariant: a request that breaks a rule is refused before any script sees it and is listed in `refusals`; every
 * other one is in `requests`, also when it is never answered.
 */
import type { ServerResponse } from "node:http";
import type { Arrived, Fields } from "../loopback.ts";
import { isFields, pause, sendJson } from "../loopback.ts";
import { ANTHROPIC } from "./anthropic.ts";
import type { Answer, Complaint, Dialect, Memory, StreamEvent } from "./dialect.ts";
import { shortId } from "./dialect.ts";
import { GEMINI } from "./gemini.ts";
import { OPENAI_CHAT } from "./openai-chat.ts";
import { OPENAI_RESPONSES } from "./openai-responses.ts";
import type { Reply, Script } from "./reply.ts";
import { obeyToolChoice } from "./reply.ts";
import { LlmRequest } from "./request.ts";

const DIALECTS: readonly Dialect[] = [OPENAI_CHAT, OPENAI_RESPONSES, ANTHROPIC, GEMINI];

/** A failure that hits the next requests instead of the script. */
export interface ReplyFault {
  readonly reply: Reply;
  readonly model: string | null;
  left: number;
}

/** A request the provider refused. */
export interface LlmRefusal {
  readonly dialect: Dialect["name"];
  readonly message: string;
  readonly status: number;
  readonly body: Fields;
  readonly at: number;
}

/** What the server knows. */
export interface LlmState {
  readonly scripts: Map<string, Script>;
  readonly fallback: Script;
  readonly key: string | null;
  readonly requests: LlmRequest[];
  readonly refusals: LlmRefusal[];
  readonly faults: ReplyFault[];
  readonly memory: Memory;
}

/** Answers one HTTP request. */
export async function serve(state: LlmState, arrived: Arrived): Promise<void> {
  const path = arrived.url.pathname.replace(/\/+$/, "");
  if (arrived.request.method === "GET" && path.endsWith("/models")) return listModels(state, arrived.response);
  const dialect = DIALECTS.find((candidate) => candidate.matches(path) !== null);
  if (!dialect || arrived.request.method !== "POST") {
    sendJson(arrived.response, 404, {
      error: { message: `unknown address ${path}`, type: "invalid_request_error", code: "not_found" },
    });
    return;
  }
  const raw = arrived.body.toString("utf8");
  const body = parseBody(raw);
  const complaint =
    dialect.authorize(arrived.headers, state.key) ??
    (body ? dialect.check(body, state.memory) : { status: 400, message: "the body is not JSON" });
  if (complaint || !body) return refuse(state, arrived.response, dialect, body ?? {}, complaint);
  const request = record(state, dialect, { arrived, path, raw, body });
  const reply = await chooseReply(state, request);
  await answer(state, dialect, request, reply, arrived);
}

function listModels(state: LlmState, response: ServerResponse): void {
  const data = [...state.scripts.keys()].map((id) => ({ id, object: "model", created: 0, owned_by: "emulator" }));
  sendJson(response, 200, { object: "list", data });
}

function parseBody(raw: string): Fields | null {
  try {
    const body: unknown = JSON.parse(raw);
    return isFields(body) ? body : null;
  } catch {
    // Reported as a refusal by the caller.
    return null;
  }
}

function refuse(
  state: LlmState,
  response: ServerResponse,
  dialect: Dialect,
  body: Fields,
  complaint: Complaint | null,
): void {
  const { status, message } = complaint ?? { status: 400, message: "the body is not JSON" };
  state.refusals.push({ dialect: dialect.name, message, status, body, at: Date.now() });
  sendJson(response, status, dialect.error({ status, message, code: complaint?.code }));
}

function record(
  state: LlmState,
  dialect: Dialect,
  sent: { arrived: Arrived; path: string; raw: string; body: Fields },
): LlmRequest {
  const { arrived, path, raw, body } = sent;
  const read = dialect.read(body, path, state.memory);
  const prompt = dialect.prompt(body);
  const seen = state.memory.prompts.get(read.model) ?? [];
  const shared = commonLength(seen.at(-1) ?? "", prompt);
  const request = new LlmRequest({
    dialect: dialect.name,
    read,
    body,
    raw,
    headers: arrived.headers,
    index: state.requests.length,
    sharedPrefix: prompt.length === 0 ? 0 : shared / prompt.length,
    promptLength: prompt.length,
  });
  state.memory.prompts.set(read.model, [...seen.slice(-19), prompt]);
  state.requests.push(request);
  arrived.response.on("close", () => {
    if (request.outcome === "open") request.outcome = "cut by the client";
  });
  return request;
}

function commonLength(left: string, right: string): number {
  const end = Math.min(left.length, right.length);
  let index = 0;
  while (index < end && left.charCodeAt(index) === right.charCodeAt(index)) index += 1;
  return index;
}

async function chooseReply(state: LlmState, request: LlmRequest): Promise<Reply> {
  const fault = state.faults.find(
    (candidate) => candidate.left > 0 && (candidate.model === null || candidate.model === request.model),
  );
  if (fault) {
    fault.left -= 1;
    return fault.reply;
  }
  try {
    return await (state.scripts.get(request.model) ?? state.fallback)(request);
  } catch (error) {
    return {
      status: 500,
      message: `the script for ${request.model} failed: ${error instanceof Error ? error.stack : String(error)}`,
    };
  }
}

async function answer(
  state: LlmState,
  dialect: Dialect,
  request: LlmRequest,
  reply: Reply,
  arrived: Arrived,
): Promise<void> {
  const { response } = arrived;
  if (reply.hang) return;
  if (reply.delayMs) await pause(reply.delayMs);
  if (reply.drop) {
    request.outcome = "cut by the server";
    arrived.request.socket.destroy();
    return;
  }
  const complaint = failureOf(dialect, request, reply);
  if (complaint) {
    request.outcome = "failed";
    sendJson(response, complaint.status, dialect.error(complaint), reply.headers);
    return;
  }
  const full = complete(state, request, reply);
  if (request.stream) return stream(response, dialect, request, reply, dialect.stream(full, request, state.memory));
  if (!response.destroyed) request.outcome = "answered";
  sendJson(response, 200, dialect.write(full, request, state.memory), reply.headers);
}

function failureOf(dialect: Dialect, request: LlmRequest, reply: Reply): Complaint | null {
  if (reply.contextLength) return dialect.contextLength(request);
  if (reply.status === undefined || reply.status < 300) return null;
  return { status: reply.status, message: reply.message ?? `emulated failure ${reply.status}`, code: reply.code };
}

/** Fills in what the script left out: call ids, the finish reason, tokens (a quarter of the characters). */
function complete(state: LlmState, request: LlmRequest, reply: Reply): Answer {
  const calls = obeyToolChoice(reply, request).map((call) => ({
    ...call,
    id: call.id ?? shortId(request.dialect === "anthropic" ? "toolu_" : "call_"),
    json: typeof call.args === "string" ? call.args : JSON.stringify(call.args),
  }));
  const text = reply.text ?? "";
  const thinking = request.thinking || request.dialect === "openai-chat" ? (reply.thinking ?? "") : "";
  const input = reply.usage?.input ?? Math.ceil(request.promptLength / 4);
  const written = text.length + thinking.length + calls.reduce((sum, call) => sum + call.json.length, 0);
  const cached = Math.min(reply.usage?.cached ?? cachedTokens(state, request), input);
  const marked = request.dialect === "anthropic" && request.raw.includes('"cache_control"');
  const tokens = {
    input,
    cached,
    output: reply.usage?.output ?? Math.ceil(written / 4),
    cacheWritten: marked ? input - cached : 0,
  };
  return { text, thinking, calls, finish: reply.finish ?? (calls.length > 0 ? "calls" : "stop"), tokens };
}

/** What a provider would have found in its cache: the shared beginning, from 1,024 tokens up, in steps of 128. */
function cachedTokens(state: LlmState, request: LlmRequest): number {
  const prompts = state.memory.prompts.get(request.model) ?? [];
  const now = prompts.at(-1) ?? "";
  const shared = Math.max(0, ...prompts.slice(0, -1).map((prompt) => commonLength(prompt, now)));
  const tokens = Math.floor(shared / 4 / 128) * 128;
  const wanted = request.dialect !== "anthropic" || request.raw.includes('"cache_control"');
  return tokens >= 1024 && wanted ? tokens : 0;
}

async function stream(
  response: ServerResponse,
  dialect: Dialect,
  request: LlmRequest,
  reply: Reply,
  events: StreamEvent[],
): Promise<void> {
  const cut = reply.breakStream === true ? Math.ceil(events.length / 2) : reply.breakStream;
  response.writeHead(200, {
    "content-type": "text/event-stream; charset=utf-8",
    "cache-control": "no-cache",
    ...reply.headers,
  });
  for (const [index, { event, data }] of events.entries()) {
    if (response.destroyed) return;
    if (typeof cut === "number" && index >= cut) {
      request.outcome = "cut by the server";
      response.destroy();
      return;
    }
    if (index > 0 && reply.chunkDelayMs) await pause(reply.chunkDelayMs);
    response.write(`${event === null ? "" : `event: ${event}\n`}data: ${JSON.stringify(data)}\n\n`);
  }
  if (!response.destroyed) request.outcome = "answered";
  response.end(dialect.streamEnd);
}
