/**
 * One bot's life on Discord: checks its token, learns who it is and where, opens its gateway connection, keeps its health, and hands events to the
 * engine.
 * Invariant: nothing that goes wrong with one bot touches another or ends the process; a definite refusal is tried again now and then, so a bot comes
 * back when its settings are mended. Clicks are handled the moment they arrive, before and beside everything else.
 */

import type { AdapterAccount, AdapterContext, BotHealth, Log } from "../../engine/index.ts";
import { type Fields, toText } from "../shared/fields.ts";
import { handleInteraction } from "./actions.ts";
import { type Backfill, type BackfillOptions, createBackfill } from "./backfill.ts";
import type { Blocked } from "./blocked.ts";
import type { DiscordBot } from "./bot.ts";
import { createCalls } from "./clients.ts";
import { syncCommands } from "./commands.ts";
import type { Copies } from "./copies.ts";
import type { Directory } from "./directory.ts";
import { problemOf } from "./errors.ts";
import { createGateway, type Gateway, type GatewayEvents } from "./gateway.ts";
import { type BudgetOptions, createIdentifyBudget } from "./identify-budget.ts";
import { createIntake, type Intake } from "./intake.ts";
import type { InvalidRequests } from "./invalid-requests.ts";
import { CONTENT_OFF, END_REMEDIES, STANDING_BY } from "./remedies.ts";
import { createSessionKeeper, type SessionKeeper } from "./session-memory.ts";
import { signIn } from "./sign-in.ts";

/** Pacing of connections; tests and unusual networks change it. */
export interface ConnectionOptions {
  readonly retryMs?: readonly number[];
  readonly refusedMs?: number;
  readonly backoffMs?: readonly number[];
  readonly budget?: BudgetOptions;
  readonly backfill?: BackfillOptions;
}

/** What connections of one adapter share. */
export interface ConnectionParts {
  readonly account: AdapterAccount;
  readonly token: string;
  readonly context: AdapterContext;
  readonly apiUrl: string;
  /** Names of our own bots by account id; filled by `onReady`. */
  readonly ours: ReadonlyMap<string, string>;
  readonly directory: Directory;
  readonly copies: Copies;
  readonly blocked: Blocked;
  readonly invalid: InvalidRequests;
  /** Called for each installation of the bot, before any event in it. */
  readonly onInstallation: (installationId: string, bot: () => DiscordBot, workspaceId: string) => void;
  /** Called when the bot's own ids are known, before its first event. */
  readonly onReady: (bot: DiscordBot) => void;
  readonly options: ConnectionOptions;
}

/** One bot's connection. */
export interface DiscordConnection {
  /** Resolves once connected or definitely failed, at the latest after `START_WAIT_MS`. Never rejects. */
  start(): Promise<void>;
  /** Closes so that the next process can go on with the session. */
  stop(): Promise<void>;
  /** Opens or closes the gateway connection; without it the bot still sends. */
  setIntake(on: boolean): Promise<void>;
  health(): BotHealth;
  /** A call showed that the bot's token is the problem. */
  fail(remedy: string): void;
}

/** Guilds, messages, reactions, direct messages and reactions on them. */
const INTENTS = 1 | 512 | 1024 | 4096 | 8192;
const CONTENT_INTENT = 32_768;
const START_WAIT_MS = 15_000;
const RETRY_MS = [500, 1000, 2000, 5000, 10_000, 30_000];
const REFUSED_RETRY_MS = 60_000;
/** Without an answered heartbeat for this long the connection is not trusted, ms; Discord's own rhythm is 41 s. */
const SILENT_MS = 150_000;
const DRAIN_MS = 2500;
const STAND_BY_MS = 60_000;

/** Creates the connection of one bot; nothing happens before `start`. */
export function createConnection(parts: ConnectionParts): DiscordConnection {
  return new Connection(parts);
}

class Connection implements DiscordConnection {
  readonly #parts: ConnectionParts;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  readonly #settled = new AbortController();
  readonly #keeper: SessionKeeper;
  #state: BotHealth["state"] = "starting";
  #remedy: string | undefined;
  #warning: string | undefined;
  #lastEventAt: Date | undefined;
  #gateway: Gateway | undefined;
  #intake: Intake | undefined;
  #backfill: Backfill | undefined;
  /** Ends the present attempt: a close that is final, or a token that does not work any more. */
  #over = new AbortController();
  #life: Promise<void> = Promise.resolve();
  #listens: boolean;
  #switched = new AbortController();

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#listens = parts.account.intake !== false;
    this.#log = parts.context.log.child({ bot: parts.account.botId, platform: "discord" });
    this.#keeper = createSessionKeeper(parts.context.kv, parts.context.clock, this.#log);
  }

  async start(): Promise<void> {
    this.#life = this.#run();
    const { clock } = this.#parts.context;
    await clock.delay(START_WAIT_MS, AbortSignal.any([this.#settled.signal, this.#stopping.signal]));
    if (this.#state === "starting") this.#change("reconnecting", "Discord does not answer yet; still trying.");
  }

  async setIntake(on: boolean): Promise<void> {
    if (this.#listens === on) return;
    this.#listens = on;
    const { clock } = this.#parts.context;
    if (!on) {
      const gateway = this.#gateway;
      await Promise.race([gateway?.close(), clock.delay(DRAIN_MS)]);
      // The process that takes over goes on with this session.
      await this.#keeper.write(gateway?.session() ?? null);
      this.#over.abort();
    }
    this.#switched.abort();
    this.#switched = new AbortController();
  }

  /** Sends only, until this process is the one to listen. */
  async #standBy(): Promise<void> {
    const { clock } = this.#parts.context;
    while (!this.#listens && !this.#stopping.signal.aborted && !this.#over.signal.aborted) {
      this.#change("connected", STANDING_BY);
      await clock.delay(
        STAND_BY_MS,
        AbortSignal.any([this.#switched.signal, this.#stopping.signal, this.#over.signal]),
      );
    }
  }

  async stop(): Promise<void> {
    const { clock } = this.#parts.context;
    await Promise.race([this.#gateway?.close(), clock.delay(DRAIN_MS)]);
    const end = clock.now() + DRAIN_MS;
    while ((this.#intake?.open ?? 0) > 0 && clock.now() < end) await clock.delay(10);
    this.#stopping.abort();
    await Promise.race([Promise.all([this.#life, this.#backfill?.done()]), clock.delay(DRAIN_MS)]);
    await this.#keeper.write(this.#gateway?.session() ?? null);
  }

  health(): BotHealth {
    const isSilent =
      this.#state === "connected" && this.#parts.context.clock.now() - this.#keeper.aliveAt() > SILENT_MS;
    const remedy = isSilent
      ? "Nothing has come from Discord for minutes; the connection is being renewed."
      : (this.#remedy ?? this.#warning);
    return {
      botId: this.#parts.account.botId,
      state: isSilent ? "reconnecting" : this.#state,
      ...(remedy === undefined ? {} : { remedy }),
      ...(this.#lastEventAt === undefined ? {} : { lastEventAt: this.#lastEventAt }),
    };
  }

  fail(remedy: string): void {
    this.#change("failed", remedy);
    this.#over.abort();
  }

  #change(state: BotHealth["state"], remedy?: string): void {
    if (state !== this.#state)
      this.#log.info({ state, ...(remedy === undefined ? {} : { remedy }) }, "discord connection");
    this.#state = state;
    this.#remedy = remedy;
    if (state === "connected" || state === "failed") this.#settled.abort();
  }

  /** Connects again and again until stopped. */
  async #run(): Promise<void> {
    const { context, options } = this.#parts;
    const retries = options.retryMs ?? RETRY_MS;
    for (let failures = 0; !this.#stopping.signal.aborted; ) {
      this.#over = new AbortController();
      const wait = await this.#attempt();
      failures = wait === "retry" ? failures + 1 : 0;
      const pause = wait === "retry" ? (retries[Math.min(failures, retries.length) - 1] ?? 1000) : wait;
      await context.clock.delay(pause * (0.7 + 0.6 * Math.random()), this.#stopping.signal);
    }
  }

  /** One life of a connection; resolves when it is over, with the time to wait before the next. */
  async #attempt(): Promise<number | "retry"> {
    const { apiUrl, token, invalid, options } = this.#parts;
    const calls = createCalls(apiUrl, token, invalid);
    const refusedMs = options.refusedMs ?? REFUSED_RETRY_MS;
    try {
      const { bot, warning } = await signIn({ ...this.#parts, calls, log: this.#log });
      this.#warning = warning;
      if (!bot.self.readsContent) this.#log.info({}, CONTENT_OFF);
      if (this.#stopping.signal.aborted) return 0;
      await this.#listen(bot);
      return this.#listens ? refusedMs : 0;
    } catch (error) {
      const problem = problemOf(error);
      const isRefused = problem.problem === "bot" || problem.problem === "place";
      this.#log.warn({ code: problem.code }, "discord sign-in failed");
      this.#change(isRefused ? "failed" : "reconnecting", problem.text);
      return isRefused ? refusedMs : problem.waitMs > 0 ? problem.waitMs : "retry";
    } finally {
      calls.close();
    }
  }

  async #listen(bot: DiscordBot): Promise<void> {
    const { context, token, options, ours, copies, onReady } = this.#parts;
    onReady(bot);
    await this.#standBy();
    if (this.#stopping.signal.aborted || this.#over.signal.aborted) return;
    const { appId } = bot.self;
    const { session } = await this.#keeper.begin(appId);
    const stopping = AbortSignal.any([this.#stopping.signal, this.#over.signal]);
    const intake = createIntake({ bot, isOurs: (userId) => ours.has(userId), copies, stopping });
    this.#intake = intake;
    const take = (event: string, data: Fields) => intake.take(event, data);
    this.#backfill = createBackfill(bot, take, stopping, options.backfill);
    const gateway = createGateway({
      token,
      intents: bot.self.readsContent ? INTENTS | CONTENT_INTENT : INTENTS,
      rest: bot.calls.rest,
      budget: createIdentifyBudget(context.kv, `starts:${appId}`, context.clock, options.budget),
      session,
      events: this.#events(bot, intake),
      clock: context.clock,
      log: this.#log,
      ...(options.backoffMs === undefined ? {} : { backoffMs: options.backoffMs }),
    });
    this.#gateway = gateway;
    bot.presence.follow();
    if (this.#stopping.signal.aborted) return;
    await gateway.open();
    void syncCommands(bot);
    await this.#keeper.keep(() => gateway.session(), stopping);
    if (!this.#stopping.signal.aborted) await gateway.close();
  }

  #events(bot: DiscordBot, intake: Intake): GatewayEvents {
    return {
      ready: () => {
        this.#keeper.progress.restart(0);
        this.#backfill?.ready(this.#keeper.aliveAt());
        this.#up();
      },
      resumed: () => this.#up(),
      dispatch: (event, data, sequence) => this.#dispatch(bot, intake, event, data, sequence),
      down: () => this.#change("reconnecting", "The connection to Discord is being opened again."),
      ended: (code) => this.fail(END_REMEDIES[code] ?? `Discord closed the connection for good (${code}).`),
      beat: () => this.#keeper.alive(),
    };
  }

  #up(): void {
    this.#keeper.alive();
    this.#change("connected");
  }

  #dispatch(bot: DiscordBot, intake: Intake, event: string, data: Fields, sequence: number): void {
    const { directory, blocked } = this.#parts;
    this.#keeper.alive();
    this.#lastEventAt = new Date(this.#keeper.aliveAt());
    const end = this.#keeper.progress.begin(sequence);
    directory.note(event, data);
    blocked.note(event, data);
    bot.presence.note(event, data);
    const work = event === "INTERACTION_CREATE" ? handleInteraction(bot, data) : this.#heard(bot, intake, event, data);
    // What was not taken in stays open, so that the next process begins before it.
    work.then(end, () => this.#log.debug({ event }, "a discord event is left to the next process"));
  }

  async #heard(bot: DiscordBot, intake: Intake, event: string, data: Fields): Promise<void> {
    if (event === "GUILD_CREATE") return this.#arrived(bot, data);
    if (event === "MESSAGE_CREATE" && data.guild_id === undefined)
      this.#backfill?.direct(toText(data.channel_id) ?? "");
    await intake.take(event, data);
  }

  async #arrived(bot: DiscordBot, data: Fields): Promise<void> {
    const guildId = toText(data.id);
    if (guildId === undefined || data.unavailable === true) return;
    this.#backfill?.guild(data);
    await bot.installs.of(guildId).catch((error: unknown) => {
      this.#log.warn({ error: String(error) }, "a discord server could not be stored yet; its first event will");
    });
  }
}
