/**
 * The Discord adapter: one object for all bots, each its own Discord application with its own gateway connection. Finds the bot of an installation and
 * passes the work on; Discord's libraries are loaded when the first bot starts.
 * Invariant: a bot that cannot connect never stops the others; its health says what to do.
 */

import { z } from "zod";
import type { Adapter, AdapterAccount, AdapterContext, Place } from "../../engine/index.ts";
import { DeliveryError } from "../../engine/index.ts";
import { DEFAULT_LOOKS, type Looks } from "../shared/looks.ts";
import { createOutboundLimits, type OutboundLimits } from "../shared/outbound-limits.ts";
import { type Blocked, createBlocked } from "./blocked.ts";
import type { DiscordBot } from "./bot.ts";
import type { ConnectionOptions, DiscordConnection } from "./connect.ts";
import { type Copies, createCopies } from "./copies.ts";
import { deliverPiece, findPiece, type SendParts, settleCard } from "./deliver.ts";
import { createDirectory } from "./directory.ts";
import { TOKEN_REMEDY, toDeliveryError } from "./errors.ts";
import { fetchUpload } from "./files.ts";
import { addReaction, readThread, setReceipt } from "./history.ts";
import { DIRECT_WORKSPACE } from "./installs.ts";
import { createInvalidRequests, type InvalidRequests } from "./invalid-requests.ts";
import { DELIVER_TIMEOUT_MS, MAX_TEXT_PIECES, POST_PACE } from "./limits.ts";
import { type Mate, readChannels, readMembers } from "./moves.ts";
import { renderDelivery } from "./render.ts";
import { targetOf } from "./threads.ts";
import { createTyping, type Typing } from "./typing.ts";

export { setup } from "./setup.ts";

/** Settings of the platform block; looks that are not given are the usual ones. `connection` is for tests and unusual networks. */
export interface DiscordSettings extends Partial<Looks> {
  /** Base address of the REST API without version and closing slash, usually https://discord.com/api. */
  readonly apiUrl: string;
  /** Hosts from which people's uploads are fetched. */
  readonly cdnHosts: readonly string[];
  readonly connection?: ConnectionOptions;
}

const accountSchema = z.object({ token: z.string().min(1) });

/** Creates the adapter. Nothing is contacted before `start`. */
export function createDiscordAdapter(settings: DiscordSettings): Adapter {
  const adapter = new DiscordAdapter(settings);
  const looks: Looks = { ...DEFAULT_LOOKS, ...settings };
  return {
    platform: "discord",
    groupsOnRequest: true,
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
    showWorking: (place, working) =>
      adapter.sending(place.installationId, ({ bot, typing, blocked }) => {
        const target = targetOf(place);
        if (!working) typing.quiet(bot.botId, target);
        else if (looks.status !== "off" && blocked.reason(bot.botId, target) === undefined)
          typing.show(bot.botId, target, () => bot.calls.call("post", `/channels/${target}/typing`));
        return Promise.resolve();
      }),
    ...(looks.cards ? {} : { numbersChoices: true }),
    ...(looks.receipts ? { markTaken: (...told) => adapter.markTaken(...told) } : {}),
    react: (place, nativeId, emoji) =>
      adapter.sending(place.installationId, ({ bot }) => addReaction(bot, place, nativeId, emoji)),
    fetchFile: async (installationId, file, signal) => fetchUpload(adapter.bot(installationId), settings, file, signal),
    history: (installationId, ref, limit) => adapter.sending(installationId, ({ bot }) => readThread(bot, ref, limit)),
    channels: (installationId) =>
      adapter.sending(installationId, ({ bot }) => readChannels(bot, adapter.workspaceOf(installationId))),
    members: (installationId, channelId) =>
      adapter.sending(installationId, ({ bot }) => readMembers(bot, adapter.mates(installationId), channelId)),
    health: () => adapter.health(),
  };
}

/** What the bots of one adapter share; made with the first context. */
interface Shared {
  readonly limits: OutboundLimits;
  readonly blocked: Blocked;
  readonly typing: Typing;
  readonly copies: Copies;
  readonly invalid: InvalidRequests;
}

class DiscordAdapter {
  readonly #settings: DiscordSettings;
  /** By bot id of the settings file. */
  readonly #connections = new Map<string, DiscordConnection>();
  /** By installation, with the server it is on. */
  readonly #bots = new Map<string, { readonly bot: () => DiscordBot; readonly workspaceId: string }>();
  /** Names of our own bots by account id. */
  readonly #ours = new Map<string, string>();
  readonly #rejected = new Map<string, string>();
  readonly #directory = createDirectory();
  #shared: Shared | undefined;

  constructor(settings: DiscordSettings) {
    this.#settings = settings;
  }

  async start(account: AdapterAccount, context: AdapterContext): Promise<void> {
    const parsed = accountSchema.safeParse(account.settings);
    if (!parsed.success) {
      this.#rejected.set(account.botId, `The discord settings of ${account.botId} need a token.`);
      return;
    }
    const shared = this.#share(context);
    const { createConnection } = await import("./connect.ts");
    const connection = createConnection({
      account,
      token: parsed.data.token,
      context,
      apiUrl: this.#settings.apiUrl,
      ours: this.#ours,
      directory: this.#directory,
      ...shared,
      onInstallation: (installationId, bot, workspaceId) => void this.#bots.set(installationId, { bot, workspaceId }),
      onReady: (bot) => void this.#ours.set(bot.self.botUserId, bot.name),
      options: this.#settings.connection ?? {},
    });
    this.#connections.set(account.botId, connection);
    await connection.start();
  }

  async setIntake(botId: string, on: boolean): Promise<void> {
    await this.#connections.get(botId)?.setIntake(on);
  }

  async stop(): Promise<void> {
    this.#shared?.typing.stop();
    await Promise.all([...this.#connections.values()].map((connection) => connection.stop()));
  }

  health() {
    const rejected = [...this.#rejected].map(([botId, remedy]) => ({ botId, state: "failed" as const, remedy }));
    return [...[...this.#connections.values()].map((connection) => connection.health()), ...rejected];
  }

  /** The connected bot of an installation; throws a DeliveryError when there is none. */
  bot(installationId: string): DiscordBot {
    const known = this.#bots.get(installationId);
    if (known) return known.bot();
    const isPending = this.health().some((one) => one.state === "starting" || one.state === "reconnecting");
    throw isPending
      ? new DeliveryError("wait", "The bot is still connecting to Discord.", { waitMs: 1000 })
      : new DeliveryError("bot", "This bot is not connected to Discord, or is not on that server any more.");
  }

  /** The server an installation is on; undefined for direct messages. */
  workspaceOf(installationId: string): string | undefined {
    const workspaceId = this.#bots.get(installationId)?.workspaceId;
    return workspaceId === DIRECT_WORKSPACE ? undefined : workspaceId;
  }

  /** Our bots on the server of an installation, with that server; nobody for direct messages. */
  mates(installationId: string): readonly Mate[] {
    const guildId = this.workspaceOf(installationId);
    if (guildId === undefined) return [];
    return [...this.#bots.values()].flatMap((one) =>
      one.workspaceId === guildId ? [{ bot: one.bot(), guildId }] : [],
    );
  }

  /** Runs calls for a bot. Every failure becomes a DeliveryError; one that shows a bad token marks the bot, so that health says it. */
  async sending<T>(installationId: string, task: (parts: SendParts) => Promise<T>): Promise<T> {
    const bot = this.bot(installationId);
    const shared = this.#shared;
    if (!shared) throw new DeliveryError("wait", "The Discord adapter has not started.", { waitMs: 1000 });
    try {
      return await task({ bot, ...shared });
    } catch (error) {
      const failure = toDeliveryError(error);
      if (failure.problem === "bot" && failure.message.startsWith(TOKEN_REMEDY))
        this.#connections.get(bot.botId)?.fail(failure.message);
      throw failure;
    }
  }

  /** A receipt on a message (SPEC M14). */
  markTaken(place: Place, nativeId: string, taken: boolean): Promise<void> {
    return this.sending(place.installationId, ({ bot }) => setReceipt(bot, place, nativeId, taken));
  }

  #share(context: AdapterContext): Shared {
    const { clock, log } = context;
    this.#shared ??= {
      limits: createOutboundLimits(POST_PACE, clock),
      blocked: createBlocked(clock),
      typing: createTyping(clock),
      copies: createCopies(clock),
      invalid: createInvalidRequests(clock, log),
    };
    return this.#shared;
  }
}
