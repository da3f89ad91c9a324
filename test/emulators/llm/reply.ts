/**
 * What a script can answer, short ways to write the usual answers, and what providers do with a forced tool choice.
 * Invariant: a forced call is made even when the script forgot it, unless it says `ignoreToolChoice`; with tool choice
 * `none` no call gets out.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList } from "../loopback.ts";
import type { LlmRequest, OfferedTool } from "./request.ts";

/** One tool call of the model; `args` may be text to send broken JSON. */
export interface ReplyCall {
  name: string;
  args: Fields | string;
  id?: string;
}

/** Tokens reported; what is left out is estimated. */
export interface ReplyUsage {
  input?: number;
  output?: number;
  cached?: number;
}

/** An answer of the model, or a failure of its provider. An empty object is a model that says nothing. */
export interface Reply {
  text?: string;
  thinking?: string;
  calls?: readonly ReplyCall[];
  /** Why it stopped; default: `calls` when there are calls, else `stop`. */
  finish?: "stop" | "length" | "calls" | "filter";
  usage?: ReplyUsage;
  /** Waits before answering. */
  delayMs?: number;
  /** Waits between the pieces of a stream. */
  chunkDelayMs?: number;
  /** An HTTP failure instead of an answer, in the provider's own error format. */
  status?: number;
  message?: string;
  code?: string;
  headers?: Record<string, string>;
  /** The request does not fit the context window. */
  contextLength?: boolean;
  /** Never answers. */
  hang?: boolean;
  /** Cuts the connection without a byte. */
  drop?: boolean;
  /** Cuts a stream after so many events (`true` = half of them). */
  breakStream?: boolean | number;
  /** Answers as scripted although a tool was forced, as some servers do. */
  ignoreToolChoice?: boolean;
}

/** Decides the answer to a request; may wait. */
export type Script = (request: LlmRequest) => Reply | Promise<Reply>;

/** One tool call. */
export function call(name: string, args: Fields): Reply {
  return { calls: [{ name, args }] };
}

/** Several answers as parallel calls of one step. */
export function together(...replies: readonly Reply[]): Reply {
  return { calls: replies.flatMap((reply) => reply.calls ?? []) };
}

/** A SendMessage call with text. */
export function sendMessage(content: string, more: Fields = {}): Reply {
  return call("SendMessage", { type: "text", content, ...more });
}

/** A SendMessage call with a question and its options. */
export function sendWidget(prompt: string, options: readonly (string | Fields)[], more: Fields = {}): Reply {
  const items = options.map((option) => (typeof option === "string" ? { label: option } : option));
  return call("SendMessage", { type: "widget", widget: { prompt, options: items, ...more } });
}

/** Plain text, which must never reach people. */
export function think(text: string): Reply {
  return { text };
}

/** The model ends its turn without a word. */
export function done(): Reply {
  return { text: "" };
}

/** The reply's calls after the request's tool choice has been obeyed. */
export function obeyToolChoice(reply: Reply, request: LlmRequest): readonly ReplyCall[] {
  const calls = reply.calls ?? [];
  if (reply.ignoreToolChoice) return calls;
  const { toolChoice } = request;
  if (toolChoice === "none") return [];
  if (toolChoice === "auto") return calls;
  const name = typeof toolChoice === "string" ? undefined : toolChoice.name;
  const fitting = name ? calls.filter((item) => item.name === name) : calls;
  if (fitting.length > 0) return fitting;
  const tool = name ? request.tool(name) : request.tools[0];
  return tool ? [{ name: tool.name, args: inventArguments(tool, reply.text ?? "") }] : calls;
}

/** What a model fills in when it is made to call a tool it had no plan for. */
function inventArguments(tool: OfferedTool, text: string): Fields {
  if (tool.name === "SendMessage") return { type: "text", content: text || "Here is what I have." };
  return asFields(fillSchema(tool.schema, text || "text"));
}

/** The smallest value that fits a JSON schema: required fields only, texts filled with `text`. */
export function fillSchema(schema: unknown, text: string, depth = 0): unknown {
  const node = asFields(schema);
  if (depth > 8) return null;
  if (node.const !== undefined) return node.const;
  if (Array.isArray(node.enum)) return node.enum[0];
  const choices = asList(node.anyOf ?? node.oneOf);
  if (choices.length > 0) return fillSchema(choices[0], text, depth + 1);
  const type = Array.isArray(node.type) ? node.type.find((item) => item !== "null") : node.type;
  switch (type) {
    case "object":
      return fillObject(node, text, depth);
    case "array":
      return Array.from({ length: Number(node.minItems ?? 0) }, () => fillSchema(node.items, text, depth + 1));
    case "number":
    case "integer":
      return Number(node.minimum ?? 0);
    case "boolean":
      return false;
    default:
      return text;
  }
}

function fillObject(node: Fields, text: string, depth: number): Fields {
  const properties = asFields(node.properties);
  const required = asList(node.required).map(String);
  return Object.fromEntries(required.map((name) => [name, fillSchema(properties[name], text, depth + 1)]));
}
