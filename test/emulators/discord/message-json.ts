/**
 * A message as one bot gets it, over the gateway or REST.
 * Invariant: without MESSAGE_CONTENT, content, embeds, attachments, components, poll and forwarded text are withheld,
 * unless the bot wrote the message, it is a direct message, or it mentions the bot (a pinging reply does).
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList } from "../loopback.ts";
import { signUrl } from "./cdn.ts";
import { walkComponents } from "./component-text.ts";
import type { Bot, StoredMessage } from "./model.ts";
import { mentionedUsers } from "./pings.ts";
import { channelJson, memberJson, userJson } from "./wire.ts";
import type { World } from "./world.ts";

/** Who looks, and how. */
export interface Viewer {
  readonly bot: Bot | null;
  /** MESSAGE_CONTENT granted to this session (gateway) or application (REST). */
  readonly content: boolean;
  /** Adds what only events carry: guild_id, member, channel_type, members of mentioned users. */
  readonly event: boolean;
}

/** The message object. */
export function messageJson(world: World, message: StoredMessage, viewer: Viewer): Fields {
  const json: Fields = structuredClone(message.body);
  freshLinks(world, json);
  if (message.reactions.size > 0) json.reactions = reactionsJson(message, viewer.bot);
  const thread = world.channels.get(message.body.id);
  if (thread?.thread && thread.parent?.type !== 15) json.thread = channelJson(world, thread, viewer.bot);
  addReferenced(world, json, message, viewer);
  if (viewer.event) addEventFields(json, message);
  if (!isReadable(message, viewer)) withhold(json);
  // Only its author sees a nonce again.
  if (viewer.bot !== null && message.bot !== viewer.bot) delete json.nonce;
  return applyOverlay(json, viewer.event ? message.overlay : {});
}

/** Lays fields over an object; `undefined` takes one away. */
function applyOverlay(json: Fields, overlay: Fields): Fields {
  for (const [name, value] of Object.entries(overlay)) {
    if (value === undefined) delete json[name];
    else json[name] = value;
  }
  return json;
}

/** True when this viewer may read what the message says. */
function isReadable(message: StoredMessage, viewer: Viewer): boolean {
  if (viewer.content || viewer.bot === null) return true;
  if (message.bot === viewer.bot || !message.channel.guild) return true;
  const { user } = viewer.bot;
  if (!message.body.mentions.some(({ id }) => id === user.id)) return false;
  // A pinging reply counts, unless it answers the response to a command.
  const isCommandResponse = message.target?.body.type === 20 || message.target?.body.type === 23;
  return message.pings.users.includes(user) || (message.pings.reply === user && !isCommandResponse);
}

function withhold(json: Fields): void {
  Object.assign(json, { content: "", embeds: [], attachments: [], components: [] });
  delete json.poll;
  if (json.message_snapshots) {
    json.message_snapshots = (json.message_snapshots as Fields[]).map((snapshot) => ({
      message: { ...asFields(snapshot.message), content: "", embeds: [], attachments: [], components: [] },
    }));
  }
}

function addReferenced(world: World, json: Fields, message: StoredMessage, viewer: Viewer): void {
  if (message.body.type !== 19 && message.body.type !== 21) return;
  const target = message.target;
  if (!target || target.deleted) json.referenced_message = null;
  else {
    const inner = messageJson(world, { ...target, target: null, overlay: {} }, { ...viewer, event: false });
    delete inner.referenced_message;
    json.referenced_message = inner;
  }
}

function addEventFields(json: Fields, message: StoredMessage): void {
  const { guild } = message.channel;
  json.channel_type = message.channel.type;
  if (!guild || message.onlyFor) return;
  json.guild_id = guild.id;
  const member = guild.members.get(message.author.id);
  if (member) json.member = memberJson(member);
  json.mentions = mentionedUsers(message.pings)
    .filter((user) => message.body.mentions.some(({ id }) => id === user.id))
    .map((user) => {
      const mentioned = guild.members.get(user.id);
      return { ...userJson(user), ...(mentioned ? { member: memberJson(mentioned) } : {}) };
    });
}

/** Signs the links of attachments and of media in components. */
function freshLinks(world: World, json: Fields): void {
  const media = walkComponents(json.components).flatMap((item) => [
    asFields(item.media),
    asFields(item.file),
    ...asList(item.items).map((entry) => asFields(asFields(entry).media)),
  ]);
  for (const item of [...(json.attachments as Fields[]), ...media]) {
    if (typeof item.url !== "string") continue;
    item.url = signUrl(world, item.url);
    item.proxy_url = item.url;
  }
}

function reactionsJson(message: StoredMessage, viewer: Bot | null): Fields[] {
  return [...message.reactions].map(([name, users]) => {
    const [emoji, id] = name.split(":");
    return {
      emoji: { id: id ?? null, name: emoji },
      count: users.size,
      count_details: { burst: 0, normal: users.size },
      burst_colors: [],
      me: viewer !== null && users.has(viewer.userId),
      me_burst: false,
      burst_me: false,
      burst_count: 0,
    };
  });
}
