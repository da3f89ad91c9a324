/**
 * The Slack adapter: one object for all bots, each its own Slack app with its own connection. Finds the bot of an installation and passes the work
 * on; Slack's libraries are loaded when the first bot starts.
 * Invariant: a bot that cannot connect never stops the others; its health says what to do.
 */

import { z } from "zod";
import type { Adapter, AdapterAccount, AdapterContext } from "../../engine/index.ts";
import { DeliveryError } from "../../engine/index.ts";
import { createOutboundLimits, type OutboundLimits } from "../shared/outbound-limits.ts";
import type { SlackAccountSettings, SlackBot } from "./bot.ts";
import type { CatchUpOptions } from "./catch-up.ts";
import type { SlackConnection } from "./connect.ts";
import { deliverPiece, findPiece, type SendParts, settleCard } from "./deliver.ts";
import { toDeliveryError } from "./errors.ts";
import { addReaction, readMembers, readThread, setWorking } from "./history.ts";
import { createEventRoute } from "./http.ts";
import type { IsOurs } from "./inbound-kind.ts";
import { DELIVER_TIMEOUT_MS, MAX_TEXT_PIECES, POST_PACE } from "./limits.ts";
import { renderDelivery } from "./render.ts";
import type { SupervisorOptions } from "./supervisor.ts";

export { setup } from "./setup.ts";

/** Settings of the platform block. `supervision` and `catchUp` are for tests and unusual networks. */
export interface SlackSettings {
  /** Base address of the Web API, usually https://slack.com/api/. */
  readonly apiUrl: string;
  readonly supervision?: SupervisorOptions;
  readonly catchUp?: CatchUpOptions;
}

/** Credentials that no longer work at all; a single missing permission does not stop a bot. */
const REVOKED = /\(Slack: (?:invalid_auth|not_authed|token_revoked|token_expired|account_inactive)\)/;

const accountSchema = z.object({
  botToken: z.string().min(1),
  appToken: z.string().min(1).optional(),
  signingSecret: z.string().min(1).optional(),
});

/** Creates the adapter. Nothing is contacted before `start`. */
export function createSlackAdapter(settings: SlackSettings): Adapter {
  const adapter = new SlackAdapter(settings);
  return {
    platform: "slack",
    maxTextPieces: MAX_TEXT_PIECES,
    deliverTimeoutMs: DELIVER_TIMEOUT_MS,
    start: (account, context) => adapter.start(account, context),
    stop: () => adapter.stop(),
    setIntake: (botId, on) => adapter.setIntake(botId, on),
    render: (delivery) => renderDelivery(delivery),
    deliver: (piece, saveProgress) =>
      adapter.sending(piece.place.installationId, (parts) => deliverPiece(parts, piece, saveProgress)),
    find: (piece) => adapter.sending(piece.place.installationId, (parts) => findPiece(parts, piece)),
    settle: (delivery, place, receipts, outcome) =>
      adapter.sending(place.installationId, (parts) => settleCard(parts, delivery, place, receipts, outcome)),
    showWorking: (place, working) =>
      adapter.sending(place.installationId, ({ bot }) => setWorking(bot, place, working)),
    react: (place, nativeId, emoji) =>
      adapter.sending(place.installationId, ({ bot }) => addReaction(bot, place, nativeId, emoji)),
    history: (installationId, ref, limit) => adapter.sending(installationId, ({ bot }) => readThread(bot, ref, limit)),
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
  #limits: OutboundLimits | undefined;
  #routed = false;

  constructor(settings: SlackSettings) {
    this.#settings = settings;
  }

  async start(account: AdapterAccount, context: AdapterContext): Promise<void> {
    this.#limits ??= createOutboundLimits(POST_PACE, context.clock);
    const parsed = accountSchema.safeParse(account.settings);
    if (!parsed.success) {
      this.#rejected.set(
        account.botId,
        `The slack settings of ${account.botId} need botToken and appToken or signingSecret.`,
      );
      return;
    }
    const accountSettings = parsed.data;
    if (accountSettings.appToken === undefined && accountSettings.signingSecret === undefined) {
      this.#rejected.set(account.botId, `Give ${account.botId} an appToken (Socket Mode) or a signingSecret (HTTP).`);
      return;
    }
    this.#mountRoute(context, accountSettings);
    const { createConnection } = await import("./connect.ts");
    const connection = createConnection({
      account,
      settings: accountSettings,
      context,
      apiUrl: this.#settings.apiUrl,
      isOurs: this.#isOurs,
      onReady: (bot) => this.#admit(bot),
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
    return [...[...this.#connections.values()].map((connection) => connection.health()), ...rejected];
  }

  /** The connected bot of an installation; throws a DeliveryError when there is none. */
  bot(installationId: string): SlackBot {
    const bot = this.#bots.get(installationId);
    if (bot) return bot;
    const pending = this.health().some((one) => one.state === "starting" || one.state === "reconnecting");
    throw pending
      ? new DeliveryError("wait", "The bot is still connecting to Slack.", { waitMs: 1000 })
      : new DeliveryError("bot", "This bot is not connected to Slack. Its health says what is missing.");
  }

  /** Runs calls for a bot. Every failure becomes a DeliveryError; one that shows bad credentials marks the bot, so that health says it. */
  async sending<T>(installationId: string, task: (parts: SendParts) => Promise<T>): Promise<T> {
    const bot = this.bot(installationId);
    const limits = this.#limits;
    if (!limits) throw new DeliveryError("wait", "The Slack adapter has not started.", { waitMs: 1000 });
    try {
      const result = await task({ bot, limits });
      this.#connections.get(bot.botId)?.worked();
      return result;
    } catch (error) {
      const failure = toDeliveryError(error);
      if (REVOKED.test(failure.message)) this.#connections.get(bot.botId)?.fail(failure.message);
      throw failure;
    }
  }

  readonly #isOurs: IsOurs = ({ user, bot, app }) =>
    [user, bot, app].some((id) => id !== undefined && this.#ours.has(id));

  #admit(bot: SlackBot): void {
    const { installationId, botUserId, slackBotId, appId } = bot.self;
    this.#bots.set(installationId, bot);
    for (const id of [botUserId, slackBotId, appId]) this.#ours.add(id);
  }

  /** One route serves all bots that take events by HTTP. */
  #mountRoute(context: AdapterContext, settings: SlackAccountSettings): void {
    if (this.#routed || settings.signingSecret === undefined) return;
    this.#routed = true;
    context.route(createEventRoute((botId) => this.#connections.get(botId)?.http(), context.clock));
  }
}
