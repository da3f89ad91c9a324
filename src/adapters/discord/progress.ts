/**
 * Which events of a gateway session were taken in. Discord has no acknowledgement for single events: a session is resumed after a sequence number,
 * so the number that is remembered for the next process must have nothing untaken before it.
 * Invariant: `safe` never passes an event that is still being stored.
 */

/** Progress through one session. */
export interface Progress {
  /** An event arrived; numbers rise. */
  begin(sequence: number): void;
  /** It was stored, or needs no storing. */
  end(sequence: number): void;
  /** The number after which a later process may resume. */
  safe(): number;
  /** Events still being stored. */
  readonly open: number;
  /** A new session begins to count. */
  restart(sequence: number): void;
}

/** Creates the progress of a session that stands at `sequence`. */
export function createProgress(sequence: number): Progress {
  const open = new Set<number>();
  let highest = sequence;
  return {
    begin(next) {
      open.add(next);
      highest = Math.max(highest, next);
    },
    end: (next) => void open.delete(next),
    safe() {
      // A set keeps its order, and numbers arrive in order, but for a replay that overtakes nothing.
      const first = open.values().next();
      return first.done ? highest : Math.min(highest, first.value - 1);
    },
    get open() {
      return open.size;
    },
    restart(next) {
      open.clear();
      highest = next;
    },
  };
}
