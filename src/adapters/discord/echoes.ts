/**
 * Remembers the newest messages of our own that came back over the gateway, by the nonce they were sent with. After a lost answer this says at once
 * whether the message landed, even where history cannot be read. Forgetting one costs only a look into history.
 */

import { createRecent } from "./recent.ts";

const LIMIT = 500;

/** Own messages seen lately. */
export interface Echoes {
  note(nonce: string, messageId: string): void;
  find(nonce: string): string | undefined;
}

/** An empty memory for one bot. */
export function createEchoes(): Echoes {
  const known = createRecent<string>(LIMIT);
  return { note: (nonce, messageId) => known.set(nonce, messageId), find: (nonce) => known.get(nonce) };
}
