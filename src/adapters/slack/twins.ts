/**
 * A mention reaches a bot twice: as a message and as an app_mention, in any order, and only the message is sure to carry files. This holds the mention
 * back for a moment until its message has come, or asks Slack for it, so that whichever copy is taken in first is complete.
 * Invariant: a mention is never lost for this: without an answer it goes on as it came, within `LONGEST_MS`.
 */

import type { Clock, Metrics } from "../../engine/index.ts";
import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import type { SlackCall } from "./clients.ts";

/** Remembers lately heard messages of one bot in one workspace. */
export interface Twins {
  /** Notes an event; messages are remembered, everything else is nothing. */
  heard(event: Fields): void;
  /** The event itself, or, for a mention without files, the event with what its message holds. */
  complete(event: Fields): Promise<Fields>;
  /** A lately heard message, by its channel and ts. */
  find(place: Fields): Fields | undefined;
  /** Mentions lately that no message came for: the app probably does not hear the channel's messages. */
  unmatched(): number;
}

const WAIT_MS = 400;
const LONGEST_MS = 450;
const KEPT = 1000;

/** `ask` is the bot's fast client. */
export function createTwins(ask: SlackCall, clock: Clock, metrics: Metrics): Twins {
  const messages = new Map<string, Fields>();
  const waiting = new Map<string, AbortController>();
  let unmatched = 0;
  const keyOf = (event: Fields) => `${toText(event.channel) ?? ""}:${toText(event.ts) ?? ""}`;
  const wait = async (key: string): Promise<void> => {
    const arrival = waiting.get(key) ?? new AbortController();
    waiting.set(key, arrival);
    await clock.delay(WAIT_MS, arrival.signal);
    waiting.delete(key);
  };
  return {
    heard(event) {
      if (event.type !== "message" || event.hidden === true || toText(event.ts) === undefined) return;
      const key = keyOf(event);
      messages.set(key, event);
      const oldest = messages.keys().next();
      if (messages.size > KEPT && !oldest.done) messages.delete(oldest.value);
      waiting.get(key)?.abort();
    },
    async complete(event) {
      if (event.type !== "app_mention" || toList(event.files).length > 0 || event.edited !== undefined) return event;
      const key = keyOf(event);
      if (!messages.has(key)) await wait(key);
      const known = messages.get(key);
      unmatched = known ? 0 : unmatched + 1;
      if (!known) metrics.count("parley_slack_unmatched_mentions_total");
      const twin =
        known ?? (await Promise.race([askFor(ask, event), clock.delay(LONGEST_MS).then((): Fields => ({}))]));
      return toList(twin.files).length > 0 ? { ...event, files: twin.files } : event;
    },
    find: (place) => messages.get(keyOf(place)),
    unmatched: () => unmatched,
  };
}

/** One message, wherever it stands; {} when Slack does not show it. */
async function askFor(ask: SlackCall, event: Fields): Promise<Fields> {
  const ts = toText(event.ts);
  const root = toText(event.thread_ts) ?? ts;
  const args = { channel: event.channel, ts: root, oldest: ts, latest: ts, inclusive: true, limit: 5 };
  try {
    const answer = toFields(await ask("conversations.replies", args));
    return toList(answer.messages).find((message) => message.ts === ts) ?? {};
  } catch {
    // Without permission to read the channel there is only the mention itself.
    return {};
  }
}
