/**
 * Who is who: `auth.test`, users, bots, the team, user groups, and opening a Socket Mode connection.
 * Only reads the workspace, except that opening a connection hands out a ticket.
 */
import type { Fields } from "../../loopback.ts";
import { asText } from "../../loopback.ts";
import type { Call, Method } from "../call.ts";
import { isTrue, paginate } from "../call.ts";
import { exchangeCode } from "../installs.ts";
import type { User } from "../model.ts";
import { refuse } from "../refusal.ts";
import { newSocketUrl } from "../socket-mode.ts";

/** The methods of this family. */
export const PEOPLE_METHODS: Readonly<Record<string, Method>> = {
  "api.test": { scopes: [], run: () => ({}) },
  "auth.test": { scopes: [], run: whoAmI },
  "apps.connections.open": { token: "app", scopes: [], run: openConnection },
  "team.info": {
    scopes: ["team:read"],
    run: ({ app }) => ({ team: { id: app.team.id, name: app.team.name, domain: app.team.name.toLowerCase() } }),
  },
  "oauth.v2.access": { token: "none", scopes: [], run: exchangeCode },
  "bots.info": { scopes: ["users:read"], run: botInfo },
  "users.info": { scopes: ["users:read"], run: (call) => ({ user: describe(call, findUser(call)) }) },
  "users.list": {
    scopes: ["users:read"],
    run: (call) =>
      paginate(
        [...call.workspace.users.values()].map((user) => describe(call, user)),
        call.args,
        "members",
        200,
      ),
  },
  "users.getPresence": {
    scopes: ["users:read"],
    run: (call) => ({ presence: findUser(call).isBot ? "away" : "active" }),
  },
  "usergroups.list": { scopes: ["usergroups:read"], run: usergroups },
  "usergroups.users.list": {
    scopes: ["usergroups:read"],
    run: (call) => ({
      users: (call.workspace.usergroups.get(asText(call.args.usergroup)) ?? refuse("no_such_subteam")).users,
    }),
  },
};

function whoAmI({ workspace, app }: Call): Fields {
  return {
    url: `${workspace.base}/`,
    team: app.team.name,
    user: app.user.handle,
    team_id: app.team.id,
    user_id: app.userId,
    bot_id: app.botId,
    app_id: app.appId,
    is_enterprise_install: app.enterprise !== null,
    ...(app.enterprise ? { enterprise_id: app.enterprise.id } : {}),
  };
}

function openConnection({ workspace, app }: Call): Fields {
  if (app.mode !== "socket") refuse("socket_mode_not_enabled");
  return { url: newSocketUrl(workspace, app) };
}

function botInfo({ workspace, args }: Call): Fields {
  const app = workspace.apps.find((candidate) => candidate.botId === args.bot) ?? refuse("bot_not_found");
  return { bot: { id: app.botId, deleted: false, name: app.name, app_id: app.appId, user_id: app.userId, icons: {} } };
}

function findUser(call: Call): User {
  return call.workspace.users.get(asText(call.args.user)) ?? refuse("user_not_found");
}

function describe(call: Call, user: User): Fields {
  const app = call.workspace.apps.find((candidate) => candidate.userId === user.id);
  const names = {
    real_name: user.name,
    display_name: user.name,
    real_name_normalized: user.name,
    display_name_normalized: user.name,
  };
  return {
    id: user.id,
    team_id: user.team.id,
    name: user.handle,
    real_name: user.name,
    deleted: false,
    tz: user.timeZone,
    tz_offset: 0,
    is_bot: user.isBot,
    is_app_user: false,
    is_admin: false,
    is_owner: false,
    is_restricted: user.guest,
    is_ultra_restricted: false,
    is_stranger: user.external,
    updated: 1,
    ...(isTrue(call.args.include_locale) ? { locale: "en-US" } : {}),
    profile: { ...names, team: user.team.id, ...(app ? { api_app_id: app.appId, bot_id: app.botId } : {}) },
  };
}

function usergroups(call: Call): Fields {
  const all = [...call.workspace.usergroups.values()].map((group) => ({
    id: group.id,
    team_id: call.app.team.id,
    is_usergroup: true,
    name: group.handle,
    handle: group.handle,
    user_count: group.users.length,
    ...(isTrue(call.args.include_users) ? { users: group.users } : {}),
  }));
  return { usergroups: all };
}
