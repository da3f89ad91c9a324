/**
 * Gateway sessions and the connections that carry them, and how an event reaches a session.
 * Invariant: every event of a session gets the next sequence number and stays in its buffer, so a resume replays
 * exactly what came after the number the client names. Talking the protocol is left to `gateway.ts`.
 */
import type { Deflate } from "node:zlib";
import type { WebSocket } from "ws";
import type { Fields } from "../loopback.ts";
import { takeDisturbance } from "./faults.ts";
import type { Bot, Guild } from "./model.ts";
import type { World } from "./world.ts";
import { later } from "./world.ts";

/** Intent bits. */
export const INTENTS = {
  guilds: 1 << 0,
  guildMembers: 1 << 1,
  presences: 1 << 8,
  guildMessages: 1 << 9,
  guildReactions: 1 << 10,
  guildTyping: 1 << 11,
  directMessages: 1 << 12,
  directReactions: 1 << 13,
  directTyping: 1 << 14,
  messageContent: 1 << 15,
} as const;

/** One session; it outlives its connection for `timing.resumeMs`. */
export interface Session {
  readonly id: string;
  readonly bot: Bot;
  readonly intents: number;
  readonly shard: readonly [number, number];
  readonly buffer: { readonly s: number; readonly t: string; readonly d: unknown }[];
  seq: number;
  link: Link | null;
  lostAt: number | null;
  ended: boolean;
}

/** One WebSocket. A silent one stays open but gets nothing, acknowledgements included. */
export interface Link {
  readonly socket: WebSocket;
  /** `gateway` or `resume`: which address it was opened at. */
  readonly address: "gateway" | "resume";
  readonly openedAt: number;
  readonly deflate: Deflate | null;
  readonly sentAt: number[];
  bot: Bot | null;
  session: Session | null;
  identifies: number;
  resumes: number;
  heartbeats: number;
  lastHeartbeatAt: number;
  silent: boolean;
  mute: boolean;
  /** The code either side closed with; null while open. */
  closeCode: number | null;
}

/** What a test can read about one event for one bot. */
export interface Delivery {
  readonly bot: Bot;
  readonly event: string;
  readonly data: Fields;
  readonly at: number;
  readonly session: string;
  /** False when no socket took it at once: it waits for a resume. */
  readonly sent: boolean;
}

/** What the gateway refuses on demand. */
export interface GatewayRefusals {
  /** Upgrades answered with an HTTP status, by bot id and address. */
  readonly upgrades: { bot: Bot | null; address: "gateway" | "resume" | "both"; status: number; left: number }[];
  /** IDENTIFYs answered with a close code or op 9. */
  readonly identifies: { bot: Bot | null; close: number | null; left: number }[];
  /** RESUMEs answered with op 9. */
  readonly resumes: { bot: Bot | null; left: number }[];
}

/** How an event is told to the bots: to whom first, and with which gap. */
export interface Telling {
  /** Only these bots. */
  to?: readonly Bot[];
  /** This bot's copy goes first. */
  first?: Bot;
  /** Milliseconds between two bots' copies. */
  gapMs?: number;
}

/** An event for one bot; `data` may depend on whether the session may read content. */
export interface GatewayEvent {
  readonly name: string;
  /** Needed intent; 0 = always sent. */
  readonly intent: number;
  readonly guild: Guild | null;
  data(contentAllowed: boolean): Fields;
}

/** Sends an event to all sessions of a bot, through whatever disturbance a test asked for. */
export function tellBot(world: World, bot: Bot, event: GatewayEvent): void {
  const disturbance = takeDisturbance(world.disturbances, bot, event.name);
  const send = () => pushToSessions(world, bot, event);
  if (disturbance?.drop) return;
  if (disturbance?.reorder) {
    world.heldBack.set(bot, [...(world.heldBack.get(bot) ?? []), send]);
    return;
  }
  if (disturbance?.delayMs) {
    later(world, disturbance.delayMs, send);
    return;
  }
  for (let copy = 0; copy <= (disturbance?.duplicate ?? 0); copy += 1) send();
  const held = world.heldBack.get(bot) ?? [];
  world.heldBack.delete(bot);
  for (const late of held) late();
}

/** Sends an event to several bots in the wanted order. */
export function tellBots(world: World, bots: readonly Bot[], event: (bot: Bot) => GatewayEvent, how: Telling = {}) {
  const chosen = bots.filter((bot) => !how.to || how.to.includes(bot));
  const ordered = how.first ? [...chosen].sort((a, b) => Number(b === how.first) - Number(a === how.first)) : chosen;
  ordered.forEach((bot, index) => {
    const gap = index * (how.gapMs ?? 0);
    if (gap === 0) tellBot(world, bot, event(bot));
    else later(world, gap, () => tellBot(world, bot, event(bot)));
  });
}

function pushToSessions(world: World, bot: Bot, event: GatewayEvent): void {
  if (event.guild?.heldFor.has(bot) && !event.name.startsWith("INTERACTION")) return;
  for (const session of world.sessions.values()) {
    if (session.bot !== bot || session.ended) continue;
    if (event.intent !== 0 && !(session.intents & event.intent)) continue;
    if (!onShard(session, event.guild)) continue;
    const allowed = bot.messageContent && (session.intents & INTENTS.messageContent) !== 0;
    push(world, session, event.name, event.data(allowed));
  }
}

/** True when events of this guild belong to the session's shard; DMs belong to shard 0. */
export function onShard(session: Session, guild: Guild | null): boolean {
  const [index, count] = session.shard;
  return (guild ? Number((BigInt(guild.id) >> 22n) % BigInt(count)) : 0) === index;
}

/** Puts an event into a session and on its wire. */
export function push(world: World, session: Session, name: string, data: Fields): void {
  session.seq += 1;
  session.buffer.push({ s: session.seq, t: name, d: data });
  const sent = session.link !== null && !session.link.silent;
  world.deliveries.push({ bot: session.bot, event: name, data, at: Date.now(), session: session.id, sent });
  if (session.link) sendFrame(session.link, { op: 0, t: name, s: session.seq, d: data });
}

/** Writes one frame; nothing happens on a silent or closed connection. */
export function sendFrame(link: Link, frame: Fields): void {
  if (link.silent || link.socket.readyState !== link.socket.OPEN) return;
  const text = JSON.stringify(frame);
  if (!link.deflate) {
    link.socket.send(text);
    return;
  }
  link.deflate.write(text);
  link.deflate.flush();
}

/** Why a connection is closed: code and text. */
export type Closing = readonly [code: number, text: string];

/** Closes a connection with one of Discord's codes. */
export function closeLink(link: Link, code: number, reason = ""): void {
  link.socket.close(code, reason);
}
