/**
 * One request to a model, in whatever dialect it came, with readers for what scripts and tests ask of it.
 * Invariant: the readers see the request exactly as sent; nothing is added or cleaned.
 */
import type { IncomingHttpHeaders } from "node:http";
import type { Fields } from "../loopback.ts";

/** Which API was spoken. */
export type DialectName = "openai-chat" | "openai-responses" | "anthropic" | "gemini";

/** A tool call inside the messages. */
export interface ReadCall {
  readonly id: string;
  readonly name: string;
  readonly args: Fields;
}

/** One message, reduced to what all dialects share. A `tool` message carries one result. */
export interface ReadMessage {
  readonly role: "system" | "user" | "assistant" | "tool";
  readonly text: string;
  readonly calls: readonly ReadCall[];
  /** For `tool`: which call it answers. */
  readonly callId: string;
  /** Number of images and files. */
  readonly media: number;
}

/** A tool offered to the model. */
export interface OfferedTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Fields;
}

/** How the model is told to use tools. */
export type ToolChoice = "auto" | "none" | "required" | { readonly name: string };

/** A request's content as its dialect reads it. */
export interface ReadRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly ReadMessage[];
  readonly tools: readonly OfferedTool[];
  readonly toolChoice: ToolChoice;
  /** True when the provider was asked to think. */
  readonly thinking: boolean;
}

/** How a request ended. */
export type Outcome = "open" | "answered" | "failed" | "cut by the server" | "cut by the client";

/** A recorded request. */
export class LlmRequest {
  readonly dialect: DialectName;
  readonly model: string;
  readonly stream: boolean;
  readonly messages: readonly ReadMessage[];
  readonly tools: readonly OfferedTool[];
  readonly toolChoice: ToolChoice;
  readonly thinking: boolean;
  readonly body: Fields;
  /** The body as it came over the wire. */
  readonly raw: string;
  readonly headers: IncomingHttpHeaders;
  readonly at = Date.now();
  /** Position among all requests of the server, from 0. */
  readonly index: number;
  /**
   * Share (0 to 1) of this prompt (tools, system, messages in the provider's caching order) that is byte for byte the
   * beginning of the previous request's to the same model.
   */
  readonly sharedPrefix: number;
  /** Prompt size in characters, the base of `sharedPrefix` and of estimated tokens. */
  readonly promptLength: number;
  outcome: Outcome = "open";

  constructor(parts: {
    dialect: DialectName;
    read: ReadRequest;
    body: Fields;
    raw: string;
    headers: IncomingHttpHeaders;
    index: number;
    sharedPrefix: number;
    promptLength: number;
  }) {
    this.dialect = parts.dialect;
    this.model = parts.read.model;
    this.stream = parts.read.stream;
    this.messages = parts.read.messages;
    this.tools = parts.read.tools;
    this.toolChoice = parts.read.toolChoice;
    this.thinking = parts.read.thinking;
    this.body = parts.body;
    this.raw = parts.raw;
    this.headers = parts.headers;
    this.index = parts.index;
    this.sharedPrefix = parts.sharedPrefix;
    this.promptLength = parts.promptLength;
  }

  /** All system text. */
  get system(): string {
    return this.textsOf("system").join("\n");
  }

  /** Texts of the user messages, oldest first. */
  get userTexts(): string[] {
    return this.textsOf("user");
  }

  /** The newest user text, or "". */
  get lastUserText(): string {
    return this.userTexts.at(-1) ?? "";
  }

  /** Tool results, oldest first. */
  get toolResults(): string[] {
    return this.textsOf("tool");
  }

  /** The newest tool result, or "". */
  get lastToolResult(): string {
    return this.toolResults.at(-1) ?? "";
  }

  /** Role of the last message: `user` at the start of a turn, `tool` within one. */
  get lastRole(): ReadMessage["role"] {
    return this.messages.at(-1)?.role ?? "system";
  }

  /** Every tool call in the messages, oldest first. */
  get calls(): ReadCall[] {
    return this.messages.flatMap((message) => message.calls);
  }

  /** Calls since the last user message: what the model has done in this turn (a reminder starts a new count). */
  get callsThisTurn(): ReadCall[] {
    const start = this.messages.findLastIndex((message) => message.role === "user");
    return this.messages.slice(start + 1).flatMap((message) => message.calls);
  }

  /** True when a tool must be called. */
  get forced(): boolean {
    return this.toolChoice === "required" || typeof this.toolChoice === "object";
  }

  /** The tool with this name, if offered. */
  tool(name: string): OfferedTool | undefined {
    return this.tools.find((tool) => tool.name === name);
  }

  /** True when a tool with this name is offered. */
  hasTool(name: string): boolean {
    return this.tool(name) !== undefined;
  }

  /** True once a call whose arguments contain `text` is in the messages; keeps a script from repeating itself. */
  called(text: string): boolean {
    return this.calls.some((item) => JSON.stringify(item.args).includes(text));
  }

  /** The newest match in the user texts, or null. */
  lastMatch(pattern: RegExp): RegExpMatchArray | null {
    const flags = pattern.flags.includes("g") ? pattern.flags : `${pattern.flags}g`;
    for (const text of this.userTexts.reverse()) {
      const match = [...text.matchAll(new RegExp(pattern.source, flags))].at(-1);
      if (match) return match;
    }
    return null;
  }

  private textsOf(role: ReadMessage["role"]): string[] {
    return this.messages.filter((message) => message.role === role).map((message) => message.text);
  }
}
