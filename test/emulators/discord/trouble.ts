/**
 * Everything a test uses to make life hard for the product: faults of REST and downloads, disturbed events, broken
 * connections, refused sessions, revoked tokens, raw events.
 */
import type { Fields } from "../loopback.ts";
import { newToken } from "./directory.ts";
import { tellGuildCreate, tellGuildDelete } from "./events.ts";
import type { Disturbance, Fault, RequestRule, Rule } from "./faults.ts";
import { faultRule } from "./faults.ts";
import { invalidate } from "./identify.ts";
import type { Bot, Guild, StoredFile } from "./model.ts";
import type { Link } from "./sessions.ts";
import { closeLink, sendFrame, tellBot } from "./sessions.ts";
import type { World } from "./world.ts";

/** The troublesome part of a Discord's API. */
export type Trouble = ReturnType<typeof createTrouble>;

/** Builds it. */
export function createTrouble(world: World) {
  return {
    ...createFaults(world),
    ...createConnectionTrouble(world),
    ...createRefusedSessions(world),
    ...createRawEvents(world),
  };
}

function createFaults(world: World) {
  return {
    /**
     * Hits the next `times` (1) requests of a route such as `POST /channels/:id/messages` (`*` = any, `download` = files).
     * See `Fault`: rateLimit, status, error, hang, reset, acceptThen, malformed, delayMs.
     */
    fail: (route: string, fault: Fault, rule?: RequestRule): void =>
      void world.faults.push(faultRule(route, fault, rule)),
    /** Hits the next `times` (1) events for a bot. See `Disturbance`: duplicate, drop, delayMs, reorder. */
    disturb: (disturbance: Disturbance, rule: Rule = {}): void => {
      world.disturbances.push({ disturbance, bot: rule.bot ?? null, left: rule.times ?? 1 });
    },
    /** Forgets all faults, disturbances and refusals. */
    calm: (): void => {
      world.faults.length = 0;
      world.disturbances.length = 0;
      world.gatewayRefusals.upgrades.length = 0;
      world.gatewayRefusals.identifies.length = 0;
      world.gatewayRefusals.resumes.length = 0;
    },
    /** The links of this file answer 404 from now on. */
    loseFile: (id: string): StoredFile => {
      const file = world.files.get(id);
      if (!file) throw new Error(`no file ${id}`);
      file.gone = true;
      return file;
    },
    /** The token stops working: 401, and close 4004 for what is connected. */
    revoke: (bot: Bot): void => {
      bot.revoked = true;
      for (const link of openLinks(world, bot)) closeLink(link, 4004, "Authentication failed.");
    },
    /** A new token, as after "Reset Token" in the portal. */
    resetToken: (bot: Bot): string => {
      world.tokens.delete(bot.token);
      bot.token = newToken(bot.applicationId);
      bot.revoked = false;
      world.tokens.set(bot.token, bot);
      return bot.token;
    },
  };
}

/** Open connections of a bot (or of all). */
export function openLinks(world: World, bot?: Bot): Link[] {
  return world.links.filter((link) => link.closeCode === null && link.bot !== null && (!bot || link.bot === bot));
}

function createConnectionTrouble(world: World) {
  return {
    /** Asks the clients to reconnect (op 7). */
    reconnect: (bot?: Bot): void => {
      for (const link of openLinks(world, bot)) sendFrame(link, { op: 7, s: null, t: null, d: null });
    },
    /** Declares the sessions invalid (op 9); resumable ones may be resumed. */
    invalidate: (bot?: Bot, resumable = false): void => {
      for (const link of openLinks(world, bot)) invalidate(link, resumable);
    },
    /** Closes the connections with a code, for example 4000 or 4014. */
    closeWith: (code: number, bot?: Bot): void => {
      for (const link of openLinks(world, bot)) closeLink(link, code);
    },
    /** Breaks the connections without a word. Returns how many. */
    cut: (bot?: Bot): number => {
      const links = openLinks(world, bot);
      for (const link of links) link.socket.terminate();
      return links.length;
    },
    /** The connections stay open but carry nothing any more, acknowledgements included; later ones do. */
    silence: (bot?: Bot): void => {
      for (const link of openLinks(world, bot)) link.silent = true;
    },
    /** Events still come, but heartbeats are not acknowledged any more. */
    withholdAcks: (bot?: Bot): void => {
      for (const link of openLinks(world, bot)) link.mute = true;
    },
  };
}

function createRefusedSessions(world: World) {
  return {
    /** Answers the next upgrades with an HTTP status; `address` resume hits only the resume host. */
    refuseUpgrades: (rule: Rule & { status?: number; address?: "gateway" | "resume" | "both" } = {}): void => {
      world.gatewayRefusals.upgrades.push({
        bot: rule.bot ?? null,
        address: rule.address ?? "both",
        status: rule.status ?? 503,
        left: rule.times ?? 1,
      });
    },
    /** Answers the next IDENTIFYs with a close code (4004, 4014, …) or, with null, op 9. */
    refuseIdentify: (close: number | null, rule: Rule = {}): void => {
      world.gatewayRefusals.identifies.push({ bot: rule.bot ?? null, close, left: rule.times ?? 1 });
    },
    /** Answers the next RESUMEs with op 9. */
    refuseResume: (rule: Rule = {}): void => {
      world.gatewayRefusals.resumes.push({ bot: rule.bot ?? null, left: rule.times ?? 1 });
    },
    /** All sessions that are not connected are forgotten, as after some minutes offline. */
    forgetSessions: (bot?: Bot): void => {
      for (const session of world.sessions.values()) {
        if ((!bot || session.bot === bot) && session.link === null) session.ended = true;
      }
    },
    /** The guild is unavailable for a bot: GUILD_DELETE now, no GUILD_CREATE at the start, no events from it. */
    holdGuild: (guild: Guild, bot: Bot): void => {
      tellGuildDelete(world, guild, bot, true);
      guild.heldFor.add(bot);
    },
    /** The guild is back: GUILD_CREATE. */
    releaseGuild: (guild: Guild, bot: Bot): void => {
      guild.heldFor.delete(bot);
      tellGuildCreate(world, guild, bot);
    },
  };
}

function createRawEvents(world: World) {
  return {
    /** Sends any event to a bot, past intents and permissions. */
    sendEvent: (bot: Bot, name: string, data: Fields): void => {
      tellBot(world, bot, { name, intent: 0, guild: null, data: () => data });
    },
    /** Writes any frame on a bot's open connections. */
    sendFrame: (bot: Bot, frame: Fields): void => {
      for (const link of openLinks(world, bot)) sendFrame(link, frame);
    },
    /** Writes text that is no JSON. */
    sendGarbage: (bot: Bot, text = "{"): void => {
      for (const link of openLinks(world, bot)) link.socket.send(text);
    },
  };
}
