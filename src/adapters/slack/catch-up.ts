/**
 * Reads what was said while the bot was away for longer than Slack keeps delivering (about six minutes), and hands it over as if it had just come.
 * Remembers, in one small stored note per bot, when it last listened and in which channels and threads it lately heard something.
 * Invariant: it only adds events, with the keys they would have had anyway, so what was heard already stays heard once; it never holds up a
 * connection, keeps below Slack's rate for reading, and never looks back further than a day.
 */

import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import type { SlackBot } from "./bot.ts";
import { problemOf } from "./errors.ts";

/** When and how far to look back, ms. */
export interface CatchUpOptions {
  /** Absences shorter than this are covered by Slack's own retries. */
  readonly afterMs: number;
  readonly lookBackMs: number;
  readonly saveMs: number;
  /** Pause between two reads. */
  readonly pauseMs: number;
}

/** What is used in production. */
export const DEFAULT_CATCH_UP: CatchUpOptions = {
  afterMs: 4 * 60_000,
  lookBackMs: 24 * 60 * 60_000,
  saveMs: 30_000,
  pauseMs: 1300,
};

const MAX_PLACES = 150;
const PAGES = 5;
const MARGIN_MS = 60_000;
const TRIES = 4;

/** A channel (thread "") or a thread somebody was heard in. */
interface HeardPlace {
  readonly channel: string;
  readonly thread: string;
}

/** Follows one bot. Contract: nothing here rejects. */
export interface CatchUp {
  /** Notes where something was said. */
  note(event: Fields): void;
  /** The bot listens (again); reads what it missed, in the background. */
  listening(): void;
  /** The bot hears nothing any more. */
  away(): void;
  stop(): Promise<void>;
}

/** Creates it; `handle` takes an event in as if it had been delivered, and rejects when it could not be stored. */
export function createCatchUp(
  bot: SlackBot,
  options: CatchUpOptions,
  handle: (event: Fields) => Promise<void>,
): CatchUp {
  return new Follower(bot, options, handle);
}

class Follower implements CatchUp {
  readonly #bot: SlackBot;
  readonly #options: CatchUpOptions;
  readonly #handle: (event: Fields) => Promise<void>;
  readonly #stopping = new AbortController();
  readonly #places = new Map<string, HeardPlace>();
  #isListening = false;
  #awaySince: number | undefined;
  #work: Promise<void> | undefined;

  constructor(bot: SlackBot, options: CatchUpOptions, handle: (event: Fields) => Promise<void>) {
    this.#bot = bot;
    this.#options = options;
    this.#handle = handle;
  }

  note(event: Fields): void {
    const channel = toText(event.channel);
    if (channel === undefined) return;
    this.#remember({ channel, thread: "" });
    const thread = toText(event.thread_ts);
    if (thread !== undefined) this.#remember({ channel, thread });
  }

  listening(): void {
    if (this.#isListening || this.#stopping.signal.aborted) return;
    this.#isListening = true;
    const since = this.#awaySince;
    this.#awaySince = undefined;
    if (this.#work === undefined) this.#work = this.#follow();
    else if (since !== undefined) void this.#readSince(since);
  }

  away(): void {
    if (this.#isListening) this.#awaySince = this.#bot.context.clock.now();
    this.#isListening = false;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#work;
  }

  #remember(place: HeardPlace): void {
    const key = `${place.channel}:${place.thread}`;
    this.#places.delete(key);
    this.#places.set(key, place);
    const oldest = this.#places.keys().next();
    if (this.#places.size > MAX_PLACES && !oldest.done) this.#places.delete(oldest.value);
  }

  /** Loads the note, reads what was missed, then keeps the note fresh until the end. */
  async #follow(): Promise<void> {
    const { clock } = this.#bot.context;
    const lastHeard = await this.#load();
    if (lastHeard !== undefined) void this.#readSince(lastHeard);
    while (!this.#stopping.signal.aborted) {
      if (this.#isListening) await this.#save();
      await clock.delay(this.#options.saveMs, this.#stopping.signal);
    }
    if (this.#isListening) await this.#save();
  }

  get #key(): string {
    return `slack:heard:${this.#bot.self.installationId}`;
  }

  async #load(): Promise<number | undefined> {
    try {
      const note = toFields(await this.#bot.context.kv.get(this.#key));
      for (const place of toList(note.places)) {
        const channel = toText(place.channel);
        if (channel !== undefined) this.#remember({ channel, thread: toText(place.thread) ?? "" });
      }
      return typeof note.at === "number" ? note.at : undefined;
    } catch {
      // Without the note there is nothing to catch up with; listening goes on.
      this.#bot.log.warn({}, "the note of where slack was heard could not be read");
      return undefined;
    }
  }

  async #save(): Promise<void> {
    try {
      await this.#bot.context.kv.set(this.#key, {
        at: this.#bot.context.clock.now(),
        places: [...this.#places.values()],
      });
    } catch {
      // The next save is soon; an older note only means reading a little more.
      this.#bot.log.warn({}, "the note of where slack was heard could not be saved");
    }
  }

  async #readSince(since: number): Promise<void> {
    const now = this.#bot.context.clock.now();
    if (now - since < this.#options.afterMs) return;
    const from = Math.max(since - MARGIN_MS, now - this.#options.lookBackMs);
    const oldest = (from / 1000).toFixed(6);
    const channels = new Set([...this.#places.values()].map((place) => place.channel));
    for (const channel of await this.#memberships()) if (channels.size < MAX_PLACES) channels.add(channel);
    const threads = [...this.#places.values()].filter((place) => place.thread !== "");
    this.#bot.log.info(
      { minutes: Math.round((now - since) / 60_000), channels: channels.size },
      "reading what slack said meanwhile",
    );
    const pending = new Map(threads.map((place) => [`${place.channel}:${place.thread}`, place]));
    for (const channel of channels) {
      for (const message of await this.#read("conversations.history", { channel, oldest })) {
        await this.#handOver(channel, message);
        const thread = toText(message.thread_ts);
        if (thread !== undefined) pending.set(`${channel}:${thread}`, { channel, thread });
      }
    }
    for (const { channel, thread } of pending.values()) {
      for (const message of await this.#read("conversations.replies", { channel, ts: thread, oldest })) {
        if (message.ts !== thread) await this.#handOver(channel, message);
      }
    }
  }

  async #memberships(): Promise<readonly string[]> {
    const answer = await this.#ask("users.conversations", {
      types: "public_channel,private_channel,im,mpim",
      exclude_archived: true,
      limit: 200,
    });
    return toList(answer.channels).flatMap((channel) => toText(channel.id) ?? []);
  }

  /** Messages of one place, oldest first. */
  async #read(method: string, args: Record<string, unknown>): Promise<readonly Fields[]> {
    const found: Fields[] = [];
    let cursor: string | undefined;
    for (let page = 0; page < PAGES && !this.#stopping.signal.aborted; page += 1) {
      const answer = await this.#ask(method, { ...args, limit: 200, ...(cursor === undefined ? {} : { cursor }) });
      found.push(...toList(answer.messages));
      cursor = toText(toFields(answer.response_metadata).next_cursor);
      if (cursor === undefined) break;
    }
    const at = (message: Fields) => toText(message.ts) ?? "";
    return found.sort((left, right) => (at(left) < at(right) ? -1 : 1));
  }

  async #ask(method: string, args: Record<string, unknown>): Promise<Fields> {
    const { clock } = this.#bot.context;
    for (let attempt = 1; !this.#stopping.signal.aborted; attempt += 1) {
      await clock.delay(this.#options.pauseMs, this.#stopping.signal);
      if (this.#stopping.signal.aborted) break;
      try {
        return toFields(await this.#bot.calls.web(method, args));
      } catch (error) {
        const { problem, code, waitMs } = problemOf(error);
        const passing = problem === "wait" || problem === "unknown";
        if (!passing || attempt >= TRIES) {
          this.#bot.log.warn({ method, code }, "slack would not say what was missed");
          break;
        }
        await clock.delay(waitMs, this.#stopping.signal);
      }
    }
    return {};
  }

  async #handOver(channel: string, message: Fields): Promise<void> {
    for (let attempt = 1; attempt <= TRIES && !this.#stopping.signal.aborted; attempt += 1) {
      try {
        await this.#handle({ ...message, channel });
        return;
      } catch {
        // Storing may work in a moment; after the last try the message counts as missed.
        await this.#bot.context.clock.delay(1000 * attempt, this.#stopping.signal);
      }
    }
    this.#bot.context.metrics.count("parley_slack_missed_messages_total");
  }
}
