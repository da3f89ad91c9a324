/**
 * The two Web API clients of one bot. `web` is for everything that may take a while; `fast` is for the path of a click, so that neither a rate
 * limit nor a slow upload on the other one can make a trigger expire.
 * Invariant: no client repeats a call by itself (a repeated post is a second message), each has its own options object (a shared one would carry
 * one bot's token to another), and nothing a client logs holds content.
 */

import type { Logger, webApi } from "@slack/bolt";
import type { Log } from "../../engine/index.ts";
import { CALL_TIMEOUT_MS, FAST_TIMEOUT_MS } from "./limits.ts";

/** One call of a Web API method. Rejects with the client's errors; `problemOf` reads them. */
export type SlackCall = (method: string, args: Record<string, unknown>) => Promise<unknown>;

/** The calls of one bot. */
export interface SlackCalls {
  readonly web: SlackCall;
  readonly fast: SlackCall;
}

/** Options for one client; made anew for each, because clients write into them. */
export function clientOptions(apiUrl: string, log: Log, timeout = CALL_TIMEOUT_MS): webApi.WebClientOptions {
  return {
    slackApiUrl: apiUrl.endsWith("/") ? apiUrl : `${apiUrl}/`,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
    timeout,
    allowAbsoluteUrls: false,
    logger: quietLogger(log),
  };
}

/** Creates both clients for one token; without one only methods that need none work. */
export async function createCalls(apiUrl: string, botToken: string | undefined, log: Log): Promise<SlackCalls> {
  const { webApi: api } = await import("@slack/bolt");
  const web = new api.WebClient(botToken, clientOptions(apiUrl, log));
  const fast = new api.WebClient(botToken, clientOptions(apiUrl, log, FAST_TIMEOUT_MS));
  return {
    web: (method, args) => web.apiCall(method, args),
    fast: (method, args) => fast.apiCall(method, args),
  };
}

/** Slack's libraries print payloads at debug level and error bodies above it; only that something was said is kept. */
export function quietLogger(log: Log): Logger {
  const ignore = () => undefined;
  return {
    debug: ignore,
    info: ignore,
    warn: () => log.debug({}, "slack library warning"),
    error: () => log.debug({}, "slack library error"),
    setLevel: ignore,
    setName: ignore,
    getLevel: () => "info" as ReturnType<Logger["getLevel"]>,
  };
}
