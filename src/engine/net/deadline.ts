/**
 * One time limit over a whole download, joined with the caller's wish to stop.
 * Invariant: the signal's reason is a TransferError, so whoever it interrupts fails with words. It holds a timer until released.
 */
import { TransferError } from "../download.ts";

/** A running time limit. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Stops the clock and lets go of the caller's signal. */
  release(): void;
}

/** Starts the clock. `timeoutMs` from now, or when `outer` aborts, the signal aborts with `timeout` or `cancelled`. */
export function startDeadline(timeoutMs: number, outer: AbortSignal | undefined): Deadline {
  const controller = new AbortController();
  const abort = () => controller.abort(new TransferError("cancelled", "The download was cancelled."));
  const timer = setTimeout(() => {
    controller.abort(
      new TransferError("timeout", `The download took longer than ${Math.ceil(timeoutMs / 1000)} s and was stopped.`),
    );
  }, timeoutMs);
  if (outer?.aborted === true) abort();
  outer?.addEventListener("abort", abort, { once: true });
  return {
    signal: controller.signal,
    release() {
      clearTimeout(timer);
      outer?.removeEventListener("abort", abort);
    },
  };
}

/** Rejects with the signal's reason once it aborts, and never resolves: for races. */
export function rejectOnAbort(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
