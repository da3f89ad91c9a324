/**
 * Several models as one (SPEC T8): retries what may mend by itself, then the next model, and at the end one typed failure.
 * Invariant: nothing is retried after the signal aborts, and no wait outlasts it. Telling people is left to the turn.
 */

import type { Clock } from "../clock.ts";
import type { Model, ModelProblem, ModelReply, ModelRequest } from "./model.ts";

/** One failed attempt, for logs and metrics; holds no content. */
export interface FailedAttempt {
  readonly model: string;
  readonly problem: ModelProblem;
  readonly text: string;
  /** Counts from 1 within this model. */
  readonly attempt: number;
  readonly next: "retry" | "next-model" | "give-up";
  /** Wait before the retry, ms; 0 otherwise. */
  readonly waitMs: number;
}

/** How patiently a chain retries. */
export interface FallbackOptions {
  readonly clock: Clock;
  /** Tries per model; default 3. A model that timed out is tried at most twice: each of these costs a whole step's time. */
  readonly attempts?: number;
  /** First wait, ms; doubles with each retry; default 500. */
  readonly baseDelayMs?: number;
  /** Longest wait, ms; default 20,000. A provider that asks for more is passed over. */
  readonly maxDelayMs?: number;
  /** 0 to 1; spreads retries of many bots. Default Math.random. */
  readonly random?: () => number;
  readonly onFailure?: (attempt: FailedAttempt) => void;
}

type Failure = Extract<ModelReply, { ok: false }>;

interface Policy extends Required<Omit<FallbackOptions, "onFailure">> {
  readonly onFailure: ((attempt: FailedAttempt) => void) | undefined;
}

const RETRYABLE: readonly ModelProblem[] = ["rate-limited", "unavailable", "timeout"];
const TRIES_AFTER_TIMEOUT = 2;

/** Chains models, first one preferred; name and context window are the first one's. Throws on an empty list. */
export function createFallbackModel(models: readonly Model[], options: FallbackOptions): Model {
  const [first] = models;
  if (!first) throw new RangeError("A fallback chain needs at least one model.");
  const policy: Policy = {
    clock: options.clock,
    attempts: options.attempts ?? 3,
    baseDelayMs: options.baseDelayMs ?? 500,
    maxDelayMs: options.maxDelayMs ?? 20_000,
    random: options.random ?? Math.random,
    onFailure: options.onFailure,
  };
  return {
    name: first.name,
    contextWindow: first.contextWindow,
    step: (request, signal) => stepThrough(models, policy, request, signal),
  };
}

async function stepThrough(
  models: readonly Model[],
  policy: Policy,
  request: ModelRequest,
  signal: AbortSignal,
): Promise<ModelReply> {
  const failures: Failure[] = [];
  for (const [index, model] of models.entries()) {
    const isLast = index === models.length - 1;
    const reply = await stepWithRetries(model, policy, request, signal, isLast);
    if (reply.ok || reply.problem === "aborted") return reply;
    if (signal.aborted) return stopped(model);
    failures.push(reply);
  }
  return summarise(failures);
}

async function stepWithRetries(
  model: Model,
  policy: Policy,
  request: ModelRequest,
  signal: AbortSignal,
  isLast: boolean,
): Promise<ModelReply> {
  for (let attempt = 1; ; attempt++) {
    if (signal.aborted) return stopped(model);
    const reply = await model.step(request, signal);
    if (reply.ok || reply.problem === "aborted") return reply;
    if (signal.aborted) return stopped(model);
    const waitMs = retryWait(reply, attempt, policy);
    const next = waitMs !== undefined ? "retry" : isLast ? "give-up" : "next-model";
    policy.onFailure?.({
      model: reply.model,
      problem: reply.problem,
      text: reply.text,
      attempt,
      next,
      waitMs: waitMs ?? 0,
    });
    if (waitMs === undefined) return reply;
    await policy.clock.delay(waitMs, signal);
  }
}

/** How long to wait before the same model is asked again, ms; undefined when it should not be. */
function retryWait(failure: Failure, attempt: number, policy: Policy): number | undefined {
  if (!RETRYABLE.includes(failure.problem)) return undefined;
  const tries = failure.problem === "timeout" ? Math.min(TRIES_AFTER_TIMEOUT, policy.attempts) : policy.attempts;
  if (attempt >= tries) return undefined;
  const asked = failure.retryAfterMs ?? 0;
  if (asked > policy.maxDelayMs) return undefined;
  const backOff = Math.min(policy.maxDelayMs, policy.baseDelayMs * 2 ** (attempt - 1));
  // Between half and the whole back-off, and never earlier than the provider asked.
  return Math.round(Math.max(asked, backOff * (0.5 + policy.random() / 2)));
}

function stopped(model: Model): Failure {
  return { ok: false, model: model.name, problem: "aborted", text: `${model.name} was stopped.` };
}

/** The last failure counts; a fallback that was never set up does not hide why the others failed. The text names every model's. */
function summarise(failures: readonly Failure[]): Failure {
  const last = failures.findLast((failure) => failure.problem !== "not-configured") ?? failures.at(-1);
  if (!last) throw new RangeError("A fallback chain needs at least one model.");
  return failures.length === 1 ? last : { ...last, text: failures.map((failure) => failure.text).join(" · ") };
}
