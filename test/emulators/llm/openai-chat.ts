/**
 * OpenAI-compatible chat completions: `POST /v1/chat/completions`, whole or as server-sent events.
 * Invariant: refuses what OpenAI refuses about the order of messages: a tool message answers a call made just before,
 * every call gets its result before anybody else speaks, nothing is empty.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText, isFields } from "../loopback.ts";
import type { Answer, Complaint, Dialect, StreamEvent } from "./dialect.ts";
import { bearer, pieces, shortId } from "./dialect.ts";
import type { LlmRequest, ReadCall, ReadMessage, ReadRequest, ToolChoice } from "./request.ts";
import { choiceProblem, toolProblem } from "./tool-rules.ts";

const FINISH = { stop: "stop", length: "length", calls: "tool_calls", filter: "content_filter" } as const;

/** The chat completions API. */
export const OPENAI_CHAT: Dialect = {
  name: "openai-chat",
  matches: (path) => (/\/chat\/completions$/.test(path) ? "" : null),
  authorize: authorizeOpenAi,
  check,
  read,
  prompt: (body) =>
    JSON.stringify(body.tools ?? []) +
    asList(body.messages)
      .map((message) => JSON.stringify(message))
      .join(","),
  write: (answer, request) => ({
    ...head(request, "chat.completion"),
    choices: [{ index: 0, message: toMessage(answer), logprobs: null, finish_reason: FINISH[answer.finish] }],
    usage: toUsage(answer),
  }),
  stream,
  streamEnd: "data: [DONE]\n\n",
  error: openAiError,
  contextLength: (request) => ({
    status: 400,
    code: "context_length_exceeded",
    message: `This model's maximum context length is 128000 tokens. However, your messages resulted in ${Math.max(128_001, Math.ceil(request.promptLength / 4))} tokens. Please reduce the length of the messages.`,
  }),
};

/** OpenAI's key check, shared by its two APIs. */
export function authorizeOpenAi(headers: Parameters<Dialect["authorize"]>[0], key: string | null): Complaint | null {
  const token = bearer(headers);
  if (token !== null && (key === null || token === key)) return null;
  const message = token === null ? "You didn't provide an API key." : "Incorrect API key provided.";
  return { status: 401, code: "invalid_api_key", message };
}

/** OpenAI's error format, shared by its two APIs. */
export function openAiError(complaint: Complaint): Fields {
  const kinds: Record<number, string> = {
    401: "authentication_error",
    403: "permission_error",
    429: "rate_limit_error",
  };
  const type = kinds[complaint.status] ?? (complaint.status >= 500 ? "server_error" : "invalid_request_error");
  return { error: { message: complaint.message, type, param: null, code: complaint.code ?? null } };
}

function refusal(message: string): Complaint {
  return { status: 400, message };
}

function check(body: Fields): Complaint | null {
  if (asText(body.model) === "") return refusal("you must provide a model parameter");
  if (!Array.isArray(body.messages) || body.messages.length === 0) return refusal("[] is too short - 'messages'");
  const order = orderProblem(body.messages.map(asFields));
  if (order) return refusal(order);
  const tools = sentTools(body);
  if (Array.isArray(body.tools) && body.tools.length === 0) return refusal("[] is too short - 'tools'");
  if (asList(body.tools).some((tool) => asFields(tool).type !== "function"))
    return refusal("tools: only type 'function' is supported");
  const problem = toolProblem(tools, "tools", 64) ?? choiceProblem(sentChoice(body), tools);
  if (problem) return refusal(problem);
  if (body.stream_options !== undefined && body.stream !== true)
    return refusal("stream_options is only allowed when stream is enabled");
  return null;
}

function sentTools(body: Fields) {
  return asList(body.tools).map((tool) => {
    const definition = asFields(asFields(tool).function);
    return { name: definition.name, schema: definition.parameters };
  });
}

function sentChoice(body: Fields): { required: boolean; name: string | null } {
  const name = isFields(body.tool_choice) ? asText(asFields(body.tool_choice.function).name) : null;
  return { required: body.tool_choice === "required", name };
}

function orderProblem(messages: readonly Fields[]): string | null {
  const open = new Set<string>();
  for (const [index, message] of messages.entries()) {
    const at = `messages[${index}]`;
    const role = asText(message.role);
    if (!["system", "developer", "user", "assistant", "tool"].includes(role)) return `${at}: invalid role '${role}'`;
    if (role === "tool") {
      if (!open.delete(asText(message.tool_call_id))) {
        return `${at}: messages with role 'tool' must be a response to a preceding message with 'tool_calls'`;
      }
      if (message.content === undefined || message.content === null) return `${at}.content: expected a string`;
      continue;
    }
    if (open.size > 0) return unanswered(open);
    const problem = role === "assistant" ? readCalls(message, at, open) : contentProblem(message.content, at);
    if (problem) return problem;
  }
  return open.size > 0 ? unanswered(open) : null;
}

function unanswered(open: ReadonlySet<string>): string {
  return `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. Missing: ${[...open].join(", ")}`;
}

/** Notes the calls of an assistant message as open; an assistant message needs text or calls. */
function readCalls(message: Fields, at: string, open: Set<string>): string | null {
  const calls = asList(message.tool_calls).map(asFields);
  if (message.tool_calls !== undefined && calls.length === 0) return `${at}.tool_calls: [] is too short`;
  if (calls.length === 0 && (message.content === undefined || message.content === null))
    return `${at}.content: expected a string, got null`;
  for (const call of calls) {
    const definition = asFields(call.function);
    if (asText(call.id) === "" || asText(definition.name) === "")
      return `${at}.tool_calls: id and function.name are required`;
    if (!isJsonObject(definition.arguments)) return `${at}.tool_calls: arguments must be a JSON object as text`;
    if (open.has(asText(call.id))) return `${at}.tool_calls: duplicate id '${asText(call.id)}'`;
    open.add(asText(call.id));
  }
  return null;
}

function isJsonObject(text: unknown): boolean {
  if (typeof text !== "string") return false;
  try {
    return isFields(JSON.parse(text));
  } catch {
    return false;
  }
}

function contentProblem(content: unknown, at: string): string | null {
  if (typeof content === "string") return content === "" ? `${at}.content must not be empty` : null;
  if (!Array.isArray(content) || content.length === 0) return `${at}.content must be a string or a list of parts`;
  const allowed = ["text", "image_url", "input_audio", "file"];
  const odd = content.map(asFields).find((part) => !allowed.includes(asText(part.type)));
  if (odd) return `${at}.content: invalid part type '${asText(odd.type)}'`;
  const urls = content.map((part) => asFields(asFields(part).image_url).url).filter((url) => url !== undefined);
  return urls.every((url) => /^(https:|data:image\/)/.test(asText(url)))
    ? null
    : `${at}.content: image_url must be https or a data URL`;
}

function read(body: Fields): ReadRequest {
  return {
    model: asText(body.model),
    stream: body.stream === true,
    messages: asList(body.messages).map((message) => toReadMessage(asFields(message))),
    tools: asList(body.tools).map((tool) => {
      const definition = asFields(asFields(tool).function);
      return {
        name: asText(definition.name),
        description: asText(definition.description),
        schema: asFields(definition.parameters),
      };
    }),
    toolChoice: toChoice(body),
    thinking: body.reasoning_effort !== undefined && body.reasoning_effort !== "none",
  };
}

function toChoice(body: Fields): ToolChoice {
  const { required, name } = sentChoice(body);
  if (name !== null) return { name };
  if (required) return "required";
  return body.tool_choice === "none" ? "none" : "auto";
}

function toReadMessage(message: Fields): ReadMessage {
  const parts = asList(message.content).map(asFields);
  const text =
    typeof message.content === "string" ? message.content : parts.map((part) => asText(part.text)).join("\n");
  const role = message.role === "developer" ? "system" : (asText(message.role) as ReadMessage["role"]);
  const calls = asList(message.tool_calls).map((call): ReadCall => {
    const definition = asFields(asFields(call).function);
    return {
      id: asText(asFields(call).id),
      name: asText(definition.name),
      args: asFields(JSON.parse(asText(definition.arguments))),
    };
  });
  const media = parts.filter((part) => part.type !== "text").length;
  return { role, text, calls, callId: asText(message.tool_call_id), media };
}

function head(request: LlmRequest, object: string): Fields {
  return {
    id: shortId("chatcmpl-"),
    object,
    created: Math.floor(Date.now() / 1000),
    model: request.model,
    system_fingerprint: "fp_emulated",
  };
}

function toMessage(answer: Answer): Fields {
  const calls = answer.calls.map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.json },
  }));
  const text = answer.text === "" && calls.length > 0 ? null : answer.text;
  return {
    role: "assistant",
    content: text,
    refusal: null,
    ...(answer.thinking === "" ? {} : { reasoning_content: answer.thinking }),
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  };
}

function toUsage({ tokens }: Answer): Fields {
  return {
    prompt_tokens: tokens.input,
    completion_tokens: tokens.output,
    total_tokens: tokens.input + tokens.output,
    prompt_tokens_details: { cached_tokens: tokens.cached },
    completion_tokens_details: { reasoning_tokens: 0 },
  };
}

function stream(answer: Answer, request: LlmRequest): StreamEvent[] {
  const common = head(request, "chat.completion.chunk");
  const chunk = (delta: Fields, finish: string | null = null): StreamEvent => ({
    event: null,
    data: { ...common, choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }] },
  });
  const events = [
    chunk({ role: "assistant", content: "" }),
    ...pieces(answer.thinking).map((piece) => chunk({ reasoning_content: piece })),
    ...pieces(answer.text).map((piece) => chunk({ content: piece })),
  ];
  for (const [index, call] of answer.calls.entries()) {
    events.push(
      chunk({ tool_calls: [{ index, id: call.id, type: "function", function: { name: call.name, arguments: "" } }] }),
    );
    for (const piece of pieces(call.json))
      events.push(chunk({ tool_calls: [{ index, function: { arguments: piece } }] }));
  }
  events.push(chunk({}, FINISH[answer.finish]));
  if (asFields(request.body.stream_options).include_usage === true) {
    events.push({ event: null, data: { ...common, choices: [], usage: toUsage(answer) } });
  }
  return events;
}
