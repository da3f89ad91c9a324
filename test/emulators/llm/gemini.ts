/**
 * Google's Gemini API: `POST …/models/<model>:generateContent` and `:streamGenerateContent`.
 * Invariant: function responses follow the function calls they answer, one for each; contents are never empty.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText } from "../loopback.ts";
import type { Answer, Complaint, Dialect, StreamEvent } from "./dialect.ts";
import { pieces, shortId } from "./dialect.ts";
import type { LlmRequest, ReadMessage, ReadRequest, ToolChoice } from "./request.ts";
import { toolProblem } from "./tool-rules.ts";

const FINISH = { stop: "STOP", length: "MAX_TOKENS", calls: "STOP", filter: "SAFETY" } as const;
const PATH = /\/models\/([^/:]+):(streamGenerateContent|generateContent)$/;

/** The Gemini API. */
export const GEMINI: Dialect = {
  name: "gemini",
  matches: (path) => PATH.exec(path)?.[1] ?? null,
  authorize: (headers, key) => {
    const given = headers["x-goog-api-key"];
    return given && (key === null || given === key)
      ? null
      : { status: 400, message: "API key not valid. Please pass a valid API key." };
  },
  check,
  read,
  prompt: (body) =>
    [body.tools ?? [], body.systemInstruction ?? "", ...asList(body.contents)]
      .map((part) => JSON.stringify(part))
      .join(","),
  write: (answer, request) => ({
    ...chunk(toParts(answer), request, FINISH[answer.finish]),
    usageMetadata: usage(answer),
  }),
  stream,
  streamEnd: "",
  error: (complaint) => ({
    error: {
      code: complaint.status,
      message: complaint.message,
      status: complaint.code ?? statusName(complaint.status),
    },
  }),
  contextLength: (request) => ({
    status: 400,
    message: `The input token count (${Math.max(1_048_577, Math.ceil(request.promptLength / 4))}) exceeds the maximum number of tokens allowed (1048576).`,
  }),
};

function statusName(status: number): string {
  const names: Record<number, string> = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
  };
  return names[status] ?? "INTERNAL";
}

function declarations(body: Fields): Fields[] {
  return asList(body.tools)
    .flatMap((tool) => asList(asFields(tool).functionDeclarations))
    .map(asFields);
}

function partsOf(content: Fields): Fields[] {
  return asList(content.parts).map(asFields);
}

function check(body: Fields): Complaint | null {
  const refuse = (message: string): Complaint => ({ status: 400, message });
  const contents = asList(body.contents).map(asFields);
  if (contents.length === 0) return refuse("contents is not specified");
  let open = 0;
  for (const content of contents) {
    const parts = partsOf(content);
    if (content.role !== "user" && content.role !== "model") return refuse("Please use a valid role: user, model.");
    if (parts.length === 0) return refuse("GenerateContentRequest.contents.parts: must not be empty");
    const responses = parts.filter((part) => part.functionResponse !== undefined).length;
    if (responses !== open)
      return refuse(
        "Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.",
      );
    open = parts.filter((part) => part.functionCall !== undefined).length;
  }
  if (open > 0) return refuse("Please ensure that function call turn is followed by a function response turn.");
  const tools = declarations(body).map((tool) => ({
    name: tool.name,
    schema: tool.parameters ?? tool.parametersJsonSchema,
  }));
  const problem = toolProblem(tools, "tools", 64);
  return problem ? refuse(problem) : null;
}

function read(body: Fields, path: string): ReadRequest {
  const match = PATH.exec(path);
  const system = partsOf(asFields(body.systemInstruction))
    .map((part) => asText(part.text))
    .join("\n");
  const top: ReadMessage[] = system === "" ? [] : [{ role: "system", text: system, calls: [], callId: "", media: 0 }];
  return {
    model: match?.[1] ?? "",
    stream: match?.[2] === "streamGenerateContent",
    messages: [...top, ...asList(body.contents).flatMap((content) => toReadMessages(asFields(content)))],
    tools: declarations(body).map((tool) => ({
      name: asText(tool.name),
      description: asText(tool.description),
      schema: asFields(tool.parameters ?? tool.parametersJsonSchema),
    })),
    toolChoice: toChoice(asFields(asFields(body.toolConfig).functionCallingConfig)),
    thinking: asFields(body.generationConfig).thinkingConfig !== undefined,
  };
}

function toChoice(config: Fields): ToolChoice {
  const names = asList(config.allowedFunctionNames);
  if (config.mode === "ANY") return names.length === 1 ? { name: asText(names[0]) } : "required";
  return config.mode === "NONE" ? "none" : "auto";
}

function toReadMessages(content: Fields): ReadMessage[] {
  const parts = partsOf(content);
  const results = parts
    .filter((part) => part.functionResponse !== undefined)
    .map((part): ReadMessage => {
      const response = asFields(part.functionResponse);
      const inner = asFields(response.response).content ?? response.response;
      return {
        role: "tool",
        text: typeof inner === "string" ? inner : JSON.stringify(inner),
        calls: [],
        callId: asText(response.name),
        media: 0,
      };
    });
  const rest = parts.filter((part) => part.functionResponse === undefined);
  if (rest.length === 0) return results;
  const calls = rest
    .filter((part) => part.functionCall !== undefined)
    .map((part) => {
      const call = asFields(part.functionCall);
      return { id: asText(call.name), name: asText(call.name), args: asFields(call.args) };
    });
  const text = rest
    .filter((part) => part.thought !== true)
    .map((part) => asText(part.text))
    .join("");
  const media = rest.filter((part) => part.inlineData !== undefined || part.fileData !== undefined).length;
  return [...results, { role: content.role === "model" ? "assistant" : "user", text, calls, callId: "", media }];
}

function toParts(answer: Answer): Fields[] {
  const parts: Fields[] = [];
  if (answer.thinking !== "") parts.push({ text: answer.thinking, thought: true });
  if (answer.text !== "") parts.push({ text: answer.text });
  for (const call of answer.calls)
    parts.push({
      functionCall: { name: call.name, args: JSON.parse(call.json) as unknown },
      thoughtSignature: shortId("sig"),
    });
  return parts.length > 0 ? parts : [{ text: "" }];
}

function usage({ tokens }: Answer): Fields {
  return {
    promptTokenCount: tokens.input,
    candidatesTokenCount: tokens.output,
    totalTokenCount: tokens.input + tokens.output,
    cachedContentTokenCount: tokens.cached,
  };
}

function chunk(parts: Fields[], request: LlmRequest, finish: string | null): Fields {
  const candidate = { content: { role: "model", parts }, index: 0, ...(finish ? { finishReason: finish } : {}) };
  return { candidates: [candidate], modelVersion: request.model, responseId: shortId("r") };
}

function stream(answer: Answer, request: LlmRequest): StreamEvent[] {
  const split = toParts(answer).flatMap((part) =>
    typeof part.text === "string" ? pieces(part.text).map((text) => ({ ...part, text })) : [part],
  );
  const last = { ...chunk([{ text: "" }], request, FINISH[answer.finish]), usageMetadata: usage(answer) };
  return [...split.map((part) => chunk([part], request, null)), last].map((data) => ({ event: null, data }));
}
