/**
 * What people do with messages and modals: pressing, choosing, submitting, closing, slash commands; and the response
 * URLs apps may answer on.
 * Invariant: an interaction is sent once and never again; without an answer within the acknowledgement time the
 * person sees a failure (`acknowledged: false`).
 */
import type { Arrived, Fields } from "../loopback.ts";
import { asFields, asList, asText, sendText } from "../loopback.ts";
import { noteRefusal, recordRequest } from "./api.ts";
import { readableBlocks, readableText } from "./block-text.ts";
import type { Call } from "./call.ts";
import { isTrue } from "./call.ts";
import { readContent } from "./content.ts";
import { lineOf, nextLink } from "./deliveries.ts";
import { deleteMessage, tellChanged, tellMessage } from "./events.ts";
import { postSigned } from "./http-delivery.ts";
import { copyBody } from "./messages.ts";
import { addBotMessage } from "./methods/chat.ts";
import type { App, ResponseUrl, StoredView, User } from "./model.ts";
import { SlackRefusal } from "./refusal.ts";
import type { Workspace } from "./workspace.ts";
import { newId, newTs } from "./workspace.ts";

/** How the app took an interaction. `response` is the payload it acknowledged with, {} when empty. */
export interface InteractionResult {
  readonly acknowledged: boolean;
  readonly ms: number;
  readonly response: Fields;
  readonly triggerId: string;
  readonly responseUrl: string;
}

const RESPONSE_URL_USES = 5;
const RESPONSE_URL_MS = 30 * 60_000;

/** Sends an interaction of a person to an app and waits for its answer. */
export async function interact(
  workspace: Workspace,
  app: App,
  person: User,
  payload: Fields,
  place: { channel?: ResponseUrl["channel"]; message?: ResponseUrl["message"]; view?: StoredView } = {},
): Promise<InteractionResult> {
  const triggerId = `${Date.now()}.${newId("", 10)}.${newId("", 16)}`;
  workspace.triggers.set(triggerId, { app, user: person, at: Date.now(), view: place.view ?? null, used: false });
  let responseUrl = "";
  if (place.channel) {
    const id = newId("", 20);
    workspace.responseUrls.set(id, {
      app,
      user: person,
      channel: place.channel,
      message: place.message ?? null,
      at: Date.now(),
      uses: 0,
    });
    responseUrl = `${workspace.base}/response/${id}`;
  }
  const body: Fields = { ...payload, api_app_id: app.appId, token: "verification-token", trigger_id: triggerId };
  if (responseUrl) body.response_url = responseUrl;
  if (payload.type !== undefined) Object.assign(body, who(app, person));
  const start = Date.now();
  const response = await sendInteraction(workspace, app, body);
  return { acknowledged: response !== null, ms: Date.now() - start, response: response ?? {}, triggerId, responseUrl };
}

function who(app: App, person: User): Fields {
  return {
    team: { id: app.team.id, domain: app.team.name.toLowerCase() },
    user: { id: person.id, username: person.handle, name: person.handle, team_id: person.team.id },
    enterprise: null,
    is_enterprise_install: false,
  };
}

/** Null = no answer in time, or the connection ended. */
function sendInteraction(workspace: Workspace, app: App, body: Fields): Promise<Fields | null> {
  return app.mode === "http" ? sendByHttp(workspace, app, body) : sendBySocket(workspace, app, body);
}

async function sendByHttp(workspace: Workspace, app: App, body: Fields): Promise<Fields | null> {
  const form = body.command === undefined ? { payload: JSON.stringify(body) } : toStrings(body);
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const reply = await postSigned(workspace, app, new URLSearchParams(form).toString(), headers);
  if (reply.status !== 200) return null;
  try {
    return reply.text.trim() === "" ? {} : asFields(JSON.parse(reply.text));
  } catch {
    // Plain text is a legal answer to a slash command.
    return { text: reply.text };
  }
}

function toStrings(body: Fields): Record<string, string> {
  return Object.fromEntries(Object.entries(body).map(([name, value]) => [name, String(value)]));
}

function sendBySocket(workspace: Workspace, app: App, body: Fields): Promise<Fields | null> {
  const link = nextLink(lineOf(workspace, app));
  if (!link) return Promise.resolve(null);
  const envelopeId = crypto.randomUUID();
  const type = body.command === undefined ? "interactive" : "slash_commands";
  return new Promise((resolve) => {
    const timer = setTimeout(() => {
      link.waiting.delete(envelopeId);
      resolve(null);
    }, workspace.timing.ackTimeoutMs);
    link.waiting.set(envelopeId, (payload) => {
      clearTimeout(timer);
      resolve(payload);
    });
    if (link.silent) return;
    link.socket.send(JSON.stringify({ envelope_id: envelopeId, payload: body, type, accepts_response_payload: true }));
  });
}

/** Answers a POST to a response URL: a new message, a private one, a replacement or a deletion. */
export async function serveResponseUrl(workspace: Workspace, arrived: Arrived, id: string): Promise<void> {
  const request = recordRequest(workspace, "response_url", arrived);
  request.args = readJson(arrived.body.toString("utf8"));
  const target = workspace.responseUrls.get(id);
  if (!target) return sendText(arrived.response, 404, "no such url");
  request.app = target.app;
  target.uses += 1;
  if (target.uses > RESPONSE_URL_USES || Date.now() - target.at > RESPONSE_URL_MS)
    return sendText(arrived.response, 404, "used_url");
  try {
    respond(workspace, target, request.args);
    request.answer = { ok: true };
    sendText(arrived.response, 200, "ok");
  } catch (error) {
    if (!(error instanceof SlackRefusal)) throw error;
    request.answer = noteRefusal(workspace, request, error);
    sendText(arrived.response, 500, error.code);
  }
}

function readJson(text: string): Fields {
  try {
    return asFields(JSON.parse(text));
  } catch {
    // Treated as an empty answer, which the content check refuses.
    return {};
  }
}

/** Does what an answer asks for; also used for the body that acknowledges a slash command. */
export function respond(workspace: Workspace, target: ResponseUrl, args: Fields): void {
  const { app, channel, message } = target;
  if (isTrue(args.delete_original) && message) {
    deleteMessage(workspace, message);
    return;
  }
  const replace = isTrue(args.replace_original) && message;
  const content = readContent(args, replace ? "update" : "post");
  if (replace) {
    const previous = copyBody(message);
    Object.assign(message.body, {
      text: content.text ?? "",
      blocks: content.blocks ?? [],
      edited: { user: app.userId, ts: newTs(workspace) },
    });
    tellChanged(workspace, message, previous, false);
    return;
  }
  const threadTs = asText(args.thread_ts) || message?.body.thread_ts || null;
  if (args.response_type === "in_channel") {
    const call: Call = { workspace, app, args: {} };
    tellMessage(workspace, addBotMessage(call, channel, content, threadTs));
    return;
  }
  const blocks = asList(content.blocks).map(asFields);
  const text = blocks.length > 0 ? readableBlocks(blocks) : readableText(content.text ?? "");
  workspace.ephemerals.push({ person: target.user, app, channel, threadTs, text, blocks, at: Date.now() });
}
