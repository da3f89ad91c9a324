/**
 * The contract with a language model: one step in, one reply out. Failures are replies with a reason, never exceptions (SPEC T8).
 * Provider formats stay behind it; the engine's messages are the only form stored.
 */

import type { ModelCall, ModelMessage } from "../model-message.ts";

export type { ModelCall, ModelMessage };

/** A tool as the model sees it; `schema` is a JSON Schema of type object. */
export interface ModelTool {
  readonly name: string;
  readonly description: string;
  readonly schema: Readonly<Record<string, unknown>>;
}

/** One step: everything the model reads. */
export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** A tool name the model must call now (SPEC M12); where a provider refuses this, only that tool is offered. */
  readonly forceTool?: string;
  readonly maxOutputTokens?: number;
  /** Stable per session, for providers that cache by key. */
  readonly cacheKey?: string;
}

/** Tokens of one step as the provider counts them; cached ones are part of the input. */
export interface ModelUsage {
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cachedTokens: number;
}

/** aborted: the signal fired · rate-limited, unavailable, timeout: may be retried · the others will not mend by retrying the same model. */
export type ModelProblem =
  | "aborted"
  | "rate-limited"
  | "unavailable"
  | "timeout"
  | "auth"
  | "context-overflow"
  | "refused"
  | "bad-request"
  | "not-configured";

/** What came of a step: a reply to be stored, or a typed failure. */
export type ModelReply =
  | {
      readonly ok: true;
      readonly model: string;
      /** Private thinking; never shown (SPEC M1). */
      readonly text: string;
      readonly calls: readonly ModelCall[];
      readonly usage: ModelUsage;
      readonly finish: "stop" | "calls" | "length" | "other";
      readonly providerState?: { readonly model: string; readonly data: unknown };
    }
  | {
      readonly ok: false;
      readonly model: string;
      readonly problem: ModelProblem;
      /** For the operator: status and provider message without content or keys. */
      readonly text: string;
      readonly retryAfterMs?: number;
    };

/** Contract: `step` never throws and settles soon after the signal aborts. */
export interface Model {
  /** "provider/model". */
  readonly name: string;
  /** Tokens. */
  readonly contextWindow: number;
  step(request: ModelRequest, signal: AbortSignal): Promise<ModelReply>;
}

/** Finds a model by "provider/model"; an unknown or unconfigured one answers every step with `not-configured`. */
export interface Models {
  get(name: string): Model;
}
