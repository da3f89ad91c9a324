/**
 * What a bot remembers of its gateway session for the next process, and since when it has been listening. Written a few times a second at most and
 * when it stops; a crash in between only has events replayed that were taken in already, and those are recognised.
 * Invariant: the sequence number written has nothing untaken before it.
 */

import type { SessionInfo } from "@discordjs/ws";
import type { Clock, KeyValueStore } from "../../engine/index.ts";
import { toFields, toText } from "../shared/fields.ts";

/** What the next process finds. */
export interface Remembered {
  readonly session: SessionInfo | null;
  /** When the last process was known to listen, ms; 0 = never. */
  readonly listenedAt: number;
}

/** Discord keeps sessions for a few minutes; asking for an older one costs a round trip and gives nothing. */
const SESSION_MS = 10 * 60_000;

/** Where the session of an application is kept. */
export function sessionKey(appId: string): string {
  return `session:${appId}`;
}

/** Reads what the last process left. */
export async function recall(kv: KeyValueStore, appId: string, clock: Clock): Promise<Remembered> {
  const fields = toFields(await kv.get(sessionKey(appId)));
  const listenedAt = typeof fields.at === "number" ? fields.at : 0;
  const sessionId = toText(fields.sessionId);
  const resumeURL = toText(fields.resumeURL);
  const { sequence, shardId, shardCount } = fields;
  const isUsable =
    typeof sequence === "number" && typeof shardId === "number" && typeof shardCount === "number" && sessionId && resumeURL;
  if (!isUsable || clock.now() - listenedAt > SESSION_MS) return { session: null, listenedAt };
  return { session: { sessionId, resumeURL, sequence, shardId, shardCount }, listenedAt };
}

/** Writes what the next process needs; `session` null forgets it. */
export async function remember(
  kv: KeyValueStore,
  appId: string,
  session: SessionInfo | null,
  listenedAt: number,
): Promise<void> {
  await kv.set(sessionKey(appId), { ...session, at: listenedAt });
}
