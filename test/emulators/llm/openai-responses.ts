/**
 * OpenAI's Responses API: `POST /v1/responses`, whole or as server-sent events.
 * Invariant: answered items are remembered, so a later request may refer to them by id; an unknown reference, a result
 * without its call and a call without its result are refused.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText, isFields } from "../loopback.ts";
import type { Answer, Complaint, Dialect, Memory, StreamEvent } from "./dialect.ts";
import { pieces, shortId } from "./dialect.ts";
import { authorizeOpenAi, openAiError } from "./openai-chat.ts";
import type { LlmRequest, ReadMessage, ReadRequest, ToolChoice } from "./request.ts";
import { choiceProblem, toolProblem } from "./tool-rules.ts";

/** The Responses API. */
export const OPENAI_RESPONSES: Dialect = {
  name: "openai-responses",
  matches: (path) => (/\/v1\/responses$/.test(path) ? "" : null),
  authorize: authorizeOpenAi,
  check,
  read,
  prompt: (body) =>
    JSON.stringify(body.tools ?? []) +
    asText(body.instructions) +
    inputOf(body)
      .map((item) => JSON.stringify(item))
      .join(","),
  write: (answer, request, memory) => toResponse(request, toItems(answer, memory), answer),
  stream: (answer, request, memory) => toEvents(answer, request, toItems(answer, memory)),
  streamEnd: "",
  error: openAiError,
  contextLength: () => ({
    status: 400,
    code: "context_length_exceeded",
    message: "Your input exceeds the context window of this model. Please adjust your input and try again.",
  }),
};

function inputOf(body: Fields): Fields[] {
  return typeof body.input === "string" ? [{ role: "user", content: body.input }] : asList(body.input).map(asFields);
}

function resolve(item: Fields, memory: Memory): Fields | null {
  return item.type === "item_reference" ? (memory.items.get(asText(item.id)) ?? null) : item;
}

function check(body: Fields, memory: Memory): Complaint | null {
  const refuse = (message: string): Complaint => ({ status: 400, message });
  if (asText(body.model) === "") return refuse("Missing required parameter: 'model'.");
  const input = inputOf(body);
  if (input.length === 0) return refuse("Missing required parameter: 'input'.");
  const order = orderProblem(input, memory);
  if (order) return refuse(order);
  const tools = asList(body.tools)
    .map(asFields)
    .filter((tool) => tool.type === "function");
  const sent = tools.map((tool) => ({ name: tool.name, schema: tool.parameters }));
  const problem = toolProblem(sent, "tools", 64) ?? choiceProblem(sentChoice(body), sent);
  return problem ? refuse(problem) : null;
}

function orderProblem(input: readonly Fields[], memory: Memory): string | null {
  const open = new Set<string>();
  for (const [index, sent] of input.entries()) {
    const item = resolve(sent, memory);
    if (!item) return `Item with id '${asText(sent.id)}' not found.`;
    const id = asText(item.call_id);
    if (item.type === "function_call") open.add(id);
    else if (item.type === "function_call_output") {
      if (!open.delete(id)) return `No tool call found for function call output with call_id ${id}.`;
    } else if (item.role !== undefined) {
      if (open.size > 0) return `No tool output found for function call ${[...open].join(", ")}.`;
      if (isEmpty(item.content)) return `Invalid 'input[${index}].content': empty.`;
    }
  }
  return open.size > 0 ? `No tool output found for function call ${[...open].join(", ")}.` : null;
}

function isEmpty(content: unknown): boolean {
  return (
    content === "" || content === undefined || content === null || (Array.isArray(content) && content.length === 0)
  );
}

function sentChoice(body: Fields): { required: boolean; name: string | null } {
  const name =
    isFields(body.tool_choice) && body.tool_choice.type === "function" ? asText(body.tool_choice.name) : null;
  return { required: body.tool_choice === "required", name };
}

function toChoice(body: Fields): ToolChoice {
  const { required, name } = sentChoice(body);
  if (name !== null) return { name };
  if (required) return "required";
  return body.tool_choice === "none" ? "none" : "auto";
}

function read(body: Fields, _path: string, memory: Memory): ReadRequest {
  const instructions = asText(body.instructions);
  const messages = inputOf(body).flatMap((item) => toReadMessage(resolve(item, memory) ?? {}));
  const system: ReadMessage[] =
    instructions === "" ? [] : [{ role: "system", text: instructions, calls: [], callId: "", media: 0 }];
  return {
    model: asText(body.model),
    stream: body.stream === true,
    messages: [...system, ...messages],
    tools: asList(body.tools)
      .map(asFields)
      .map((tool) => ({
        name: asText(tool.name),
        description: asText(tool.description),
        schema: asFields(tool.parameters),
      })),
    toolChoice: toChoice(body),
    thinking: isFields(body.reasoning),
  };
}

function toReadMessage(item: Fields): ReadMessage[] {
  const empty = { calls: [], callId: "", media: 0 };
  if (item.type === "function_call") {
    const call = {
      id: asText(item.call_id),
      name: asText(item.name),
      args: asFields(JSON.parse(asText(item.arguments) || "{}")),
    };
    return [{ ...empty, role: "assistant", text: "", calls: [call] }];
  }
  if (item.type === "function_call_output") {
    const text =
      typeof item.output === "string"
        ? item.output
        : asList(item.output)
            .map((part) => asText(asFields(part).text))
            .join("\n");
    return [{ ...empty, role: "tool", text, callId: asText(item.call_id) }];
  }
  if (item.role === undefined) return [];
  const parts = asList(item.content).map(asFields);
  const text = typeof item.content === "string" ? item.content : parts.map((part) => asText(part.text)).join("\n");
  const role = item.role === "developer" ? "system" : (asText(item.role) as ReadMessage["role"]);
  return [{ ...empty, role, text, media: parts.filter((part) => /image|file/.test(asText(part.type))).length }];
}

/** The answer's output items, remembered under their ids. */
function toItems(answer: Answer, memory: Memory): Fields[] {
  const items: Fields[] = [];
  if (answer.thinking !== "")
    items.push({ type: "reasoning", id: shortId("rs_"), summary: [{ type: "summary_text", text: answer.thinking }] });
  if (answer.text !== "" || answer.calls.length === 0) {
    const content = [{ type: "output_text", text: answer.text, annotations: [], logprobs: [] }];
    items.push({ type: "message", id: shortId("msg_"), status: "completed", role: "assistant", content });
  }
  for (const call of answer.calls) {
    items.push({
      type: "function_call",
      id: shortId("fc_"),
      call_id: call.id,
      name: call.name,
      arguments: call.json,
      status: "completed",
    });
  }
  for (const item of items) memory.items.set(asText(item.id), item);
  return items;
}

function toResponse(request: LlmRequest, output: Fields[], answer: Answer): Fields {
  const { tokens, finish } = answer;
  const reason = finish === "length" ? "max_output_tokens" : finish === "filter" ? "content_filter" : null;
  return {
    id: shortId("resp_"),
    object: "response",
    created_at: Math.floor(Date.now() / 1000),
    status: reason ? "incomplete" : "completed",
    incomplete_details: reason ? { reason } : null,
    error: null,
    model: request.model,
    output,
    usage: {
      input_tokens: tokens.input,
      input_tokens_details: { cached_tokens: tokens.cached },
      output_tokens: tokens.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: tokens.input + tokens.output,
    },
  };
}

function toEvents(answer: Answer, request: LlmRequest, items: Fields[]): StreamEvent[] {
  const response = toResponse(request, items, answer);
  let sequence = 0;
  const event = (type: string, data: Fields): StreamEvent => {
    sequence += 1;
    return { event: type, data: { type, sequence_number: sequence, ...data } };
  };
  const events = [
    event("response.created", { response: { ...response, status: "in_progress", output: [], usage: null } }),
  ];
  for (const [index, item] of items.entries()) {
    events.push(event("response.output_item.added", { output_index: index, item: opened(item) }));
    events.push(...deltas(item, index, event));
    events.push(event("response.output_item.done", { output_index: index, item }));
  }
  events.push(event(response.incomplete_details ? "response.incomplete" : "response.completed", { response }));
  return events;
}

/** An item before its content has arrived. */
function opened(item: Fields): Fields {
  if (item.type === "message") return { ...item, status: "in_progress", content: [] };
  return item.type === "function_call" ? { ...item, status: "in_progress", arguments: "" } : { ...item, summary: [] };
}

function deltas(item: Fields, index: number, event: (type: string, data: Fields) => StreamEvent): StreamEvent[] {
  const place = { item_id: item.id, output_index: index };
  if (item.type === "function_call") {
    const parts = pieces(asText(item.arguments)).map((delta) =>
      event("response.function_call_arguments.delta", { ...place, delta }),
    );
    return [...parts, event("response.function_call_arguments.done", { ...place, arguments: item.arguments })];
  }
  if (item.type === "reasoning") {
    const text = asText(asFields(asList(item.summary)[0]).text);
    const part = { ...place, summary_index: 0 };
    return [
      event("response.reasoning_summary_part.added", { ...part, part: { type: "summary_text", text: "" } }),
      ...pieces(text).map((delta) => event("response.reasoning_summary_text.delta", { ...part, delta })),
      event("response.reasoning_summary_part.done", { ...part, part: { type: "summary_text", text } }),
    ];
  }
  const text = asText(asFields(asList(item.content)[0]).text);
  const part = { ...place, content_index: 0 };
  return [
    event("response.content_part.added", { ...part, part: { type: "output_text", text: "", annotations: [] } }),
    ...pieces(text).map((delta) => event("response.output_text.delta", { ...part, delta })),
    event("response.output_text.done", { ...part, text }),
    event("response.content_part.done", { ...part, part: asList(item.content)[0] }),
  ];
}
