/**
 * The platform edge. An adapter turns native events into InboundEvents and Deliveries into native messages; it decides nothing else.
 * Every adapter passes test/adapters/adapter-contract. Native ids stay strings the engine only compares.
 */

import type { Installation, Persona } from "./bot.ts";
import type { BubbleContent } from "./bubble.ts";
import type { CardOutcome, HostCard } from "./card.ts";
import type { Clock } from "./clock.ts";
import type { ConversationRef } from "./conversation.ts";
import type { Download, GuardedFetch } from "./download.ts";
import type { FileRef } from "./file-ref.ts";
import type { InboundFile, Receive } from "./inbound-event.ts";
import type { Log, Metrics } from "./log.ts";
import type { PersonRef } from "./person.ts";
import type { SecretValue } from "./secret-value.ts";

/** Small durable state of one adapter, ordered by key. Values are JSON. */
export interface KeyValueStore {
  get(key: string): Promise<unknown>;
  set(key: string, value: unknown): Promise<void>;
  /** False when the key exists already; the first writer wins. */
  insert(key: string, value: unknown): Promise<boolean>;
  /** Entries with the prefix, in key order (or reversed), strictly after `after`. */
  list(options: {
    prefix: string;
    after?: string;
    limit: number;
    reverse?: boolean;
  }): Promise<readonly { key: string; value: unknown }[]>;
  delete(key: string): Promise<void>;
  /** Adds one and returns the new number; starts at 1. Atomic. */
  increment(key: string): Promise<number>;
}

/** What the adapter is told about the bot it serves. `settings` is the bot's own block of the settings file for this platform, already checked. */
export interface AdapterAccount {
  readonly botId: string;
  readonly name: string;
  readonly role: string;
  /** "provider/model" or "demo"; lets a playground label demo bots. */
  readonly model?: string;
  /** False: send for this bot, but take no events in; `setIntake` may change that later. Default true. */
  readonly intake?: boolean;
  readonly settings: unknown;
}

/** What the platform says about an account once its credentials were accepted. */
export interface InstallationFacts {
  readonly appId: string;
  readonly workspaceId: string;
  readonly botUserId: string;
  readonly otherIds: readonly string[];
  /** How the bot shows itself on an app that belongs to another bot (SPEC I1, `personas`). */
  readonly persona?: Persona;
}

/** A web route an adapter wants mounted on the shared server. Handlers speak the Fetch API. */
export interface AdapterRoute {
  readonly method: "GET" | "POST";
  /** Path pattern with `:name` parts, for example `/slack/:bot/events`. */
  readonly path: string;
  /** False for platform callbacks and one-time forms, which carry their own proof; true = behind the console password. */
  readonly guarded: boolean;
  /** Largest accepted body, bytes. */
  readonly maxBody: number;
  handle(request: Request, parameters: Readonly<Record<string, string>>): Promise<Response>;
}

/** Everything an adapter may use. Contract: nothing here is called after `stop` resolved. */
export interface AdapterContext {
  readonly receive: Receive;
  readonly kv: KeyValueStore;
  readonly guardedFetch: GuardedFetch;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  /** Mounts a route; call before `start` resolves. */
  route(route: AdapterRoute): void;
  /** Stores (or finds) the installation of an account in a workspace. */
  identify(account: AdapterAccount, facts: InstallationFacts): Promise<Installation>;
  /** Bytes of a stored file. */
  openFile(file: FileRef): Promise<AsyncIterable<Uint8Array>>;
  /** Stores a file a person uploaded through this adapter. */
  storeFile(
    source: AsyncIterable<Uint8Array>,
    facts: { name: string; mediaType?: string },
  ): Promise<{ readonly ok: true; readonly file: FileRef } | { readonly ok: false; readonly text: string }>;
  /** What a one-time secret link asks for, or null when it is unknown, used or expired. Reading does not use it up (SPEC C5). */
  readSecretLink(token: string): Promise<SecretLinkView | null>;
  /** Public address of the web server without trailing slash, or "" when links cannot be opened by others. */
  readonly publicUrl: string;
  /** Keeps a credential the platform gave this bot at run time (an installed workspace's token), sealed like a secret; replaces an older one. */
  storeCredential(key: string, value: SecretValue): Promise<void>;
  /** A kept credential, or null when there is none or it cannot be opened with today's key. */
  readCredential(key: string): Promise<SecretValue | null>;
  /** Drops a kept credential; harmless when there is none. */
  forgetCredential(key: string): Promise<void>;
}

/** What the masked web form behind `/s/<token>` shows, and whom its answer is from. */
export interface SecretLinkView {
  readonly cardId: string;
  readonly label: string;
  readonly description?: string;
  readonly connector: string;
  readonly field: string;
  readonly botName: string;
  readonly conversation: ConversationRef;
  readonly installationId: string;
  readonly person: PersonRef;
}

/** Where and as whom a piece is posted. Stored with the piece. */
export interface Place {
  readonly installationId: string;
  readonly ref: ConversationRef;
  /** Native id of the message the turn answers (in a direct message: the root to answer under), where the platform shows replies. */
  readonly nativeReplyTo?: string;
  /** Native id of a message the bot explicitly refers to by reply_to, where the platform can show that; others ignore it. */
  readonly nativeReference?: string;
}

/** What is to be shown, with all files resolved. `entryId` is the delivery's identity; a card's controls carry `cardId`. */
export type Delivery =
  | {
      readonly kind: "bubble";
      readonly entryId: string;
      readonly botName: string;
      readonly content: BubbleContent;
      readonly cardId?: string;
      /** People whose "@Name" may become a live mention; nobody else's (SPEC M14 and the platform's rules). */
      readonly mentionable: readonly PersonRef[];
    }
  | {
      readonly kind: "host-card";
      readonly entryId: string;
      readonly botName: string;
      readonly card: HostCard;
      readonly cardId?: string;
    };

/** One native message to post. `content` is what `render` made; `progress` is the adapter's own note from an earlier attempt. */
export interface Piece {
  readonly id: string;
  readonly index: number;
  readonly place: Place;
  readonly content: unknown;
  readonly progress: unknown;
  readonly attempts: number;
  /** When the last attempt began; lets `find` look in the right stretch of history. */
  readonly attemptedAt?: Date;
}

/** Proof that a piece landed. `nativeId` is the platform's message id; `extra` is the adapter's own (JSON). */
export interface Receipt {
  readonly nativeId: string;
  readonly extra?: unknown;
}

/** A message found in history on first contact (SPEC I4). */
export interface HistoryMessage {
  readonly platformId: string;
  readonly at: Date;
  readonly from: PersonRef;
  readonly text: string;
  readonly isRoot: boolean;
}

/** One bot's state on the platform. `lastEventAt` proves that events arrive (SPEC O5). */
export interface BotHealth {
  readonly botId: string;
  readonly state: "starting" | "connected" | "reconnecting" | "failed";
  /** What is wrong and how to mend it, for the operator. */
  readonly remedy?: string;
  readonly lastEventAt?: Date;
}

/**
 * Contract: `start` resolves once the account is connected or has definitely failed, and does not throw for one bot's bad credentials
 * (health says it). `render` is pure and deterministic. `deliver` throws only DeliveryError. `find` says whether an attempt with unknown
 * outcome landed. `settle` redraws a card and may be called twice.
 */
export interface Adapter {
  readonly platform: string;
  /** Text longer than this many pieces becomes a summary and a file (SPEC M2). */
  readonly maxTextPieces: number;
  /** Longest time one `deliver` may take, ms; shorter than the sender's lease. */
  readonly deliverTimeoutMs: number;
  /** True when people use it through this server's own pages: a link without a host reaches them. Elsewhere links need `web.publicUrl`. */
  readonly showsOwnPages?: boolean;
  start(account: AdapterAccount, context: AdapterContext): Promise<void>;
  stop(): Promise<void>;
  /**
   * Begins or ends listening for one started bot's events; sending goes on either way. Only for platforms where one connection of a bot should be
   * live at a time: elsewhere every process may take events in (SPEC O1).
   */
  setIntake?(botId: string, on: boolean): Promise<void>;
  render(delivery: Delivery, place: Place): readonly unknown[];
  deliver(piece: Piece, saveProgress: (progress: unknown) => Promise<void>): Promise<Receipt>;
  find(piece: Piece): Promise<Receipt | null>;
  settle(delivery: Delivery, place: Place, receipts: readonly Receipt[], outcome: CardOutcome): Promise<void>;
  /** True where questions are written out with numbers: a typed number then names a choice (SPEC C4, M14). */
  readonly numbersChoices?: boolean;
  /**
   * Working status on or off; called again every 45 s while it lasts. `words` say how far a step is, where the platform can show that. Failures
   * are swallowed by the caller.
   */
  showWorking?(place: Place, working: boolean, words?: string): Promise<void>;
  /** Shows that a bot has taken this message, or that its turn is over; only where receipts are wanted (SPEC M14). May be repeated; failures are swallowed by the caller. */
  markTaken?(place: Place, nativeId: string, taken: boolean): Promise<void>;
  /** Adds a reaction to a message; an existing one counts as success. */
  react?(place: Place, nativeId: string, emoji: string): Promise<void>;
  /** Fetches a file a person uploaded, with the account's credentials; failure texts are for the model (SPEC W8). */
  fetchFile?(
    installationId: string,
    file: InboundFile,
    signal: AbortSignal,
  ): Promise<Download | { readonly ok: false; readonly text: string; readonly retryAfterMs?: number }>;
  /** Root and most recent messages of an existing thread, oldest first, at most `limit`. */
  history(installationId: string, ref: ConversationRef, limit: number): Promise<readonly HistoryMessage[]>;
  /** Channels this account is in, with their names where they are known; for membership that changed while nobody listened (SPEC G1). */
  channels?(installationId: string): Promise<readonly { readonly channelId: string; readonly name?: string }[]>;
  /** True where every bot sees every channel of the server: there several bots are a Group only when somebody says so (SPEC G1). */
  readonly groupsOnRequest?: boolean;
  /** Native ids of the accounts in a channel. */
  members(installationId: string, channelId: string): Promise<readonly string[]>;
  health(): readonly BotHealth[];
}
