/**
 * A Discord on 127.0.0.1 that the real clients connect to: gateway, REST v10, CDN, interactions and modals, people who
 * write and press. It refuses what Discord refuses, records everything, and makes trouble on demand. It outlives the
 * product, so restarts can be tested.
 * How to use it stands at `startDiscord`.
 */
import type { Arrived, Fields } from "../loopback.ts";
import { pause, sendText, startLoopback } from "../loopback.ts";
import { createActs, createDirectory } from "./acts.ts";
import { addGuild } from "./directory.ts";
import { serveDownload } from "./downloads.ts";
import { createGatewayServer } from "./gateway.ts";
import { createReading } from "./reading.ts";
import { serveRest } from "./rest.ts";
import type { Trouble } from "./trouble.ts";
import { createTrouble } from "./trouble.ts";
import type { Limits, Timing, World } from "./world.ts";

export type { Control } from "./component-text.ts";
export type { ControlOptions, Which } from "./controls.ts";
export type { BotOptions, PersonOptions } from "./directory.ts";
export type { Disturbance, Fault, RequestRule, Rule } from "./faults.ts";
export type { InteractionResult } from "./interactions.ts";
export type { Bot, Channel, DiscordRequest, Guild, OpenModal, Pings, Refusal, Role, Typing, User } from "./model.ts";
export type { Located, SayOptions, Upload } from "./people.ts";
export type { Permission } from "./permissions.ts";
export { PERMISSIONS } from "./permissions.ts";
export type { ChannelOptions } from "./places.ts";
export type { Post, PostFile, PostFilter } from "./posts.ts";
export type { Delivery, Link, Telling } from "./sessions.ts";
export { INTENTS } from "./sessions.ts";

/** Options of a Discord; times in milliseconds, defaults in `TIMING` and `LIMITS`. */
export interface DiscordOptions extends Partial<Timing> {
  port?: number;
  guildName?: string;
  limits?: Partial<Limits>;
  /** Discord's own OpenAPI document; request bodies are then checked against it as well. */
  openApi?: object | null;
}

const TIMING: Timing = {
  heartbeatMs: 41_250,
  interactionMs: 3000,
  followupMs: 900_000,
  resumeMs: 180_000,
  nonceMs: 300_000,
  identifyEveryMs: 0,
};

/** Wide for routes, so that tests are not slowed; Discord itself lets about 5 messages per 5 s and channel pass. */
const LIMITS: Limits = {
  global: { limit: 50, windowMs: 1000 },
  route: { limit: 100, windowMs: 1000 },
  message: { limit: 50, windowMs: 1000 },
  reaction: { limit: 4, windowMs: 1000 },
  invalid: { limit: 10_000, windowMs: 600_000 },
};

/** A running Discord. */
export type Discord = ReturnType<typeof createDirectory> &
  ReturnType<typeof createActs> &
  ReturnType<typeof createReading> &
  Trouble & { url: string; apiUrl: string; host: string; port: number; world: World; close(): Promise<void> };

/**
 * Starts a Discord with one guild; `close` it when the test ends.
 *
 *   const discord = await startDiscord();                 // REST: discord.apiUrl ("…/api"); the gateway's address comes from it
 *   const ada = discord.addBot({ name: "Ada" });          // ada.token, ada.applicationId, ada.userId; messageContent: false
 *   const alice = discord.addPerson("Alice");             // { dms: "closed", guilds, roles }
 *   const general = discord.addChannel("general");        // { members: [ada, alice], kind: "forum", slowmode, guild }
 *   await discord.waitForSocket(ada);
 *   const asked = discord.say(alice, general, `${discord.mention(ada)} hi`, { files: [{ name: "a.png", bytes }] });
 *   discord.reply(alice, asked, "more"); discord.dm(alice, ada, "hello", { event: { channel_type: undefined } });
 *   const post = await discord.waitForPost((p) => p.text.includes("hello") && p.replyTo === asked.id);
 *   post.pings.users, post.notified, post.controls, post.files, post.gallery, post.nonce
 *   const done = await discord.press(alice, post, "Retry"); done.acked, done.ms, done.type, done.privately
 *   await discord.choose(alice, post, ["B"]);
 *   await discord.waitForModal(alice); await discord.submit(alice, { Token: "s3cret" });
 *   await discord.command(alice, general, ada, "group on");
 *   discord.posts(general), discord.timeline(general), discord.noticesFor(alice), discord.calls("POST /channels/:id/messages")
 *   discord.refusals, discord.requests, discord.typings, discord.deliveries, discord.identifies(ada), discord.sockets(ada)
 *   discord.fail("POST /channels/:id/messages", { acceptThen: "drop" }, { times: 2, bot: ada });
 *   discord.disturb({ duplicate: 1, event: "MESSAGE_CREATE" }, { bot: ada });      // drop, delayMs, reorder
 *   discord.reconnect(ada); discord.invalidate(ada); discord.cut(ada); discord.closeWith(4000, ada); discord.silence(ada);
 *   discord.refuseIdentify(4014, { bot: ada }); discord.refuseUpgrades({ bot: ada, address: "resume", times: 3 });
 *   discord.holdGuild(discord.guild, ada); discord.revoke(ada); discord.withholdAcks(ada);
 *   await discord.close();
 */
export async function startDiscord(options: DiscordOptions = {}): Promise<Discord> {
  const { port, guildName, limits, openApi, ...timing } = options;
  const world = newWorld({ ...TIMING, ...timing }, { ...LIMITS, ...limits }, openApi ?? null);
  const loopback = await startLoopback((arrived) => route(world, arrived), port);
  world.base = loopback.base;
  loopback.server.on("upgrade", createGatewayServer(world));
  const guild = addGuild(world, guildName ?? "Emulated");
  const close = async () => {
    world.closed = true;
    for (const timer of world.timers) clearTimeout(timer);
    await closeSockets(world);
    await loopback.close();
  };
  return {
    ...createDirectory(world, guild),
    ...createActs(world),
    ...createReading(world),
    ...createTrouble(world),
    url: `${loopback.base}/`,
    apiUrl: `${loopback.base}/api`,
    host: `127.0.0.1:${loopback.port}`,
    port: loopback.port,
    world,
    close,
  };
}

function route(world: World, arrived: Arrived): Promise<void> {
  const path = arrived.url.pathname;
  if (path.startsWith("/api/")) return serveRest(world, arrived);
  if (path.startsWith("/attachments/")) return serveDownload(world, arrived);
  sendText(arrived.response, 404, "not found");
  return Promise.resolve();
}

/** Says goodbye properly, so that clients do not report a broken connection; cuts what has not gone in time. */
async function closeSockets(world: World): Promise<void> {
  const open = world.links.filter((link) => link.socket.readyState !== link.socket.CLOSED);
  for (const link of open) link.socket.close(1001);
  const end = Date.now() + 200;
  while (Date.now() < end && open.some((link) => link.socket.readyState !== link.socket.CLOSED)) await pause(2);
  for (const link of open) link.socket.terminate();
}

function newWorld(timing: Timing, limits: Limits, openApi: object | null): World {
  return {
    base: "",
    timing,
    limits,
    openApi: openApi as Fields | null,
    bots: [],
    users: new Map(),
    guilds: new Map(),
    channels: new Map(),
    files: new Map(),
    interactions: new Map(),
    modals: [],
    nonces: new Map(),
    buckets: new Map(),
    invalidAt: [],
    sessions: new Map(),
    links: [],
    deliveries: [],
    heldBack: new Map(),
    gatewayRefusals: { upgrades: [], identifies: [], resumes: [] },
    requests: [],
    refusals: [],
    typings: [],
    faults: [],
    disturbances: [],
    timers: new Set(),
    tokens: new Map(),
    lastId: 0n,
    closed: false,
  };
}
