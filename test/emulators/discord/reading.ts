/**
 * The reading part of a Discord's API: posts, private notices, modals, requests, refusals, connections, and waiting for
 * any of them.
 */
import type { Fields } from "../loopback.ts";
import { pause, waitUntil } from "../loopback.ts";
import { openModal } from "./controls.ts";
import type { Bot, Channel, DiscordRequest, OpenModal, Refusal, Typing, User } from "./model.ts";
import type { Located } from "./people.ts";
import type { Post, PostFilter } from "./posts.ts";
import { readTimeline, toPost } from "./posts.ts";
import type { Delivery, Link } from "./sessions.ts";
import { openLinks } from "./trouble.ts";
import type { World } from "./world.ts";
import { findMessage } from "./world.ts";

const TYPING_MS = 10_000;

/** Builds it. */
export function createReading(world: World) {
  return { ...createPostReading(world), ...createRecords(world), ...createConnectionReading(world) };
}

function createPostReading(world: World) {
  const posts = (channel?: Channel, filter?: PostFilter) =>
    readTimeline(world, channel, filter).filter((post) => post.bot !== null);
  const noticesFor = (person: User): Post[] =>
    [...world.channels.values()]
      .flatMap((channel) => channel.messages)
      .filter((message) => message.onlyFor === person && !message.deleted)
      .map((message) => toPost(world, message));
  return {
    /** Messages of bots, oldest first; `{ threads: true }` adds those of threads below the channel. */
    posts,
    /** Messages of everybody, oldest first. */
    timeline: (channel?: Channel, filter?: PostFilter): Post[] => readTimeline(world, channel, filter),
    /** The message as it is now; null when deleted. */
    read: (place: Located): Post | null => {
      const message = findMessage(place.channel, place.id);
      return message && !message.deleted ? toPost(world, message) : null;
    },
    /** Threads below a channel, oldest first. */
    threads: (channel: Channel): Channel[] =>
      [...world.channels.values()].filter((thread) => thread.thread && thread.parent === channel && !thread.deleted),
    /** Ephemeral messages one person was shown. */
    noticesFor,
    /** The first post of a bot that fits; throws with all posts after `ms`. */
    waitForPost: (fits: (post: Post) => boolean = () => true, ms = 5000): Promise<Post> =>
      waitUntil(
        () => posts().find(fits),
        () => `a post; there are: ${listed(posts())}`,
        ms,
      ),
    waitForNotice: (person: User, fits: (post: Post) => boolean = () => true, ms = 5000): Promise<Post> =>
      waitUntil(
        () => noticesFor(person).find(fits),
        () => `a notice for ${person.name}; there are: ${listed(noticesFor(person))}`,
        ms,
      ),
    waitForModal: (person: User, ms = 5000): Promise<OpenModal> =>
      waitUntil(() => openModal(world, person), `a modal for ${person.name}`, ms),
    modal: (person: User): OpenModal | null => openModal(world, person),
  };
}

function listed(posts: readonly Post[]): string {
  return posts.map((post) => JSON.stringify(post.text.slice(0, 200))).join(", ") || "none";
}

function createRecords(world: World) {
  return {
    requests: world.requests as readonly DiscordRequest[],
    refusals: world.refusals as readonly Refusal[],
    typings: world.typings as readonly Typing[],
    deliveries: world.deliveries as readonly Delivery[],
    /** Requests of a route such as `POST /channels/:id/messages`. */
    calls: (route: string, bot?: Bot): DiscordRequest[] =>
      world.requests.filter((request) => request.route === route && (!bot || request.bot === bot)),
    /** True while "Bot is typing…" is shown: for 10 s, or until the bot's next post. */
    isTyping: (bot: Bot, channel: Channel): boolean => {
      const last = world.typings.findLast((typing) => typing.bot === bot && typing.channel === channel);
      if (!last || Date.now() - last.at > TYPING_MS) return false;
      return !channel.messages.some((message) => message.bot === bot && message.at >= last.at);
    },
    /** Answers with 401, 403 and 429 so far; 10,000 in 10 minutes lock the address out. */
    invalidRequests: (): number => world.invalidAt.length,
    /** Registered commands: of a guild, or global ones. */
    commands: (bot: Bot, guildId = ""): Fields[] => bot.commands.get(guildId) ?? [],
    waitUntil,
    /** Resolves when nothing was requested for `quietMs`: the product has finished reacting. */
    settle: async (quietMs = 300): Promise<void> => {
      for (let seen = -1; seen !== world.requests.length; ) {
        seen = world.requests.length;
        await pause(quietMs);
      }
    },
  };
}

function createConnectionReading(world: World) {
  const sessionsOf = (bot: Bot) => openLinks(world, bot).filter((link) => link.session !== null);
  const count = (bot: Bot, key: "identifies" | "resumes" | "heartbeats") =>
    world.links.filter((link) => link.bot === bot).reduce((sum, link) => sum + link[key], 0);
  return {
    /** Connections with a live session: more than one of a bot is a ghost. */
    sockets: (bot: Bot): number => sessionsOf(bot).length,
    /** IDENTIFYs sent so far, refused ones included. */
    identifies: (bot: Bot): number => count(bot, "identifies"),
    resumes: (bot: Bot): number => count(bot, "resumes"),
    heartbeats: (bot: Bot): number => count(bot, "heartbeats"),
    /** Every connection there ever was, in order, with its close code. */
    connections: (bot?: Bot): readonly Link[] => world.links.filter((link) => !bot || link.bot === bot),
    /** Intents of the live session, or null. */
    intents: (bot: Bot): number | null => sessionsOf(bot)[0]?.session?.intents ?? null,
    waitForSocket: (bot: Bot, ms = 5000): Promise<true> =>
      waitUntil(() => sessionsOf(bot).length > 0, `a session of ${bot.name}`, ms),
  };
}
