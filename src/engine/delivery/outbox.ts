/**
 * The sender (SPEC T3): posts committed pieces in order, one sender per native channel across all processes. Once a piece is committed it is said,
 * whatever becomes of the turn. After an unknown outcome the platform is asked before anything is repeated. Knows no platform and decides no content.
 */

import type { Adapter, Receipt } from "../adapter.ts";
import type { Clock } from "../clock.ts";
import { DeliveryError } from "../errors.ts";
import type { Log, Metrics } from "../log.ts";
import type { ClosedPiece, OutboxPiece, PieceClose, SenderClaim, SendState, Store } from "../store/store.ts";
import type { AdapterLookup } from "./render-delivery.ts";

/** The sender of this process. */
export interface Outbox {
  /** There may be something to post in this native channel. */
  nudge(nativeChannel: string): void;
  /** Finds channels with due pieces that nobody nudged for. */
  sweep(): Promise<void>;
  /**
   * Resolves when all pieces of the entry are closed, or with its state so far after `ms`. One that was committed this very moment (`fresh`) cannot
   * be closed yet, so its state is read only when something has happened.
   */
  waitClosed(entryId: string, ms: number, signal: AbortSignal, fresh?: boolean): Promise<SendState | null>;
  /** Waits for running attempts, at most `ms`. */
  stop(ms: number): Promise<void>;
}

/** What the sender is given. */
export interface OutboxParts {
  readonly store: Store;
  readonly adapters: AdapterLookup;
  readonly owner: string;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Called after every close, also for pieces of turns long over. */
  readonly onClosed: (closed: ClosedPiece, problem?: string) => void;
}

/** Renewed while an attempt runs, so that a channel whose sender died is taken over soon. */
const LEASE_MS = 15_000;
const MAX_ATTEMPTS = 12;
const MAX_BACKOFF_MS = 60_000;
/** An attempt that hangs is given up after the adapter's own limit and this. */
const GRACE_MS = 2000;
/** A look-up that is refused (the bot is not connected yet, say) is repeated this long after the attempt, and this often. */
const LOOK_UP_MS = 120_000;
const LOOK_AGAIN_MS = 2000;

interface Lane {
  again: boolean;
  readonly done: Promise<void>;
}

/** One outbox per process. */
export function createOutbox(parts: OutboxParts): Outbox {
  const lanes = new Map<string, Lane>();
  const waiting = new Map<string, Set<() => void>>();
  const later = createTimers(parts.clock);
  const stopping = new AbortController();

  const nudge = (nativeChannel: string): void => {
    const lane = lanes.get(nativeChannel);
    if (lane) {
      lane.again = true;
      return;
    }
    if (stopping.signal.aborted) return;
    later.cancel(nativeChannel);
    lanes.set(nativeChannel, { again: false, done: run(nativeChannel) });
  };

  const run = async (nativeChannel: string): Promise<void> => {
    let delayMs = 0;
    // What was nudged for before a look is found by that look; only later nudges need another.
    const onLook = () => {
      const lane = lanes.get(nativeChannel);
      if (lane) lane.again = false;
    };
    try {
      await Promise.resolve();
      delayMs = await drainChannel({ ...parts, onClosed: closed, onLook }, nativeChannel, stopping.signal);
    } catch (error) {
      parts.log.warn({ nativeChannel, error: String(error) }, "sender interrupted; the sweep will take it up again");
    }
    const again = lanes.get(nativeChannel)?.again ?? false;
    lanes.delete(nativeChannel);
    if (again && !stopping.signal.aborted) nudge(nativeChannel);
    else if (delayMs > 0 && !stopping.signal.aborted) later.start(nativeChannel, delayMs, () => nudge(nativeChannel));
  };

  const closed = (piece: ClosedPiece, problem?: string): void => {
    if (piece.entryClosed) for (const wake of waiting.get(piece.entryId) ?? []) wake();
    parts.onClosed(piece, problem);
  };

  return {
    nudge,
    async sweep() {
      for (const nativeChannel of await parts.store.dueChannels(200)) nudge(nativeChannel);
    },
    waitClosed: (entryId, ms, signal, fresh = false) => waitClosed(parts, waiting, { entryId, ms, fresh }, signal),
    async stop(ms) {
      stopping.abort();
      later.cancelAll();
      const running = Promise.all([...lanes.values()].map((lane) => lane.done));
      await Promise.race([running, parts.clock.delay(ms)]);
    },
  };
}

/** One timer for each name; starting or cancelling it ends the one before. */
function createTimers(clock: Clock) {
  const running = new Map<string, AbortController>();
  const cancel = (name: string) => running.get(name)?.abort();
  return {
    cancel,
    cancelAll() {
      for (const name of running.keys()) cancel(name);
    },
    start(name: string, ms: number, then: () => void): void {
      cancel(name);
      const sooner = new AbortController();
      running.set(name, sooner);
      void clock.delay(ms, sooner.signal).then(() => {
        if (running.get(name) === sooner) running.delete(name);
        if (!sooner.signal.aborted) then();
      });
    },
  };
}

/** Other processes may close the piece, so the state is also read from time to time. */
const POLL_MS = 500;

async function waitClosed(
  parts: OutboxParts,
  waiting: Map<string, Set<() => void>>,
  { entryId, ms, fresh }: { readonly entryId: string; readonly ms: number; readonly fresh: boolean },
  signal: AbortSignal,
): Promise<SendState | null> {
  const end = parts.clock.now() + ms;
  for (let mayBeClosed = !fresh; ; mayBeClosed = true) {
    const rung = new AbortController();
    const wake = () => rung.abort();
    const set = waiting.get(entryId) ?? new Set();
    waiting.set(entryId, set.add(wake));
    try {
      const state = mayBeClosed ? await parts.store.sendState(entryId) : undefined;
      const left = end - parts.clock.now();
      if (state !== undefined && (!state || state.open === 0 || left <= 0 || signal.aborted)) return state;
      await parts.clock.delay(Math.min(POLL_MS, Math.max(0, left)), AbortSignal.any([rung.signal, signal]));
    } finally {
      set.delete(wake);
      if (set.size === 0) waiting.delete(entryId);
    }
  }
}

/** Posts what is due; returns ms until the next piece is due, 0 when there is none. */
async function drainChannel(
  parts: OutboxParts & { readonly onLook: () => void },
  nativeChannel: string,
  stop: AbortSignal,
): Promise<number> {
  while (!stop.aborted) {
    parts.onLook();
    const claim = await parts.store.claimSender({ nativeChannel, owner: parts.owner, leaseMs: LEASE_MS });
    if (!claim) return 0;
    const next = await parts.store.nextPiece(nativeChannel, claim.takenOver ? attemptLimit(parts, nativeChannel) : 0);
    if (!next || next.dueInMs > 0) {
      await parts.store.releaseSender(claim);
      return next?.dueInMs ?? 0;
    }
    await sendPiece(parts, claim, next.piece, next.lookUp);
  }
  return 0;
}

/** After a take-over the former sender may be alive and in the middle of a request: its attempt must be over before it is looked up. */
function attemptLimit(parts: OutboxParts, nativeChannel: string): number {
  return parts.adapters(nativeChannel.split(":")[0] ?? "")?.deliverTimeoutMs ?? 0;
}

/** Keeps the claim while `work` runs. A renewal that fails is repeated; when the lease is lost all the same, the fence stops this sender's writes. */
async function keepingClaim<T>(parts: OutboxParts, claim: SenderClaim, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const renew = async () => {
    for (;;) {
      await parts.clock.delay(LEASE_MS / 3, over.signal);
      if (over.signal.aborted) return;
      await parts.store
        .claimSender({ nativeChannel: claim.nativeChannel, owner: parts.owner, leaseMs: LEASE_MS })
        .catch((error: unknown) => parts.log.warn({ error: String(error) }, "sender's lease not renewed"));
    }
  };
  void renew();
  return work.finally(() => over.abort());
}

async function sendPiece(parts: OutboxParts, claim: SenderClaim, piece: OutboxPiece, lookUp: boolean): Promise<void> {
  const adapter = parts.adapters(piece.platform);
  const close = adapter
    ? await keepingClaim(parts, claim, attempt(parts, adapter, claim, piece, lookUp))
    : retryLater(piece, `The ${piece.platform} connection is not running.`, lookUp);
  parts.metrics.count("parley_pieces_total", { platform: piece.platform, outcome: close.to });
  if (close.to !== "sent") parts.log.warn({ pieceId: piece.id, to: close.to, why: close.text }, "piece not sent");
  const closed = await parts.store.closePiece(claim, piece.id, close);
  parts.onClosed(closed, close.to === "failed" ? close.text : undefined);
}

async function attempt(
  parts: OutboxParts,
  adapter: Adapter,
  claim: SenderClaim,
  piece: OutboxPiece,
  lookUp: boolean,
): Promise<PieceClose> {
  const limit = adapter.deliverTimeoutMs + GRACE_MS;
  const known = lookUp ? await lookFor(parts, adapter, piece, limit) : undefined;
  if (known) return known;
  try {
    await parts.store.startPiece(claim, piece.id);
    const save = (progress: unknown) => parts.store.saveProgress(claim, piece.id, progress);
    const receipt: Receipt = await within(parts.clock, limit, adapter.deliver(piece, save));
    return { to: "sent", receipt };
  } catch (error) {
    return closeFor(error, piece, lookUp);
  }
}

/** What the platform says about an attempt with unknown outcome; undefined = it has not landed. One that cannot be asked has not said no. */
async function lookFor(
  parts: OutboxParts,
  adapter: Adapter,
  piece: OutboxPiece,
  limit: number,
): Promise<PieceClose | undefined> {
  try {
    const found = await within(parts.clock, limit, adapter.find(piece));
    return found ? { to: "sent", receipt: found } : undefined;
  } catch (error) {
    const close = closeFor(error, piece, true);
    const age = parts.clock.now() - (piece.attemptedAt?.getTime() ?? 0);
    if (close.to !== "failed" || age > LOOK_UP_MS) return close;
    return { to: "due", delayMs: LOOK_AGAIN_MS, lookUp: true, text: close.text };
  }
}

/** An attempt that does not settle is an unknown outcome: it may still land. */
async function within<T>(clock: Clock, ms: number, work: Promise<T>): Promise<T> {
  const over = new AbortController();
  const late = clock.delay(ms, over.signal).then(() => {
    throw new DeliveryError("unknown", `no answer within ${ms} ms`);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    // The losing promise is settled here and its rejection observed, so nothing is left unhandled.
    late.catch(() => undefined);
    over.abort();
  }
}

function closeFor(error: unknown, piece: OutboxPiece, lookedUp: boolean): PieceClose {
  if (!(error instanceof DeliveryError)) return retryLater(piece, `unexpected failure: ${String(error)}`, true);
  switch (error.problem) {
    case "wait":
      return { to: "due", delayMs: Math.max(error.waitMs, 250), lookUp: lookedUp, text: error.message };
    case "unknown":
      return retryLater(piece, error.message, true);
    case "content":
    case "place":
    case "bot":
      return { to: "failed", problem: error.problem, text: error.message };
  }
}

function retryLater(piece: OutboxPiece, text: string, lookUp: boolean): PieceClose {
  if (piece.attempts + 1 >= MAX_ATTEMPTS)
    return { to: "failed", problem: "unknown", text: `given up after ${MAX_ATTEMPTS} tries: ${text}` };
  const delayMs = Math.min(MAX_BACKOFF_MS, 500 * 2 ** Math.min(piece.attempts, 10));
  return { to: "due", delayMs, lookUp, text };
}
