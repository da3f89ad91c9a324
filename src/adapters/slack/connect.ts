/**
 * One bot's life on Slack: checks its token, learns who it is, opens its connections, keeps its health, and hands events to the engine.
 * Invariant: nothing that goes wrong with one bot touches another or ends the process; a definite failure is tried again now and then, so a bot
 * comes back when its token does. An event is acknowledged only after `receive` has stored it.
 */

import type { AdapterAccount, AdapterContext, BotHealth, Log } from "../../engine/index.ts";
import { handleInteraction } from "./actions.ts";
import type { SlackAccountSettings, SlackBot } from "./bot.ts";
import { type CatchUp, type CatchUpOptions, createCatchUp, DEFAULT_CATCH_UP } from "./catch-up.ts";
import { createCalls } from "./clients.ts";
import { createDirectory } from "./directory.ts";
import { problemOf } from "./errors.ts";
import type { HttpBot } from "./http.ts";
import { readIdentity } from "./identity.ts";
import { type Knowledge, type SlackIdentity, toInbound } from "./inbound.ts";
import { type IsOurs, kindOf, type Lookups, lookupsOf } from "./inbound-kind.ts";
import { type Fields, toFields, toTexts } from "./json.ts";
import { missingScopes } from "./manifest.ts";
import { createIntake, type Intake } from "./receiver.ts";
import { createSupervisor, DEFAULT_SUPERVISION, type Supervisor, type SupervisorOptions } from "./supervisor.ts";

/** What connections of one adapter share. */
export interface ConnectionParts {
  readonly account: AdapterAccount;
  readonly settings: SlackAccountSettings;
  readonly context: AdapterContext;
  readonly apiUrl: string;
  readonly isOurs: IsOurs;
  /** Called when the bot's identity is known, before its first event. */
  readonly onReady: (bot: SlackBot) => void;
  readonly supervision?: SupervisorOptions;
  readonly catchUp?: CatchUpOptions;
}

/** One bot's connection. */
export interface SlackConnection {
  /** Resolves once connected or definitely failed, at the latest after `START_WAIT_MS`. Never rejects. */
  start(): Promise<void>;
  stop(): Promise<void>;
  /** Opens or closes the sockets; without them the bot still sends, and takes requests by HTTP. */
  setIntake(on: boolean): Promise<void>;
  health(): BotHealth;
  /** The part of it that HTTP requests need, when it takes any. */
  http(): HttpBot | undefined;
  /** A call showed that the bot's credentials are the problem. */
  fail(remedy: string): void;
  /** A call succeeded: credentials that had failed work again. */
  worked(): void;
}

const START_WAIT_MS = 15_000;
const RETRY_MS = [500, 1000, 2000, 5000, 10_000, 30_000];
const REFUSED_RETRY_MS = 60_000;
const OPEN_TIMEOUT_MS = 15_000;
/** Shown with a bot that sends from this process while another one hears for it. */
const STANDING_BY = "Sends from here; another process listens for this bot.";
/** Slack delivers an event three more times; after that it is gone. */
const LAST_RETRY = 3;

/** Creates the connection of one bot; nothing happens before `start`. */
export function createConnection(parts: ConnectionParts): SlackConnection {
  return new Connection(parts);
}

class Connection implements SlackConnection {
  readonly #parts: ConnectionParts;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  readonly #settled = new AbortController();
  #state: BotHealth["state"] = "starting";
  #remedy: string | undefined;
  #scopeRemedy: string | undefined;
  #lastEventAt: Date | undefined;
  #intake: Intake | undefined;
  #supervisor: Supervisor | undefined;
  #catchUp: CatchUp | undefined;
  #isRefused = false;
  #listens: boolean;
  #bot: SlackBot | undefined;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#listens = parts.account.intake !== false;
    this.#log = parts.context.log.child({ bot: parts.account.botId, platform: "slack" });
  }

  async start(): Promise<void> {
    void this.#run();
    await this.#parts.context.clock.delay(
      START_WAIT_MS,
      AbortSignal.any([this.#settled.signal, this.#stopping.signal]),
    );
    if (this.#state === "starting") this.#change("reconnecting", "Slack does not answer yet; still trying.");
  }

  async setIntake(on: boolean): Promise<void> {
    if (this.#listens === on) return;
    this.#listens = on;
    if (on && this.#bot && this.#intake) return this.#open(this.#bot, this.#intake);
    const [supervisor, catchUp] = [this.#supervisor, this.#catchUp];
    this.#supervisor = undefined;
    this.#catchUp = undefined;
    await Promise.all([supervisor?.stop(), catchUp?.stop()]);
    if (this.#bot && !on) this.#change("connected", STANDING_BY);
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#supervisor?.stop(), this.#catchUp?.stop()]);
  }

  health(): BotHealth {
    const remedy = this.#remedy ?? this.#scopeRemedy;
    return {
      botId: this.#parts.account.botId,
      state: this.#state,
      ...(remedy === undefined ? {} : { remedy }),
      ...(this.#lastEventAt === undefined ? {} : { lastEventAt: this.#lastEventAt }),
    };
  }

  http(): HttpBot | undefined {
    const { signingSecret } = this.#parts.settings;
    return signingSecret !== undefined && this.#intake ? { signingSecret, intake: this.#intake } : undefined;
  }

  fail(remedy: string): void {
    this.#isRefused = true;
    this.#change("failed", remedy);
  }

  worked(): void {
    if (this.#isRefused) this.#change("connected");
  }

  #change(state: BotHealth["state"], remedy?: string): void {
    if (state !== "failed") this.#isRefused = false;
    if (state !== this.#state)
      this.#log.info({ state, ...(remedy === undefined ? {} : { remedy }) }, "slack connection");
    this.#state = state;
    this.#remedy = remedy;
    if (state === "connected") this.#catchUp?.listening();
    else this.#catchUp?.away();
    if (state === "connected" || state === "failed") this.#settled.abort();
  }

  /** Tries until Slack has accepted the token, then listens. */
  async #run(): Promise<void> {
    for (let failures = 0; !this.#stopping.signal.aborted; failures += 1) {
      try {
        const bot = await this.#identify();
        if (!this.#stopping.signal.aborted) this.#listen(bot);
        return;
      } catch (error) {
        const problem = problemOf(error);
        const refused = problem.problem === "bot" || problem.problem === "content";
        this.#log.warn({ code: problem.code }, "slack sign-in failed");
        this.#change(refused ? "failed" : "reconnecting", problem.text);
        const wait = refused
          ? REFUSED_RETRY_MS
          : (RETRY_MS[Math.min(failures, RETRY_MS.length - 1)] ?? REFUSED_RETRY_MS);
        await this.#parts.context.clock.delay(
          Math.max(problem.waitMs, wait * (0.7 + 0.6 * Math.random())),
          this.#stopping.signal,
        );
      }
    }
  }

  async #identify(): Promise<SlackBot> {
    const { account, settings, context, apiUrl } = this.#parts;
    const calls = await createCalls(apiUrl, settings.botToken, this.#log);
    const answer = toFields(await calls.web("auth.test", {}));
    this.#checkScopes(answer);
    const facts = await readIdentity(answer, calls);
    const installation = await context.identify(account, {
      appId: facts.appId,
      workspaceId: facts.workspaceId,
      botUserId: facts.botUserId,
      otherIds: [facts.slackBotId, facts.appId],
    });
    const self: SlackIdentity = { ...facts, installationId: installation.id };
    const directory = createDirectory(calls, self, context.clock);
    return { botId: account.botId, name: account.name, apiUrl, self, calls, directory, context, log: this.#log };
  }

  #checkScopes(answer: Fields): void {
    const granted = toTexts(toFields(answer.response_metadata).scopes);
    const missing = granted.length === 0 ? [] : missingScopes(granted);
    this.#scopeRemedy =
      missing.length === 0
        ? undefined
        : `The Slack app lacks ${missing.join(", ")}. Add them under OAuth & Permissions and install the app again.`;
    if (this.#scopeRemedy !== undefined) this.#log.warn({ missing }, "slack app lacks scopes");
  }

  #listen(bot: SlackBot): void {
    const { settings, apiUrl, onReady } = this.#parts;
    this.#bot = bot;
    onReady(bot);
    const intake = createIntake(
      { apiUrl, botToken: settings.botToken },
      bot.self,
      {
        onEvent: (body, retryNum) => this.#onEvent(bot, body, retryNum),
        onInteraction: (body, acknowledge) => {
          this.#heard();
          return handleInteraction(bot, body, acknowledge);
        },
        onRateLimited: () => this.#onRateLimited(),
      },
      this.#log,
    );
    this.#intake = intake;
    if (this.#listens) this.#open(bot, intake);
    else this.#change("connected", STANDING_BY);
  }

  #open(bot: SlackBot, intake: Intake): void {
    const handle = (event: Fields) => this.#takeIn(bot, event, LAST_RETRY);
    this.#catchUp = createCatchUp(bot, this.#parts.catchUp ?? DEFAULT_CATCH_UP, handle);
    const { appToken } = this.#parts.settings;
    if (appToken === undefined) this.#change("connected");
    else this.#openSockets(appToken, intake);
  }

  #openSockets(appToken: string, intake: Intake): void {
    const { context, apiUrl, supervision } = this.#parts;
    this.#supervisor = createSupervisor({
      socket: { apiUrl, appToken, log: this.#log, clock: context.clock, openTimeoutMs: OPEN_TIMEOUT_MS },
      onPayload: ({ body, retryNum }, acknowledge) => void intake.take({ body, retryNum, acknowledge }),
      events: {
        connected: () => this.#change("connected"),
        down: () => this.#change("reconnecting", "The connection to Slack is being opened again."),
        refused: (problem) => this.#change("failed", appTokenRemedy(problem.code, problem.text)),
      },
      clock: context.clock,
      log: this.#log,
      metrics: context.metrics,
      options: supervision ?? DEFAULT_SUPERVISION,
    });
    this.#supervisor.start();
  }

  #heard(): void {
    this.#lastEventAt = new Date(this.#parts.context.clock.now());
  }

  #onRateLimited(): void {
    this.#parts.context.metrics.count("parley_slack_events_dropped_by_slack_total");
    this.#log.error({}, "slack dropped events: more than 30,000 in an hour");
  }

  async #onEvent(bot: SlackBot, body: Fields, retryNum: number): Promise<void> {
    this.#heard();
    const event = toFields(body.event);
    if (event.type === "app_uninstalled" || event.type === "tokens_revoked") {
      return this.fail("The app was removed from the workspace or its token revoked. Install it again.");
    }
    this.#catchUp?.note(event);
    await this.#takeIn(bot, event, retryNum);
  }

  async #takeIn(bot: SlackBot, event: Fields, retryNum: number): Promise<void> {
    const kind = kindOf(event, this.#parts.isOurs);
    if (kind === "ignored") return;
    const knowledge = await learn(bot, lookupsOf(event, kind), retryNum);
    const inbound = toInbound(event, kind, bot.self, knowledge);
    if (inbound) await this.#parts.context.receive(inbound);
  }
}

/** Whoever cannot be looked up on the last delivery is taken in with the least authority instead of being lost. */
async function learn(bot: SlackBot, lookups: Lookups, retryNum: number): Promise<Knowledge> {
  try {
    return await bot.directory.learn(lookups);
  } catch (error) {
    if (retryNum < LAST_RETRY) throw error;
    const { author: _unknown, ...rest } = lookups;
    return bot.directory.learn(rest);
  }
}

function appTokenRemedy(code: string, text: string): string {
  if (code === "invalid_auth" || code === "not_allowed_token_type" || code === "not_authed") {
    return "Slack does not accept the app token. Copy the token that begins with xapp- from Basic Information, with the scope connections:write.";
  }
  if (code === "not_allowed") return "Socket Mode is off for this app. Switch it on in the app's settings.";
  return text;
}
