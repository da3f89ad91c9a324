/**
 * Trouble on demand. A fault belongs to a REST route and hits the next requests that match; a disturbance belongs to
 * gateway events. Both are used up after `times` matches.
 * Invariant: a request refused by a fault has changed nothing; one hit by `acceptThen` or `malformed` has done its work.
 */
import type { Fields } from "../loopback.ts";
import type { Bot, DiscordRequest } from "./model.ts";

/** What happens to a request; exactly one leading key. */
export type Fault =
  /** HTTP 429 with this `retry_after` in seconds; `shared` does not count as an invalid request. */
  | { rateLimit: number; scope?: "user" | "global" | "shared" }
  /** An HTTP status with a text body; nothing was done. */
  | { status: number; body?: string; type?: string }
  /** An error in Discord's form, with further fields such as `retry_after`; nothing was done. */
  | { error: { status: number; code: number; message?: string; fields?: Fields } }
  /** Never answered; nothing was done. */
  | { hang: true }
  /** The connection is cut before anything was done. */
  | { reset: true }
  /** The work is done, then the connection is cut, never answered, or answered with this status. */
  | { acceptThen: "drop" | "hang" | number }
  /** The work is done, the JSON of the answer breaks off. */
  | { malformed: true }
  /** Done and answered, but late. */
  | { delayMs: number };

/** Which requests or events are hit. Default: the next one, of any bot. */
export interface Rule {
  times?: number;
  bot?: Bot;
}

/** A rule for requests; `when` sees the parsed body and files. */
export interface RequestRule extends Rule {
  when?: (request: DiscordRequest) => boolean;
}

/** A fault with its rule; `left` counts down. */
export interface FaultRule {
  readonly route: string;
  readonly fault: Fault;
  readonly bot: Bot | null;
  readonly when: (request: DiscordRequest) => boolean;
  left: number;
}

/** What happens to an event for one bot. */
export interface Disturbance {
  /** So many further copies, each with its own sequence number. */
  duplicate?: number;
  /** Never sent and never replayed: lost by Discord. */
  drop?: boolean;
  /** Sent this much later. */
  delayMs?: number;
  /** Held back until the next event for this bot went out. */
  reorder?: boolean;
  /** Only events with this name (`MESSAGE_CREATE`, …). */
  event?: string;
}

/** A disturbance with its rule; `left` counts down. */
export interface DisturbanceRule {
  readonly disturbance: Disturbance;
  readonly bot: Bot | null;
  left: number;
}

/** Makes a fault rule for a route such as `POST /channels/:id/messages` (`*` = every route). */
export function faultRule(route: string, fault: Fault, rule: RequestRule = {}): FaultRule {
  return { route, fault, bot: rule.bot ?? null, when: rule.when ?? (() => true), left: rule.times ?? 1 };
}

/** The fault for this request, counted down; null when it passes untouched. */
export function takeFault(faults: FaultRule[], request: DiscordRequest): Fault | null {
  const rule = faults.find((candidate) => {
    if (candidate.left <= 0 || (candidate.route !== "*" && candidate.route !== request.route)) return false;
    if (candidate.bot && candidate.bot !== request.bot) return false;
    return candidate.when(request);
  });
  if (!rule) return null;
  rule.left -= 1;
  return rule.fault;
}

/** The disturbance for an event to `bot`, counted down. */
export function takeDisturbance(rules: DisturbanceRule[], bot: Bot, event: string): Disturbance | null {
  const rule = rules.find((candidate) => {
    if (candidate.left <= 0 || (candidate.bot && candidate.bot !== bot)) return false;
    return candidate.disturbance.event === undefined || candidate.disturbance.event === event;
  });
  if (!rule) return null;
  rule.left -= 1;
  return rule.disturbance;
}
