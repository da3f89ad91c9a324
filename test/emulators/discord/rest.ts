/**
 * REST v10: finds the route and the bot, records the request, applies limits and faults, runs the handler and answers.
 * Invariant: every request is recorded before anything else happens to it; every refusal is recorded with its reasons.
 */
import type { Arrived, Fields } from "../loopback.ts";
import { pause, sendJson, sendText } from "../loopback.ts";
import type { Answer, BotRoute, Call, OpenRoute } from "./call.ts";
import type { Fault } from "./faults.ts";
import { takeFault } from "./faults.ts";
import type { DiscordRequest } from "./model.ts";
import type { ParsedBody } from "./multipart.ts";
import { parseBody } from "./multipart.ts";
import { checkAgainstOpenApi } from "./open-api.ts";
import type { Limited } from "./rate-limits.ts";
import { countRequest, limitedAnswer } from "./rate-limits.ts";
import { DiscordRefusal, refuse, refuseField } from "./refusal.ts";
import { ROUTES } from "./routes/index.ts";
import type { World } from "./world.ts";

/** Clients must name themselves like this, or Discord's edge turns them away. */
const USER_AGENT = /^DiscordBot \(\S+, \S+\)/;
const VERSION = /^\/api\/v(\d+)(\/.*)$/;
/** Parts of a path that stand for themselves. */
const VARIABLE = /^\d{15,21}$/;

/** Serves one request below /api. */
export async function serveRest(world: World, arrived: Arrived): Promise<void> {
  const [, version = "", path = ""] = VERSION.exec(arrived.url.pathname) ?? [];
  const { route, ids } = findRoute(arrived.request.method ?? "GET", path);
  const request: DiscordRequest = {
    method: arrived.request.method ?? "GET",
    path,
    route,
    query: arrived.url.searchParams,
    headers: arrived.headers,
    bot: botOf(world, arrived),
    at: Date.now(),
    body: {},
    files: [],
    status: 0,
    answer: undefined,
  };
  world.requests.push(request);
  const { limited, headers } = countRequest(world, request);
  if (limited) return answerLimited(world, arrived, request, limited);
  const parsed = attempt(() => parseBody(arrived));
  if (!(parsed instanceof DiscordRefusal)) Object.assign(request, { body: parsed.fields, files: parsed.files });
  const fault = takeFault(world.faults, request);
  if (fault && (await failBefore(world, arrived, request, fault))) return;
  const outcome = attempt(() => run(world, request, { ids, version, parsed }));
  await reply(world, arrived, request, { outcome, headers, fault });
}

/** The route with ids replaced, and the ids. Tokens and emojis are variable where their neighbours say so. */
function findRoute(method: string, path: string): { route: string; ids: string[] } {
  const ids: string[] = [];
  const parts = path.split("/").filter((part) => part !== "");
  const shape = parts.map((part, index) => {
    const before = parts[index - 1] ?? "";
    const isToken = (parts[0] === "webhooks" || parts[0] === "interactions") && index === 2;
    const isEmoji = before === "reactions" && parts[0] === "channels";
    if (!VARIABLE.test(part) && !isToken && !isEmoji) return part;
    ids.push(decodeURIComponent(part));
    if (isToken) return ":token";
    return isEmoji ? ":emoji" : ":id";
  });
  return { route: `${method} /${shape.join("/")}`, ids };
}

function botOf(world: World, { headers }: Arrived) {
  const token = /^Bot (\S+)$/.exec(headers.authorization ?? "")?.[1];
  const bot = token === undefined ? undefined : world.tokens.get(token);
  return bot && !bot.revoked && bot.token === token ? bot : null;
}

function attempt<T>(work: () => T): T | DiscordRefusal {
  try {
    return work();
  } catch (error) {
    if (error instanceof DiscordRefusal) return error;
    throw error;
  }
}

/** What the request came as; a body that cannot be read is refused after the token was checked. */
interface Reading {
  readonly ids: readonly string[];
  readonly version: string;
  readonly parsed: ParsedBody | DiscordRefusal;
}

function run(world: World, request: DiscordRequest, { ids, version, parsed }: Reading): Answer {
  if (!USER_AGENT.test(request.headers["user-agent"] ?? "")) refuse(403, 40333, "internal network error");
  if (version !== "10" && version !== "9") refuse(400, 50041, "Invalid API version provided");
  const found: BotRoute | OpenRoute | undefined = ROUTES[request.route];
  if (!found) return refuseUnknown(request);
  const call: Call = { world, ids, query: request.query, body: request.body, files: request.files, request };
  if (found.auth === "bot" && !request.bot) refuse(401, 0, "401: Unauthorized");
  if (parsed instanceof DiscordRefusal) throw parsed;
  checkAgainstOpenApi(world.openApi, request);
  if (found.auth === "none") return found.run(call);
  return request.bot ? found.run({ ...call, bot: request.bot }) : refuse(401, 0, "401: Unauthorized");
}

/** A wrong id is a form error, any other unknown address is 404. */
function refuseUnknown({ path }: DiscordRequest): never {
  const [, kind, id] = /^\/(channel|guild|user)s\/([^/@]+)/.exec(path) ?? [];
  if (kind !== undefined && !VARIABLE.test(id ?? ""))
    refuseField(`${kind}_id`, "NUMBER_TYPE_COERCE", `Value "${id}" is not snowflake.`);
  return refuse(404, 0, "404: Not Found");
}

/** Faults that act instead of the work; true when the request is dealt with. */
export async function failBefore(
  world: World,
  arrived: Arrived,
  request: DiscordRequest,
  fault: Fault,
): Promise<boolean> {
  if ("delayMs" in fault) {
    await pause(fault.delayMs);
    return false;
  }
  if ("rateLimit" in fault)
    answerLimited(world, arrived, request, limitedAnswer(fault.rateLimit * 1000, fault.scope ?? "user", {}));
  else if ("status" in fault) {
    request.status = fault.status;
    sendText(arrived.response, fault.status, fault.body ?? "upstream connect error", fault.type ?? "text/html");
  } else if ("error" in fault) {
    const { status, code, message, fields } = fault.error;
    finish(world, arrived, request, status, { message: message ?? "error", code, ...fields });
  } else if ("reset" in fault) arrived.request.socket.destroy();
  else if (!("hang" in fault)) return false;
  return true;
}

function answerLimited(world: World, arrived: Arrived, request: DiscordRequest, limited: Limited): void {
  if (limited.headers["x-ratelimit-scope"] !== "shared") world.invalidAt.push(Date.now());
  request.status = 429;
  request.answer = limited.body;
  if (limited.body) {
    sendJson(arrived.response, 429, limited.body, limited.headers);
    return;
  }
  arrived.response.writeHead(429, { ...limited.headers, "content-type": "text/html" });
  arrived.response.end("error code: 1015");
}

async function reply(
  world: World,
  arrived: Arrived,
  request: DiscordRequest,
  { outcome, headers, fault }: { outcome: Answer | DiscordRefusal; headers: Fields; fault: Fault | null },
): Promise<void> {
  if (fault && "acceptThen" in fault) {
    if (fault.acceptThen === "drop") arrived.request.socket.destroy();
    else if (fault.acceptThen !== "hang") {
      request.status = fault.acceptThen;
      sendText(arrived.response, fault.acceptThen, "upstream connect error", "text/html");
    }
    return;
  }
  if (outcome instanceof DiscordRefusal) {
    recordRefusal(world, request, outcome);
    return finish(world, arrived, request, outcome.status, outcome.toJson(), headers);
  }
  const status = outcome.status ?? (outcome.json === undefined ? 204 : 200);
  if (fault && "malformed" in fault) {
    request.status = status;
    arrived.response.writeHead(200, { "content-type": "application/json" });
    arrived.response.end(JSON.stringify(outcome.json ?? {}).slice(0, -1));
    return;
  }
  finish(world, arrived, request, status, outcome.json, headers);
}

function finish(
  world: World,
  arrived: Arrived,
  request: DiscordRequest,
  status: number,
  json: unknown,
  headers: Fields = {},
): void {
  request.status = status;
  request.answer = json;
  if (status === 401 || status === 403) world.invalidAt.push(Date.now());
  if (json !== undefined) {
    sendJson(arrived.response, status, json, headers);
    return;
  }
  // Without a content type: clients would try to read JSON from nothing.
  arrived.response.writeHead(status, headers as Record<string, string>);
  arrived.response.end();
}

function recordRefusal(world: World, request: DiscordRequest, refusal: DiscordRefusal): void {
  world.refusals.push({
    route: request.route,
    status: refusal.status,
    code: refusal.code,
    message: refusal.message,
    problems: refusal.problems.map(({ path, code }) => `${path}: ${code}`),
    body: request.body,
    bot: request.bot,
    at: Date.now(),
  });
}
