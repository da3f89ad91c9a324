/**
 * Starting and resuming sessions: tokens, intents, the identify budget, READY with its guilds, and the replay.
 * Invariant: an IDENTIFY always costs one of the day's budget, a RESUME never does; an exhausted budget ends all
 * sessions and resets the token.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText } from "../loopback.ts";
import type { Bot, Guild } from "./model.ts";
import type { Closing, Link, Session } from "./sessions.ts";
import { closeLink, INTENTS, onShard, push, sendFrame } from "./sessions.ts";
import { guildJson, userJson } from "./wire.ts";
import type { World } from "./world.ts";
import { randomText } from "./world.ts";

/** All bits that mean something. */
const KNOWN_INTENTS = 0b11_0011_0001_1111_1111_1111_1111;

/** Answers op 2; gives a reason to close, or null. */
export function identify(world: World, link: Link, body: Fields): Closing | null {
  link.identifies += 1;
  if (link.session) return [4005, "Already authenticated."];
  const bot = world.tokens.get(asText(body.token).replace(/^Bot /, ""));
  if (!bot || bot.revoked) return [4004, "Authentication failed."];
  link.bot = bot;
  if (asFields(body.properties).os === undefined) return [4002, "Error while decoding payload."];
  if (!spendIdentify(world, bot)) return [4004, "Authentication failed."];
  const refusal = takeRefusal(world.gatewayRefusals.identifies, bot);
  if (refusal?.close) return [refusal.close, "Refused."];
  if (refusal || Date.now() - bot.identifies.lastAt < world.timing.identifyEveryMs) {
    invalidate(link, false);
    return null;
  }
  bot.identifies.lastAt = Date.now();
  const shard = readShard(body.shard);
  if (!shard) return [4010, "Invalid shard."];
  const intents = Number(body.intents);
  if (!Number.isInteger(intents) || intents < 0 || intents & ~KNOWN_INTENTS) return [4013, "Invalid intent(s)."];
  if (intents & ~allowedIntents(bot)) return [4014, "Disallowed intent(s)."];
  begin(world, link, bot, intents, shard);
  return null;
}

function readShard(value: unknown): [number, number] | null {
  if (value === undefined || value === null) return [0, 1];
  const [index, count] = asList(value).map(Number);
  if (index === undefined || count === undefined || !(index >= 0) || !(index < count)) return null;
  return [index, count];
}

/** The privileged intents that are switched on, and all others. */
function allowedIntents(bot: Bot): number {
  let allowed = KNOWN_INTENTS;
  if (!bot.messageContent) allowed &= ~INTENTS.messageContent;
  if (!bot.guildMembers) allowed &= ~INTENTS.guildMembers;
  if (!bot.presences) allowed &= ~INTENTS.presences;
  return allowed;
}

/** Takes one IDENTIFY from the budget. At its end the token is reset and every session ends, as Discord does. */
function spendIdentify(world: World, bot: Bot): boolean {
  refillIdentifies(bot);
  if (bot.identifies.remaining > 0) {
    bot.identifies.remaining -= 1;
    return true;
  }
  bot.revoked = true;
  for (const session of world.sessions.values()) {
    if (session.bot !== bot) continue;
    session.ended = true;
    if (session.link) closeLink(session.link, 4004, "Authentication failed.");
  }
  return false;
}

/** Gives the day's budget back when its time has come. */
export function refillIdentifies(bot: Bot): void {
  if (Date.now() < bot.identifies.resetAt) return;
  bot.identifies.remaining = bot.identifies.total;
  bot.identifies.resetAt = Date.now() + 86_400_000;
}

function takeRefusal<T extends { bot: Bot | null; left: number }>(rules: readonly T[], bot: Bot): T | null {
  const rule = rules.find((candidate) => candidate.left > 0 && (candidate.bot === null || candidate.bot === bot));
  if (!rule) return null;
  rule.left -= 1;
  return rule;
}

/** Op 9. */
export function invalidate(link: Link, resumable: boolean): void {
  if (link.session && !resumable) {
    link.session.ended = true;
    link.session.link = null;
    link.session = null;
  }
  sendFrame(link, { op: 9, s: null, t: null, d: resumable });
}

function begin(world: World, link: Link, bot: Bot, intents: number, shard: [number, number]): void {
  const session: Session = {
    id: randomText(32).toLowerCase(),
    bot,
    intents,
    shard,
    buffer: [],
    seq: 0,
    link,
    lostAt: null,
    ended: false,
  };
  world.sessions.set(session.id, session);
  link.session = session;
  const guilds = guildsOf(world, bot).filter((guild) => onShard(session, guild));
  push(world, session, "READY", {
    v: 10,
    user: { ...userJson(bot.user), verified: true, mfa_enabled: true, email: null },
    user_settings: {},
    session_type: "normal",
    session_id: session.id,
    resume_gateway_url: `${world.base.replace("http:", "ws:")}/resume/${bot.applicationId}`,
    relationships: [],
    private_channels: [],
    presences: [],
    guilds: guilds.map((guild) => ({ id: guild.id, unavailable: true })),
    guild_join_requests: [],
    geo_ordered_rtc_regions: [],
    shard,
    auth: {},
    application: { id: bot.applicationId, flags: applicationFlags(bot) },
    _trace: ["emulator"],
  });
  if (!(intents & INTENTS.guilds)) return;
  for (const guild of guilds)
    if (!guild.heldFor.has(bot)) push(world, session, "GUILD_CREATE", guildJson(world, guild, bot));
}

/** Guilds a bot is in. */
export function guildsOf(world: World, bot: Bot): Guild[] {
  return [...world.guilds.values()].filter((guild) => guild.members.has(bot.userId));
}

/** The application's flags: limited message content, members, presences. */
export function applicationFlags(bot: Bot): number {
  const bits = [bot.presences ? 1 << 13 : 0, bot.guildMembers ? 1 << 15 : 0, bot.messageContent ? 1 << 19 : 0];
  return bits.reduce((sum, bit) => sum | bit, 0);
}

/** Answers op 6; gives a reason to close, or null. */
export function resume(world: World, link: Link, body: Fields): Closing | null {
  link.resumes += 1;
  if (link.session) return [4005, "Already authenticated."];
  const bot = world.tokens.get(asText(body.token).replace(/^Bot /, ""));
  if (!bot || bot.revoked) return [4004, "Authentication failed."];
  link.bot = bot;
  const session = world.sessions.get(asText(body.session_id));
  const refused = takeRefusal(world.gatewayRefusals.resumes, bot) !== null;
  if (refused || !session || session.ended || session.bot !== bot || isExpired(world, session)) {
    invalidate(link, false);
    return null;
  }
  const seq = Number(body.seq);
  if (!Number.isInteger(seq) || seq < 0 || seq > session.seq) return [4007, "Invalid seq."];
  takeOver(world, link, session, seq);
  return null;
}

/** Moves a session to a new connection and replays what came after `seq`. */
function takeOver(world: World, link: Link, session: Session, seq: number): void {
  // The older connection of a session that is taken over is closed, not left as a ghost.
  const previous = session.link;
  session.link = null;
  if (previous) closeLink(previous, 4000, "Unknown error.");
  session.link = link;
  session.lostAt = null;
  link.session = session;
  for (const event of session.buffer) {
    if (event.s > seq) sendFrame(link, { op: 0, t: event.t, s: event.s, d: event.d });
  }
  push(world, session, "RESUMED", { _trace: ["emulator"] });
}

function isExpired(world: World, session: Session): boolean {
  return session.lostAt !== null && Date.now() - session.lostAt > world.timing.resumeMs;
}
