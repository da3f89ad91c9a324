/**
 * Doorbells. The run queue tells workers that a session has mail; it may ring twice or lose a ring, because truth is the claim in the
 * database and a sweep each second finds what was missed (SPEC T3, DESIGN §4).
 */

export type SignalKind = "stop" | "steer" | "changed";

/** Contract: `ring` and `signal` return at once and never throw; `serve` handlers may be called concurrently and repeatedly. */
export interface RunQueue {
  /** `rank` 0 person, 1 bot, 2 background. */
  ring(sessionId: string, rank: number): void;
  /** To whichever worker runs the session now, in any process. */
  signal(sessionId: string, kind: SignalKind): void;
  serve(onRing: (sessionId: string) => Promise<void>, onSignal: (sessionId: string, kind: SignalKind) => void): void;
  /** Stops ringing; resolves when running handlers have returned or `timeoutMs` passed. */
  close(timeoutMs: number): Promise<void>;
}
