/** One emulated Discord with the real adapter on it, without an engine: tests say what `receive` answers and look at what was handed over. */

import { readFileSync } from "node:fs";
import type { ConnectionOptions } from "../../src/adapters/discord/connect.ts";
import { createDiscordAdapter } from "../../src/adapters/discord/index.ts";
import type {
  Adapter,
  AdapterContext,
  ConversationRef,
  FileRef,
  InboundEvent,
  MessageEvent,
  Place,
  Reception,
} from "../../src/engine/index.ts";
import { createSystemClock } from "../../src/engine/index.ts";
import {
  type Bot,
  type Channel,
  type Discord,
  type DiscordOptions,
  startDiscord,
  type User,
} from "../emulators/discord/index.ts";
import { createMemoryKv } from "../support/memory-kv.ts";

/** Options: which bots there are, what they may read, how connections are paced. */
export interface DiscordWorldOptions {
  readonly bots?: readonly string[];
  /** Bots without Message Content. */
  readonly deaf?: readonly string[];
  readonly connection?: ConnectionOptions;
  readonly discord?: DiscordOptions;
  /** False: the test starts the adapter itself. */
  readonly start?: boolean;
}

export interface DiscordWorld {
  readonly discord: Discord;
  readonly adapter: Adapter;
  readonly bots: readonly Bot[];
  readonly ada: Bot;
  readonly alice: User;
  readonly bob: User;
  readonly general: Channel;
  readonly context: AdapterContext;
  readonly received: InboundEvent[];
  readonly logs: string[];
  readonly metrics: string[];
  receiveWith(answer: (event: InboundEvent) => Promise<Reception>): void;
  startBot(bot: Bot, adapter?: Adapter): Promise<void>;
  /** Ends the adapter as at the end of a process and starts a new one with the same memory. */
  restart(): Promise<Adapter>;
  placeFor(event: MessageEvent): Place;
  placeIn(ref: Partial<ConversationRef> & Pick<ConversationRef, "kind" | "channelId">, bot?: Bot): Place;
  file(name: string, mediaType: string, bytes: string): FileRef;
  message(text: string): Promise<MessageEvent>;
  messages(text: string): MessageEvent[];
  /** Whether the next process would begin after everything that was sent so far. */
  isAllRemembered(bot?: Bot): Promise<boolean>;
  close(): Promise<void>;
}

/** Discord's own description of its API, where DISCORD_OPENAPI names a copy: request bodies are then checked against it as well. */
export function readOpenApi(): object | null {
  const path = process.env.DISCORD_OPENAPI;
  return path ? (JSON.parse(readFileSync(path, "utf8")) as object) : null;
}

/** Pacing without waiting. */
export const QUICK: ConnectionOptions = {
  retryMs: [20, 50, 100],
  refusedMs: 150,
  backoffMs: [0, 20, 50, 100],
  budget: { baseMs: 20, longestMs: 400, steadyMs: 60_000 },
};

/** Starts Discord, the bots, two people and a channel they are all in. */
export async function openDiscordWorld(options: DiscordWorldOptions = {}): Promise<DiscordWorld> {
  const discord = await startDiscord({ openApi: readOpenApi(), ...options.discord });
  const bots = (options.bots ?? ["Ada"]).map((name) =>
    discord.addBot({ name, messageContent: !options.deaf?.includes(name) }),
  );
  const [ada] = bots;
  if (!ada) throw new Error("a world needs a bot");
  const alice = discord.addPerson("Alice");
  const bob = discord.addPerson("Bob");
  const general = discord.addChannel("general");
  const state = createContext();
  const create = () =>
    createDiscordAdapter({
      apiUrl: discord.apiUrl,
      cdnHosts: ["127.0.0.1"],
      connection: { ...QUICK, ...options.connection },
    });
  let adapter = create();
  const startBot = (bot: Bot, own = adapter) =>
    own.start(
      { botId: bot.name.toLowerCase(), name: bot.name, role: "Tester", settings: { token: bot.token } },
      state.context,
    );
  const world: DiscordWorld = {
    discord,
    get adapter() {
      return adapter;
    },
    bots,
    ada,
    alice,
    bob,
    general,
    ...state,
    ...createLooks(discord, state.received, state.context, ada),
    startBot,
    async restart() {
      await adapter.stop();
      adapter = create();
      for (const bot of bots) await startBot(bot);
      return adapter;
    },
    close: async () => {
      await adapter.stop();
      await discord.close();
    },
  };
  if (options.start !== false) for (const bot of bots) await startBot(bot);
  return world;
}

function createLooks(discord: Discord, received: readonly InboundEvent[], context: AdapterContext, ada: Bot) {
  const messages = (text: string) =>
    received.filter((one): one is MessageEvent => one.type === "message" && one.text.includes(text));
  return {
    placeIn: (ref: Partial<ConversationRef> & Pick<ConversationRef, "kind" | "channelId">, bot = ada): Place => {
      const workspaceId = ref.kind === "direct" ? "@me" : discord.guild.id;
      const whole = { platform: "discord", workspaceId, ...ref };
      return { installationId: `i-${bot.applicationId}-${whole.workspaceId}`, ref: whole };
    },
    placeFor: ({ conversation, installationId, platformId }: MessageEvent): Place => ({
      installationId,
      ref: conversation,
      nativeReplyTo: platformId,
    }),
    messages,
    message: (text: string) => discord.waitUntil(() => messages(text)[0], `the message ${text}`, 5000),
    async isAllRemembered(bot = ada) {
      const session = [...discord.world.sessions.values()].findLast((one) => one.bot === bot && !one.ended);
      const kept = (await context.kv.get(`session:${bot.applicationId}`)) as { sequence?: number } | undefined;
      return session !== undefined && kept?.sequence === session.seq;
    },
  };
}

function createContext() {
  const received: InboundEvent[] = [];
  const logs: string[] = [];
  const metrics: string[] = [];
  const files = new Map<string, string>();
  let answer = (_event: InboundEvent): Promise<Reception> => Promise.resolve({ status: "accepted" });
  const write = (fields: object, msg: string) => void logs.push(`${msg} ${JSON.stringify(fields)}`);
  const log = { debug: write, info: write, warn: write, error: write, child: () => log };
  const context: AdapterContext = {
    receive: (event) => {
      received.push(event);
      return answer(event);
    },
    kv: createMemoryKv(),
    guardedFetch: () => Promise.resolve({ ok: false, reason: "cancelled", text: "not here" }),
    clock: createSystemClock(),
    log,
    metrics: { count: (name) => void metrics.push(name), observe: () => undefined },
    route: () => undefined,
    identify: (account, facts) =>
      Promise.resolve({
        id: `i-${facts.appId}-${facts.workspaceId}`,
        botId: account.botId,
        platform: "discord",
        orgId: "o",
        ...facts,
      }),
    openFile: (file) => Promise.resolve(bytesOf(files.get(file.sha256) ?? "")),
    storeFile: () => Promise.resolve({ ok: false, text: "not here" }),
    publicUrl: "",
    readSecretLink: () => Promise.resolve(null),
    storeCredential: () => Promise.reject(new Error("Discord keeps no credentials")),
    readCredential: () => Promise.resolve(null),
    forgetCredential: () => Promise.resolve(),
  };
  return {
    received,
    logs,
    metrics,
    context,
    receiveWith: (next: typeof answer) => {
      answer = next;
    },
    file: (name: string, mediaType: string, bytes: string): FileRef => {
      const sha256 = Buffer.from(name).toString("hex").padEnd(64, "0");
      files.set(sha256, bytes);
      return {
        sha256,
        ext: name.split(".").at(-1) ?? "",
        name,
        mediaType,
        size: Buffer.byteLength(bytes),
        alt: `the file ${name}`,
      };
    },
  };
}

async function* bytesOf(text: string): AsyncIterable<Uint8Array> {
  yield Buffer.from(text);
}
