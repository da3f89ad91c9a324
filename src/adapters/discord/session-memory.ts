/**
 * What a bot remembers of its gateway session for the next process, and since when it has been listening. Written a few times a second at most and
 * when it stops; a crash in between only has events replayed that were taken in already, and those are recognised.
 * Invariant: the sequence number written has nothing untaken before it.
 */

import type { SessionInfo } from "@discordjs/ws";
import type { Clock, KeyValueStore, Log } from "../../engine/index.ts";
import { toFields, toText } from "../shared/fields.ts";
import { createProgress, type Progress } from "./progress.ts";

/** What the next process finds. */
export interface Remembered {
  readonly session: SessionInfo | null;
  /** When the last process was known to listen, ms; 0 = never. */
  readonly listenedAt: number;
}

/** Discord keeps sessions for a few minutes; asking for an older one costs a round trip and gives nothing. */
const SESSION_MS = 10 * 60_000;

function sessionKey(appId: string): string {
  return `session:${appId}`;
}

async function recall(kv: KeyValueStore, appId: string, clock: Clock): Promise<Remembered> {
  const fields = toFields(await kv.get(sessionKey(appId)));
  const listenedAt = typeof fields.at === "number" ? fields.at : 0;
  const sessionId = toText(fields.sessionId);
  const resumeURL = toText(fields.resumeURL);
  const { sequence, shardId, shardCount } = fields;
  const isUsable =
    typeof sequence === "number" &&
    typeof shardId === "number" &&
    typeof shardCount === "number" &&
    sessionId &&
    resumeURL;
  if (!isUsable || clock.now() - listenedAt > SESSION_MS) return { session: null, listenedAt };
  return { session: { sessionId, resumeURL, sequence, shardId, shardCount }, listenedAt };
}

/** Keeps what the next process needs up to date. */
export interface SessionKeeper {
  readonly progress: Progress;
  /** Something was heard: the bot was listening until now. */
  alive(): void;
  /** When the bot was last known to listen, ms; 0 = never. */
  aliveAt(): number;
  /** Reads what the last process left and goes on from there. */
  begin(appId: string): Promise<Remembered>;
  /** Writes again and again until `end`. */
  keep(session: () => SessionInfo | null, end: AbortSignal): Promise<void>;
  /** Writes once more; false when it could not. */
  write(session: SessionInfo | null): Promise<boolean>;
}

const WRITE_MS = 500;
/** Without news the time alone is written this often, ms. */
const LISTENED_MS = 30_000;

/** Creates the keeper of one bot. */
export function createSessionKeeper(kv: KeyValueStore, clock: Clock, log: Log): SessionKeeper {
  const progress = createProgress(0);
  let appId = "";
  let aliveAt = 0;
  const write = async (session: SessionInfo | null): Promise<boolean> => {
    if (appId === "" || aliveAt === 0) return false;
    const safe = session === null ? {} : { ...session, sequence: Math.min(session.sequence, progress.safe()) };
    try {
      await kv.set(sessionKey(appId), { ...safe, at: aliveAt });
      return true;
    } catch (error) {
      log.debug({ error: error instanceof Error ? error.name : "" }, "discord session not written; tried again soon");
      return false;
    }
  };
  return {
    progress,
    alive() {
      aliveAt = clock.now();
    },
    aliveAt: () => aliveAt,
    async begin(id) {
      appId = id;
      const remembered = await recall(kv, id, clock);
      aliveAt = Math.max(aliveAt, remembered.listenedAt);
      progress.restart(remembered.session?.sequence ?? 0);
      return remembered;
    },
    async keep(session, end) {
      let written = "";
      let writtenAt = 0;
      while (!end.aborted) {
        await clock.delay(WRITE_MS, end);
        if (end.aborted) return;
        const next = `${session()?.sessionId}:${progress.safe()}`;
        if (next === written && clock.now() - writtenAt < LISTENED_MS) continue;
        if (!(await write(session()))) continue;
        written = next;
        writtenAt = clock.now();
      }
    },
    write,
  };
}
