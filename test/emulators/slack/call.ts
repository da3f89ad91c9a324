/**
 * One Web API call as a handler sees it, and the checks most handlers start with: arguments, conversation, thread,
 * scopes.
 * Invariant: a check either returns what the handler needs or refuses the way Slack does.
 */
import type { Fields } from "../loopback.ts";
import { asText } from "../loopback.ts";
import type { App, Channel, StoredMessage, User } from "./model.ts";
import { refuse, refuseArguments } from "./refusal.ts";
import type { Workspace } from "./workspace.ts";
import { findMessage, newId } from "./workspace.ts";

/** A call with its token already resolved to an app. */
export interface Call {
  readonly workspace: Workspace;
  readonly app: App;
  readonly args: Fields;
}

/** A Web API method. `scopes`: one of them is enough; an empty list needs none. */
export interface Method {
  readonly token?: "bot" | "app" | "none";
  readonly scopes: readonly string[];
  run(call: Call): Fields | Promise<Fields>;
}

/** Scopes for reading conversations of each kind. */
export const READ_SCOPES = ["channels:read", "groups:read", "im:read", "mpim:read"] as const;

/** True for the ways Slack writes yes. */
export function isTrue(value: unknown): boolean {
  return value === true || value === "true" || value === 1 || value === "1";
}

/** Refuses when one of these arguments is missing or empty. */
export function requireArguments(args: Fields, ...names: string[]): void {
  const missing = names.filter((name) => args[name] === undefined || args[name] === null || args[name] === "");
  if (missing.length > 0) refuseArguments(...missing.map((name) => `missing required field: ${name}`));
}

/** Refuses `missing_scope` unless the app holds one of these. */
export function requireScope(app: App, scopes: readonly string[]): void {
  if (scopes.length === 0 || scopes.some((scope) => app.scopes.includes(scope))) return;
  refuse("missing_scope", { needed: scopes.join(","), provided: app.scopes.join(",") });
}

/** The scope for one kind of conversation, for example `groups:history`. */
export function requireKindScope(app: App, channel: Channel, ability: "history" | "read"): void {
  const family = { channel: "channels", group: "groups", im: "im", mpim: "mpim" }[channel.kind];
  requireScope(app, [`${family}:${ability}`]);
}

/** The conversation with this id; private ones do not exist for apps outside them. */
export function findChannel(call: Call, id: unknown): Channel {
  const { workspace, app } = call;
  if (id === undefined || id === "") refuseArguments("missing required field: channel");
  const channel = workspace.channels.get(`${app.team.id}:${asText(id)}`) ?? workspace.channels.get(asText(id));
  if (!channel || channel.team !== app.team) return refuse("channel_not_found");
  if (channel.kind !== "channel" && !channel.members.has(app.userId)) refuse("channel_not_found");
  return channel;
}

/** The conversation with this id, of which the app must be a member. */
export function memberChannel(call: Call, id: unknown): Channel {
  const channel = findChannel(call, id);
  if (!channel.members.has(call.app.userId)) refuse("not_in_channel");
  return channel;
}

/** Where a message may be written: a member's conversation, a person's id (opens the DM), not archived. */
export function writableChannel(call: Call, id: unknown): Channel {
  const user = call.workspace.users.get(asText(id));
  const channel = user ? directChannel(call, user) : findChannel(call, id);
  const open = channel.kind === "channel" && call.app.scopes.includes("chat:write.public");
  if (!open && !channel.members.has(call.app.userId)) refuse("not_in_channel");
  if (channel.archived) refuse("is_archived");
  return channel;
}

/** The app's direct messages with a person, opened when needed; bots cannot be written to. */
export function directChannel(call: Call, user: User): Channel {
  if (user.isBot) refuse("cannot_dm_bot");
  return openDirect(call.workspace, call.app, user);
}

/** Finds or makes the direct message conversation of an app and a person. */
export function openDirect(workspace: Workspace, app: App, user: User): Channel {
  for (const channel of workspace.channels.values()) {
    if (channel.kind === "im" && channel.members.has(user.id) && channel.members.has(app.userId)) return channel;
  }
  const channel: Channel = {
    id: newId("D"),
    name: "directmessage",
    kind: "im",
    team: app.team,
    members: new Set([user.id, app.userId]),
    messages: [],
    createdAt: Math.floor(Date.now() / 1000),
    archived: false,
  };
  workspace.channels.set(channel.id, channel);
  return channel;
}

/** The root a reply goes to, or null without `thread_ts`. Empty and malformed ones are refused, so are replies' own. */
export function readThread(channel: Channel, value: unknown): string | null {
  if (value === undefined || value === null) return null;
  const ts = String(value);
  if (!/^\d+\.\d{6}$/.test(ts)) refuse("invalid_thread_ts");
  const root = findMessage(channel, ts);
  if (!root || root.deleted) refuse("thread_not_found");
  if (root?.body.thread_ts && root.body.thread_ts !== ts) refuse("cannot_reply_to_message");
  return ts;
}

/** A visible message of a conversation. */
export function visibleMessage(channel: Channel, ts: unknown): StoredMessage {
  const message = findMessage(channel, asText(ts));
  if (!message || message.deleted) return refuse("message_not_found");
  return message;
}

/** One page of a list with Slack's cursor; `limit` above 999 counts as 999. */
export function paginate(items: readonly unknown[], args: Fields, key: string, fallback: number): Fields {
  const limit = Math.min(Number(args.limit ?? fallback) || fallback, 999);
  const cursor = asText(args.cursor);
  const start = cursor === "" ? 0 : Number(Buffer.from(cursor, "base64").toString("utf8"));
  if (!Number.isInteger(start) || start < 0) refuse("invalid_cursor");
  const end = start + limit;
  const next = end < items.length ? Buffer.from(String(end)).toString("base64") : "";
  return { [key]: items.slice(start, end), has_more: next !== "", response_metadata: { next_cursor: next } };
}
