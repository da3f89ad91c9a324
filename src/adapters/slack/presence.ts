/**
 * Shows in a thread that the bot works: the "is thinking…" line, and the agent session's state with its Stop button where the app has one.
 * Slack takes the line away itself, with the bot's next message there or after two minutes, so a quick answer costs one call; the Stop button is offered
 * to work that lasts. Where the status is switched off nothing is shown, and what works is still known.
 * Invariant: what is shown last is what was asked for last, per thread, however slow Slack is; what a process leaves behind when it dies is cleared
 * by the next one, because work that lasts is noted first. Nothing here posts a message, and no failure disturbs anybody.
 */

import type { Clock, KeyValueStore, Log } from "../../engine/index.ts";
import { toFields, toText, toTexts } from "../shared/fields.ts";
import type { SlackCalls } from "./clients.ts";
import { problemOf } from "./errors.ts";

/** Working states of one bot in one workspace. */
export interface Presence {
  /** Shows or clears it. Resolves when Slack was told what it needs to be told; never rejects. */
  show(channelId: string, threadTs: string, working: boolean, words?: string): Promise<void>;
  /** Clears it whoever has shown it, another process included. Never rejects. */
  clear(channelId: string, threadTs: string): Promise<void>;
  /** A message of the bot has removed the line; it is shown again if the work goes on. */
  posted(channelId: string, threadTs: string): void;
  /** Clears what earlier processes left. */
  recover(): Promise<void>;
  /** Threads of a channel in which the bot works, by whichever process; another one's after `LASTING_MS`. */
  working(channelId: string): Promise<readonly string[]>;
  /** What the app's settings lack for the Stop button, for the operator. */
  remedy(): string | undefined;
}

/** What presence is made from. */
export interface PresenceParts {
  readonly calls: SlackCalls;
  readonly kv: KeyValueStore;
  /** Keeps the notes of one workspace apart from another's. */
  readonly installationId: string;
  readonly clock: Clock;
  readonly log: Log;
  /** False: nothing is shown. */
  readonly isShown: boolean;
}

/** Work that lasts this long, ms, is noted and gets its Stop button; and this long after a message the line comes back. */
const LASTING_MS = 2000;
/** Slack takes a line away after two minutes; one younger than this, ms, outlives the next time we are asked. */
const FRESH_MS = 70_000;
const STATUS = "is thinking…";
/** Slack cuts the line at about this many characters. */
const MAX_STATUS = 80;
const MAX_LEFT = 500;
const STOP_REMEDY =
  "The Stop button is not shown: subscribe the app to the event agent_session_stopped under Event Subscriptions.";
/** Answers that say the app is no agent; asking again would not change that. */
const NO_SESSIONS = new Set([
  "not_an_agent",
  "unknown_method",
  "missing_scope",
  "not_allowed",
  "not_allowed_token_type",
  "feature_not_enabled",
  "invalid_arguments",
]);

/** What is shown of the work in one thread. */
interface Work {
  readonly over: AbortController;
  /** When the line was last shown, unless it is gone. */
  lineAt: number | undefined;
  hasSession: boolean;
  isNoted: boolean;
}

/** Creates the presence of one bot; nothing is called before it is asked to. */
export function createPresence(parts: PresenceParts): Presence {
  return new ShownPresence(parts);
}

class ShownPresence implements Presence {
  readonly #parts: PresenceParts;
  readonly #prefix: string;
  /** By key: the work of this process, and what is still being told about each thread. */
  readonly #works = new Map<string, Work>();
  readonly #telling = new Map<string, Promise<void>>();
  #hasSessions = true;
  #remedy: string | undefined;

  constructor(parts: PresenceParts) {
    this.#parts = parts;
    this.#prefix = `slack:working:${parts.installationId}:`;
  }

  remedy(): string | undefined {
    return this.#remedy;
  }

  show(channelId: string, threadTs: string, working: boolean, words?: string): Promise<void> {
    const key = this.#keyOf(channelId, threadTs);
    const known = this.#works.get(key);
    if (!working) {
      if (!known) return this.#telling.get(key) ?? Promise.resolve();
      this.#works.delete(key);
      known.over.abort();
      return this.#inTurn(key, () => this.#end(channelId, threadTs, known));
    }
    const work = known ?? { over: new AbortController(), lineAt: undefined, hasSession: false, isNoted: false };
    this.#works.set(key, work);
    if (!known) this.#after(key, work, () => this.#lasts(channelId, threadTs, work));
    return this.#inTurn(key, () => this.#keepLine(channelId, threadTs, work, words));
  }

  async clear(channelId: string, threadTs: string): Promise<void> {
    const key = this.#keyOf(channelId, threadTs);
    this.#works.get(key)?.over.abort();
    this.#works.delete(key);
    const all = { over: new AbortController(), lineAt: 0, hasSession: true, isNoted: true };
    await this.#inTurn(key, () => this.#end(channelId, threadTs, all));
  }

  posted(channelId: string, threadTs: string): void {
    const key = this.#keyOf(channelId, threadTs);
    const work = this.#works.get(key);
    if (!work) return;
    // While a line is being told about, nobody knows which came first: it counts as there, and as not to be relied on.
    work.lineAt = this.#telling.has(key) ? 0 : undefined;
    this.#after(key, work, () => this.#keepLine(channelId, threadTs, work));
  }

  async recover(): Promise<void> {
    try {
      for (const { key, value } of await this.#parts.kv.list({ prefix: this.#prefix, limit: MAX_LEFT })) {
        const [channelId, threadTs] = key.slice(this.#prefix.length).split(":");
        if (this.#works.has(key)) continue;
        const wasShown = toFields(value).isShown !== false;
        if (wasShown && channelId !== undefined && threadTs !== undefined) await this.#leftBehind(channelId, threadTs);
        await this.#drop(key);
      }
    } catch {
      // Lines that are left over end by themselves after two minutes.
      this.#parts.log.warn({}, "slack statuses of an earlier process could not be cleared");
    }
  }

  async working(channelId: string): Promise<readonly string[]> {
    const prefix = `${this.#prefix}${channelId}:`;
    const noted = await this.#parts.kv.list({ prefix, limit: MAX_LEFT });
    const own = [...this.#works.keys()].filter((key) => key.startsWith(prefix));
    return [...new Set([...noted.map(({ key }) => key), ...own])].map((key) => key.slice(prefix.length));
  }

  #keyOf(channelId: string, threadTs: string): string {
    return `${this.#prefix}${channelId}:${threadTs}`;
  }

  /** One after another per thread, so that a slow "on" never lands after its "off". */
  #inTurn(key: string, tell: () => Promise<void>): Promise<void> {
    const before = this.#telling.get(key) ?? Promise.resolve();
    const told = before.then(tell).finally(() => {
      if (this.#telling.get(key) === told) this.#telling.delete(key);
    });
    this.#telling.set(key, told);
    return told;
  }

  /** In its turn, once the work has gone on for a while from now. */
  #after(key: string, work: Work, tell: () => Promise<void>): void {
    void this.#parts.clock.delay(LASTING_MS, work.over.signal).then(() => {
      if (!work.over.signal.aborted) void this.#inTurn(key, tell);
    });
  }

  /** `words` say how far the work is; they are shown though the line is fresh. */
  async #keepLine(channelId: string, threadTs: string, work: Work, words?: string): Promise<void> {
    const now = this.#parts.clock.now();
    const isFresh = work.lineAt !== undefined && now - work.lineAt < FRESH_MS;
    if (work.over.signal.aborted || (isFresh && words === undefined)) return;
    // Before the call: a message that is posted meanwhile takes the line away again.
    work.lineAt = now;
    await this.#line(channelId, threadTs, true, words);
  }

  async #lasts(channelId: string, threadTs: string, work: Work): Promise<void> {
    if (work.over.signal.aborted) return;
    work.isNoted = true;
    await this.#note(this.#keyOf(channelId, threadTs));
    work.hasSession = this.#hasSessions && this.#parts.isShown;
    await this.#session(channelId, threadTs, true);
  }

  async #end(channelId: string, threadTs: string, work: Work): Promise<void> {
    await Promise.all([
      work.lineAt === undefined ? undefined : this.#line(channelId, threadTs, false),
      work.hasSession ? this.#session(channelId, threadTs, false) : undefined,
    ]);
    if (work.isNoted) await this.#drop(this.#keyOf(channelId, threadTs));
  }

  /** Told whatever is set now: an earlier process has shown it. */
  async #leftBehind(channelId: string, threadTs: string): Promise<void> {
    await this.#inTurn(this.#keyOf(channelId, threadTs), async () => {
      await Promise.all([
        this.#tellLine(channelId, threadTs, false),
        this.#hasSessions ? this.#tellSession(channelId, threadTs, false) : undefined,
      ]);
    });
  }

  async #line(channelId: string, threadTs: string, working: boolean, words?: string): Promise<void> {
    if (this.#parts.isShown) await this.#tellLine(channelId, threadTs, working, words);
  }

  async #tellLine(channelId: string, threadTs: string, working: boolean, words = STATUS): Promise<void> {
    await this.#tell("assistant.threads.setStatus", {
      channel_id: channelId,
      thread_ts: threadTs,
      status: working ? words.slice(0, MAX_STATUS) : "",
    });
  }

  async #session(channelId: string, threadTs: string, working: boolean): Promise<void> {
    if (this.#hasSessions && this.#parts.isShown) await this.#tellSession(channelId, threadTs, working);
  }

  async #tellSession(channelId: string, threadTs: string, working: boolean): Promise<void> {
    const answer = await this.#tell("agents.sessions.setStatus", {
      channel_id: channelId,
      thread_ts: threadTs,
      status: working ? "processing" : "active",
    });
    if (typeof answer === "string") {
      if (NO_SESSIONS.has(answer)) this.#hasSessions = false;
      return;
    }
    const warnings = [toText(answer.warning) ?? "", ...toTexts(toFields(answer.response_metadata).warnings)];
    if (working) this.#remedy = warnings.some((warning) => warning.includes("stop")) ? STOP_REMEDY : undefined;
  }

  /** The answer, or Slack's word for why not. */
  async #tell(method: string, args: Record<string, unknown>): Promise<ReturnType<typeof toFields> | string> {
    try {
      return toFields(await this.#parts.calls.fast(method, args));
    } catch (error) {
      const { code } = problemOf(error);
      this.#parts.log.debug({ method, code }, "a slack status was not shown");
      return code;
    }
  }

  async #note(key: string): Promise<void> {
    try {
      await this.#parts.kv.set(key, { working: true, isShown: this.#parts.isShown });
    } catch {
      // Without the note the line is only cleared by this process, or by its own end.
      this.#parts.log.debug({}, "a slack status was not noted");
    }
  }

  async #drop(key: string): Promise<void> {
    try {
      await this.#parts.kv.delete(key);
    } catch {
      // A note that stays is cleared once more at the next start.
      this.#parts.log.debug({}, "a slack status note was not removed");
    }
  }
}
