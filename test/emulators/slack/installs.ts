/**
 * Further workspaces of an app: "Add to Slack" as a person's browser and `oauth.v2.access` see it.
 * Invariant: a code is good once, for its redirect address, for ten minutes; each installation has its own token and bot user, while the app's sockets,
 * signing secret and app id stay the same.
 */
import type { Fields } from "../loopback.ts";
import { asText } from "../loopback.ts";
import type { Call } from "./call.ts";
import { addUser } from "./directory.ts";
import type { App, Team } from "./model.ts";
import { refuse } from "./refusal.ts";
import type { Workspace } from "./workspace.ts";
import { newId } from "./workspace.ts";

const CODE_MS = 10 * 60_000;

/** How an app is added. */
export interface InstallOptions {
  scopes?: readonly string[];
  /** The organisation it is added to as a whole. */
  enterprise?: Team;
}

/** Another workspace. */
export function addTeam(name: string, kind: "T" | "E" = "T"): Team {
  return { id: newId(kind), name };
}

/** Adds an app to a workspace; one that is there already gets a new token. */
export function installIn(workspace: Workspace, app: App, team: Team, options: InstallOptions = {}): App {
  const { enterprise = null, scopes = app.scopes } = options;
  const user = addUser(workspace, app.name, { team, isBot: true });
  const installed: App = {
    ...app,
    botId: newId("B"),
    userId: user.id,
    user,
    team,
    botToken: `xoxb-${newId("", 12)}-${newId("", 24)}`,
    scopes: [...scopes],
    main: app.main ?? app,
    enterprise,
    revoked: null,
  };
  workspace.apps.push(installed);
  return installed;
}

/** The consent page, agreed to: checks what Slack checks and gives the address to go back to. */
export function consent(workspace: Workspace, location: string, team: Team, options: InstallOptions = {}): URL {
  const page = new URL(location);
  if (page.pathname !== "/oauth/v2/authorize") throw new Error(`not the consent page: ${location}`);
  const { client_id: clientId, scope, state, redirect_uri: redirect } = Object.fromEntries(page.searchParams);
  const app = workspace.apps.find((one) => one.clientId === clientId && !one.main);
  if (!app) throw new Error("Slack shows: invalid_client_id");
  if (!scope) throw new Error("Slack shows: invalid_scope");
  if (!redirect || !state) throw new Error("a consent needs redirect_uri and state");
  const installed = installIn(workspace, app, team, { scopes: scope.split(","), ...options });
  const code = newId("", 32);
  workspace.grants.set(code, { app: installed, redirectUri: redirect, scopes: scope.split(","), at: Date.now() });
  const back = new URL(redirect);
  back.searchParams.set("code", code);
  back.searchParams.set("state", state);
  return back;
}

/** `oauth.v2.access`. */
export function exchangeCode(call: Call): Fields {
  const { workspace, app, args } = call;
  if (args.client_secret !== app.clientSecret) refuse("bad_client_secret");
  const code = asText(args.code);
  const grant = workspace.grants.get(code);
  if (!grant || (grant.app.main ?? grant.app) !== app || Date.now() - grant.at > CODE_MS) return refuse("invalid_code");
  workspace.grants.delete(code);
  if (asText(args.redirect_uri) !== grant.redirectUri) refuse("bad_redirect_uri");
  const { team, enterprise, botToken, userId, appId } = grant.app;
  return {
    access_token: botToken,
    token_type: "bot",
    scope: grant.scopes.join(","),
    bot_user_id: userId,
    app_id: appId,
    team: enterprise ? null : { id: team.id, name: team.name },
    enterprise: enterprise ? { id: enterprise.id, name: enterprise.name } : null,
    is_enterprise_install: enterprise !== null,
    ...(app.rotates ? { refresh_token: `xoxe-1-${newId("", 24)}`, expires_in: 43_200 } : {}),
    authed_user: { id: newId("U") },
  };
}
