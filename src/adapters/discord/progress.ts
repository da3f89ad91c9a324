/**
 * Which events of a gateway session were taken in. Discord has no acknowledgement for single events: a session is resumed after a sequence number,
 * so the number that is remembered for the next process must have nothing untaken before it.
 * Invariant: `safe` never passes an event of this session that is still being stored; events of an earlier session have no say.
 */

/** Progress through one session. */
export interface Progress {
  /** An event arrived; numbers rise. Call the answer when it was stored, or needs no storing. */
  begin(sequence: number): () => void;
  /** The number after which a later process may resume. */
  safe(): number;
  /** A new session begins to count. */
  restart(sequence: number): void;
}

/** Creates the progress of a session that stands at `sequence`. */
export function createProgress(sequence: number): Progress {
  const open = new Set<{ readonly sequence: number }>();
  let highest = sequence;
  return {
    begin(next) {
      const event = { sequence: next };
      open.add(event);
      highest = Math.max(highest, next);
      return () => void open.delete(event);
    },
    safe() {
      // A set keeps its order, and numbers arrive in order.
      const first = open.values().next();
      return first.done ? highest : Math.min(highest, first.value.sequence - 1);
    },
    restart(next) {
      open.clear();
      highest = next;
    },
  };
}
