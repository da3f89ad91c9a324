/**
 * A model whose answers are written by a test or a benchmark: engine behaviour without a network. It keeps the same contract as a real
 * one: failures are values, an abort settles at once. It records every request as it was when the step began.
 */

import type { Model, ModelCall, ModelProblem, ModelReply, ModelRequest, ModelUsage } from "./model.ts";

/** What a script answers; missing parts are empty. */
export interface ScriptedReply {
  readonly text?: string;
  readonly calls?: readonly Omit<ModelCall, "id">[];
  readonly failure?: { readonly problem: ModelProblem; readonly text?: string; readonly retryAfterMs?: number };
  readonly usage?: Partial<ModelUsage>;
  readonly finish?: "stop" | "calls" | "length" | "other";
  readonly providerState?: unknown;
  /** The reply is held back until this settles, or the signal aborts. */
  readonly gate?: Promise<unknown>;
}

/** `n` counts the steps of this model from 0. */
export type Script = (request: ModelRequest, n: number) => ScriptedReply | Promise<ScriptedReply>;

/** A model that remembers what it was asked. */
export interface ScriptedModel extends Model {
  /** Every request so far, oldest first. */
  readonly requests: readonly ModelRequest[];
  /** How many steps ended by an abort. */
  readonly aborted: number;
}

/** A script and, if they matter to the test, name and window. */
export interface ScriptedModelOptions {
  /** Default "scripted/model". */
  readonly name?: string;
  readonly script: Script;
  /** Tokens; default 100,000. */
  readonly contextWindow?: number;
}

/** Creates a scripted model. A script that throws is an `unavailable` reply carrying the error's message. */
export function createScriptedModel(options: ScriptedModelOptions): ScriptedModel {
  const name = options.name ?? "scripted/model";
  const requests: ModelRequest[] = [];
  let aborted = 0;
  return {
    name,
    contextWindow: options.contextWindow ?? 100_000,
    requests,
    get aborted() {
      return aborted;
    },
    step: async (request, signal) => {
      const n = requests.length;
      requests.push(structuredClone(request));
      const reply = await untilAborted(() => play(name, options.script, request, n), signal);
      if (reply) return reply;
      aborted += 1;
      return { ok: false, model: name, problem: "aborted", text: `${name} was stopped.` };
    },
  };
}

async function play(name: string, script: Script, request: ModelRequest, n: number): Promise<ModelReply> {
  try {
    const answer = await script(request, n);
    await answer.gate;
    return toReply(name, answer, n);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    return { ok: false, model: name, problem: "unavailable", text: `The script failed: ${reason}` };
  }
}

/** The work's result, or undefined as soon as the signal aborts. */
async function untilAborted<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T | undefined> {
  if (signal.aborted) return undefined;
  const over = new AbortController();
  const cut = new Promise<undefined>((resolve) => {
    signal.addEventListener("abort", () => resolve(undefined), { once: true, signal: over.signal });
  });
  try {
    return await Promise.race([work(), cut]);
  } finally {
    over.abort();
  }
}

function toReply(name: string, answer: ScriptedReply, n: number): ModelReply {
  if (answer.failure) {
    const { problem, text, retryAfterMs } = answer.failure;
    const failed = { ok: false as const, model: name, problem, text: text ?? `${name} failed as scripted: ${problem}` };
    return retryAfterMs === undefined ? failed : { ...failed, retryAfterMs };
  }
  const calls = (answer.calls ?? []).map((call, i) => ({ ...call, id: `call_${n}_${i}` }));
  return {
    ok: true,
    model: name,
    text: answer.text ?? "",
    calls,
    usage: { inputTokens: 0, outputTokens: 0, cachedTokens: 0, ...answer.usage },
    finish: answer.finish ?? (calls.length > 0 ? "calls" : "stop"),
    ...(answer.providerState === undefined ? {} : { providerState: { model: name, data: answer.providerState } }),
  };
}

/** A text bubble: one SendMessage call. `more` adds fields such as images or reply_to. */
export function say(content: string, more: Readonly<Record<string, unknown>> = {}): ScriptedReply {
  return callTool("SendMessage", { type: "text", content, ...more });
}

/** Private text without a call: nobody must ever see it (SPEC M1). */
export function think(text: string): ScriptedReply {
  return { text };
}

/** One call of any tool. */
export function callTool(name: string, args: unknown): ScriptedReply {
  return { calls: [{ name, args }] };
}

/** A call whose arguments are not JSON. */
export function callBroken(name: string, raw: string): ScriptedReply {
  return { calls: [{ name, args: {}, invalid: raw }] };
}

/** Several calls in one step, in this order. */
export function together(...replies: readonly ScriptedReply[]): ScriptedReply {
  return {
    text: replies.map((reply) => reply.text ?? "").join(""),
    calls: replies.flatMap((reply) => reply.calls ?? []),
  };
}

/** A step that fails. */
export function fail(problem: ModelProblem, retryAfterMs?: number): ScriptedReply {
  return { failure: retryAfterMs === undefined ? { problem } : { problem, retryAfterMs } };
}

/** An empty step: the model has nothing more to say. */
export function finish(): ScriptedReply {
  return {};
}

/** Plays these replies one per step; further steps are empty. */
export function inOrder(...replies: readonly ScriptedReply[]): Script {
  return (_request, n) => replies[n] ?? finish();
}
