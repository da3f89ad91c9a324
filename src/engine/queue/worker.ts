/**
 * Answers doorbells (SPEC T2, T3): claims the bot's best session, keeps the lease alive while the turn runs, carries stop and steer to it, and goes on
 * until the bot has nothing more to do. Given `runTurn`; decides nothing about turns itself.
 */

import type { Clock } from "../clock.ts";
import { FenceLostError } from "../errors.ts";
import type { Log, Metrics } from "../log.ts";
import type { Claim } from "../session.ts";
import type { LimitSettings } from "../settings.ts";
import type { Store } from "../store/store.ts";
import type { RunQueue, SignalKind } from "./run-queue.ts";

/** What reaches a running turn; the same shape the turn expects. */
export interface RunningTurn {
  readonly cancel: AbortSignal;
  why(): "stop" | "yield" | "lost" | undefined;
  onSteer(listener: () => void): () => void;
}

/** What a worker is given. */
export interface WorkerParts {
  readonly store: Store;
  readonly queue: RunQueue;
  readonly owner: string;
  readonly limits: LimitSettings;
  /** Platforms whose connection runs in this process; sessions of others wait and hold nobody up. */
  readonly platforms: () => readonly string[];
  readonly runTurn: (claim: Claim, running: RunningTurn) => Promise<boolean>;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** The worker of this process. */
export interface Worker {
  start(): void;
  /** Lets running turns end for `graceMs`, then makes them yield; they go on elsewhere or after a restart. */
  drain(graceMs: number): Promise<void>;
}

/** A stop from another process is seen at the latest at this beat (SPEC T5: within 1 s). */
const BEAT_MS = 900;

/** Turns at once in one process. They mostly wait for models; beyond, other processes or a moment later. */
const MAX_TURNS = 50;
const FULL_MS = 200;

/** One worker per process. */
export function createWorker(parts: WorkerParts): Worker {
  const active = new Map<string, TurnHandle>();
  let draining = false;

  /** Ends as soon as it is known whether there is a turn to run: the turn itself goes on beside it, so that further rings open lanes anywhere. */
  const onRing = async (sessionId: string): Promise<void> => {
    if (draining) return;
    if (active.size >= MAX_TURNS) return ringLater(sessionId, FULL_MS);
    const claim = await claimFor(sessionId);
    if (claim) void work(claim);
  };

  const claimFor = async (sessionId: string): Promise<Claim | undefined> => {
    const { limits, owner } = parts;
    const { leaseMs, waitMs, ageingMs } = limits;
    const request = { sessionId, owner, leaseMs, waitMs, ageingMs, platforms: parts.platforms() };
    const result = await parts.store.claim(request);
    if (result.claim && draining) await parts.store.release(result.claim);
    else if (result.claim) return result.claim;
    else if (result.retryInMs !== undefined) ringLater(sessionId, result.retryInMs);
    return undefined;
  };

  const work = async (first: Claim): Promise<void> => {
    try {
      let claim: Claim | undefined = first;
      while (claim) {
        const again = await runClaimed(parts, active, claim);
        claim = again && !draining ? await claimFor(claim.sessionId) : undefined;
      }
    } catch (error) {
      parts.log.error(
        { sessionId: first.sessionId, error: String(error) },
        "no further work found; the sweep looks again",
      );
    }
  };

  const ringLater = (sessionId: string, ms: number): void => {
    void parts.clock.delay(Math.max(ms, 20)).then(() => parts.queue.ring(sessionId, 0));
  };

  return {
    start() {
      parts.queue.serve(onRing, (sessionId, kind) => active.get(sessionId)?.signal(kind));
    },
    async drain(graceMs) {
      draining = true;
      const ended = () => Promise.all([...active.values()].map((turn) => turn.done));
      await Promise.race([ended(), parts.clock.delay(graceMs)]);
      for (const turn of active.values()) turn.abort("yield");
      await Promise.race([ended(), parts.clock.delay(2000)]);
    },
  };
}

async function runClaimed(parts: WorkerParts, active: Map<string, TurnHandle>, claim: Claim): Promise<boolean> {
  const turn = createTurnHandle();
  active.set(claim.sessionId, turn);
  const beat = keepLease(parts, claim, turn);
  try {
    return await parts.runTurn(claim, turn.running);
  } catch (error) {
    await onTurnError(parts, claim, error);
    return false;
  } finally {
    beat.abort();
    active.delete(claim.sessionId);
    turn.finish();
  }
}

/** Programming errors crash the turn, are logged once, and the mail is tried again after the lease; a lost fence is no error at all. */
async function onTurnError(parts: WorkerParts, claim: Claim, error: unknown): Promise<void> {
  if (error instanceof FenceLostError) {
    parts.log.warn({ sessionId: claim.sessionId }, "claim lost; another worker goes on");
    return;
  }
  const detail = error instanceof Error ? { message: error.message, stack: error.stack } : { message: String(error) };
  parts.log.error({ sessionId: claim.sessionId, ...detail }, "turn crashed; it is tried again");
  parts.metrics.count("parley_turns_total", { outcome: "crashed" });
}

function keepLease(parts: WorkerParts, claim: Claim, turn: TurnHandle): AbortController {
  const ended = new AbortController();
  const every = Math.min(BEAT_MS, parts.limits.leaseMs / 3);
  const loop = async () => {
    let lastRenewed = parts.clock.now();
    for (;;) {
      await parts.clock.delay(every, ended.signal);
      if (ended.signal.aborted) return;
      try {
        const state = await parts.store.renew(claim, parts.limits.leaseMs);
        if (!state.held) return turn.abort("lost");
        lastRenewed = parts.clock.now();
        if (state.stopRequested) turn.signal("stop");
        if (state.mailDue) turn.signal("steer");
      } catch (error) {
        parts.log.warn({ sessionId: claim.sessionId, error: String(error) }, "lease not renewed");
        if (parts.clock.now() - lastRenewed > parts.limits.leaseMs) return turn.abort("lost");
      }
    }
  };
  void loop();
  return ended;
}

/** The worker's own grip on a running turn. */
interface TurnHandle {
  readonly running: RunningTurn;
  readonly done: Promise<void>;
  signal(kind: SignalKind): void;
  abort(why: "yield" | "lost"): void;
  finish(): void;
}

function createTurnHandle(): TurnHandle {
  const cancel = new AbortController();
  const listeners = new Set<() => void>();
  let why: "stop" | "yield" | "lost" | undefined;
  let finish: () => void = () => undefined;
  const done = new Promise<void>((resolve) => {
    finish = resolve;
  });
  const abort = (reason: "stop" | "yield" | "lost") => {
    why ??= reason;
    cancel.abort();
  };
  return {
    running: {
      cancel: cancel.signal,
      why: () => why,
      onSteer(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    },
    done,
    signal(kind) {
      if (kind === "stop") abort("stop");
      else for (const listener of listeners) listener();
    },
    abort,
    finish,
  };
}
