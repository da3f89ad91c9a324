/**
 * "Add to Slack": `GET /slack/<bot>/install` sends a browser to Slack's consent page, `GET /slack/<bot>/oauth` takes it back and exchanges the code for
 * that workspace's token (SPEC I1). Only for bots whose settings hold clientId and clientSecret.
 * Invariant: a state is good once, for ten minutes, in the browser that got it; neither code, secret nor token is ever shown or logged, and the token
 * is kept sealed, per workspace or, for an organisation-wide installation, per organisation.
 */

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { AdapterContext, AdapterRoute, Log } from "../../engine/index.ts";
import { SecretValue } from "../../engine/index.ts";
import { createCalls } from "./clients.ts";
import { problemOf } from "./errors.ts";
import { type Fields, toFields, toText } from "./json.ts";
import { INSTALL_SCOPES } from "./manifest.ts";

/** A workspace or organisation that has added the app. */
export interface InstalledWorkspace {
  /** Team id, or enterprise id for an organisation-wide installation. */
  readonly workspaceKey: string;
  readonly name: string;
  readonly token: SecretValue;
}

/** What the routes need of a bot. */
export interface InstallableBot {
  readonly botId: string;
  readonly name: string;
  readonly clientId: string;
  readonly clientSecret: string;
  readonly apiUrl: string;
  readonly context: AdapterContext;
  readonly log: Log;
  /** Keeps the token and connects; resolves with words about what went wrong, or undefined. */
  install(workspace: InstalledWorkspace): Promise<string | undefined>;
}

const STATE_MS = 10 * 60_000;
const COOKIE = "parley_slack_state";
const NO_BODY = 1024;

/** Both routes, for all bots. `botOf` finds one that can be installed by the name in the path. */
export function createInstallRoutes(botOf: (botId: string) => InstallableBot | undefined): readonly AdapterRoute[] {
  const route = (path: string, answer: (bot: InstallableBot, request: Request) => Promise<Response>): AdapterRoute => ({
    method: "GET",
    path,
    guarded: false,
    maxBody: NO_BODY,
    handle: async (request, parameters) => {
      const bot = botOf(parameters.bot ?? "");
      if (!bot) return page(404, "This bot cannot be added here. It needs clientId and clientSecret in its slack settings.");
      return answer(bot, request);
    },
  });
  return [route("/slack/:bot/install", begin), route("/slack/:bot/oauth", finish)];
}

async function begin(bot: InstallableBot, request: Request): Promise<Response> {
  const state = randomBytes(32).toString("base64url");
  await bot.context.kv.set(stateKey(bot, state), { until: bot.context.clock.now() + STATE_MS });
  const address = authorizeUrl(bot.apiUrl);
  address.search = new URLSearchParams({
    client_id: bot.clientId,
    scope: INSTALL_SCOPES.join(","),
    state,
    redirect_uri: redirectUri(bot, request),
  }).toString();
  const secure = redirectUri(bot, request).startsWith("https:") ? "; Secure" : "";
  const cookie = `${COOKIE}=${state}; Path=/slack/${bot.botId}/; Max-Age=${STATE_MS / 1000}; HttpOnly; SameSite=Lax${secure}`;
  return new Response(null, {
    status: 302,
    headers: { location: address.href, "set-cookie": cookie, "cache-control": "no-store" },
  });
}

async function finish(bot: InstallableBot, request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const state = query.get("state") ?? "";
  if (!isSameBrowser(request, state) || !(await useUp(bot, state))) {
    return page(400, `This link is used up, too old, or was opened elsewhere. Begin again at /slack/${bot.botId}/install.`);
  }
  if (query.get("error") !== null) return page(400, `${bot.name} was not added: the request was declined in Slack.`);
  const code = query.get("code");
  if (code === null || code === "") return page(400, "Slack sent no code. Begin again.");
  const exchanged = await exchange(bot, code, redirectUri(bot, request));
  if (typeof exchanged === "string") return page(502, exchanged);
  const problem = await bot.install(exchanged);
  if (problem !== undefined) return page(502, problem);
  return page(200, `${bot.name} was added to ${exchanged.name}. Open Slack and write to ${bot.name}, or invite it to a channel.`);
}

/** The token of the workspace that agreed, or words about why there is none. */
async function exchange(bot: InstallableBot, code: string, redirect: string): Promise<InstalledWorkspace | string> {
  try {
    const calls = await createCalls(bot.apiUrl, undefined, bot.log);
    const { clientId, clientSecret } = bot;
    const args = { client_id: clientId, client_secret: clientSecret, code, redirect_uri: redirect };
    return readGrant(toFields(await calls.web("oauth.v2.access", args)));
  } catch (error) {
    const { code: reason } = problemOf(error);
    bot.log.warn({ code: reason }, "a slack installation could not be completed");
    if (reason === "bad_client_secret" || reason === "invalid_client_id")
      return `Slack does not accept the app's clientId and clientSecret (${reason}). Copy both from Basic Information.`;
    return `Slack did not complete the installation (${reason}). Begin again.`;
  }
}

function readGrant(answer: Fields): InstalledWorkspace | string {
  const token = toText(answer.access_token);
  const team = toFields(answer.team);
  const enterprise = toFields(answer.enterprise);
  const owner = answer.is_enterprise_install === true ? enterprise : team;
  const workspaceKey = toText(owner.id);
  if (token === undefined || workspaceKey === undefined || answer.token_type !== "bot") {
    return "Slack gave no bot token. Check that the app asks for bot scopes.";
  }
  if (answer.refresh_token !== undefined) {
    return "The app has token rotation switched on, which is not supported: its tokens would stop working after twelve hours. Create the app anew with rotation off.";
  }
  return { workspaceKey, name: toText(owner.name) ?? workspaceKey, token: new SecretValue(token) };
}

/** The state is kept only as a digest: whoever reads the database cannot complete an installation with it. */
function stateKey(bot: InstallableBot, state: string): string {
  return `slack:oauth-state:${bot.botId}:${createHash("sha256").update(state).digest("hex")}`;
}

/** True once per state that is young enough; two at the same instant have one winner. */
async function useUp(bot: InstallableBot, state: string): Promise<boolean> {
  const { kv, clock } = bot.context;
  const key = stateKey(bot, state);
  const { until } = toFields(await kv.get(key));
  if (typeof until !== "number") return false;
  const isFirst = await kv.insert(key.replace("oauth-state", "oauth-used"), { at: clock.now() });
  await kv.delete(key);
  return isFirst && until > clock.now();
}

function isSameBrowser(request: Request, state: string): boolean {
  const cookies = request.headers.get("cookie") ?? "";
  const given = Buffer.from(new RegExp(`(?:^|;\\s*)${COOKIE}=([\\w-]+)`).exec(cookies)?.[1] ?? "");
  const expected = Buffer.from(state);
  return expected.length > 0 && given.length === expected.length && timingSafeEqual(given, expected);
}

function authorizeUrl(apiUrl: string): URL {
  return new URL("/oauth/v2/authorize", new URL(apiUrl).origin);
}

function redirectUri(bot: InstallableBot, request: Request): string {
  const base = bot.context.publicUrl === "" ? new URL(request.url).origin : bot.context.publicUrl;
  return `${base}/slack/${bot.botId}/oauth`;
}

function page(status: number, words: string): Response {
  return new Response(`${words}\n`, {
    status,
    headers: {
      "content-type": "text/plain; charset=utf-8",
      "cache-control": "no-store",
      "referrer-policy": "no-referrer",
    },
  });
}
