/**
 * What a failed Discord call means. One table: wait and repeat, unknown outcome, refused content, a place that cannot be written to, or a bot that
 * lacks something. Invariant: texts say what to do and hold no content of messages (the client's errors carry the whole request, so nothing but the
 * code and the paths of form errors is read from them).
 */

import { DeliveryError, type DeliveryProblem } from "../../engine/index.ts";
import { type Fields, toFields, toText } from "../shared/fields.ts";

/** A failed call, understood. `code` is Discord's number, or our own word for what happened on the wire. */
export interface DiscordProblem {
  readonly problem: DeliveryProblem;
  readonly code: string;
  readonly status: number;
  readonly waitMs: number;
  readonly text: string;
}

const PLACE: Readonly<Record<string, string>> = {
  10003: "The channel does not exist any more.",
  10004: "The server does not exist any more.",
  20022: "The server limits how fast anybody may write here. Try again later or elsewhere.",
  40058: "This is a forum: only its posts can be written in.",
  50001: "The bot cannot see this channel. Give its role View Channel and Send Messages there.",
  50007:
    "This person does not take direct messages from the bot. Write in the channel where you talk with them, or ask them to allow direct messages from members of the server.",
  50008: "Nothing can be written in this kind of channel.",
  50013:
    "The bot lacks a permission in this channel. Give its role Send Messages (in threads: Send Messages in Threads), Attach Files and Embed Links there.",
  50024: "This cannot be done in this kind of channel.",
  50083: "The thread is archived.",
  50278: "The bot and this person have no server in common, so it cannot write to them directly. Write in a channel.",
  160005: "The thread is locked. Write in the channel instead.",
};
const CONTENT: Readonly<Record<string, string>> = {
  20009: "Discord does not let this be sent here because of its explicit content.",
  40005: "Discord refused the file because it is too large for this server. Send a smaller one or a link.",
  50006: "Discord does not take empty messages.",
  50045: "Discord refused the file because it is too large for this server. Send a smaller one or a link.",
  200000: "The server's AutoMod blocked this text. Say it differently.",
  200001: "The server's AutoMod blocked the title. Say it differently.",
  240000: "Discord blocked a harmful link in this text. Leave the link out.",
};
const WAIT: Readonly<Record<string, number>> = {
  20016: 5000,
  20028: 5000,
  20029: 5000,
  30046: 60_000,
  40003: 30_000,
  40333: 30_000,
  130000: 5000,
};
const NEVER_SENT = new Set(["ECONNREFUSED", "ENOTFOUND", "EAI_AGAIN", "EHOSTUNREACH", "ENETUNREACH"]);

/** The text for a token that does not work. */
export const TOKEN_REMEDY =
  "Discord does not accept the bot token. In the developer portal open Bot, press Reset Token, and put the new token into the settings.";

/** Reads any error a call can throw. */
export function problemOf(error: unknown): DiscordProblem {
  if (error instanceof DeliveryError) {
    return { problem: error.problem, code: "known", status: 0, waitMs: error.waitMs, text: error.message };
  }
  const fields = toFields(error);
  const name = nameOf(error);
  if (name.startsWith("RateLimitError"))
    return waitFor("ratelimited", Number(fields.retryAfter ?? fields.timeToReset) || 1000, 429);
  if (name === "TooManyInvalidError") return waitFor("paused", Number(fields.waitMs) || 60_000);
  if (name.startsWith("DiscordAPIError")) return apiProblem(fields);
  if (name.startsWith("HTTPError")) return unknownOutcome(`http_${String(fields.status)}`, Number(fields.status));
  return networkProblem(error);
}

function nameOf(error: unknown): string {
  return error instanceof Error ? (error.constructor.name === "Error" ? error.name : error.constructor.name) : "";
}

/** The same as an error for the engine. */
export function toDeliveryError(error: unknown): DeliveryError {
  if (error instanceof DeliveryError) return error;
  const { problem, text, waitMs, code, status } = problemOf(error);
  // The client's error holds the request, and a request holds what was written: only its code goes on.
  return new DeliveryError(problem, text, { waitMs, cause: new Error(`Discord ${status}/${code}`) });
}

function apiProblem(error: Fields): DiscordProblem {
  const code = String(error.code ?? "");
  const status = Number(error.status ?? 0);
  const raw = toFields(error.rawError);
  if (status === 401) return { problem: "bot", code, status, waitMs: 0, text: `${TOKEN_REMEDY} (Discord: 401)` };
  if (status === 429) return waitFor(code, Number(raw.retry_after) * 1000 || 1000, status);
  const waitMs = WAIT[code];
  if (waitMs !== undefined) return waitFor(code, Number(raw.retry_after) * 1000 || waitMs, status);
  const place = PLACE[code];
  if (place !== undefined) return { problem: "place", code, status, waitMs: 0, text: `${place} (Discord: ${code})` };
  const content = CONTENT[code] ?? (status === 413 ? CONTENT[40005] : undefined);
  if (content !== undefined)
    return { problem: "content", code, status, waitMs: 0, text: `${content} (Discord: ${code})` };
  if (status === 403) {
    return {
      problem: "place",
      code,
      status,
      waitMs: 0,
      text: `Discord does not let the bot do this here. (Discord: ${code})`,
    };
  }
  return {
    problem: "content",
    code,
    status,
    waitMs: 0,
    text: `Discord refused this message: ${code}${pathsOf(raw.errors)}. Send it in a simpler form.`,
  };
}

/** Where in the form the faults lie: paths and Discord's words for the kind of fault only, because messages may quote the text. */
function pathsOf(errors: unknown): string {
  const found = faultsIn(errors, "");
  return found.length === 0 ? "" : ` at ${found.slice(0, 3).join(", ")}`;
}

function faultsIn(node: unknown, path: string): readonly string[] {
  const own = toFields(node)._errors;
  if (Array.isArray(own)) return own.map((item) => `${path || "body"} (${toText(toFields(item).code) ?? "fault"})`);
  return Object.entries(toFields(node)).flatMap(([key, value]) =>
    faultsIn(value, path === "" ? key : `${path}.${key}`),
  );
}

/** True when a form error lies at a field (for example "message_reference"). */
export function isFaultAt(error: unknown, field: string): boolean {
  return Object.keys(toFields(toFields(toFields(error).rawError).errors)).includes(field);
}

function networkProblem(error: unknown): DiscordProblem {
  const cause = toFields(toFields(error).cause);
  const code = toText(cause.code) ?? toText(toFields(error).code);
  if (code !== undefined && NEVER_SENT.has(code)) {
    return { ...waitFor(code, 2000), text: "Discord cannot be reached at the moment." };
  }
  const name = error instanceof Error ? error.name : "";
  if (name === "AbortError" || name === "TimeoutError") return unknownOutcome("timeout");
  if (error instanceof Error && error.message.startsWith("Expected token to be set")) {
    return { problem: "bot", code: "401", status: 401, waitMs: 0, text: TOKEN_REMEDY };
  }
  return unknownOutcome(code ?? "connection_lost");
}

function waitFor(code: string, waitMs: number, status = 0): DiscordProblem {
  const text = "Discord asks to wait before the next message.";
  return { problem: "wait", code, status, waitMs: Math.max(Math.ceil(waitMs), 1), text };
}

function unknownOutcome(code: string, status = 0): DiscordProblem {
  const text = `Discord gave no usable answer (${code}); the message may have arrived.`;
  return { problem: "unknown", code, status, waitMs: 0, text };
}
