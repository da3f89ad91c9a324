/**
 * Users, members, roles, channels and guilds as Discord writes them in JSON.
 * Messages have their own file, because what is in them depends on who looks.
 */
import type { Fields } from "../loopback.ts";
import type { Bot, Channel, Guild, Member, Role, User } from "./model.ts";
import { canSee } from "./permissions.ts";
import type { World } from "./world.ts";

/** A user object. */
export function userJson(user: User): Fields {
  return {
    id: user.id,
    username: user.username,
    discriminator: user.isBot ? "4242" : "0",
    global_name: user.isBot ? null : user.name,
    avatar: null,
    avatar_decoration_data: null,
    collectibles: null,
    primary_guild: null,
    clan: null,
    public_flags: 0,
    flags: 0,
    ...(user.isBot ? { bot: true } : {}),
  };
}

/** A member object without its user. */
export function memberJson(member: Member): Fields {
  const timedOut = member.timedOutUntil > Date.now();
  return {
    roles: [...member.roles],
    nick: member.nick,
    avatar: null,
    banner: null,
    joined_at: member.joinedAt,
    premium_since: null,
    communication_disabled_until: timedOut ? new Date(member.timedOutUntil).toISOString() : null,
    deaf: false,
    mute: false,
    pending: false,
    flags: 0,
  };
}

/** A role object. */
export function roleJson(role: Role): Fields {
  return {
    id: role.id,
    name: role.name,
    description: null,
    permissions: String(role.permissions),
    position: role.position,
    color: 0,
    colors: { primary_color: 0, secondary_color: null, tertiary_color: null },
    hoist: false,
    managed: role.bot !== null,
    mentionable: role.mentionable,
    icon: null,
    unicode_emoji: null,
    flags: 0,
    ...(role.bot ? { tags: { bot_id: role.bot.userId } } : {}),
  };
}

/** The id of the newest message that stands in a channel (for a forum: of its newest post). */
function lastMessageId(world: World, channel: Channel): string | null {
  if (channel.type === 15) {
    const posts = [...world.channels.values()].filter((post) => post.parent === channel);
    return posts.at(-1)?.id ?? null;
  }
  return channel.messages.filter((message) => message.onlyFor === null).at(-1)?.body.id ?? null;
}

/** A channel, thread or DM object, as `viewer` gets it. */
export function channelJson(world: World, channel: Channel, viewer: Bot | null): Fields {
  const common = { id: channel.id, type: channel.type, last_message_id: lastMessageId(world, channel), flags: 0 };
  if (!channel.guild) return { ...common, recipients: channel.person ? [userJson(channel.person)] : [] };
  const guild = { guild_id: channel.guild.id, name: channel.name, rate_limit_per_user: channel.slowmode };
  if (channel.thread) return { ...common, ...guild, ...threadFields(channel, viewer) };
  return {
    ...common,
    ...guild,
    position: channel.guild.channels.indexOf(channel),
    permission_overwrites: [...channel.overwrites].map(([id, { type, allow, deny }]) => ({
      id,
      type,
      allow: String(allow),
      deny: String(deny),
    })),
    parent_id: channel.parent?.id ?? null,
    topic: channel.topic,
    nsfw: false,
    ...(channel.type === 15 ? forumFields(channel) : {}),
  };
}

function forumFields(channel: Channel): Fields {
  const tags = channel.tags.map((tag) => ({ ...tag, moderated: false, emoji_id: null, emoji_name: null }));
  return { available_tags: tags, flags: channel.requireTag ? 1 << 4 : 0, default_reaction_emoji: null };
}

function threadFields(channel: Channel, viewer: Bot | null): Fields {
  const { thread } = channel;
  if (!thread) return {};
  const joined = viewer !== null && thread.members.has(viewer.userId);
  const count = channel.messages.filter((message) => !message.deleted && message.onlyFor === null).length;
  return {
    parent_id: channel.parent?.id ?? null,
    owner_id: thread.ownerId,
    message_count: count,
    total_message_sent: count,
    member_count: thread.members.size,
    thread_metadata: {
      archived: thread.archived,
      locked: thread.locked,
      auto_archive_duration: thread.autoArchive,
      archive_timestamp: thread.createdAt,
      create_timestamp: thread.createdAt,
      ...(channel.type === 12 ? { invitable: true } : {}),
    },
    ...(thread.tags.length > 0 ? { applied_tags: thread.tags } : {}),
    ...(joined
      ? { member: { id: channel.id, user_id: viewer.userId, join_timestamp: thread.createdAt, flags: 0 } }
      : {}),
  };
}

/** What both the gateway and REST say about a guild. */
export function guildFields(guild: Guild): Fields {
  return {
    id: guild.id,
    name: guild.name,
    icon: null,
    owner_id: guild.ownerId,
    region: "deprecated",
    afk_channel_id: null,
    afk_timeout: 300,
    verification_level: 0,
    default_message_notifications: 0,
    explicit_content_filter: 0,
    roles: [...guild.roles.values()].map(roleJson),
    emojis: guild.emojis,
    stickers: [],
    features: [],
    mfa_level: 0,
    application_id: null,
    system_channel_id: null,
    system_channel_flags: 0,
    rules_channel_id: null,
    vanity_url_code: null,
    description: null,
    banner: null,
    premium_tier: guild.tier,
    premium_subscription_count: 0,
    preferred_locale: "en-US",
    public_updates_channel_id: null,
    nsfw: false,
    nsfw_level: 0,
    home_header: null,
    splash: null,
    discovery_splash: null,
    widget_enabled: false,
    widget_channel_id: null,
    max_presences: null,
    max_members: 25_000_000,
    max_stage_video_channel_users: 50,
    max_video_channel_users: 25,
    incidents_data: null,
    premium_progress_bar_enabled: false,
    safety_alerts_channel_id: null,
  };
}

/** The guild as GUILD_CREATE says it: with channels, active threads and the members a bot without presences gets. */
export function guildJson(world: World, guild: Guild, viewer: Bot): Fields {
  const threads = [...world.channels.values()].filter(
    (channel) => channel.guild === guild && channel.thread && !channel.thread.archived && !channel.deleted,
  );
  const own = guild.members.get(viewer.userId);
  return {
    ...guildFields(guild),
    joined_at: own?.joinedAt ?? null,
    large: false,
    unavailable: false,
    member_count: guild.members.size,
    voice_states: [],
    members: own ? [{ ...memberJson(own), user: userJson(own.user) }] : [],
    channels: guild.channels.map((channel) => channelJson(world, channel, viewer)),
    threads: threads
      .filter((thread) => canSee(thread, viewer.user))
      .map((thread) => channelJson(world, thread, viewer)),
    presences: [],
    stage_instances: [],
    guild_scheduled_events: [],
    soundboard_sounds: [],
  };
}
