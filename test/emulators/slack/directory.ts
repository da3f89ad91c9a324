/**
 * Filling a workspace: apps, people, channels, user groups, memberships.
 * Invariant: everything gets ids and tokens in Slack's shapes; adding a member to a channel that already exists tells
 * the apps in it.
 */
import { randomBytes } from "node:crypto";
import type { App, Channel, Team, User, Usergroup } from "./model.ts";
import type { Workspace } from "./workspace.ts";
import { newId } from "./workspace.ts";

/** Every scope a full installation asks for. */
export const ALL_SCOPES: readonly string[] = [
  "app_mentions:read",
  "assistant:write",
  "channels:history",
  "channels:join",
  "channels:read",
  "chat:write",
  "chat:write.customize",
  "commands",
  "files:read",
  "files:write",
  "groups:history",
  "groups:read",
  "im:history",
  "im:read",
  "im:write",
  "mpim:history",
  "mpim:read",
  "mpim:write",
  "reactions:read",
  "reactions:write",
  "team:read",
  "usergroups:read",
  "users:read",
];

/** How to install an app; `scopes` default to all, `events` to everything. */
export interface AppOptions {
  name: string;
  mode?: "socket" | "http";
  requestUrl?: string;
  scopes?: readonly string[];
  events?: readonly string[];
  agent?: boolean;
}

/** How a person differs from an ordinary member. External people come from another workspace (Slack Connect). */
export interface PersonOptions {
  guest?: boolean;
  external?: boolean;
  timeZone?: string;
  /** A workspace made with `addTeam`, of which they are an ordinary member. */
  team?: Team;
}

/** Installs an app with its bot user. */
export function addApp(workspace: Workspace, options: AppOptions): App {
  const appId = newId("A");
  const user = addUser(workspace, options.name, { team: workspace.team, isBot: true });
  const app: App = {
    name: options.name,
    appId,
    botId: newId("B"),
    userId: user.id,
    user,
    team: workspace.team,
    botToken: `xoxb-${newId("", 12)}-${newId("", 24)}`,
    appToken: `xapp-1-${appId}-${newId("", 24)}`,
    signingSecret: randomBytes(16).toString("hex"),
    mode: options.mode ?? "socket",
    requestUrl: options.requestUrl ?? null,
    scopes: [...(options.scopes ?? ALL_SCOPES)],
    events: options.events ? [...options.events] : null,
    agent: options.agent ?? true,
    main: null,
    enterprise: null,
    rotates: false,
    clientId: `${newId("", 4)}.${newId("", 8)}`,
    clientSecret: randomBytes(16).toString("hex"),
    revoked: null,
  };
  workspace.apps.push(app);
  return app;
}

/** Adds a person. */
export function addPerson(workspace: Workspace, name: string, options: PersonOptions = {}): User {
  const team = options.external ? { id: newId("T"), name: `${name}'s company` } : (options.team ?? workspace.team);
  return addUser(workspace, name, { ...options, team, isBot: false });
}

/** Makes a user of any kind. */
export function addUser(
  workspace: Workspace,
  name: string,
  options: PersonOptions & { team: Team; isBot: boolean },
): User {
  const user: User = {
    id: newId("U"),
    name,
    handle: name.toLowerCase().replace(/[^a-z0-9._-]+/g, "-"),
    team: options.team,
    isBot: options.isBot,
    guest: options.guest ?? false,
    external: options.external ?? false,
    timeZone: options.timeZone ?? "Europe/Berlin",
  };
  workspace.users.set(user.id, user);
  return user;
}

/** Makes a channel with these members (nobody is told about them). */
export function addChannel(
  workspace: Workspace,
  name: string,
  members: readonly (App | User)[],
  options: { private?: boolean; archived?: boolean; team?: Team; id?: string } = {},
): Channel {
  const team = options.team ?? workspace.team;
  const channel: Channel = {
    id: options.id ?? newId(options.private ? "G" : "C"),
    name,
    kind: options.private ? "group" : "channel",
    team,
    members: new Set(members.map((member) => userOf(member).id)),
    messages: [],
    createdAt: Math.floor(Date.now() / 1000),
    archived: options.archived ?? false,
  };
  // Channel ids are unique in one workspace only.
  workspace.channels.set(team === workspace.team ? channel.id : `${team.id}:${channel.id}`, channel);
  return channel;
}

/** Makes a user group. */
export function addUsergroup(workspace: Workspace, handle: string, members: readonly (App | User)[]): Usergroup {
  const group: Usergroup = { id: newId("S"), handle, users: members.map((member) => userOf(member).id) };
  workspace.usergroups.set(group.id, group);
  return group;
}

/** The user behind a person or an app. */
export function userOf(member: App | User): User {
  return "botToken" in member ? member.user : member;
}
