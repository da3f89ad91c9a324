/**
 * The gateway's address, users, guilds and their lists over REST.
 */
import { asList, asText } from "../../loopback.ts";
import type { Answer, BotCall, Routes } from "../call.ts";
import { forBots, idAt, ownGuild, restViewer } from "../call.ts";
import { guildsOf, refillIdentifies } from "../identify.ts";
import { messageJson } from "../message-json.ts";
import type { Guild, Member, StoredMessage } from "../model.ts";
import { can, canSee, guildPermissions } from "../permissions.ts";
import { refuse } from "../refusal.ts";
import { channelJson, guildFields, memberJson, roleJson, userJson } from "../wire.ts";

/** Routes of the gateway, users and guilds. */
export const PLACE_ROUTES: Routes = {
  "GET /gateway": { auth: "none", run: (call) => ({ json: { url: gatewayUrl(call.world.base) } }) },
  "GET /gateway/bot": forBots(({ world, bot }) => {
    refillIdentifies(bot);
    const { total, remaining, resetAt } = bot.identifies;
    const limit = { total, remaining, reset_after: Math.max(0, resetAt - Date.now()), max_concurrency: 1 };
    return { json: { url: gatewayUrl(world.base, bot.applicationId), shards: 1, session_start_limit: limit } };
  }),
  "GET /users/@me": forBots(({ bot }) => ({
    json: { ...userJson(bot.user), verified: true, mfa_enabled: true, locale: "en-US" },
  })),
  "PATCH /users/@me": forBots(({ bot }) => ({ json: userJson(bot.user) })),
  "GET /users/:id": forBots((call) => {
    const user = call.world.users.get(idAt(call, 0));
    return user ? { json: userJson(user) } : refuse(404, 10013, "Unknown User");
  }),
  "GET /users/@me/guilds": forBots(({ world, bot }) => ({
    json: guildsOf(world, bot).map((guild) => ({
      id: guild.id,
      name: guild.name,
      icon: null,
      banner: null,
      owner: false,
      permissions: String(guildPermissions(guild, bot.user)),
      features: [],
    })),
  })),
  "GET /guilds/:id": forBots((call) => ({ json: guildFields(ownGuild(call)) })),
  "GET /guilds/:id/channels": forBots((call) => ({
    json: ownGuild(call).channels.map((channel) => channelJson(call.world, channel, call.bot)),
  })),
  "GET /guilds/:id/roles": forBots((call) => ({ json: [...ownGuild(call).roles.values()].map(roleJson) })),
  "GET /guilds/:id/emojis": forBots((call) => ({ json: ownGuild(call).emojis })),
  "GET /guilds/:id/threads/active": forBots(activeThreads),
  "GET /guilds/:id/members": forBots((call) => {
    if (!call.bot.guildMembers) refuse(403, 50001, "Missing Access");
    return { json: members(call, [...ownGuild(call).members.values()]) };
  }),
  "GET /guilds/:id/members/search": forBots((call) => {
    const prefix = (call.query.get("query") ?? "").toLowerCase();
    const found = [...ownGuild(call).members.values()].filter(
      ({ user, nick }) => user.username.startsWith(prefix) || nick?.toLowerCase().startsWith(prefix),
    );
    return { json: members(call, found) };
  }),
  "GET /guilds/:id/members/:id": forBots((call) => ({ json: oneMember(ownGuild(call), idAt(call, 1)) })),
  "GET /guilds/:id/members/@me": forBots((call) => ({ json: oneMember(ownGuild(call), call.bot.userId) })),
  "GET /guilds/:id/messages/search": forBots(search),
};

function gatewayUrl(base: string, id?: string): string {
  return `${base.replace("http:", "ws:")}/gateway${id ? `/${id}` : ""}`;
}

function memberWithUser(member: Member) {
  return { ...memberJson(member), user: userJson(member.user) };
}

function members(call: BotCall, list: readonly Member[]) {
  const after = BigInt(call.query.get("after") ?? "0");
  const limit = Math.min(Number(call.query.get("limit") ?? 1) || 1, 1000);
  return list
    .filter(({ user }) => BigInt(user.id) > after)
    .slice(0, limit)
    .map(memberWithUser);
}

function oneMember(guild: Guild, id: string) {
  const member = guild.members.get(id);
  return member ? memberWithUser(member) : refuse(404, 10007, "Unknown Member");
}

function activeThreads(call: BotCall): Answer {
  const guild = ownGuild(call);
  const threads = [...call.world.channels.values()].filter(
    (channel) =>
      channel.guild === guild && channel.thread && !channel.thread.archived && canSee(channel, call.bot.user),
  );
  return {
    json: { threads: threads.map((thread) => channelJson(call.world, thread, call.bot)), members: [], has_more: false },
  };
}

/** Searches a guild; needs MESSAGE_CONTENT to look into what others wrote. */
function search(call: BotCall): Answer {
  const { world, bot, query } = call;
  const guild = ownGuild(call);
  const places = [...world.channels.values()].filter(
    (channel) => channel.guild === guild && !channel.deleted && can(channel, bot.user, "ReadMessageHistory"),
  );
  const found = places
    .flatMap((channel) => channel.messages)
    .filter((message) => !message.deleted && !message.onlyFor && fits(message, query))
    .sort((a, b) => (BigInt(a.body.id) < BigInt(b.body.id) ? 1 : -1));
  const offset = Number(query.get("offset") ?? 0);
  const limit = Math.min(Number(query.get("limit") ?? 25) || 25, 25);
  const page = found.slice(offset, offset + limit);
  const messages = page.map((message) => [{ ...messageJson(world, message, restViewer(bot)), hit: true }]);
  return { json: { total_results: found.length, doing_deep_historical_index: false, messages } };
}

function fits(message: StoredMessage, query: URLSearchParams): boolean {
  const ids = (name: string) => [...query.getAll(name), ...query.getAll(`${name}[]`)];
  const mentions = ids("mentions");
  const channels = ids("channel_id");
  const authors = ids("author_id");
  const content = query.get("content");
  const kinds = ids("author_type");
  return (
    (mentions.length === 0 || message.body.mentions.some(({ id }) => mentions.includes(asText(id)))) &&
    (channels.length === 0 || channels.includes(message.channel.id)) &&
    (authors.length === 0 || authors.includes(message.author.id)) &&
    (kinds.length === 0 || asList(kinds).includes(message.author.isBot ? "bot" : "user")) &&
    (content === null || message.body.content.toLowerCase().includes(content.toLowerCase())) &&
    BigInt(message.body.id) > BigInt(query.get("min_id") ?? "0") &&
    BigInt(message.body.id) < BigInt(query.get("max_id") ?? "9223372036854775807")
  );
}
