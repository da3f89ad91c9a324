/**
 * What a failed Slack call means. One table: wait and repeat, unknown outcome, refused content, a place that cannot be written to, or a bot that
 * lacks something. Invariant: texts say what to do and hold no content of messages; an error we have never seen counts as "unknown" only when the
 * request may have been carried out.
 */

import { DeliveryError, type DeliveryProblem } from "../../engine/index.ts";
import { toFields, toList, toText } from "../shared/fields.ts";

/** A failed call, understood. `code` is Slack's own word for it, or our own for what happened on the wire. */
export interface SlackProblem {
  readonly problem: DeliveryProblem;
  readonly code: string;
  readonly waitMs: number;
  readonly text: string;
  /** The request never reached Slack, so it cannot have been carried out. */
  readonly unsent?: boolean;
}

const WAIT = new Set(["ratelimited", "rate_limited", "message_limit_exceeded_temporarily"]);
const UNKNOWN = new Set([
  "fatal_error",
  "internal_error",
  "service_unavailable",
  "request_timeout",
  "team_added_to_org",
]);
const PLACE: Readonly<Record<string, string>> = {
  channel_not_found: "The conversation does not exist or the bot is not in it. Invite the bot and try again.",
  not_in_channel: "The bot is not in this channel. Invite it with /invite and try again.",
  is_archived: "The channel is archived. Unarchive it or use another one.",
  thread_not_found: "The thread's first message is gone. Write in the channel instead.",
  cannot_reply_to_message: "This message cannot be answered in a thread. Write in the channel instead.",
  messages_tab_disabled: "Direct messages to this app are off. Switch on the Messages tab under App Home.",
  message_limit_exceeded: "The workspace has reached its message limit.",
  user_not_in_channel: "That person is not in this channel.",
  cannot_dm_bot: "Apps cannot write to other apps directly.",
  channel_type_not_supported: "Apps cannot write to this kind of conversation.",
};
const BOT: Readonly<Record<string, string>> = {
  invalid_auth: "Slack does not accept the bot token. Copy it again from OAuth & Permissions.",
  not_authed: "The bot token is missing.",
  token_revoked: "The token was revoked. Install the app again and copy the new bot token.",
  token_expired: "The token has expired. Install the app again and copy the new bot token.",
  account_inactive: "The app was removed from the workspace. Install it again.",
  org_login_required: "The workspace is moving to an Enterprise organisation. Try again later.",
  ekm_access_denied: "The workspace's administrators have suspended writing.",
  missing_scope: "The app lacks a permission.",
  not_allowed_token_type: "This is the wrong kind of token: bot tokens begin with xoxb-, app tokens with xapp-.",
  no_permission: "The app is not allowed to do this in the workspace.",
  app_missing_action_url: "Switch on Interactivity in the app's settings.",
};
const NEVER_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** Reads any error a call can throw. */
export function problemOf(error: unknown): SlackProblem {
  const fields = toFields(error);
  switch (fields.code) {
    case "slack_webapi_rate_limited_error":
      return waitFor("ratelimited", typeof fields.retryAfter === "number" ? fields.retryAfter * 1000 : 1000);
    case "slack_webapi_platform_error":
      return platformProblem(toFields(fields.data));
    case "slack_webapi_http_error":
      return unknownOutcome(`http_${String(fields.statusCode)}`);
    case "slack_webapi_request_error":
      return requestProblem(fields.original);
    default:
      return otherProblem(error);
  }
}

/** The same as an error for the engine. */
export function toDeliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const { problem, text, waitMs } = problemOf(error);
  return new DeliveryError(problem, text, { waitMs, cause: error });
}

function platformProblem(data: ReturnType<typeof toFields>): SlackProblem {
  const code = toText(data.error) ?? "unknown_error";
  const retryAfter = toFields(data.response_metadata).retryAfter;
  if (WAIT.has(code)) return waitFor(code, typeof retryAfter === "number" ? retryAfter * 1000 : 1000);
  // A proxy's HTML page arrives as the error's text: nobody knows whether Slack acted.
  if (UNKNOWN.has(code) || !/^[a-z0-9_]{1,80}$/.test(code))
    return unknownOutcome(UNKNOWN.has(code) ? code : "no_slack_answer");
  const place =
    PLACE[code] ??
    (code.startsWith("restricted_action") ? "The workspace does not let the app write here." : undefined);
  if (place !== undefined) return { problem: "place", code, waitMs: 0, text: `${place} (Slack: ${code})` };
  const bot = BOT[code];
  if (bot !== undefined)
    return { problem: "bot", code, waitMs: 0, text: `${bot}${neededScopes(data)} (Slack: ${code})` };
  return {
    problem: "content",
    code,
    waitMs: 0,
    text: `Slack refused this message: ${code}${pointers(data)}. Send it in a simpler form.`,
  };
}

function neededScopes(data: ReturnType<typeof toFields>): string {
  const needed = toText(data.needed);
  return needed === undefined ? "" : ` Add ${needed} under OAuth & Permissions and install the app again.`;
}

/** Where in the blocks the fault lies; pointers only, because the messages may quote the text. */
function pointers(data: ReturnType<typeof toFields>): string {
  const listed = [
    ...(Array.isArray(data.errors) ? data.errors : []),
    ...toList(data.errors).map((item) => item.pointer),
  ];
  const found = listed.flatMap((item) =>
    typeof item === "string" ? [...item.matchAll(/json-pointer:([^\]\s]+)/g)] : [],
  );
  return found.length === 0
    ? ""
    : ` at ${found
        .slice(0, 3)
        .map((match) => match[1] ?? "")
        .join(", ")}`;
}

function requestProblem(original: unknown): SlackProblem {
  const cause = toFields(toFields(original).cause);
  const code = toText(cause.code) ?? toText(toFields(original).code);
  if (code !== undefined && NEVER_SENT.has(code)) {
    return { ...waitFor(code, 2000), text: "Slack cannot be reached at the moment.", unsent: true };
  }
  return unknownOutcome(code ?? (toFields(original).name === "TimeoutError" ? "timeout" : "connection_lost"));
}

function otherProblem(error: unknown): SlackProblem {
  const message = error instanceof Error ? error.message : "";
  // The client's words for a 429 without a usable waiting time: Slack did not act.
  if (message.startsWith("Retry header did not contain")) return waitFor("ratelimited", 5000);
  return unknownOutcome("unexpected");
}

function waitFor(code: string, waitMs: number): SlackProblem {
  return { problem: "wait", code, waitMs: Math.max(waitMs, 1), text: "Slack asks to wait before the next message." };
}

function unknownOutcome(code: string): SlackProblem {
  return {
    problem: "unknown",
    code,
    waitMs: 0,
    text: `Slack gave no usable answer (${code}); the message may have arrived.`,
  };
}
