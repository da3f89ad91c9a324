/**
 * What people do: write, edit, delete, react, share links and files, open a bot's home, press stop, send commands.
 * Invariant: each act changes the workspace first and then tells the member apps, as Slack does. Pressing controls
 * and filling in modals is `controls.ts`.
 */
import type { Fields } from "../loopback.ts";
import { asText } from "../loopback.ts";
import { openDirect } from "./call.ts";
import { userOf } from "./directory.ts";
import type { Telling } from "./events.ts";
import { deleteMessage, tellApp, tellChanged, tellMembers, tellMessage } from "./events.ts";
import type { InteractionResult } from "./interactions.ts";
import { interact, respond } from "./interactions.ts";
import { copyBody, storeMessage } from "./messages.ts";
import { react } from "./methods/agents.ts";
import { addFile } from "./methods/files.ts";
import type { App, Channel, MessageBody, StoredMessage, User } from "./model.ts";
import type { Post } from "./posts.ts";
import { toPost } from "./posts.ts";
import { readTyped } from "./typed-text.ts";
import type { Workspace } from "./workspace.ts";
import { findMessage, newId, newTs } from "./workspace.ts";

/** A message somewhere; a `Post` is one. */
export interface Located {
  readonly channel: Channel;
  readonly ts: string;
}

/** A file a person attaches. */
export interface Upload {
  name: string;
  bytes: Buffer | string;
  type?: string;
}

/** How something is said. `thread` is any message of it; `subtype` only for odd ones such as `me_message`. */
export interface SayOptions extends Telling {
  thread?: Located | string;
  files?: readonly Upload[];
  broadcast?: boolean;
  subtype?: string;
  /** Raw fields laid over the message, for payloads nobody types. */
  fields?: Fields;
}

/** A person (or another company's bot) writes in a channel; `<@U…>` and `<!channel>` outside code are mentions. */
export function say(
  workspace: Workspace,
  person: User,
  channel: Channel,
  typed: string,
  options: SayOptions = {},
): Post {
  const { text, blocks } = readTyped(typed);
  const body: MessageBody = {
    type: "message",
    user: person.id,
    team: person.team.id,
    text,
    ts: newTs(workspace),
    client_msg_id: crypto.randomUUID(),
    ...(blocks.length > 0 ? { blocks: blocks.map((block) => ({ ...block, block_id: newId("", 5) })) } : {}),
  };
  placeInThread(channel, body, options.thread);
  if (options.broadcast) body.subtype = "thread_broadcast";
  if (options.files?.length) attachUploads(workspace, body, person, channel, options.files);
  if (options.subtype) body.subtype = options.subtype;
  const message = storeMessage(channel, Object.assign(body, options.fields));
  tellMessage(workspace, message, options);
  return toPost(workspace, message);
}

function placeInThread(channel: Channel, body: MessageBody, thread: Located | string | undefined): void {
  if (thread === undefined) return;
  const ts = typeof thread === "string" ? thread : thread.ts;
  const inside = findMessage(channel, ts);
  body.thread_ts = inside?.body.thread_ts ?? ts;
  body.parent_user_id = findMessage(channel, body.thread_ts)?.body.user;
}

function attachUploads(
  workspace: Workspace,
  body: MessageBody,
  person: User,
  channel: Channel,
  uploads: readonly Upload[],
): void {
  body.subtype = "file_share";
  body.upload = false;
  delete body.client_msg_id;
  body.files = uploads.map(({ name, bytes, type }) => {
    const content = typeof bytes === "string" ? Buffer.from(bytes) : bytes;
    const file = addFile(workspace, { name, bytes: content, size: content.length, user: person.id, app: null, type });
    file.body.channels = [channel.id];
    return file.body;
  });
}

/** The direct messages of a person and an app. */
export function dmChannel(workspace: Workspace, person: User, app: App): Channel {
  return openDirect(workspace, app, person);
}

/** A bot we do not host writes: bot ids set, no subtype. */
export function sayAsForeignBot(
  workspace: Workspace,
  name: string,
  channel: Channel,
  text: string,
  options: SayOptions = {},
): Post {
  const known = [...workspace.users.values()].find((user) => user.isBot && user.foreign?.name === name);
  const user = known ?? foreignBot(workspace, name);
  workspace.users.set(user.id, user);
  const profile = user.foreign;
  const ids = { bot_id: profile?.id, app_id: profile?.app_id, bot_profile: profile };
  const fields = { ...ids, client_msg_id: undefined, ...options.fields };
  return say(workspace, user, channel, text, { ...options, fields });
}

/** Another company's bot; the same name is the same bot. */
function foreignBot({ team }: Workspace, name: string): User {
  const foreign = { id: newId("B"), app_id: newId("A"), name, deleted: false, team_id: team.id };
  const account = { id: newId("U"), name, handle: name.toLowerCase(), team };
  return { ...account, isBot: true, guest: false, external: false, timeZone: "UTC", foreign };
}

/** The stored message behind a place; throws when there is none. */
export function located(place: Located): StoredMessage {
  const message = findMessage(place.channel, place.ts);
  if (!message) throw new Error(`no message ${place.ts} in ${place.channel.name}`);
  return message;
}

/** A person edits a message of theirs. */
export function edit(workspace: Workspace, place: Located, typed: string): Post {
  const message = located(place);
  const previous = copyBody(message);
  const { text, blocks } = readTyped(typed);
  message.body.text = text;
  if (blocks.length > 0) message.body.blocks = blocks.map((block) => ({ ...block, block_id: newId("", 5) }));
  else delete message.body.blocks;
  message.body.edited = { user: asText(message.body.user), ts: newTs(workspace) };
  tellChanged(workspace, message, previous, true);
  return toPost(workspace, message);
}

/** Slack adds a link preview: a change event with the same text. */
export function unfurl(workspace: Workspace, place: Located, url = "https://example.com/"): void {
  const message = located(place);
  const previous = copyBody(message);
  message.body.attachments = [
    { id: 1, from_url: url, original_url: url, title: "Example", fallback: "Example", service_name: "example.com" },
  ];
  tellChanged(workspace, message, previous, false);
}

/** Somebody deletes a message. */
export function erase(workspace: Workspace, place: Located): void {
  deleteMessage(workspace, located(place));
}

/** A person reacts. */
export function addReaction(workspace: Workspace, person: User, place: Located, name: string): void {
  const message = located(place);
  if (!react(message, person.id, name)) return;
  const item = { type: "message", channel: place.channel.id, ts: place.ts };
  const event = {
    type: "reaction_added",
    user: person.id,
    reaction: name,
    item,
    item_user: message.body.user,
    event_ts: newTs(workspace),
  };
  tellMembers(workspace, place.channel, event);
}

/** A person opens the bot's messages (or home) tab. */
export function openHome(workspace: Workspace, person: User, app: App, tab: "messages" | "home" = "messages"): void {
  const channel = dmChannel(workspace, person, app);
  tellApp(workspace, app, {
    type: "app_home_opened",
    user: person.id,
    channel: channel.id,
    tab,
    event_ts: newTs(workspace),
  });
}

/** A person presses the stop button of an agent's thread. */
export function pressStop(workspace: Workspace, person: User, app: App, place: Located): void {
  const threadTs = located(place).body.thread_ts ?? place.ts;
  const streams = place.channel.messages
    .filter((message) => message.streaming && message.app === app)
    .map((message) => message.body.ts);
  tellApp(workspace, app, {
    type: "agent_session_stopped",
    channel: place.channel.id,
    thread_ts: threadTs,
    user: person.id,
    streaming_message_ts: streams,
    event_ts: newTs(workspace),
  });
}

/** A person sends a slash command; what the app answers with is shown to them. */
export async function sendCommand(
  workspace: Workspace,
  person: User,
  app: App,
  channel: Channel,
  command: string,
  text = "",
): Promise<InteractionResult> {
  const payload: Fields = {
    team_id: app.team.id,
    team_domain: app.team.name.toLowerCase(),
    channel_id: channel.id,
    channel_name: channel.name,
    user_id: person.id,
    user_name: person.handle,
    command,
    text,
    is_enterprise_install: "false",
  };
  const result = await interact(workspace, app, person, payload, { channel });
  if (result.response.text !== undefined || result.response.blocks !== undefined) {
    respond(workspace, { app, user: person, channel, message: null, at: Date.now(), uses: 0 }, result.response);
  }
  return result;
}

/** `<@U…>` of a person or an app. */
export function mention(member: App | User): string {
  return `<@${userOf(member).id}>`;
}
