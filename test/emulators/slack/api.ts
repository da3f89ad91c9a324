/**
 * The Web API's front door: records each request, applies faults, checks the token and scopes, runs the method, and
 * answers like Slack (HTTP 200 with `ok`, the granted scopes in a header).
 * Invariant: every request is in `requests`, every refusal of ours in `refusals`; a fault's answer is never counted
 * as a refusal.
 */
import type { Arrived, Fields } from "../loopback.ts";
import { asFields, asList, asText, pause, sendJson, sendText } from "../loopback.ts";
import { readArguments } from "./arguments.ts";
import type { Method } from "./call.ts";
import { requireScope } from "./call.ts";
import type { Fault } from "./faults.ts";
import { takeFault } from "./faults.ts";
import type { App, SlackRequest } from "./model.ts";
import { refuse, SlackRefusal } from "./refusal.ts";
import type { Workspace } from "./workspace.ts";
import { newId } from "./workspace.ts";

/** Answers one `/api/<method>` request. */
export async function serveMethod(
  workspace: Workspace,
  methods: Readonly<Record<string, Method>>,
  name: string,
  arrived: Arrived,
): Promise<void> {
  const request = recordRequest(workspace, name, arrived);
  const parsed = await readOrRefuse(arrived);
  request.args = parsed.args;
  request.token = tokenOf(arrived, parsed.args);
  request.app = appOf(workspace, request.token);
  const fault = takeFault(workspace.faults, request);
  if (fault && (await applyBefore(fault, arrived, request))) return;
  const answer = parsed.refusal
    ? noteRefusal(workspace, request, parsed.refusal)
    : await runMethod(workspace, methods[name], request);
  if (fault && applyAfter(fault, arrived, request)) return;
  request.answer = answer;
  sendJson(arrived.response, 200, answer, answerHeaders(request.app, methods[name]));
}

/** Adds a request to the record; also used for uploads, downloads and response URLs. */
export function recordRequest(workspace: Workspace, method: string, arrived: Arrived): SlackRequest {
  const request: SlackRequest = {
    method,
    args: {},
    token: null,
    app: null,
    at: Date.now(),
    headers: arrived.headers,
    answer: null,
  };
  workspace.requests.push(request);
  return request;
}

async function readOrRefuse(arrived: Arrived): Promise<{ args: Fields; refusal: SlackRefusal | null }> {
  try {
    return { args: await readArguments(arrived), refusal: null };
  } catch (error) {
    if (error instanceof SlackRefusal) return { args: {}, refusal: error };
    throw error;
  }
}

/** The bearer token, or a form's `token`; a token inside a JSON body does not count. */
export function tokenOf(arrived: Arrived, args: Fields): string | null {
  const bearer = /^Bearer (.+)$/i.exec(arrived.headers.authorization ?? "")?.[1];
  if (bearer) return bearer;
  const isJson = (arrived.headers["content-type"] ?? "").startsWith("application/json");
  return isJson ? null : asText(args.token) || null;
}

/** The app a token belongs to. */
export function appOf(workspace: Workspace, token: string | null): App | null {
  return workspace.apps.find((app) => app.botToken === token || app.appToken === token) ?? null;
}

/** Applies a fault that comes before the work. True when the request is finished with. */
export async function applyBefore(fault: Fault, arrived: Arrived, request: SlackRequest): Promise<boolean> {
  const { response } = arrived;
  if ("delayMs" in fault) {
    await pause(fault.delayMs);
    return false;
  }
  if ("acceptThen" in fault) return false;
  if ("hang" in fault) return true;
  if ("reset" in fault) {
    arrived.request.socket.destroy();
    return true;
  }
  if ("rateLimit" in fault) {
    request.answer = { ok: false, error: "ratelimited" };
    sendJson(response, 429, request.answer, { "retry-after": fault.rateLimit });
    return true;
  }
  if ("error" in fault) {
    request.answer = { ok: false, error: fault.error };
    sendJson(response, 200, request.answer);
    return true;
  }
  request.answer = { status: fault.status };
  sendText(response, fault.status, fault.body ?? "emulated failure", fault.type);
  return true;
}

/** Applies a fault that comes after the work. True when the answer must not be sent. */
export function applyAfter(fault: Fault, arrived: Arrived, request: SlackRequest): boolean {
  if (!("acceptThen" in fault)) return false;
  if (fault.acceptThen === "drop") arrived.request.socket.destroy();
  if (typeof fault.acceptThen === "number") {
    request.answer = { status: fault.acceptThen };
    sendText(arrived.response, fault.acceptThen, "emulated failure after the work was done");
  }
  return true;
}

async function runMethod(workspace: Workspace, method: Method | undefined, request: SlackRequest): Promise<Fields> {
  try {
    const app = method?.token === "none" ? clientOf(workspace, request) : authorize(method, request);
    if (!method) return refuse("unknown_method", { req_method: request.method });
    requireScope(app, method.scopes);
    return { ok: true, ...(await method.run({ workspace, app, args: request.args })) };
  } catch (error) {
    if (error instanceof SlackRefusal) return noteRefusal(workspace, request, error);
    throw error;
  }
}

function authorize(method: Method | undefined, request: SlackRequest): App {
  const { app, token } = request;
  if (token === null) return refuse("not_authed");
  if (!app) return refuse("invalid_auth");
  if (app.revoked) refuse(app.revoked);
  const wanted = method?.token === "app" ? app.appToken : app.botToken;
  if (method && token !== wanted) refuse("not_allowed_token_type");
  return app;
}

/** Methods without a token name their app by its client id. */
function clientOf(workspace: Workspace, { args }: SlackRequest): App {
  return workspace.apps.find((app) => app.clientId === args.client_id && !app.main) ?? refuse("invalid_client_id");
}

/** Records a refusal and makes its answer. */
export function noteRefusal(workspace: Workspace, request: SlackRequest, refusal: SlackRefusal): Fields {
  const messages = asList(asFields(refusal.extra.response_metadata).messages).map(asText);
  const { method, args, app } = request;
  workspace.refusals.push({ method, error: refusal.code, messages, args, app, at: Date.now() });
  return { ok: false, error: refusal.code, ...refusal.extra };
}

function answerHeaders(app: App | null, method: Method | undefined): Fields {
  const headers: Fields = { "x-slack-req-id": newId("", 32).toLowerCase() };
  if (app) headers["x-oauth-scopes"] = app.scopes.join(",");
  if (method) headers["x-accepted-oauth-scopes"] = method.scopes.join(",");
  return headers;
}
