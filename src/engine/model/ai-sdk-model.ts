/**
 * A language model through the AI SDK: one streamed request per step, tools are only described, retries are not the SDK's.
 * Invariant: `step` never throws, ends within `modelMs`, and settles at once when the signal aborts, whatever the client does.
 * Retrying and other models are left to fallback.ts, what an error means to provider-errors.ts.
 */

import type { ToolSet } from "ai";
import type { Clock } from "../clock.ts";
import type { Model, ModelProblem, ModelReply, ModelRequest } from "./model.ts";
import { loadImages, type ReadImage } from "./model-images.ts";
import { CACHE_HERE, toSdkMessages } from "./model-messages.ts";
import { readProviderError } from "./provider-errors.ts";
import {
  contextWindowOf,
  defaultOutputTokens,
  loadLanguageModel,
  type ProviderSettings,
  stepOptions,
} from "./providers.ts";
import { type ContentPart, readContent } from "./reply-content.ts";

/** What one model needs; nothing of it is read from the environment. */
export interface AiSdkModelOptions {
  /** "provider/model". */
  readonly name: string;
  /** The provider's own name of the model. */
  readonly modelId: string;
  readonly provider: ProviderSettings;
  readonly readImage: ReadImage;
  readonly clock: Clock;
  /** Longest step, ms; then `timeout`. */
  readonly modelMs: number;
}

/** How a request is put to the provider; each is taken back when the provider says it cannot. */
interface Manner {
  readonly forceTool: string | undefined;
  /** choice: the tool is forced · only: it is the only one offered (SPEC M12). */
  readonly forcing: "choice" | "only";
  readonly images: boolean;
}

/** What this model has refused once and is not asked again. */
interface Learned {
  refusesForcedChoice: boolean;
  blind: boolean;
}

/** Creates a model. Nothing is loaded or contacted before the first step. */
export function createAiSdkModel(options: AiSdkModelOptions): Model {
  const { name, modelId, provider, clock, modelMs } = options;
  const learned: Learned = { refusesForcedChoice: false, blind: false };
  const contextWindow = contextWindowOf(provider, modelId);
  // Made once: a client compiles its schemas anew, which costs as much as the rest of a step.
  let loading: ReturnType<typeof loadLanguageModel> | undefined;
  const load = () => {
    loading ??= loadLanguageModel(provider, modelId);
    return loading;
  };
  return {
    name,
    contextWindow,
    step: async (request, signal) => {
      if (signal.aborted) return ended(name, "aborted", modelMs);
      const work = (inner: AbortSignal) =>
        stepInBestManner({ ...options, contextWindow, load }, learned, request, inner);
      const result = await withLimits(clock, modelMs, signal, work);
      return typeof result === "string" ? ended(name, result, modelMs) : result;
    },
  };
}

function ended(model: string, problem: "aborted" | "timeout", modelMs: number): ModelReply {
  const text =
    problem === "aborted" ? `${model} was stopped.` : `${model} did not answer within ${Math.round(modelMs / 1000)} s.`;
  return { ok: false, model, problem, text };
}

/** Runs `work` until it settles, the outer signal aborts or the time is over; then its own signal aborts too. */
async function withLimits(
  clock: Clock,
  modelMs: number,
  outer: AbortSignal,
  work: (signal: AbortSignal) => Promise<ModelReply>,
): Promise<ModelReply | "aborted" | "timeout"> {
  const inner = new AbortController();
  const over = new AbortController();
  const cut = new Promise<"aborted" | "timeout">((resolve) => {
    outer.addEventListener("abort", () => resolve("aborted"), { once: true, signal: over.signal });
    void clock.delay(modelMs, over.signal).then(() => resolve("timeout"));
  });
  try {
    const result = await Promise.race([work(inner.signal), cut]);
    return outer.aborted ? "aborted" : result;
  } finally {
    over.abort();
    inner.abort();
  }
}

type Setup = AiSdkModelOptions & {
  readonly contextWindow: number;
  /** The provider's client, loaded at the first step. */
  readonly load: () => ReturnType<typeof loadLanguageModel>;
};

async function stepInBestManner(
  setup: Setup,
  learned: Learned,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelReply> {
  let manner: Manner = {
    forceTool: request.forceTool,
    forcing: learned.refusesForcedChoice ? "only" : "choice",
    images: !learned.blind,
  };
  for (;;) {
    const reply = await stepOnce(setup, request, manner, signal);
    const next = reply.ok ? undefined : easierManner(reply.problem, reply.text, manner, request);
    if (!next || signal.aborted) return reply;
    learned.refusesForcedChoice ||= next.forceTool !== undefined && next.forcing === "only";
    learned.blind ||= !next.images;
    manner = next;
  }
}

/** The same request with what the provider refused taken out; undefined when nothing is left to take out. */
function easierManner(problem: ModelProblem, text: string, manner: Manner, request: ModelRequest): Manner | undefined {
  if (problem !== "bad-request") return undefined;
  if (
    manner.forceTool !== undefined &&
    manner.forcing === "choice" &&
    /tool.?choice|thinking|forced|function.?call(ing)?.?config/i.test(text)
  ) {
    return { ...manner, forcing: "only" };
  }
  const hasImages = request.messages.some((message) => message.role === "user" && message.images?.length);
  if (manner.images && hasImages && /image|vision|multi-?modal/i.test(text)) return { ...manner, images: false };
  return undefined;
}

async function stepOnce(setup: Setup, request: ModelRequest, manner: Manner, signal: AbortSignal): Promise<ModelReply> {
  const { name, provider, clock } = setup;
  try {
    return await requestStep(setup, request, manner, signal);
  } catch (error) {
    if (isTooDeepToRead(error)) return unreadable(name);
    const failure = readProviderError(error, {
      model: name,
      apiKey: provider.apiKey,
      keyName: provider.keyName,
      now: clock.now(),
    });
    return { ok: false, model: name, ...failure };
  }
}

/** A client that takes arguments as objects (Gemini's) fails on too deep ones before they can be cut: the answer came, so this is no outage. */
function isTooDeepToRead(error: unknown): boolean {
  return error instanceof RangeError && /call stack/i.test(error.message);
}

/** The model finds in its place what was wrong, and is asked again like one that said nothing. */
function unreadable(model: string): ModelReply {
  const text =
    "[A call's arguments were nested too deep to be read. Nothing was done; make the call again with flat fields.]";
  const usage = { inputTokens: 0, outputTokens: 0, cachedTokens: 0 };
  return { ok: true, model, text, calls: [], usage, finish: "other" };
}

async function requestStep(
  setup: Setup,
  request: ModelRequest,
  manner: Manner,
  signal: AbortSignal,
): Promise<ModelReply> {
  const { name, provider } = setup;
  const anthropic = provider.kind === "anthropic";
  const { streamText, stepCountIs } = await import("ai");
  const [model, tools, images] = await Promise.all([
    setup.load(),
    describeTools(request, manner, provider.kind === "openai"),
    loadImages(request.messages, setup.readImage, !manner.images),
  ]);
  const forced = manner.forceTool !== undefined && manner.forcing === "choice";
  let failure: { readonly error: unknown } | undefined;
  const result = streamText({
    model,
    ...(request.system.trim() === ""
      ? {}
      : { system: { role: "system", content: request.system, ...(anthropic ? { providerOptions: CACHE_HERE } : {}) } }),
    messages: toSdkMessages(request.messages, { model: name, images, cacheBreakpoints: anthropic }),
    ...(Object.keys(tools).length > 0 ? { tools } : {}),
    ...(forced && manner.forceTool ? { toolChoice: { type: "tool", toolName: manner.forceTool } } : {}),
    stopWhen: stepCountIs(1),
    maxRetries: 0,
    maxOutputTokens: request.maxOutputTokens ?? defaultOutputTokens(setup.contextWindow),
    ...stepOptions(provider.kind, request, forced),
    abortSignal: signal,
    // Without a handler the SDK prints errors to the console.
    onError: ({ error }) => {
      failure ??= { error };
    },
  });
  await result.consumeStream();
  if (failure) throw failure.error;
  const [step] = await result.steps;
  if (!step) throw new Error("The model's stream ended without an answer.");
  return toReply(name, step);
}

/** Tools as descriptions only: no execute, no validation of arguments (the engine explains what is wrong better). */
async function describeTools(request: ModelRequest, manner: Manner, openai: boolean): Promise<ToolSet> {
  const { jsonSchema, tool } = await import("ai");
  const only = manner.forceTool !== undefined && manner.forcing === "only" ? manner.forceTool : undefined;
  const offered = request.tools.filter(({ name }) => only === undefined || name === only);
  // OpenAI would otherwise treat schemas as strict and demand every optional field.
  const strictness = openai ? { strict: false } : {};
  const entries = offered.map(({ name, description, schema }) => [
    name,
    tool({ description, inputSchema: jsonSchema<Record<string, unknown>>(schema), ...strictness }),
  ]);
  return Object.fromEntries(entries);
}

interface FinishedStep {
  readonly content: readonly ContentPart[];
  readonly finishReason: string;
  readonly usage: {
    readonly inputTokens?: number | undefined;
    readonly outputTokens?: number | undefined;
    readonly inputTokenDetails?: { readonly cacheReadTokens?: number | undefined };
  };
}

function toReply(model: string, step: FinishedStep): ModelReply {
  const { text, calls, state } = readContent(step.content);
  if (calls.length === 0 && step.finishReason === "content-filter") {
    return { ok: false, model, problem: "refused", text: `${model} declined to answer (content filter).` };
  }
  if (calls.length === 0 && text === "" && step.finishReason === "error") {
    return { ok: false, model, problem: "unavailable", text: `${model} broke off without an answer.` };
  }
  return {
    ok: true,
    model,
    text,
    calls,
    usage: {
      inputTokens: step.usage.inputTokens ?? 0,
      outputTokens: step.usage.outputTokens ?? 0,
      cachedTokens: step.usage.inputTokenDetails?.cacheReadTokens ?? 0,
    },
    finish: readFinish(step.finishReason, calls.length > 0),
    ...(state ? { providerState: { model, data: state } } : {}),
  };
}

function readFinish(reason: string, hasCalls: boolean): "stop" | "calls" | "length" | "other" {
  if (reason === "length") return "length";
  if (hasCalls) return "calls";
  return reason === "stop" ? "stop" : "other";
}
