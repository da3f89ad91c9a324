/**
 * Anthropic's Messages API: `POST /v1/messages`, whole or as server-sent events, with thinking blocks, tool use and
 * the cache's token counts.
 * Invariant: a thinking block's signature is remembered, and a request that returns the block must return it unchanged.
 * What is refused stands in `anthropic-rules.ts`.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText } from "../loopback.ts";
import { blocksOf, isThinking, requestProblem } from "./anthropic-rules.ts";
import type { Answer, Complaint, Dialect, Memory, StreamEvent } from "./dialect.ts";
import { bearer, pieces, shortId } from "./dialect.ts";
import type { LlmRequest, ReadMessage, ReadRequest, ToolChoice } from "./request.ts";

const STOP = { stop: "end_turn", length: "max_tokens", calls: "tool_use", filter: "refusal" } as const;

/** The Messages API. */
export const ANTHROPIC: Dialect = {
  name: "anthropic",
  matches: (path) => (/\/v1\/messages$/.test(path) ? "" : null),
  authorize: (headers, key) => {
    const given = headers["x-api-key"] ?? bearer(headers);
    if (!given || (key !== null && given !== key))
      return { status: 401, message: given ? "invalid x-api-key" : "x-api-key header is required" };
    return headers["anthropic-version"] ? null : { status: 400, message: "anthropic-version: header is required" };
  },
  check: (body, memory) => {
    const message = requestProblem(body, memory);
    return message === null ? null : { status: 400, message };
  },
  read,
  prompt: (body) =>
    [body.tools ?? [], body.system ?? "", ...asList(body.messages)]
      .map((part) => JSON.stringify(withoutMarks(part)))
      .join(","),
  write: (answer, request, memory) => ({
    ...head(request, answer),
    content: toBlocks(answer, memory),
    stop_reason: STOP[answer.finish],
  }),
  stream,
  streamEnd: "",
  error: toError,
  contextLength: (request) => ({
    status: 400,
    message: `prompt is too long: ${Math.max(200_001, Math.ceil(request.promptLength / 4))} tokens > 200000 maximum`,
  }),
};

function toError(complaint: Complaint): Fields {
  const kinds: Record<number, string> = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    429: "rate_limit_error",
    529: "overloaded_error",
  };
  const type = kinds[complaint.status] ?? (complaint.status >= 500 ? "api_error" : "invalid_request_error");
  return { type: "error", error: { type, message: complaint.message }, request_id: shortId("req_") };
}

/** Cache marks move from request to request; they are no part of the cached prompt. */
function withoutMarks(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withoutMarks);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([key]) => key !== "cache_control")
      .map(([key, part]) => [key, withoutMarks(part)]),
  );
}

function read(body: Fields): ReadRequest {
  const system =
    typeof body.system === "string"
      ? body.system
      : asList(body.system)
          .map((block) => asText(asFields(block).text))
          .join("\n");
  const top: ReadMessage[] = system === "" ? [] : [{ role: "system", text: system, calls: [], callId: "", media: 0 }];
  return {
    model: asText(body.model),
    stream: body.stream === true,
    messages: [...top, ...asList(body.messages).flatMap((message) => toReadMessages(asFields(message)))],
    tools: asList(body.tools)
      .map(asFields)
      .map((tool) => ({
        name: asText(tool.name),
        description: asText(tool.description),
        schema: asFields(tool.input_schema),
      })),
    toolChoice: toChoice(asFields(body.tool_choice)),
    thinking: isThinking(body),
  };
}

function toChoice(choice: Fields): ToolChoice {
  if (choice.type === "tool") return { name: asText(choice.name) };
  if (choice.type === "any") return "required";
  return choice.type === "none" ? "none" : "auto";
}

/** Tool results become messages of their own, as in the other APIs; the rest of the message follows them. */
function toReadMessages(message: Fields): ReadMessage[] {
  const blocks = blocksOf(message);
  const results = blocks
    .filter((block) => block.type === "tool_result")
    .map((block): ReadMessage => {
      const text = typeof block.content === "string" ? block.content : textOf(asList(block.content).map(asFields));
      return { role: "tool", text, calls: [], callId: asText(block.tool_use_id), media: 0 };
    });
  const rest = blocks.filter((block) => block.type !== "tool_result" && block.type !== "thinking");
  if (rest.length === 0) return results;
  const calls = rest
    .filter((block) => block.type === "tool_use")
    .map((block) => ({
      id: asText(block.id),
      name: asText(block.name),
      args: asFields(block.input),
    }));
  const media = rest.filter((block) => block.type === "image" || block.type === "document").length;
  return [
    ...results,
    { role: message.role === "assistant" ? "assistant" : "user", text: textOf(rest), calls, callId: "", media },
  ];
}

function textOf(blocks: readonly Fields[]): string {
  return blocks
    .filter((block) => block.type === "text")
    .map((block) => asText(block.text))
    .join("\n");
}

function head(request: LlmRequest, answer: Answer): Fields {
  return {
    id: shortId("msg_"),
    type: "message",
    role: "assistant",
    model: request.model,
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: {
      input_tokens: answer.tokens.input - answer.tokens.cached - answer.tokens.cacheWritten,
      cache_creation_input_tokens: answer.tokens.cacheWritten,
      cache_read_input_tokens: answer.tokens.cached,
      output_tokens: answer.tokens.output,
    },
  };
}

function toBlocks(answer: Answer, memory: Memory): Fields[] {
  const blocks: Fields[] = [];
  if (answer.thinking !== "") {
    const signature = shortId("sig");
    memory.signatures.set(signature, answer.thinking);
    blocks.push({ type: "thinking", thinking: answer.thinking, signature });
  }
  if (answer.text !== "") blocks.push({ type: "text", text: answer.text });
  for (const call of answer.calls)
    blocks.push({ type: "tool_use", id: call.id, name: call.name, input: parse(call.json) });
  return blocks;
}

function parse(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    // Whole answers cannot carry broken JSON; only a stream can.
    return {};
  }
}

function stream(answer: Answer, request: LlmRequest, memory: Memory): StreamEvent[] {
  const event = (type: string, data: Fields): StreamEvent => ({ event: type, data: { type, ...data } });
  const start = head(request, answer);
  const events = [
    event("message_start", { message: { ...start, usage: { ...asFields(start.usage), output_tokens: 1 } } }),
  ];
  const broken = new Map(answer.calls.map((call) => [call.id, call.json]));
  for (const [index, block] of toBlocks(answer, memory).entries()) {
    events.push(event("content_block_start", { index, content_block: opened(block) }));
    for (const delta of deltas(block, broken)) events.push(event("content_block_delta", { index, delta }));
    events.push(event("content_block_stop", { index }));
  }
  events.push(
    event("message_delta", {
      delta: { stop_reason: STOP[answer.finish], stop_sequence: null },
      usage: { output_tokens: answer.tokens.output },
    }),
  );
  events.push(event("message_stop", {}));
  return events;
}

function opened(block: Fields): Fields {
  if (block.type === "text") return { type: "text", text: "" };
  return block.type === "thinking" ? { type: "thinking", thinking: "", signature: "" } : { ...block, input: {} };
}

function deltas(block: Fields, json: ReadonlyMap<string, string>): Fields[] {
  if (block.type === "text") return pieces(asText(block.text)).map((text) => ({ type: "text_delta", text }));
  if (block.type === "thinking") {
    const parts = pieces(asText(block.thinking)).map((thinking) => ({ type: "thinking_delta", thinking }));
    return [...parts, { type: "signature_delta", signature: block.signature }];
  }
  return ["", ...pieces(json.get(asText(block.id)) ?? "{}")].map((partial) => ({
    type: "input_json_delta",
    partial_json: partial,
  }));
}
