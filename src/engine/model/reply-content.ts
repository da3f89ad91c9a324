/**
 * Reads one step's content parts into a reply, and keeps what only the provider understands (signed thinking, item ids, thought
 * signatures) so that the next step can send it back unchanged. Invariant: what is kept is plain JSON, and is used only for the model
 * it came from and only while the stored message still says the same.
 */

import type { AssistantContent } from "ai";
import type { ModelCall, ModelMessage } from "./model.ts";

type AssistantMessage = Extract<ModelMessage, { role: "assistant" }>;
/** A part of the SDK's assistant message. */
export type AssistantPart = Exclude<AssistantContent, string>[number];
/** Provider-specific options of a part, by provider name; the SDK does not export the type. */
export type ProviderOptions = AssistantPart extends infer Part
  ? Part extends { providerOptions?: infer Options }
    ? Exclude<Options, undefined>
    : never
  : never;

/** A part as the SDK reports it; only these fields are read. */
export interface ContentPart {
  readonly type: string;
  readonly text?: string;
  readonly toolCallId?: string;
  readonly toolName?: string;
  readonly input?: unknown;
  readonly invalid?: boolean;
  readonly error?: unknown;
  readonly providerMetadata?: unknown;
}

interface KeptPart {
  readonly type: "text" | "reasoning" | "call";
  /** The words of text and reasoning; a call's id. */
  readonly value: string;
  readonly options?: ProviderOptions;
}

/** What a step said, asked for, and needs back. */
export interface ReplyContent {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** Absent when the provider sent nothing that must come back. */
  readonly state?: { readonly parts: readonly KeptPart[] };
}

/** Splits content parts into private text, calls and provider state. Call ids are made unique within the step. */
export function readContent(parts: readonly ContentPart[]): ReplyContent {
  const kept: KeptPart[] = [];
  const calls: ModelCall[] = [];
  for (const part of parts) {
    const options = readOptions(part.providerMetadata);
    const extra = options ? { options } : {};
    if (part.type === "text" && part.text) kept.push({ type: "text", value: part.text, ...extra });
    if (part.type === "reasoning" && (part.text || options))
      kept.push({ type: "reasoning", value: part.text ?? "", ...extra });
    if (part.type !== "tool-call") continue;
    const call = readCall(part, calls);
    calls.push(call);
    kept.push({ type: "call", value: call.id, ...extra });
  }
  const text = joinText(kept);
  const needed = kept.some((part) => part.options !== undefined || part.type === "reasoning");
  return needed ? { text, calls, state: { parts: kept } } : { text, calls };
}

function readCall(part: ContentPart, earlier: readonly ModelCall[]): ModelCall {
  const wanted = part.toolCallId || `call_${earlier.length + 1}`;
  const id = earlier.some((call) => call.id === wanted) ? `${wanted}_${earlier.length + 1}` : wanted;
  const name = part.toolName ?? "";
  const broken = part.invalid ? readBroken(part) : undefined;
  return broken === undefined ? { id, name, args: part.input ?? {} } : { id, name, args: {}, invalid: broken };
}

/** The raw text of arguments that are not JSON. A call of an unknown tool is flagged by the SDK too, but its arguments may be fine. */
function readBroken(part: ContentPart): string | undefined {
  const error = part.error as { toolInput?: unknown } | undefined;
  if (typeof error?.toolInput === "string") return error.toolInput;
  return typeof part.input === "string" ? part.input : undefined;
}

/** Metadata as options to send back. Gemini behind an OpenAI-compatible address reports its signature under the client's own name. */
function readOptions(metadata: unknown): ProviderOptions | undefined {
  if (typeof metadata !== "object" || metadata === null || Object.keys(metadata).length === 0) return undefined;
  const options = JSON.parse(JSON.stringify(metadata)) as ProviderOptions;
  const signature = options[COMPATIBLE]?.thoughtSignature;
  return typeof signature === "string" ? { google: { thoughtSignature: signature } } : options;
}

/** The name under which OpenAI-compatible clients report metadata. */
export const COMPATIBLE = "compatible";

function joinText(parts: readonly KeptPart[]): string {
  return parts
    .filter((part) => part.type === "text")
    .map((part) => part.value)
    .join("");
}

/** The kept parts of a stored message, or undefined when they belong to another model or the message was changed since. */
export function keptParts(message: AssistantMessage, model: string): readonly KeptPart[] | undefined {
  if (message.providerState?.model !== model) return undefined;
  const parts = (message.providerState.data as { parts?: unknown } | null)?.parts;
  if (!Array.isArray(parts) || !parts.every(isKeptPart)) return undefined;
  return joinText(parts) === message.text ? parts : undefined;
}

function isKeptPart(value: unknown): value is KeptPart {
  const part = value as Partial<KeptPart> | null;
  return typeof part === "object" && part !== null && typeof part.type === "string" && typeof part.value === "string";
}
