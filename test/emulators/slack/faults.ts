/**
 * Trouble on demand. A fault belongs to a Web API method and hits the next requests that match; a disturbance belongs
 * to event deliveries. Both are used up after `times` matches.
 * Invariant: what a fault does is visible in the answer only; a request refused by a fault has changed nothing, one
 * hit by `acceptThen` has done its work.
 */
import type { App, SlackRequest } from "./model.ts";

/** What happens to a request; exactly one key. */
export type Fault =
  /** HTTP 429 with this `retry-after` (seconds). */
  | { rateLimit: number }
  /** An HTTP status with a text body; nothing was done. */
  | { status: number; body?: string; type?: string }
  /** HTTP 200 with `ok:false` and this code. */
  | { error: string }
  /** Never answered; nothing was done. */
  | { hang: true }
  /** The connection is cut before anything was done. */
  | { reset: true }
  /** The work is done, then the connection is cut, never answered, or answered with this status. */
  | { acceptThen: "drop" | "hang" | number }
  /** Done and answered, but late. */
  | { delayMs: number };

/** Which requests or deliveries are hit. Default: the next one, of any app. */
export interface Rule {
  times?: number;
  app?: App;
}

/** A fault with its rule; `left` counts down. */
export interface FaultRule {
  readonly method: string;
  readonly fault: Fault;
  readonly app: App | null;
  readonly when: (request: SlackRequest) => boolean;
  left: number;
}

/** What happens to a delivered event. */
export interface Disturbance {
  /** So many further copies with the same event id, at once. */
  duplicate?: number;
  /** Never sent, never retried: lost by the platform. */
  drop?: boolean;
  /** Sent this much later. */
  delayMs?: number;
  /** The acknowledgement is ignored, so the event comes again as a retry. */
  ignoreAck?: boolean;
  /** Only events of this type (`message`, `app_mention`, …). */
  event?: string;
}

/** A disturbance with its rule; `left` counts down. */
export interface DisturbanceRule {
  readonly disturbance: Disturbance;
  readonly app: App | null;
  left: number;
}

/** Makes a fault rule for `method` (`*` = every method). */
export function faultRule(
  method: string,
  fault: Fault,
  rule: Rule & { when?: (request: SlackRequest) => boolean } = {},
): FaultRule {
  return { method, fault, app: rule.app ?? null, when: rule.when ?? (() => true), left: rule.times ?? 1 };
}

/** The fault for this request, counted down; null when it passes untouched. */
export function takeFault(faults: FaultRule[], request: SlackRequest): Fault | null {
  const rule = faults.find((candidate) => {
    if (candidate.left <= 0 || (candidate.method !== "*" && candidate.method !== request.method)) return false;
    if (candidate.app && candidate.app !== request.app) return false;
    return candidate.when(request);
  });
  if (!rule) return null;
  rule.left -= 1;
  return rule.fault;
}

/** The disturbance for a delivery to `app`, counted down. */
export function takeDisturbance(rules: DisturbanceRule[], app: App, eventType: string): Disturbance | null {
  const rule = rules.find((candidate) => {
    if (candidate.left <= 0 || (candidate.app && candidate.app !== app)) return false;
    return candidate.disturbance.event === undefined || candidate.disturbance.event === eventType;
  });
  if (!rule) return null;
  rule.left -= 1;
  return rule.disturbance;
}
