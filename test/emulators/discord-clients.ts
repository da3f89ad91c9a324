/**
 * The real Discord clients, pointed at an emulated Discord; shared by the emulator's own tests.
 * Nothing here knows the product.
 */
import { existsSync, readFileSync } from "node:fs";
import {
  type CreateWebSocketManagerOptions,
  type SessionInfo,
  WebSocketManager,
  WebSocketShardEvents,
} from "@discordjs/ws";
import { DiscordAPIError, HTTPError, REST } from "discord.js";
import type { Bot, Discord } from "./discord/index.ts";

type Json = Record<string, unknown>;

/** What a gateway client collects. */
export interface GatewayClient {
  readonly manager: WebSocketManager;
  /** Dispatches in the order they came. */
  readonly events: { t: string; s: number; d: Json }[];
  readonly errors: Error[];
  /** Close codes the client saw. */
  readonly closes: number[];
  /** Dispatches of one name. */
  named(name: string): Json[];
}

/** Guilds, messages, DMs, reactions, content. */
export const ALL_INTENTS = 1 | 512 | 1024 | 4096 | 8192 | 32_768;
const READ_INTENTS = ALL_INTENTS & ~32_768;

/** Discord's OpenAPI document when DISCORD_OPENAPI names its file; null otherwise. The emulator does without it. */
export function readOpenApi(): object | null {
  const path = process.env.DISCORD_OPENAPI;
  return path !== undefined && existsSync(path) ? (JSON.parse(readFileSync(path, "utf8")) as object) : null;
}

/** REST of discord.js for a bot, without repeating requests by itself. */
export function restOf(discord: Discord, bot: Bot): REST {
  return new REST({
    api: discord.apiUrl,
    version: "10",
    retries: 0,
    timeout: 3000,
    // Other packages bring another undici, whose forms the client's own one does not take; the global fetch takes both.
    makeRequest: (url, init) => fetch(url, init as RequestInit) as never,
  }).setToken(bot.token);
}

/** The gateway client of discord.js, not yet connected; it keeps its session in memory. */
export function gatewayOf(
  discord: Discord,
  bot: Bot,
  options: Partial<CreateWebSocketManagerOptions> = {},
): GatewayClient {
  let session: SessionInfo | null = null;
  const rest = restOf(discord, bot);
  const manager = new WebSocketManager({
    token: bot.token,
    intents: bot.messageContent ? ALL_INTENTS : READ_INTENTS,
    rest,
    retrieveSessionInfo: () => session,
    updateSessionInfo: (_shard, info) => {
      session = info;
    },
    // The client's own one waits 5 s between two IDENTIFYs.
    buildIdentifyThrottler: () => ({ waitForIdentify: () => Promise.resolve() }),
    ...options,
  });
  const client: GatewayClient = {
    manager,
    events: [],
    errors: [],
    closes: [],
    named: (name) => client.events.filter((event) => event.t === name).map((event) => event.d),
  };
  manager.on(WebSocketShardEvents.Dispatch, ({ data }) => void client.events.push(data as never));
  manager.on(WebSocketShardEvents.Error, ({ error }) => void client.errors.push(error));
  manager.on(WebSocketShardEvents.Closed, ({ code }) => void client.closes.push(code));
  return client;
}

/** Connects and waits for READY. */
export async function connect(
  discord: Discord,
  bot: Bot,
  options?: Partial<CreateWebSocketManagerOptions>,
): Promise<GatewayClient> {
  const client = gatewayOf(discord, bot, options);
  await client.manager.connect();
  await discord.waitUntil(() => client.named("READY").length > 0, "READY");
  return client;
}

/** What a refused request says: `status code`, and the whole answer as text. */
export async function refusalOf(request: Promise<unknown>): Promise<{ code: string; reasons: string }> {
  try {
    await request;
    return { code: "ok", reasons: "" };
  } catch (error) {
    if (error instanceof DiscordAPIError)
      return { code: `${error.status} ${error.code}`, reasons: JSON.stringify(error.rawError) };
    if (error instanceof HTTPError) return { code: `${error.status}`, reasons: error.message };
    throw error;
  }
}
