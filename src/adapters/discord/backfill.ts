/**
 * Reads what was written while a bot was away and its session could not be resumed. Bounded by age, number of places and number of messages, so that
 * a long absence does not answer old news.
 * Invariant: what is found goes the same way as live events with the same keys, so a message that was taken in before is never answered again.
 */

import { type Fields, toFields, toList, toText, toTexts } from "../shared/fields.ts";
import type { DiscordBot } from "./bot.ts";
import { problemOf } from "./errors.ts";
import { idAt } from "./inbound.ts";
import { createRecent } from "./recent.ts";

/** Bounds; tests change them. */
export interface BackfillOptions {
  readonly maxAgeMs: number;
  readonly maxPlaces: number;
  readonly maxMessages: number;
}

/** Bounds for real servers. */
export const DEFAULT_BACKFILL: BackfillOptions = { maxAgeMs: 15 * 60_000, maxPlaces: 60, maxMessages: 300 };

/** Reads history of one bot. Nothing here rejects. */
export interface Backfill {
  /** A session began: reads direct messages; servers follow as they are announced. */
  ready(listenedAt: number): void;
  /** A server was announced. */
  guild(data: Fields): void;
  /** A direct message arrived here; its channel is read after the next absence. */
  direct(channelId: string): void;
  /** Resolves when nothing is being read. */
  done(): Promise<void>;
}

/** Differences of clocks between us and Discord, ms. */
const MARGIN_MS = 5000;
const DIRECT_CHANNELS = 50;
const KNOWN_DIRECTS = 500;

/** Creates the reader; `take` is the way of live events. */
export function createBackfill(
  bot: DiscordBot,
  take: (event: string, data: Fields) => Promise<void>,
  stopping: AbortSignal,
  options: BackfillOptions = DEFAULT_BACKFILL,
): Backfill {
  let since = 0;
  let places = 0;
  let messages = 0;
  let chain: Promise<void> = Promise.resolve();
  const key = `directs:${bot.self.appId}`;
  const known = createRecent<true>(KNOWN_DIRECTS);
  const readOne = async (channelId: string, extra: Fields): Promise<void> => {
    if (stopping.aborted || places >= options.maxPlaces || messages >= options.maxMessages) return;
    places += 1;
    const found = await readSince(bot, channelId, since);
    for (const message of found.slice(0, options.maxMessages - messages)) {
      messages += 1;
      await take("MESSAGE_CREATE", { ...message, ...extra });
    }
    if (found.length > 0) bot.context.metrics.count("parley_discord_missed_messages_total", {}, found.length);
    if (found.length > 0) bot.log.info({ channelId, messages: found.length }, "read what was written while away");
  };
  const later = (work: () => Promise<void>): void => {
    chain = chain.then(work).catch((error: unknown) => {
      bot.log.warn({ code: problemOf(error).code }, "discord history could not be read after an absence");
    });
  };
  return {
    ready(listenedAt) {
      since = listenedAt === 0 ? 0 : Math.max(listenedAt - MARGIN_MS, bot.context.clock.now() - options.maxAgeMs);
      places = 0;
      messages = 0;
      if (since === 0) return;
      later(async () => {
        for (const channelId of toTexts(await bot.context.kv.get(key))) await readOne(channelId, { channel_type: 1 });
      });
    },
    guild(data) {
      const guildId = toText(data.id);
      if (since === 0 || guildId === undefined) return;
      const newest = BigInt(idAt(since));
      const changed = [...toList(data.channels), ...toList(data.threads)].filter((place) => isAfter(place, newest));
      for (const place of changed) {
        later(() => readOne(toText(place.id) ?? "", { guild_id: guildId, channel_type: place.type }));
      }
    },
    direct(channelId) {
      if (known.get(channelId)) return;
      known.set(channelId, true);
      later(async () => {
        const others = toTexts(await bot.context.kv.get(key)).filter((id) => id !== channelId);
        await bot.context.kv.set(key, [channelId, ...others].slice(0, DIRECT_CHANNELS));
      });
    },
    done: () => chain,
  };
}

function isAfter(place: Fields, newest: bigint): boolean {
  const last = toText(place.last_message_id);
  return last !== undefined && /^\d{15,21}$/.test(last) && BigInt(last) > newest;
}

/** Oldest first. Where history may not be read Discord gives an empty list or a refusal; both mean nothing can be done. */
async function readSince(bot: DiscordBot, channelId: string, since: number): Promise<readonly Fields[]> {
  try {
    const query = { after: idAt(since), limit: "100" };
    const answer = toList(await bot.calls.call("get", `/channels/${channelId}/messages`, { query }));
    return [...answer].map(toFields).sort((a, b) => compareIds(toText(a.id) ?? "0", toText(b.id) ?? "0"));
  } catch (error) {
    const { problem } = problemOf(error);
    if (problem === "place" || problem === "content") return [];
    throw error;
  }
}

/** Order of Discord ids, which is the order of time. */
export function compareIds(left: string, right: string): number {
  return left.length === right.length ? (left < right ? -1 : Number(left > right)) : left.length - right.length;
}
