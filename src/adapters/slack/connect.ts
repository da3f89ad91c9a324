/**
 * One bot's life on Slack: signs in to its workspaces, opens its connections, keeps its health, and gives what arrives to the workspace it belongs to.
 * Invariant: nothing that goes wrong with one bot or workspace touches another or ends the process; a definite failure is tried again now and then, so
 * a bot comes back when its token does. An event is acknowledged only after `receive` has stored it.
 */

import type { AdapterAccount, AdapterContext, BotHealth, Log } from "../../engine/index.ts";
import { SecretValue } from "../../engine/index.ts";
import { type Fields, toFields } from "../shared/fields.ts";
import type { Looks } from "../shared/looks.ts";
import { handleInteraction } from "./actions.ts";
import { AddedWorkspaces } from "./added-workspaces.ts";
import type { SlackAccountSettings, SlackBot } from "./bot.ts";
import { type CatchUp, type CatchUpOptions, createCatchUp, DEFAULT_CATCH_UP } from "./catch-up.ts";
import { createEvents, type Events } from "./events.ts";
import type { HttpBot } from "./http.ts";
import type { IsOurs } from "./inbound-kind.ts";
import type { InstallableBot } from "./oauth.ts";
import { type Acknowledge, createIntake, type Intake } from "./receiver.ts";
import { appTokenRemedy, NO_ANSWER, notInstalled, STANDING_BY } from "./remedies.ts";
import { signIn } from "./sign-in.ts";
import { createSupervisor, DEFAULT_SUPERVISION, type Supervisor, type SupervisorOptions } from "./supervisor.ts";
import { Workspaces } from "./workspaces.ts";

/** What connections of one adapter share. */
export interface ConnectionParts {
  readonly account: AdapterAccount;
  readonly settings: SlackAccountSettings;
  readonly context: AdapterContext;
  readonly apiUrl: string;
  readonly looks: Looks;
  readonly isOurs: IsOurs;
  /** Called when the bot's identity in a workspace is known, before its first event there. */
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
  /** The part that "Add to Slack" needs, when it is switched on. */
  installable(): InstallableBot | undefined;
  /** A call showed that the bot's credentials for this workspace are the problem. */
  fail(installationId: string, remedy: string): void;
  /** A call succeeded: credentials that had failed work again. */
  worked(installationId: string): void;
  /** Something is about a workspace nobody here knows: looks whether another process added it. True when it has begun to look just now. */
  lookForNew(): boolean;
}

const START_WAIT_MS = 15_000;
const OPEN_TIMEOUT_MS = 15_000;
/** Key of the workspace whose token stands in the settings. */
const SETTINGS_KEY = "settings";

/** Creates the connection of one bot; nothing happens before `start`. */
export function createConnection(parts: ConnectionParts): SlackConnection {
  return new Connection(parts);
}

/** How the way events come by is doing. */
interface Transport {
  readonly state: BotHealth["state"];
  readonly remedy?: string;
}

/** What runs for one workspace. */
interface Served {
  readonly events: Events;
  readonly catchUp: CatchUp;
}

class Connection implements SlackConnection {
  readonly #parts: ConnectionParts;
  readonly #log: Log;
  readonly #stopping = new AbortController();
  readonly #settled = new AbortController();
  readonly #workspaces: Workspaces;
  readonly #added: AddedWorkspaces;
  readonly #intake: Intake;
  /** By installation. */
  readonly #served = new Map<string, Served>();
  #transport: Transport = { state: "starting" };
  #supervisor: Supervisor | undefined;
  #lastEventAt: Date | undefined;
  #lastState: BotHealth["state"] = "starting";
  #isPatient = true;
  #listens: boolean;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.#listens = parts.account.intake !== false;
    this.#log = parts.context.log.child({ bot: parts.account.botId, platform: "slack" });
    const signInWith = (token: SecretValue) => signIn({ ...parts, log: this.#log }, token);
    this.#workspaces = new Workspaces({
      signIn: signInWith,
      clock: parts.context.clock,
      log: this.#log,
      stopping: this.#stopping.signal,
      onSignedIn: (bot) => this.#serve(bot),
      onChange: () => this.#changed(),
    });
    this.#added = new AddedWorkspaces({
      ...{ account: parts.account, context: parts.context, log: this.#log },
      ...{ signIn: signInWith, workspaces: this.#workspaces, stopping: this.#stopping.signal },
    });
    const handlers = {
      onEvent: (body: Fields, retryNum: number) => this.#onEvent(body, retryNum),
      onInteraction: (body: Fields, acknowledge: Acknowledge) => this.#onInteraction(body, acknowledge),
      onRateLimited: () => this.#onRateLimited(),
    };
    this.#intake = createIntake(parts.apiUrl, handlers, this.#log);
  }

  async start(): Promise<void> {
    void this.#signIn();
    const waits = AbortSignal.any([this.#settled.signal, this.#stopping.signal]);
    await this.#parts.context.clock.delay(START_WAIT_MS, waits);
    this.#isPatient = false;
  }

  async setIntake(on: boolean): Promise<void> {
    if (this.#listens === on) return;
    this.#listens = on;
    const supervisor = this.#supervisor;
    if (!on) this.#supervisor = undefined;
    if (this.#served.size > 0) this.#openSockets();
    this.#changed();
    if (!on) await supervisor?.stop();
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await Promise.all([this.#supervisor?.stop(), ...[...this.#served.values()].map(({ catchUp }) => catchUp.stop())]);
  }

  health(): BotHealth {
    const { state, remedy } = this.#summary();
    return {
      botId: this.#parts.account.botId,
      state,
      ...(remedy === undefined ? {} : { remedy }),
      ...(this.#lastEventAt === undefined ? {} : { lastEventAt: this.#lastEventAt }),
    };
  }

  http(): HttpBot | undefined {
    const { signingSecret } = this.#parts.settings;
    return signingSecret === undefined ? undefined : { signingSecret, intake: this.#intake };
  }

  installable(): InstallableBot | undefined {
    const { account, context, apiUrl, settings } = this.#parts;
    const { clientId, clientSecret } = settings;
    if (clientId === undefined || clientSecret === undefined) return undefined;
    const { botId, name } = account;
    const { install } = this.#added;
    return { botId, name, clientId, clientSecret, apiUrl, context, log: this.#log, install: install.bind(this.#added) };
  }

  fail(installationId: string, remedy: string): void {
    this.#workspaces.fail(installationId, remedy);
  }

  worked(installationId: string): void {
    this.#workspaces.worked(installationId);
  }

  lookForNew(): boolean {
    return this.#parts.settings.clientId !== undefined && this.#added.lookForNew();
  }

  /** Begins to sign in everywhere; what takes long goes on in the background. */
  async #signIn(): Promise<void> {
    const { settings } = this.#parts;
    if (settings.botToken !== undefined) void this.#workspaces.add(SETTINGS_KEY, new SecretValue(settings.botToken));
    if (settings.clientId === undefined) return;
    const added = await this.#added.signIn();
    if (settings.botToken === undefined && added === 0) this.#settled.abort();
  }

  /** Everything that runs for a workspace; a new sign-in to the same one takes over. */
  #serve(bot: SlackBot): void {
    this.#parts.onReady(bot);
    const { installationId } = bot.self;
    void this.#served.get(installationId)?.catchUp.stop();
    const events = createEvents(bot, this.#parts.isOurs, (remedy) => this.#onGone(bot, remedy));
    const catchUp = createCatchUp(bot, this.#parts.catchUp ?? DEFAULT_CATCH_UP, (event) => events.takeMissed(event));
    this.#served.set(installationId, { events, catchUp });
    void bot.presence.recover();
    this.#openSockets();
  }

  #openSockets(): void {
    const { context, apiUrl, supervision, settings } = this.#parts;
    const { appToken } = settings;
    if (!this.#listens) {
      this.#transport = { state: "connected", remedy: STANDING_BY };
      return;
    }
    if (appToken === undefined) {
      this.#transport = { state: "connected" };
      return;
    }
    if (this.#supervisor) return;
    this.#supervisor = createSupervisor({
      socket: { apiUrl, appToken, log: this.#log, clock: context.clock, openTimeoutMs: OPEN_TIMEOUT_MS },
      onPayload: ({ body, retryNum }, acknowledge) => void this.#intake.take({ body, retryNum, acknowledge }),
      events: {
        connected: () => this.#move({ state: "connected" }),
        down: () => this.#move({ state: "reconnecting", remedy: "The connection to Slack is being opened again." }),
        refused: (problem) => this.#move({ state: "failed", remedy: appTokenRemedy(problem.code, problem.text) }),
      },
      clock: context.clock,
      log: this.#log,
      metrics: context.metrics,
      options: supervision ?? DEFAULT_SUPERVISION,
    });
    this.#supervisor.start();
  }

  #move(transport: Transport): void {
    if (!this.#listens) return;
    this.#transport = transport;
    this.#changed();
  }

  /** Health in one place: the workspaces first, because without one nothing can arrive. */
  #summary(): Transport {
    const { working, pending, remedies } = this.#workspaces.state();
    const hints = [...this.#served.values()].flatMap(({ events }) => events.remedy() ?? []);
    const [first] = remedies;
    if (working === 0 && pending > 0) {
      const waits = this.#isPatient && first === undefined;
      return waits ? { state: "starting" } : { state: "reconnecting", remedy: first ?? NO_ANSWER };
    }
    if (working === 0) return { state: "failed", remedy: first ?? notInstalled(this.#parts) };
    const told = [this.#transport.remedy, ...remedies, ...hints].filter((text) => text !== undefined);
    const { state } = this.#transport;
    if (state === "starting" && !this.#isPatient) return { state: "reconnecting", remedy: NO_ANSWER };
    return told.length === 0 ? { state } : { state, remedy: told.join(" ") };
  }

  #changed(): void {
    const { state, remedy } = this.#summary();
    if (state !== this.#lastState)
      this.#log.info({ state, ...(remedy === undefined ? {} : { remedy }) }, "slack connection");
    this.#lastState = state;
    const hears = this.#listens && this.#transport.state === "connected";
    for (const [installationId, { catchUp }] of this.#served) {
      if (hears && !this.#workspaces.isRefused(installationId)) catchUp.listening();
      else catchUp.away();
    }
    if (state === "connected" || state === "failed") this.#settled.abort();
  }

  #onRateLimited(): void {
    this.#parts.context.metrics.count("parley_slack_events_dropped_by_slack_total");
    this.#log.error({}, "slack dropped events: more than 30,000 in an hour");
  }

  async #onEvent(body: Fields, retryNum: number): Promise<void> {
    this.#lastEventAt = new Date(this.#parts.context.clock.now());
    const bot = this.#workspaces.of(body);
    const served = bot && this.#served.get(bot.self.installationId);
    if (served) return served.events.take(toFields(body.event), retryNum, served.catchUp);
    // A workspace that is still being signed in to gets the event again, one that another process has added too; one that is not ours never will.
    if (this.lookForNew() || this.#workspaces.state().pending > 0)
      throw new Error("This workspace is not signed in to yet.");
    this.#parts.context.metrics.count("parley_slack_unknown_workspace_total");
  }

  #onInteraction(body: Fields, acknowledge: Acknowledge): Promise<void> {
    this.#lastEventAt = new Date(this.#parts.context.clock.now());
    const bot = this.#workspaces.of(body);
    if (bot) return handleInteraction(bot, body, acknowledge);
    this.#parts.context.metrics.count("parley_slack_unknown_workspace_total");
    acknowledge();
    return Promise.resolve();
  }

  /** One workspace removed the app; the others go on. */
  #onGone(bot: SlackBot, remedy: string): void {
    const key = this.#workspaces.keyOf(bot.self.installationId);
    this.#workspaces.fail(bot.self.installationId, remedy);
    if (key === undefined || key === SETTINGS_KEY) return;
    this.#added.forget(key);
  }
}
