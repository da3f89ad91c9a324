/**
 * "Add to Slack": `GET /slack/<bot>/install` sends a browser to Slack's consent page, `GET /slack/<bot>/oauth` takes it back and exchanges the code for
 * that workspace's token (SPEC I1). Only for bots whose settings hold clientId and clientSecret.
 * Invariant: a state is good for one installation and ten minutes; neither code, secret nor token is ever shown or logged, and the token is kept sealed,
 * per workspace or, for an organisation-wide installation, per organisation. Beginning writes nothing, so nobody can fill the database.
 */

import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";
import type { AdapterContext, AdapterRoute, Log } from "../../engine/index.ts";
import { SecretValue } from "../../engine/index.ts";
import { type Fields, toFields, toText } from "../shared/fields.ts";
import { createCalls } from "./clients.ts";
import { problemOf } from "./errors.ts";
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
      if (!bot)
        return page(404, "This bot cannot be added here. It needs clientId and clientSecret in its slack settings.");
      return answer(bot, request);
    },
  });
  return [route("/slack/:bot/install", begin), route("/slack/:bot/oauth", finish)];
}

function begin(bot: InstallableBot, request: Request): Promise<Response> {
  const address = authorizeUrl(bot.apiUrl);
  address.search = new URLSearchParams({
    client_id: bot.clientId,
    scope: INSTALL_SCOPES.join(","),
    state: newState(bot),
    redirect_uri: redirectUri(bot, request),
  }).toString();
  const headers = { location: address.href, "cache-control": "no-store", "referrer-policy": "no-referrer" };
  return Promise.resolve(new Response(null, { status: 302, headers }));
}

async function finish(bot: InstallableBot, request: Request): Promise<Response> {
  const query = new URL(request.url).searchParams;
  const state = query.get("state") ?? "";
  const again = `Begin again at /slack/${bot.botId}/install.`;
  if (!isOurState(bot, state)) return page(400, `This address is too old or was not made here. ${again}`);
  if (query.get("error") !== null) return page(400, `${bot.name} was not added: the request was declined in Slack.`);
  const code = query.get("code");
  if (code === null || code === "") return page(400, `Slack sent no code. ${again}`);
  const usedKey = `slack:oauth-used:${bot.botId}:${state.split(".")[0] ?? ""}`;
  if ((await bot.context.kv.get(usedKey)) !== undefined) return page(400, `This address is used up. ${again}`);
  const exchanged = await exchange(bot, code, redirectUri(bot, request));
  if (typeof exchanged === "string") return page(502, exchanged);
  // Two requests with one state have one winner.
  const isFirst = await bot.context.kv.insert(usedKey, { at: bot.context.clock.now() });
  if (!isFirst) return page(400, `This address is used up. ${again}`);
  const problem = await bot.install(exchanged);
  if (problem !== undefined) return page(502, problem);
  return page(
    200,
    `${bot.name} was added to ${exchanged.name}. Open Slack and write to ${bot.name}, or invite it to a channel.`,
  );
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

/** A random number, when it ends, and a signature that only this app's secret can make. */
function newState(bot: InstallableBot): string {
  const body = `${randomBytes(16).toString("base64url")}.${bot.context.clock.now() + STATE_MS}`;
  return `${body}.${signatureOf(bot, body)}`;
}

function isOurState(bot: InstallableBot, state: string): boolean {
  const [nonce, until, signature] = state.split(".");
  if (!nonce || !until || !signature || !/^\d{1,16}$/.test(until) || Number(until) <= bot.context.clock.now())
    return false;
  const given = Buffer.from(signature);
  const expected = Buffer.from(signatureOf(bot, `${nonce}.${until}`));
  return given.length === expected.length && timingSafeEqual(given, expected);
}

function signatureOf(bot: InstallableBot, body: string): string {
  return createHmac("sha256", bot.clientSecret).update(`parley-install:${bot.botId}:${body}`).digest("base64url");
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
