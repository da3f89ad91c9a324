/**
 * Places where a bot may not write, as Discord said: they are not tried again until something about permissions changes or a while has passed, because
 * every refusal counts against our address.
 * Invariant: remembers refusals of a place only, never trouble that may pass by itself.
 */

import type { Clock } from "../../engine/index.ts";
import { type Fields, toText } from "../shared/fields.ts";
import { createRecent } from "./recent.ts";

/** Refusals by bot and channel. */
export interface Blocked {
  /** Why this bot cannot write there, or undefined. */
  reason(botId: string, channelId: string): string | undefined;
  add(botId: string, channelId: string, guildId: string, reason: string): void;
  /** Takes in what a gateway event says about permissions. */
  note(event: string, data: Fields): void;
}

const FORGET_MS = 10 * 60_000;
const LIMIT = 2000;

interface Refusal {
  readonly reason: string;
  readonly guildId: string;
  readonly at: number;
}

/** Creates the memory of one adapter. */
export function createBlocked(clock: Clock): Blocked {
  const refusals = createRecent<Refusal>(LIMIT);
  const changedAt = createRecent<number>(LIMIT);
  return {
    reason(botId, channelId) {
      const found = refusals.get(`${botId} ${channelId}`);
      if (!found) return undefined;
      const changed = Math.max(changedAt.get(found.guildId) ?? 0, changedAt.get(channelId) ?? 0);
      return changed > found.at || clock.now() - found.at > FORGET_MS ? undefined : found.reason;
    },
    add: (botId, channelId, guildId, reason) =>
      refusals.set(`${botId} ${channelId}`, { reason, guildId, at: clock.now() }),
    note(event, data) {
      const now = clock.now() + 1;
      if (/^(?:CHANNEL|THREAD)_(?:CREATE|UPDATE)$/.test(event)) changedAt.set(toText(data.id) ?? "", now);
      if (/^(?:CHANNEL_UPDATE|GUILD_ROLE_\w+|GUILD_MEMBER_UPDATE|GUILD_UPDATE|GUILD_CREATE)$/.test(event))
        changedAt.set(toText(data.guild_id) ?? toText(data.id) ?? "", now);
      // Somebody who writes directly takes answers again.
      if (event === "MESSAGE_CREATE" && data.guild_id === undefined) changedAt.set(toText(data.channel_id) ?? "", now);
    },
  };
}
