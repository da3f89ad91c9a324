/**
 * Who is told what: every app that is a member of a conversation gets its own copy of each event, filtered by its
 * scopes and subscriptions; a message that names an app in a channel also comes to it as `app_mention`.
 * Invariant: the two copies of a mention have different event ids and no promised order. Getting a copy to the app,
 * retries included, is left to `deliveries.ts`.
 */
import type { Fields } from "../loopback.ts";
import { asText } from "../loopback.ts";
import { deliverEvent } from "./deliveries.ts";
import { liveMentions } from "./mention-tokens.ts";
import { copyBody, messageEvent } from "./messages.ts";
import type { App, Channel, MessageBody, StoredMessage, User } from "./model.ts";
import type { Workspace } from "./workspace.ts";
import { later, newTs } from "./workspace.ts";

/** In which order the copies of a mention go out, and how far apart; 0 ms = the same instant. */
export interface Twins {
  first?: "message" | "app_mention";
  gapMs?: number;
}

/** Which apps hear a message (default: all members) and how. */
export interface Telling extends Twins {
  only?: readonly App[];
}

const MESSAGE_SCOPES = { channel: "channels:history", group: "groups:history", im: "im:history", mpim: "mpim:history" };
const SUBSCRIPTIONS = { channel: "message.channels", group: "message.groups", im: "message.im", mpim: "message.mpim" };
const EVENT_SCOPES: Readonly<Record<string, readonly string[]>> = {
  app_mention: ["app_mentions:read"],
  reaction_added: ["reactions:read"],
  reaction_removed: ["reactions:read"],
  member_joined_channel: ["channels:read", "groups:read"],
  member_left_channel: ["channels:read", "groups:read"],
};

/** Sends one event to one app if it may and wants to hear it. */
export function tellApp(workspace: Workspace, app: App, event: Fields): void {
  if (isSubscribed(app, event)) deliverEvent(workspace, app, event);
}

function isSubscribed(app: App, event: Fields): boolean {
  const type = asText(event.type);
  const kind = asText(event.channel_type) as keyof typeof MESSAGE_SCOPES;
  const needed = type === "message" ? [MESSAGE_SCOPES[kind]] : (EVENT_SCOPES[type] ?? []);
  if (needed.length > 0 && !needed.some((scope) => app.scopes.includes(scope))) return false;
  return (
    app.events === null || app.events.includes(type) || (type === "message" && app.events.includes(SUBSCRIPTIONS[kind]))
  );
}

/** Apps whose bot is a member. */
export function memberApps(workspace: Workspace, channel: Channel): App[] {
  return workspace.apps.filter((app) => channel.members.has(app.userId));
}

/** Sends the same happening to every member app, each with its own event id. */
export function tellMembers(workspace: Workspace, channel: Channel, event: Fields): void {
  for (const app of memberApps(workspace, channel)) tellApp(workspace, app, structuredClone(event));
}

/** Announces a new message, with the `app_mention` copy for the apps it names (never in direct messages). */
export function tellMessage(workspace: Workspace, message: StoredMessage, telling: Telling = {}): void {
  const named = new Set(liveMentions(workspace, message).map((mention) => mention.target));
  for (const app of memberApps(workspace, message.channel)) {
    if (telling.only && !telling.only.includes(app)) continue;
    const copies = [messageEvent(message)];
    const direct = message.channel.kind === "im" || message.channel.kind === "mpim";
    if (!direct && named.has(app.userId) && message.app !== app) copies.push(mentionEvent(message));
    if (telling.first === "app_mention") copies.reverse();
    sendCopies(workspace, app, copies, telling.gapMs ?? workspace.timing.twinGapMs);
  }
}

/** The `app_mention` copy: no channel type, no files. */
function mentionEvent(message: StoredMessage): Fields {
  const { channel_type: _type, files: _files, subtype: _subtype, ...rest } = messageEvent(message);
  return { ...rest, type: "app_mention" };
}

function sendCopies(workspace: Workspace, app: App, copies: Fields[], gapMs: number): void {
  const [first, second] = copies;
  if (first) tellApp(workspace, app, first);
  if (!second) return;
  if (gapMs === 0) tellApp(workspace, app, second);
  else later(workspace, gapMs, () => tellApp(workspace, app, second));
}

/** Announces an edit (or a link preview, or an app's own update); a named app gets an edited `app_mention` too. */
export function tellChanged(
  workspace: Workspace,
  message: StoredMessage,
  previous: MessageBody,
  byPerson: boolean,
): void {
  const { channel } = message;
  const ts = newTs(workspace);
  tellMembers(workspace, channel, {
    type: "message",
    subtype: "message_changed",
    hidden: true,
    channel: channel.id,
    channel_type: channel.kind,
    ts,
    event_ts: ts,
    message: copyBody(message),
    previous_message: previous,
  });
  if (!byPerson || channel.kind === "im" || channel.kind === "mpim") return;
  const named = new Set(liveMentions(workspace, message).map((mention) => mention.target));
  for (const app of memberApps(workspace, channel))
    if (named.has(app.userId)) tellApp(workspace, app, mentionEvent(message));
}

/** Marks a message deleted and announces it. */
export function deleteMessage(workspace: Workspace, message: StoredMessage): void {
  message.deleted = true;
  const { channel } = message;
  const ts = newTs(workspace);
  tellMembers(workspace, channel, {
    type: "message",
    subtype: "message_deleted",
    hidden: true,
    channel: channel.id,
    channel_type: channel.kind,
    ts,
    event_ts: ts,
    deleted_ts: message.body.ts,
    previous_message: copyBody(message),
  });
}

/** Adds somebody to a channel and tells the member apps, the new one included; nothing when already in. */
export function joinChannel(workspace: Workspace, channel: Channel, user: User, inviter: User | null): void {
  if (channel.members.has(user.id)) return;
  channel.members.add(user.id);
  tellMembers(workspace, channel, membershipEvent(workspace, "member_joined_channel", channel, user, inviter));
}

/** Takes somebody out; the member apps, the leaving one included, are told first. */
export function leaveChannel(workspace: Workspace, channel: Channel, user: User): void {
  if (!channel.members.has(user.id)) return;
  tellMembers(workspace, channel, membershipEvent(workspace, "member_left_channel", channel, user, null));
  channel.members.delete(user.id);
}

function membershipEvent(
  workspace: Workspace,
  type: string,
  channel: Channel,
  user: User,
  inviter: User | null,
): Fields {
  return {
    type,
    user: user.id,
    channel: channel.id,
    channel_type: channel.kind === "group" ? "G" : "C",
    team: channel.team.id,
    ...(inviter ? { inviter: inviter.id } : {}),
    event_ts: newTs(workspace),
  };
}
