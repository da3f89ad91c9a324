/**
 * Model providers on 127.0.0.1 that the real AI SDK providers talk to: OpenAI-compatible chat completions, OpenAI
 * Responses, Anthropic Messages, Gemini; streaming or not. Requests are checked as the provider checks them and
 * recorded; what the model answers is decided by a script per model name.
 * How to use it stands at `startLlm`.
 */
import { startLoopback, waitUntil } from "../loopback.ts";
import { helpfulScript } from "./default-script.ts";
import type { Reply, Script } from "./reply.ts";
import type { LlmRequest } from "./request.ts";
import type { LlmRefusal, LlmState } from "./server.ts";
import { serve } from "./server.ts";

export { helpfulScript } from "./default-script.ts";
export type { Reply, ReplyCall, Script } from "./reply.ts";
export { call, done, sendMessage, sendWidget, think, together } from "./reply.ts";
export type { LlmRequest, ReadCall, ReadMessage } from "./request.ts";
export type { LlmRefusal } from "./server.ts";

/** Options of a server. `apiKey`: the only key accepted (default: any, but one must be sent). */
export interface LlmOptions {
  scripts?: Record<string, Script>;
  fallback?: Script;
  apiKey?: string;
  port?: number;
}

/** A running server. */
export interface Llm {
  readonly url: string;
  /** Base URL for OpenAI and OpenAI-compatible providers. */
  readonly openaiUrl: string;
  readonly anthropicUrl: string;
  readonly geminiUrl: string;
  readonly port: number;
  readonly requests: readonly LlmRequest[];
  readonly refusals: readonly LlmRefusal[];
  /** Sets (or replaces) a model's script. */
  script(model: string, script: Script): void;
  /** The next `times` (1) requests (of one model) get this answer instead of the script's. */
  fail(reply: Reply, rule?: { times?: number; model?: string }): void;
  /** Forgets all faults. */
  calm(): void;
  requestsOf(model: string): LlmRequest[];
  /** The first recorded request that fits. */
  waitForRequest(fits?: (request: LlmRequest) => boolean, model?: string, ms?: number): Promise<LlmRequest>;
  close(): Promise<void>;
}

/**
 * Starts a server; `close` it when the test ends.
 *
 *   const llm = await startLlm({ scripts: { ada: (request) => sendMessage("hello") } });
 *   createOpenAICompatible({ name: "local", baseURL: llm.openaiUrl, apiKey: "any" })("ada")
 *   createOpenAI({ baseURL: llm.openaiUrl, … }), createAnthropic({ baseURL: llm.anthropicUrl, … }),
 *   createGoogleGenerativeAI({ baseURL: llm.geminiUrl, … })
 *   llm.script("ada", (request) => request.lastRole === "user" ? sendMessage(`You said ${request.lastUserText}`) : done());
 *   llm.script("ada", inTurn([sendMessage("one"), done(), { status: 429, headers: { "retry-after": "1" } }, …]));
 *   llm.fail({ status: 503 }, { times: 2, model: "ada" });   // also hang, drop, contextLength, breakStream, delayMs, chunkDelayMs
 *   const request = await llm.waitForRequest((r) => r.userTexts.join().includes("hi"), "ada");
 *   request.system, .userTexts, .toolResults, .calls, .tools, .toolChoice, .forced, .sharedPrefix, .outcome
 *   llm.requestsOf("ada"), llm.requests, llm.refusals (must stay empty), await llm.close()
 *
 * A model without a script gets `helpfulScript`, which answers people through SendMessage. An answer is a `Reply`
 * ({ text, thinking, calls, finish, usage, … }); `sendMessage`, `sendWidget`, `call`, `together`, `think`, `done` build
 * the usual ones.
 */
export async function startLlm(options: LlmOptions = {}): Promise<Llm> {
  const state: LlmState = {
    scripts: new Map(Object.entries(options.scripts ?? {})),
    fallback: options.fallback ?? helpfulScript,
    key: options.apiKey ?? null,
    requests: [],
    refusals: [],
    faults: [],
    memory: { items: new Map(), signatures: new Map(), prompts: new Map() },
  };
  const loopback = await startLoopback((arrived) => serve(state, arrived), options.port);
  const requestsOf = (model: string) => state.requests.filter((request) => request.model === model);
  return {
    url: loopback.base,
    openaiUrl: `${loopback.base}/v1`,
    anthropicUrl: `${loopback.base}/v1`,
    geminiUrl: `${loopback.base}/v1beta`,
    port: loopback.port,
    requests: state.requests,
    refusals: state.refusals,
    script: (model, script) => void state.scripts.set(model, script),
    fail: (reply, rule = {}) => void state.faults.push({ reply, model: rule.model ?? null, left: rule.times ?? 1 }),
    calm: () => void state.faults.splice(0),
    requestsOf,
    waitForRequest: (fits = () => true, model, ms) =>
      waitUntil(
        () => (model ? requestsOf(model) : state.requests).find(fits),
        `a request${model ? ` to ${model}` : ""}`,
        ms,
      ),
    close: loopback.close,
  };
}

/** A script that gives these replies one after the other, then says nothing; each call makes its own counter. */
export function inTurn(replies: readonly Reply[]): Script {
  const left = [...replies];
  return () => left.shift() ?? { text: "" };
}
