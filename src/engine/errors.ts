/**
 * The error families of the engine. Failures that a model or a person must read are values (ToolResult, Reception); these are for code.
 */

/** Wrong settings or start-up conditions. `message` names the key or variable and the fix. */
export class ConfigError extends Error {
  override readonly name = "ConfigError";
}

/**
 * Why a delivery attempt failed, as the adapter understands it.
 * wait: the same piece again after `waitMs` (rate limit) · unknown: it may have landed, ask `find` before repeating ·
 * content: the platform refuses this payload, permanent · place: the conversation cannot be written to, permanent ·
 * bot: this bot's credentials or permissions are the problem, permanent until fixed.
 */
export type DeliveryProblem = "wait" | "unknown" | "content" | "place" | "bot";

/** Thrown by Adapter.deliver. `message` is readable for the model and the operator and holds no content of messages. */
export class DeliveryError extends Error {
  override readonly name = "DeliveryError";
  readonly problem: DeliveryProblem;
  readonly waitMs: number;
  constructor(problem: DeliveryProblem, message: string, options: { waitMs?: number; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.problem = problem;
    this.waitMs = options.waitMs ?? 0;
  }
}

/** A discussion was moved by somebody else since it was read: read it again, decide again, try again (SPEC G12). */
export class DiscussionMovedError extends Error {
  override readonly name = "DiscussionMovedError";
}

/** Another worker holds the claim now: whatever this one was doing must stop without further effect (SPEC T3). */
export class FenceLostError extends Error {
  override readonly name = "FenceLostError";
}
