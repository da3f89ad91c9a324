/**
 * "Is typing…" while a bot works. Discord shows it for ten seconds or until the bot posts, so it is repeated, by one loop per bot and channel.
 * Invariant: nothing is shown after a post until the engine asks again, so a finished answer is never followed by "is typing…"; failures are silent.
 */

import type { Clock } from "../../engine/index.ts";

/** Typing of all bots. */
export interface Typing {
  /** Begins to show it; ends by itself after `LONGEST_MS`. */
  show(botId: string, channelId: string, send: () => Promise<unknown>): void;
  /** Ends it. */
  quiet(botId: string, channelId: string): void;
  stop(): void;
}

const REPEAT_MS = 8000;
/** The engine asks again every minute while it works. */
const LONGEST_MS = 90_000;

/** Creates the loops of one adapter. */
export function createTyping(clock: Clock): Typing {
  const running = new Map<string, { readonly over: AbortController; until: number }>();
  const loop = async (key: string, over: AbortController, send: () => Promise<unknown>): Promise<void> => {
    try {
      while (!over.signal.aborted && clock.now() < (running.get(key)?.until ?? 0)) {
        await send();
        await clock.delay(REPEAT_MS, over.signal);
      }
    } catch {
      // Decoration: a place that does not take it is not asked again until the engine says so.
    } finally {
      if (running.get(key)?.over === over) running.delete(key);
    }
  };
  return {
    show(botId, channelId, send) {
      const key = `${botId} ${channelId}`;
      const until = clock.now() + LONGEST_MS;
      const current = running.get(key);
      if (current) {
        current.until = until;
        return;
      }
      const over = new AbortController();
      running.set(key, { over, until });
      void loop(key, over, send);
    },
    quiet(botId, channelId) {
      const key = `${botId} ${channelId}`;
      running.get(key)?.over.abort();
      running.delete(key);
    },
    stop() {
      for (const { over } of running.values()) over.abort();
      running.clear();
    },
  };
}
