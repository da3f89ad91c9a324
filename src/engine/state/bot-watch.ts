/**
 * Notices bots that were made or changed at run time, in this process or another one, so that they become reachable without a restart (SPEC A3).
 * Tells of each version once.
 */

import type { Bot } from "../bot.ts";
import type { Store } from "../store/store.ts";

/** The versions this process has acted on. */
export interface BotWatch {
  /** Bots that are dealt with already. */
  know(bots: readonly Bot[]): void;
  /** A bot was made or changed here. */
  tell(bot: Bot): void;
  /** Looks for what other processes have done. */
  pass(): Promise<void>;
}

/** A watch over the store. */
export function createBotWatch(parts: {
  readonly store: Store;
  readonly orgId: string;
  readonly onChanged: (bot: Bot) => void;
}): BotWatch {
  const versions = new Map<string, number>();
  const tell = (bot: Bot): void => {
    if (versions.get(bot.id) === bot.version) return;
    versions.set(bot.id, bot.version);
    parts.onChanged(bot);
  };
  return {
    know(bots) {
      for (const bot of bots) versions.set(bot.id, bot.version);
    },
    tell,
    async pass() {
      for (const bot of await parts.store.listBots(parts.orgId)) tell(bot);
    },
  };
}
