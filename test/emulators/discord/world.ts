/**
 * The Discord that is handed to every function of the emulator, so that several can run in one process, and the few
 * things everybody needs from it: ids and timers.
 * Invariant: ids rise and never repeat; nothing scheduled here runs after the world was closed.
 */
import { randomBytes } from "node:crypto";
import type { Fields } from "../loopback.ts";
import type { DisturbanceRule, FaultRule } from "./faults.ts";
import type {
  Bot,
  Channel,
  DiscordRequest,
  Guild,
  Interaction,
  OpenModal,
  Refusal,
  StoredFile,
  StoredMessage,
  Typing,
  User,
} from "./model.ts";
import type { Delivery, GatewayRefusals, Link, Session } from "./sessions.ts";

/** Times in milliseconds; see `startDiscord` for the defaults. */
export interface Timing {
  heartbeatMs: number;
  interactionMs: number;
  followupMs: number;
  resumeMs: number;
  nonceMs: number;
  identifyEveryMs: number;
}

/** How many requests pass in which time. */
export interface Limit {
  limit: number;
  windowMs: number;
}

/** Limits of requests; see `startDiscord` for the defaults. */
export interface Limits {
  /** Per bot and second, all routes but interactions. */
  global: Limit;
  /** Every route and channel by itself. */
  route: Limit;
  /** Creating messages, per channel. */
  message: Limit;
  /** Reactions, per channel. */
  reaction: Limit;
  /** 401, 403 and 429 answers before this address is locked out. */
  invalid: Limit;
}

/** Everything the emulator knows. */
export interface World {
  base: string;
  readonly timing: Timing;
  readonly limits: Limits;
  readonly openApi: Fields | null;
  readonly bots: Bot[];
  readonly users: Map<string, User>;
  readonly guilds: Map<string, Guild>;
  readonly channels: Map<string, Channel>;
  readonly files: Map<string, StoredFile>;
  readonly interactions: Map<string, Interaction>;
  readonly modals: OpenModal[];
  readonly nonces: Map<string, { message: StoredMessage; at: number }>;
  readonly buckets: Map<string, number[]>;
  readonly invalidAt: number[];
  readonly sessions: Map<string, Session>;
  readonly links: Link[];
  readonly deliveries: Delivery[];
  readonly heldBack: Map<Bot, (() => void)[]>;
  readonly gatewayRefusals: GatewayRefusals;
  readonly requests: DiscordRequest[];
  readonly refusals: Refusal[];
  readonly typings: Typing[];
  readonly faults: FaultRule[];
  readonly disturbances: DisturbanceRule[];
  readonly timers: Set<NodeJS.Timeout>;
  readonly tokens: Map<string, Bot>;
  lastId: bigint;
  closed: boolean;
}

const EPOCH = 1420070400000n;

/** The next snowflake: its upper bits are the time, so it sorts and dates like a real one. */
export function newId(world: World): string {
  const now = (BigInt(Date.now()) - EPOCH) << 22n;
  world.lastId = now > world.lastId ? now : world.lastId + 1n;
  return String(world.lastId);
}

/** When a snowflake was made, in milliseconds since 1970. */
export function timeOfId(id: string): number {
  return Number((BigInt(id) >> 22n) + EPOCH);
}

/** Random letters and digits. */
export function randomText(length: number): string {
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  return Array.from(randomBytes(length), (byte) => alphabet[byte % alphabet.length]).join("");
}

/** Runs `work` after `ms` unless the world was closed first. */
export function later(world: World, ms: number, work: () => void): NodeJS.Timeout {
  const timer = setTimeout(() => {
    world.timers.delete(timer);
    if (!world.closed) work();
  }, ms);
  world.timers.add(timer);
  return timer;
}

/** The message with this id, also when it was deleted. */
export function findMessage(channel: Channel, id: string): StoredMessage | undefined {
  return channel.messages.find((message) => message.body.id === id);
}

/** The person or bot behind a member of the directory. */
export function userOf(member: User | Bot): User {
  return "user" in member ? member.user : member;
}

/** Length as Discord counts it: code points. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}
