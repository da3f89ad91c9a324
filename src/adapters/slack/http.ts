/**
 * Slack over HTTP: `POST /slack/<bot>/events` takes events, interactions and commands of one bot.
 * Invariant: nothing is read from a request before its signature over the raw body was checked against that bot's secret and its time lies within
 * five minutes of ours, in either direction. An event that could not be stored is answered 503, so that Slack sends it again.
 */

import { createHmac, timingSafeEqual } from "node:crypto";
import type { AdapterRoute, Clock } from "../../engine/index.ts";
import { type Fields, parseFields, toText } from "../shared/fields.ts";
import type { Intake } from "./receiver.ts";

/** What HTTP needs of a bot. */
export interface HttpBot {
  readonly signingSecret: string;
  readonly intake: Intake;
}

/** Slack's requests are far smaller; this is what its own receiver accepts. */
export const MAX_BODY_BYTES = 4 * 1024 * 1024;
const WINDOW_SECONDS = 5 * 60;
/** Slack waits 3 s; an answer later than this is not heard. */
const ANSWER_MS = 2800;

/** The route for all bots; `botOf` finds one by the name in the path. */
export function createEventRoute(botOf: (botId: string) => HttpBot | undefined, clock: Clock): AdapterRoute {
  return {
    method: "POST",
    path: "/slack/:bot/events",
    guarded: false,
    maxBody: MAX_BODY_BYTES,
    handle: async (request, parameters) => {
      const bot = botOf(parameters.bot ?? "");
      if (!bot) return plain(404, "No bot takes Slack events here.");
      const body = await request.text();
      if (Buffer.byteLength(body) > MAX_BODY_BYTES) return plain(413, "The request is too large.");
      if (!isSigned(request.headers, body, bot.signingSecret, clock.now())) {
        return plain(401, "The signature is wrong or too old. Check the signing secret and the clock.");
      }
      return answer(request.headers, body, bot, clock);
    },
  };
}

/** True when Slack signed exactly this body with this secret just now. */
export function isSigned(headers: Headers, body: string, secret: string, nowMs: number): boolean {
  const stamp = headers.get("x-slack-request-timestamp") ?? "";
  const given = Buffer.from(headers.get("x-slack-signature") ?? "");
  if (!/^\d{1,12}$/.test(stamp) || Math.abs(nowMs / 1000 - Number(stamp)) > WINDOW_SECONDS) return false;
  const digest = createHmac("sha256", secret).update(`v0:${stamp}:${body}`).digest("hex");
  const expected = Buffer.from(`v0=${digest}`);
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function answer(headers: Headers, raw: string, bot: HttpBot, clock: Clock): Promise<Response> {
  const form = (headers.get("content-type") ?? "").toLowerCase().startsWith("application/x-www-form-urlencoded");
  const body = form ? readForm(raw) : parseFields(raw);
  if (body.ssl_check !== undefined) return Promise.resolve(plain(200, ""));
  if (body.type === "url_verification") {
    return Promise.resolve(Response.json({ challenge: toText(body.challenge) ?? "" }));
  }
  if (Object.keys(body).length === 0) return Promise.resolve(plain(400, "The request body is not what Slack sends."));
  const retryNum = Number(headers.get("x-slack-retry-num") ?? "0") || 0;
  return new Promise((resolve) => {
    const acknowledge = (response?: unknown) => resolve(toResponse(response));
    void bot.intake.take({ body, retryNum, acknowledge }).then((acknowledged) => {
      if (!acknowledged) resolve(plain(503, "The event could not be stored. Send it again."));
    });
    void clock.delay(ANSWER_MS).then(() => resolve(plain(503, "Not stored in time. Send it again.")));
  });
}

/** Interactions come as JSON in a form field, commands as the form itself. */
function readForm(raw: string): Fields {
  const form = new URLSearchParams(raw);
  const payload = form.get("payload");
  return payload === null ? Object.fromEntries(form) : parseFields(payload);
}

function toResponse(response: unknown): Response {
  if (response === undefined || response === "") return plain(200, "");
  return typeof response === "string" ? plain(200, response) : Response.json(response);
}

function plain(status: number, text: string): Response {
  return new Response(text, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
}
