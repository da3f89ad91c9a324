/**
 * Shows in a thread that the bot works: the "is thinking…" line, and the agent session's state with its Stop button where the app has one.
 * Invariant: what is shown last is what was asked for last, per thread, however slow Slack is; what a process leaves behind when it dies is cleared
 * by the next one, because every shown thread is noted first. Nothing here posts a message, and no failure disturbs anybody.
 */

import type { KeyValueStore, Log } from "../../engine/index.ts";
import { toFields, toText, toTexts } from "../shared/fields.ts";
import type { SlackCalls } from "./clients.ts";
import { problemOf } from "./errors.ts";

/** Working states of one bot in one workspace. */
export interface Presence {
  /** Shows or clears it. Resolves when Slack was told; never rejects. */
  show(channelId: string, threadTs: string, working: boolean, words?: string): Promise<void>;
  /** A message of the bot has removed the line; it is shown again while the work goes on. */
  posted(channelId: string, threadTs: string): void;
  /** Clears what earlier processes left. */
  recover(): Promise<void>;
  /** Threads of a channel in which the bot is shown to work, by whichever process. */
  working(channelId: string): Promise<readonly string[]>;
  /** What the app's settings lack for the Stop button, for the operator. */
  remedy(): string | undefined;
}

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

/** `installationId` keeps the notes of one workspace apart from another's. */
export function createPresence(calls: SlackCalls, kv: KeyValueStore, installationId: string, log: Log): Presence {
  return new ShownPresence(calls, kv, installationId, log);
}

class ShownPresence implements Presence {
  readonly #calls: SlackCalls;
  readonly #kv: KeyValueStore;
  readonly #prefix: string;
  readonly #log: Log;
  /** Threads in which work is shown now, and what is still being told about each. */
  readonly #shown = new Set<string>();
  readonly #telling = new Map<string, Promise<void>>();
  #hasSessions = true;
  #remedy: string | undefined;

  constructor(calls: SlackCalls, kv: KeyValueStore, installationId: string, log: Log) {
    this.#calls = calls;
    this.#kv = kv;
    this.#prefix = `slack:working:${installationId}:`;
    this.#log = log;
  }

  remedy(): string | undefined {
    return this.#remedy;
  }

  show(channelId: string, threadTs: string, working: boolean, words?: string): Promise<void> {
    const key = this.#keyOf(channelId, threadTs);
    if (working) this.#shown.add(key);
    else this.#shown.delete(key);
    return this.#inTurn(key, async () => {
      if (working) await this.#note(key);
      await Promise.all([this.#line(channelId, threadTs, working, words), this.#session(channelId, threadTs, working)]);
      if (!working) await this.#drop(key);
    });
  }

  posted(channelId: string, threadTs: string): void {
    const key = this.#keyOf(channelId, threadTs);
    if (!this.#shown.has(key)) return;
    void this.#inTurn(key, async () => {
      if (this.#shown.has(key)) await this.#line(channelId, threadTs, true);
    });
  }

  async recover(): Promise<void> {
    try {
      for (const { key } of await this.#kv.list({ prefix: this.#prefix, limit: MAX_LEFT })) {
        const [channelId, threadTs] = key.slice(this.#prefix.length).split(":");
        if (this.#shown.has(key)) continue;
        if (channelId !== undefined && threadTs !== undefined) await this.show(channelId, threadTs, false);
        else await this.#drop(key);
      }
    } catch {
      // Lines that are left over end by themselves after two minutes.
      this.#log.warn({}, "slack statuses of an earlier process could not be cleared");
    }
  }

  async working(channelId: string): Promise<readonly string[]> {
    const prefix = `${this.#prefix}${channelId}:`;
    return (await this.#kv.list({ prefix, limit: MAX_LEFT })).map(({ key }) => key.slice(prefix.length));
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

  async #line(channelId: string, threadTs: string, working: boolean, words = STATUS): Promise<void> {
    await this.#tell("assistant.threads.setStatus", {
      channel_id: channelId,
      thread_ts: threadTs,
      status: working ? words.slice(0, MAX_STATUS) : "",
    });
  }

  async #session(channelId: string, threadTs: string, working: boolean): Promise<void> {
    if (!this.#hasSessions) return;
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
      return toFields(await this.#calls.fast(method, args));
    } catch (error) {
      const { code } = problemOf(error);
      this.#log.debug({ method, code }, "a slack status was not shown");
      return code;
    }
  }

  async #note(key: string): Promise<void> {
    try {
      await this.#kv.set(key, { working: true });
    } catch {
      // Without the note the line is only cleared by this process, or by its own end.
      this.#log.debug({}, "a slack status was not noted");
    }
  }

  async #drop(key: string): Promise<void> {
    try {
      await this.#kv.delete(key);
    } catch {
      // A note that stays is cleared once more at the next start.
      this.#log.debug({}, "a slack status note was not removed");
    }
  }
}
