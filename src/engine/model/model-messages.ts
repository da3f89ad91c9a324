/**
 * The engine's messages in the SDK's form. Providers refuse whole requests over small things (empty messages, a call without result, odd
 * characters in a name), so everything is made acceptable here, the same way every time: equal input gives equal output, which
 * keeps the cached prefix (SPEC X1). What the history should hold is the engine's business.
 */

import type { ModelMessage as SdkMessage, UserContent } from "ai";
import type { ModelCall, ModelMessage } from "./model.ts";
import { imageKey, type LoadedImages } from "./model-images.ts";
import { type AssistantPart, keptParts, type ProviderOptions } from "./reply-content.ts";

type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>;
type ToolMessage = Extract<ModelMessage, { role: "tool" }>;
type ToolResult = ToolMessage["results"][number];

/** For whom a history is converted. */
export interface MessageOptions {
  /** "provider/model": provider state of other models is dropped. */
  readonly model: string;
  readonly images: LoadedImages;
  /** Marks the stable prefix for providers that cache by explicit breakpoints. */
  readonly cacheBreakpoints: boolean;
}

const OPENING = "(The conversation goes on.)";
const CLOSING = "(Please go on.)";
const NO_WORDS = "(message without words)";
const NO_OUTPUT = "(no output)";
const NO_RESULT = "No result is known for this call; it may or may not have happened.";
/** Marks a message as an end of the cacheable prefix. */
export const CACHE_HERE: ProviderOptions = { anthropic: { cacheControl: { type: "ephemeral" } } };

/** Converts a history. The result begins and ends with the person's or a tool's side, and every call has exactly one result. */
export function toSdkMessages(messages: readonly ModelMessage[], options: MessageOptions): SdkMessage[] {
  const out: SdkMessage[] = [];
  for (const [index, message] of messages.entries()) {
    if (message.role === "user") out.push({ role: "user", content: toUserContent(message, index, options.images) });
    if (message.role === "assistant") out.push(...toAssistant(message, resultsAfter(messages, index), options.model));
  }
  if (out[0]?.role !== "user") out.unshift({ role: "user", content: OPENING });
  if (out.at(-1)?.role === "assistant") out.push({ role: "user", content: CLOSING });
  return options.cacheBreakpoints ? markPrefix(out) : out;
}

function toUserContent(
  message: Extract<ModelMessage, { role: "user" }>,
  index: number,
  images: LoadedImages,
): UserContent {
  const files = message.images ?? [];
  if (files.length === 0) return orElse(message.text, NO_WORDS);
  const loaded = files.flatMap((_, i) => images.get(imageKey(index, i)) ?? []);
  const notes = loaded.flatMap((image) => ("note" in image ? [image.note] : []));
  const shown = loaded.flatMap((image) => ("bytes" in image ? [image] : []));
  const words = [message.text, ...notes].filter((line) => line.trim() !== "").join("\n");
  return [
    { type: "text", text: orElse(words, NO_WORDS) },
    ...shown.map((image) => ({ type: "image" as const, image: image.bytes, mediaType: image.mediaType })),
  ];
}

/** An assistant message and the results of its calls; nothing when it said and did nothing. */
function toAssistant(message: AssistantMessage, results: readonly ToolResult[], model: string): SdkMessage[] {
  const content = assistantParts(message, model);
  if (!content.some((part) => part.type === "text" || part.type === "tool-call")) return [];
  const assistant: SdkMessage = { role: "assistant", content };
  if (message.calls.length === 0) return [assistant];
  const outputs = message.calls.map((call) => {
    const result = results.find((one) => one.callId === call.id);
    return {
      type: "tool-result" as const,
      toolCallId: safeId(call.id),
      toolName: safeName(call.name),
      output: {
        type: result?.ok ? ("text" as const) : ("error-text" as const),
        value: result ? orElse(result.text, NO_OUTPUT) : NO_RESULT,
      },
    };
  });
  return [assistant, { role: "tool", content: outputs }];
}

function assistantParts(message: AssistantMessage, model: string): AssistantPart[] {
  const text: AssistantPart[] = message.text.trim() === "" ? [] : [{ type: "text", text: message.text }];
  const kept = keptParts(message, model);
  if (!kept) return [...text, ...message.calls.map((call) => toCallPart(call))];
  const calls = new Map(message.calls.map((call) => [call.id, call]));
  const parts: AssistantPart[] = [];
  for (const part of kept) {
    const extra = part.options ? { providerOptions: part.options } : {};
    if (part.type === "reasoning") parts.push({ type: "reasoning", text: part.value, ...extra });
    if (part.type === "text" && part.value.trim() !== "") parts.push({ type: "text", text: part.value, ...extra });
    const call = part.type === "call" ? calls.get(part.value) : undefined;
    if (call) parts.push(toCallPart(call, part.options));
    if (call) calls.delete(call.id);
  }
  return [...parts, ...[...calls.values()].map((call) => toCallPart(call))];
}

function toCallPart(call: ModelCall, options?: ProviderOptions): AssistantPart {
  const part = {
    type: "tool-call" as const,
    toolCallId: safeId(call.id),
    toolName: safeName(call.name),
    input: safeArgs(call),
  };
  return options ? { ...part, providerOptions: options } : part;
}

/** Providers want an object; broken JSON goes back as a field, so that the model sees what it wrote. */
function safeArgs(call: ModelCall): Readonly<Record<string, unknown>> {
  if (call.invalid !== undefined) return { invalid_json: call.invalid };
  const args = call.args ?? {};
  return typeof args === "object" && !Array.isArray(args) ? (args as Record<string, unknown>) : { value: args };
}

/** The results that follow a message before anybody else speaks. */
function resultsAfter(messages: readonly ModelMessage[], index: number): readonly ToolResult[] {
  const results: ToolResult[] = [];
  for (const message of messages.slice(index + 1)) {
    if (message.role !== "tool") break;
    results.push(...message.results);
  }
  return results;
}

/** Names and ids as all providers accept them; a model may have made up a name such as "functions.SendMessage". */
function safeName(name: string): string {
  return orElse(name.replace(/[^A-Za-z0-9_-]/g, "_").slice(0, 64), "unknown_tool");
}

function safeId(id: string): string {
  return orElse(id.replace(/[^A-Za-z0-9_-]/g, "_").slice(-64), "call");
}

function orElse(text: string, fallback: string): string {
  return text.trim() === "" ? fallback : text;
}

/**
 * Breakpoints on the last two messages of the person's or a tool's side: the newest so that the next step can read it, the one before
 * so that this step finds what the previous one wrote.
 */
function markPrefix(messages: readonly SdkMessage[]): SdkMessage[] {
  const ends = messages.flatMap((message, index) => (message.role === "assistant" ? [] : [index])).slice(-2);
  return messages.map((message, index) =>
    ends.includes(index) ? { ...message, providerOptions: CACHE_HERE } : message,
  );
}
