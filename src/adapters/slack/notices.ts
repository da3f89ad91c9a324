/**
 * Words for one person's eyes: why a click did nothing, or a one-time link. Sent on the fast client, so that nothing delays them.
 * Invariant: telling never throws; when neither way works it is logged and counted, because a click should not meet silence (SPEC C1).
 */

import type { Block } from "./blocks.ts";
import type { SlackBot } from "./bot.ts";
import { problemOf } from "./errors.ts";
import { toPlainText } from "./format.ts";
import { FAST_TIMEOUT_MS, SECTION_CHARS } from "./limits.ts";
import { asPersona } from "./persona.ts";

/** Who is told, and where. */
export interface Listener {
  readonly channelId: string;
  readonly userId: string;
  readonly threadTs?: string | undefined;
  /** Slack's second way to answer an interaction. */
  readonly responseUrl?: string | undefined;
}

/** Shows words (and blocks) to one person only. */
export async function tellPrivately(
  bot: SlackBot,
  listener: Listener,
  words: string,
  blocks?: readonly Block[],
): Promise<void> {
  const shown = { text: toPlainText(words, SECTION_CHARS), ...(blocks ? { blocks } : {}) };
  try {
    await asPersona(bot, (persona) =>
      bot.calls.fast("chat.postEphemeral", {
        channel: listener.channelId,
        user: listener.userId,
        ...(listener.threadTs === undefined ? {} : { thread_ts: listener.threadTs }),
        parse: "none",
        link_names: false,
        ...persona,
        ...shown,
      }),
    );
  } catch (error) {
    if (await respond(bot, listener, shown)) return;
    bot.context.metrics.count("parley_slack_untold_notices_total");
    bot.log.warn({ code: problemOf(error).code }, "a private notice could not be shown");
  }
}

async function respond(bot: SlackBot, listener: Listener, shown: object): Promise<boolean> {
  const url = listener.responseUrl;
  if (url === undefined || !isSlackUrl(url, bot.apiUrl)) return false;
  try {
    const answer = await fetch(url, {
      method: "POST",
      redirect: "error",
      signal: AbortSignal.timeout(FAST_TIMEOUT_MS),
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ response_type: "ephemeral", replace_original: false, ...shown }),
    });
    await answer.arrayBuffer();
    return answer.ok;
  } catch {
    // The second way failed as well; the caller logs and counts it.
    return false;
  }
}

/** Slack's answers name addresses; only https ones, or those of the configured server itself, are called. */
export function isSlackUrl(url: string, apiUrl: string): boolean {
  if (!URL.canParse(url)) return false;
  const parsed = new URL(url);
  return parsed.protocol === "https:" || parsed.origin === new URL(apiUrl).origin;
}
