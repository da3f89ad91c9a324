/**
 * The Slack adapter: one object for all bots, each its own Slack app with its own connection. Finds the bot of an installation and passes the work
 * on; Slack's libraries are loaded when the first bot starts.
 * Invariant: a bot that cannot connect never stops the others; its health says what to do.
 */

import { z } from "zod";
import type { Adapter, AdapterAccount, AdapterContext, BotHealth, InboundFile, Place } from "../../engine/index.ts";
import { DeliveryError } from "../../engine/index.ts";
import { DEFAULT_LOOKS, type Looks } from "../shared/looks.ts";
import { createOutboundLimits, type OutboundLimits } from "../shared/outbound-limits.ts";
import type { SlackAccountSettings, SlackBot } from "./bot.ts";
import type { CatchUpOptions } from "./catch-up.ts";
import type { SlackConnection } from "./connect.ts";
import { deliverPiece, findPiece, type SendParts, settleCard } from "./deliver.ts";
import { toDeliveryError } from "./errors.ts";
import { addReaction, setReceipt, setWorking } from "./gestures.ts";
import { readChannels, readMembers, readThread } from "./history.ts";
import { createEventRoute } from "./http.ts";
import { fetchFile } from "./inbound-files.ts";
import type { IsOurs } from "./inbound-kind.ts";
import { DELIVER_TIMEOUT_MS, MAX_TEXT_PIECES, POST_PACE } from "./limits.ts";
import { createInstallRoutes } from "./oauth.ts";
import { createPersonas, type Personas } from "./personas.ts";
import { renderDelivery } from "./render.ts";
import type { SupervisorOptions } from "./supervisor.ts";

export { setup } from "./setup.ts";

/** Settings of the platform block; looks that are not given are the usual ones. `supervision` and `catchUp` are for tests and unusual networks. */
export interface SlackSettings extends Partial<Looks> {
  /** Base address of the Web API, usually https://slack.com/api/. */
  readonly apiUrl: string;
  readonly supervision?: SupervisorOptions;
  readonly catchUp?: CatchUpOptions;
}

/** Credentials that no longer work at all; a single missing permission does not stop a bot. */
const REVOKED = /\(Slack: (?:invalid_auth|not_authed|token_revoked|token_expired|account_inactive)\)/;

const personaSchema = z.object({ personaOf: z.string().min(1), icon: z.string().optional() });

const accountSchema = z.object({
  botToken: z.string().min(1).optional(),
  appToken: z.string().min(1).optional(),
  signingSecret: z.string().min(1).optional(),
  clientId: z.string().min(1).optional(),
  clientSecret: z.string().min(1).optional(),
});

/** What the settings lack to run this bot, in words. */
function lackOf(botId: string, settings: SlackAccountSettings): string | undefined {
  const { botToken, appToken, signingSecret, clientId, clientSecret } = settings;
  if (appToken === undefined && signingSecret === undefined)
    return `Give ${botId} an appToken (Socket Mode) or a signingSecret (HTTP).`;
  if ((clientId === undefined) !== (clientSecret === undefined))
    return `Give ${botId} both clientId and clientSecret, or neither.`;
  if (botToken === undefined && clientId === undefined)
    return `Give ${botId} a botToken, or clientId and clientSecret to be added to workspaces.`;
  return undefined;
}

/** Creates the adapter. Nothing is contacted before `start`. */
export function createSlackAdapter(settings: SlackSettings): Adapter {
  const adapter = new SlackAdapter(settings);
  const looks: Looks = { ...DEFAULT_LOOKS, ...settings };
  return {
    platform: "slack",
    maxTextPieces: MAX_TEXT_PIECES,
    deliverTimeoutMs: DELIVER_TIMEOUT_MS,
    start: (account, context) => adapter.start(account, context),
    stop: () => adapter.stop(),
    setIntake: (botId, on) => adapter.setIntake(botId, on),
    render: (delivery) => renderDelivery(delivery, looks.cards),
    deliver: (piece, saveProgress) =>
      adapter.sending(piece.place.installationId, (parts) => deliverPiece(parts, piece, saveProgress)),
    find: (piece) => adapter.sending(piece.place.installationId, (parts) => findPiece(parts, piece)),
    settle: (delivery, place, receipts, outcome) =>
      adapter.sending(place.installationId, (parts) => settleCard(parts, delivery, place, receipts, outcome)),
    showWorking: (place, working, words) =>
      adapter.sending(place.installationId, ({ bot }) => setWorking(bot, place, working, words)),
    ...(looks.cards ? {} : { numbersChoices: true }),
    ...(looks.receipts ? { markTaken: (...told) => adapter.markTaken(...told) } : {}),
    fetchFile: (installationId, file, signal) => adapter.fetchFile(installationId, file, signal),
    react: (place, nativeId, emoji) =>
      adapter.sending(place.installationId, ({ bot }) => addReaction(bot, place, nativeId, emoji)),
    history: (installationId, ref, limit) => adapter.sending(installationId, ({ bot }) => readThread(bot, ref, limit)),
    channels: (installationId) => adapter.sending(installationId, ({ bot }) => readChannels(bot)),
    members: (installationId, channelId) => adapter.sending(installationId, ({ bot }) => readMembers(bot, channelId)),
    health: () => adapter.health(),
  };
}

class SlackAdapter {
  readonly #settings: SlackSettings;
  /** By bot id of the settings file. */
  readonly #connections = new Map<string, SlackConnection>();
  readonly #bots = new Map<string, SlackBot>();
  /** Every id by which Slack may name a bot of ours. */
  readonly #ours = new Set<string>();
  readonly #rejected = new Map<string, string>();
  readonly #personas: Personas = createPersonas({
    signedIn: () => [...this.#bots.values()].filter((bot) => !bot.persona),
    admit: (bot) => this.#admit(bot),
  });
  #limits: OutboundLimits | undefined;
  #takesEvents = false;
  #installs = false;
  /** Bots that are about to get a connection: what is to be sent for them waits. */
  #arriving = 0;

  constructor(settings: SlackSettings) {
    this.#settings = settings;
  }

  async start(account: AdapterAccount, context: AdapterContext): Promise<void> {
    this.#limits ??= createOutboundLimits(POST_PACE, context.clock);
    const persona = personaSchema.safeParse(account.settings);
    if (persona.success) return this.#personas.add(account, persona.data, context);
    const parsed = accountSchema.safeParse(account.settings);
    if (!parsed.success) {
      this.#rejected.set(
        account.botId,
        `The slack settings of ${account.botId} need botToken and appToken or signingSecret.`,
      );
      return;
    }
    const accountSettings = parsed.data;
    const lack = lackOf(account.botId, accountSettings);
    if (lack !== undefined) {
      this.#rejected.set(account.botId, lack);
      return;
    }
    this.#mountRoutes(context, accountSettings);
    this.#arriving += 1;
    const { createConnection } = await import("./connect.ts");
    this.#arriving -= 1;
    const connection = createConnection({
      account,
      settings: accountSettings,
      context,
      apiUrl: this.#settings.apiUrl,
      looks: { ...DEFAULT_LOOKS, ...this.#settings },
      isOurs: this.#isOurs,
      onReady: (bot) => this.#welcome(bot),
      ...(this.#settings.supervision === undefined ? {} : { supervision: this.#settings.supervision }),
      ...(this.#settings.catchUp === undefined ? {} : { catchUp: this.#settings.catchUp }),
    });
    this.#connections.set(account.botId, connection);
    await connection.start();
  }

  async setIntake(botId: string, on: boolean): Promise<void> {
    await this.#connections.get(botId)?.setIntake(on);
  }

  async stop(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.stop()));
  }

  health() {
    const rejected = [...this.#rejected].map(([botId, remedy]) => ({ botId, state: "failed" as const, remedy }));
    const own = [...[...this.#connections.values()].map((connection) => connection.health()), ...rejected];
    return [...own, ...this.#personas.health(own)];
  }

  /** The connected bot of an installation; throws a DeliveryError when there is none. */
  bot(installationId: string): SlackBot {
    const bot = this.#bots.get(installationId);
    if (bot) return bot;
    const isComing = (one: BotHealth) => one.state === "starting" || one.state === "reconnecting";
    const looks = [...this.#connections.values()].map((connection) => connection.lookForNew());
    const pending = this.#arriving > 0 || looks.includes(true) || this.health().some(isComing);
    throw pending
      ? new DeliveryError("wait", "The bot is still connecting to Slack.", { waitMs: 1000 })
      : new DeliveryError("bot", "This bot is not connected to Slack. Its health says what is missing.");
  }

  /** Runs calls for a bot. Every failure becomes a DeliveryError; one that shows bad credentials marks the bot, so that health says it. */
  async sending<T>(installationId: string, task: (parts: SendParts) => Promise<T>): Promise<T> {
    const bot = this.bot(installationId);
    const carrier = this.#carrierOf(bot);
    const limits = this.#limits;
    if (!limits) throw new DeliveryError("wait", "The Slack adapter has not started.", { waitMs: 1000 });
    try {
      const result = await task({ bot, limits });
      carrier.connection?.worked(carrier.installationId);
      return result;
    } catch (error) {
      const failure = toDeliveryError(error);
      if (REVOKED.test(failure.message)) carrier.connection?.fail(carrier.installationId, failure.message);
      throw failure;
    }
  }

  /** Whose connection and installation a bot's calls are made with: its own, or those of the app it speaks through. */
  #carrierOf({ botId, self }: SlackBot): { connection: SlackConnection | undefined; installationId: string } {
    const carrierId = this.#personas.hostOf(botId) ?? botId;
    const same = (one: SlackBot) => one.botId === carrierId && one.self.workspaceId === self.workspaceId;
    const carrier = [...this.#bots.values()].find(same);
    return {
      connection: this.#connections.get(carrierId),
      installationId: (carrier?.self ?? self).installationId,
    };
  }

  /** A receipt on a message (SPEC M14). */
  markTaken(place: Place, nativeId: string, taken: boolean): Promise<void> {
    return this.sending(place.installationId, ({ bot }) => setReceipt(bot, place, nativeId, taken));
  }

  /** A file of a person; a bot that is not connected yet is asked again later. */
  async fetchFile(installationId: string, file: InboundFile, signal: AbortSignal): ReturnType<typeof fetchFile> {
    try {
      return await fetchFile(this.bot(installationId), file, signal);
    } catch (error) {
      const failure = toDeliveryError(error);
      const passing = failure.problem === "wait" ? { retryAfterMs: failure.waitMs } : {};
      return { ok: false, text: failure.message, ...passing };
    }
  }

  readonly #isOurs: IsOurs = ({ user, bot, app }) =>
    [user, bot, app].some((id) => id !== undefined && this.#ours.has(id));

  /** A bot that has signed in, and after it the bots that speak through its app. */
  #welcome(bot: SlackBot): void {
    this.#admit(bot);
    void this.#personas.hostReady(bot).catch((error: unknown) => {
      const { host, text } = { host: bot.botId, text: error instanceof Error ? error.message : String(error) };
      bot.log.error({ host, error: text }, "personas of a slack app could not be set up");
    });
  }

  #admit(bot: SlackBot): void {
    const { installationId, botUserId, slackBotId, appId } = bot.self;
    this.#bots.set(installationId, bot);
    for (const id of [botUserId, slackBotId, appId]) this.#ours.add(id);
  }

  /** One route serves all bots that take events by HTTP, two more all that can be added to workspaces. */
  #mountRoutes(context: AdapterContext, settings: SlackAccountSettings): void {
    if (!this.#takesEvents && settings.signingSecret !== undefined) {
      this.#takesEvents = true;
      context.route(createEventRoute((botId) => this.#connections.get(botId)?.http(), context.clock));
    }
    if (this.#installs || settings.clientId === undefined) return;
    this.#installs = true;
    for (const route of createInstallRoutes((botId) => this.#connections.get(botId)?.installable()))
      context.route(route);
  }
}
