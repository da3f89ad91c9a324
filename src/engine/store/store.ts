/**
 * The store contract: named operations, each one short transaction; hot ones are one round trip (takeIn, claim, commitReply, commitCall,
 * commitSend, closePiece). No transaction object leaves the store, and nothing here waits for a model or the network. Every operation that
 * takes a Claim checks its fence in the same transaction and throws FenceLostError when the claim has passed to somebody else.
 * Leases and due times use the database's clock.
 */

import type { KeyValueStore, Piece, Place, Receipt } from "../adapter.ts";
import type { Bot, Installation } from "../bot.ts";
import type { Card, CardAnswer, CardKind, CardOutcome, CardSpec, CardState } from "../card.ts";
import type { Channel, Conversation, ConversationRef, ReplyMode, Route } from "../conversation.ts";
import type { FileRef } from "../file-ref.ts";
import type { Mail, MailBody, MailKind } from "../mail.ts";
import type { ModelCall, ModelMessage } from "../model-message.ts";
import type { PersonRef } from "../person.ts";
import type { Authority, Claim, Session, Turn, TurnOutcome, TurnProgress } from "../session.ts";
import type { ToolResult } from "../tool.ts";
import type { Entry, EntryAuthor, EntryKind, EntryMark } from "../transcript.ts";

// ---- configuration -----------------------------------------------------------------------------------------------------------------

/** A bot of the settings file, as synchronised at start. */
export interface BotSeed {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly model: string;
  readonly lanes: number;
}

export interface InstallationSeed {
  readonly botId: string;
  readonly platform: string;
  readonly appId: string;
  readonly workspaceId: string;
  readonly botUserId: string;
  readonly otherIds: readonly string[];
  readonly credentialRef: string;
}

// ---- intake ------------------------------------------------------------------------------------------------------------------------

/** Everything the router needs to decide about one event, read in one query. */
export interface PlaceView {
  readonly conversation?: Conversation;
  readonly channel?: Channel;
  /** Sessions of this conversation: which bots take part. */
  readonly sessions: readonly { readonly sessionId: string; readonly botId: string; readonly running: boolean }[];
  /** Open cards of this conversation, oldest first. */
  readonly openCards: readonly Card[];
  /** Installations of our bots that are known to be in this channel (those that delivered an event from it or were seen as members). */
  readonly bots: readonly { readonly bot: Bot; readonly installation: Installation }[];
  /** Outcome of an earlier copy of this event, if any. */
  readonly mark?: "stored" | "ignored";
}

export interface NewEntry {
  readonly author: EntryAuthor;
  readonly kind: EntryKind;
  readonly platformId?: string;
  readonly at: Date;
  readonly text: string;
  /** JSON beside the text (for example the structured answer of a card). */
  readonly body: unknown;
  readonly files: readonly FileRef[];
  /** Native id of the message it replies to; resolved to an address through entries and receipts of this conversation. */
  readonly nativeReplyTo?: string;
}

export interface NewMail {
  readonly kind: MailKind;
  readonly body: MailBody;
  readonly authorId?: string;
  readonly authorName?: string;
  readonly route: string;
  readonly audience: string;
  readonly hops: number;
  readonly orderAt: Date;
  /** Milliseconds from now; 0 = due at once. */
  readonly delayMs?: number;
}

/** A file to fetch after the acknowledgement (SPEC W8). `source` is what the adapter needs to fetch it. */
export interface PendingFile {
  readonly id: string;
  readonly name: string;
  readonly mediaType?: string;
  readonly size?: number;
  readonly source: unknown;
  readonly audience: string;
}

export interface SealedSecret {
  readonly botId: string;
  readonly connector: string;
  readonly field: string;
  readonly keyId: string;
  readonly nonce: Uint8Array<ArrayBuffer>;
  readonly ciphertext: Uint8Array<ArrayBuffer>;
  readonly tag: Uint8Array<ArrayBuffer>;
  readonly personId: string;
}

/** One inbound event as one transaction: dedupe mark, place, entry, card claim, sealed secret, sessions and mail (SPEC T1). */
export interface TakeIn {
  readonly dedupeKey: string;
  /** ignored: only the mark is written (a better copy may still be accepted). */
  readonly outcome: "stored" | "ignored";
  readonly ref: ConversationRef;
  readonly conversationKey: string;
  readonly channel?: { readonly members: readonly string[]; readonly replyMode: ReplyMode; readonly audience: string };
  readonly person?: PersonRef;
  readonly entry?: NewEntry;
  readonly files?: readonly PendingFile[];
  /** Bots that get a session here; with mail they wake. */
  readonly wake: readonly { readonly botId: string; readonly installationId: string; readonly mail?: NewMail }[];
  /** Claims a card atomically; when it is no longer open nothing else of this event is stored and the result says `late`. */
  readonly card?: {
    readonly cardId: string;
    readonly state: Extract<CardState, "answered" | "dismissed">;
    readonly by: PersonRef;
    readonly answer?: CardAnswer;
    readonly secret?: SealedSecret;
    /** Consumes this one-time link in the same transaction. */
    readonly tokenHash?: string;
  };
  /** Cards the person moved on from (SPEC C4): marked skipped; those in `dismiss` become dismissed and owe a settle. */
  readonly skip?: readonly string[];
  readonly dismiss?: readonly string[];
  readonly mailLimit: number;
}

export type TakeInResult =
  | {
      readonly status: "stored";
      readonly entry?: Entry;
      readonly woken: readonly { readonly sessionId: string; readonly rank: number }[];
      readonly full: readonly string[];
    }
  | { readonly status: "ignored" | "duplicate" }
  | { readonly status: "late"; readonly card?: Card };

/** An edit or deletion of a person's message (SPEC T6), decided inside by what became of its mail. */
export interface AmendMessage {
  readonly dedupeKey: string;
  readonly conversationKey: string;
  readonly platformId: string;
  readonly mark: EntryMark;
  /** What the model is told when the text is being worked on right now. */
  readonly steering: string;
}

export type AmendResult =
  | { readonly status: "replaced" | "cancelled" | "marked" | "unknown" | "duplicate" }
  | { readonly status: "steered"; readonly woken: readonly { readonly sessionId: string; readonly rank: number }[] };

// ---- turns -------------------------------------------------------------------------------------------------------------------------

export interface ClaimRequest {
  /** Any session of the bot; the claim may be on another session of the same bot that is first in order. */
  readonly sessionId: string;
  readonly owner: string;
  readonly leaseMs: number;
  /** SPEC T2: a person waiting this long opens another lane. */
  readonly waitMs: number;
  readonly ageingMs: number;
}

export type ClaimResult =
  | { readonly claim: Claim }
  /** Nothing to do now; when `retryInMs` is set a waiting person may open a lane then. */
  | { readonly claim: null; readonly retryInMs?: number };

/** A node of a session's model state: what the model was told, what it said, what its tools returned (SPEC X5). */
export interface StateNode {
  readonly hash: string;
  readonly parent: string | null;
  readonly kind: "input" | "reply" | "results" | "summary";
  readonly message: ModelMessage;
}

export interface StoredCall {
  readonly index: number;
  readonly call: ModelCall;
  readonly state: "pending" | "started" | "done";
  readonly result?: ToolResult;
  /** Set when the call committed a bubble. */
  readonly entryId?: string;
}

/** Everything a worker needs to go on with a session, read in one query. */
export interface SessionView {
  readonly session: Session;
  readonly bot: Bot;
  readonly conversation: Conversation;
  readonly installation?: Installation;
  /** The unfinished turn, if any. */
  readonly turn?: Turn;
  /** Calls of that turn's newest step, in call order. */
  readonly calls: readonly StoredCall[];
  /** Due mail in the order it will be taken (SPEC T2), at most 50. */
  readonly due: readonly Mail[];
  /** Mail the unfinished turn has taken, oldest first. */
  readonly taken: readonly Mail[];
}

export interface BeginTurn {
  readonly turnId: string;
  readonly route: Route;
  readonly authority: Authority;
  readonly progress: TurnProgress;
  readonly mailIds: readonly string[];
}

/** What the model will read next, committed before it is asked: results of the last step and new input (SPEC T4, T5). */
export interface CommitInput {
  readonly turnId: string;
  readonly nodes: readonly StateNode[];
  /** Mail consumed by this input, beyond what the turn has taken already. */
  readonly mailIds: readonly string[];
  readonly authority?: Authority;
  readonly route?: Route;
  /** Highest entry seq now shown to the model. */
  readonly cursor: number;
  readonly progress: TurnProgress;
}

export interface CommitReply {
  readonly turnId: string;
  /** The step this reply belongs to: the turn's step rises to it. */
  readonly step: number;
  readonly node: StateNode;
  readonly calls: readonly ModelCall[];
  readonly progress: TurnProgress;
}

export interface CallRef {
  readonly turnId: string;
  readonly step: number;
  readonly index: number;
}

/** A bubble or host card about to be said: entry, pieces and card in one transaction with the call's effect (DESIGN §4 commitSend). */
export interface NewDelivery {
  readonly entryId: string;
  readonly conversationKey: string;
  readonly botId: string;
  readonly botName: string;
  readonly kind: Extract<EntryKind, "bubble" | "host-card">;
  readonly text: string;
  /** The Delivery, stored so that a card can be redrawn. */
  readonly body: unknown;
  readonly files: readonly FileRef[];
  readonly replyTo?: string;
  /** n of the last person message the turn consumed; the bubble's address is t<n>s<k> (SPEC M8). Ignored for host cards. */
  readonly personCount: number;
  readonly place: Place;
  readonly nativeChannel: string;
  readonly pieces: readonly unknown[];
  readonly card?: {
    readonly id: string;
    readonly kind: CardKind;
    readonly spec: CardSpec;
    readonly allowed: readonly string[];
    readonly sessionId?: string;
    readonly turnId?: string;
    readonly ttlMs?: number;
  };
}

export interface FinishTurn {
  readonly turnId: string;
  readonly status: "done" | "failed";
  readonly outcome: TurnOutcome;
  readonly nodes: readonly StateNode[];
  readonly progress: TurnProgress;
  /** Mail to leave for later, for example an apology owed. */
  readonly mail?: readonly NewMail[];
  /** Host cards said with the end of the turn, same transaction. */
  readonly hostCards?: readonly NewDelivery[];
  /** Also cancels the stopper's own waiting mail (SPEC T5). */
  readonly cancelMailOf?: string;
}

// ---- delivery ----------------------------------------------------------------------------------------------------------------------

export interface SenderClaim {
  readonly nativeChannel: string;
  readonly owner: string;
  readonly fence: number;
  /** True when an earlier sender's lease had run out: its attempts may still be on their way. */
  readonly takenOver: boolean;
}

export interface OutboxPiece extends Piece {
  readonly entryId: string;
  readonly platform: string;
  readonly state: "due" | "sending" | "sent" | "failed";
}

export type PieceClose =
  | { readonly to: "sent"; readonly receipt: Receipt }
  | { readonly to: "failed"; readonly problem: string; readonly text: string }
  /** Again after `delayMs`; `lookUp` = the outcome is unknown, ask the platform first. */
  | { readonly to: "due"; readonly delayMs: number; readonly lookUp: boolean; readonly text: string };

/** How far the pieces of an entry are. `failed` names the first permanent failure. */
export interface SendState {
  readonly entryId: string;
  readonly address?: string;
  readonly open: number;
  readonly sent: number;
  readonly failed?: string;
  readonly nativeIds: readonly string[];
}

/** What closing a piece completed. */
export interface ClosedPiece {
  readonly entryId: string;
  readonly entryClosed: boolean;
  readonly failed: boolean;
  readonly sessionId?: string;
  /** A card on this entry is no longer open and must be redrawn. */
  readonly settleOwed: boolean;
}

export interface OwedSettle {
  readonly card: Card;
  readonly outcome: CardOutcome;
  readonly deliveryBody: unknown;
  readonly place: Place;
  readonly receipts: readonly Receipt[];
  readonly platform: string;
  readonly attempts: number;
}

// ---- the contract ------------------------------------------------------------------------------------------------------------------

export interface Store {
  // configuration
  syncBots(orgId: string, bots: readonly BotSeed[]): Promise<readonly Bot[]>;
  saveInstallation(orgId: string, seed: InstallationSeed): Promise<Installation>;
  listInstallations(): Promise<readonly Installation[]>;
  readBot(botId: string): Promise<Bot | null>;

  // intake
  readPlace(query: {
    dedupeKey: string;
    conversationKey: string;
    ref: ConversationRef;
    installationId: string;
  }): Promise<PlaceView>;
  takeIn(input: TakeIn): Promise<TakeInResult>;
  amendMessage(input: AmendMessage): Promise<AmendResult>;
  /** Sets the stop request on running turns of a conversation and cancels the stopper's waiting mail there (SPEC T5). */
  requestStop(input: {
    conversationKey: string;
    botIds?: readonly string[];
    by: PersonRef;
    dedupeKey: string;
    mayStopOthers: boolean;
  }): Promise<{
    readonly sessionIds: readonly string[];
    readonly cancelled: number;
    readonly refused: boolean;
  }>;
  addContext(conversationKey: string, entries: readonly NewEntry[]): Promise<void>;
  setChannelMembers(
    ref: ConversationRef,
    botIds: readonly string[],
    defaults: { replyMode: ReplyMode; audience: string },
  ): Promise<void>;

  // transcript
  readEntries(query: {
    conversationKey: string;
    afterSeq?: number;
    beforeSeq?: number;
    limit: number;
  }): Promise<readonly Entry[]>;
  readEntriesById(ids: readonly string[]): Promise<readonly Entry[]>;
  /**
   * Other conversations of a bot by "#name", "name", native channel id, "@person name" or person id (SPEC M3): channels the bot is a member of, and
   * its direct messages. `personId` is set for direct messages.
   */
  findTargets(query: {
    botId: string;
    platform: string;
    workspaceId: string;
    text: string;
  }): Promise<
    readonly { readonly conversationKey: string; readonly ref: ConversationRef; readonly personId?: string }[]
  >;
  readEntry(conversationKey: string, address: string): Promise<Entry | null>;
  /** Platform ids of an entry's native messages, in piece order. */
  nativeIdsOf(conversationKey: string, address: string): Promise<readonly string[]>;

  // turns
  claim(request: ClaimRequest): Promise<ClaimResult>;
  /** Extends the lease; `held` false = lost. Also tells what happened meanwhile. */
  renew(
    claim: Claim,
    leaseMs: number,
  ): Promise<{ readonly held: boolean; readonly stopRequested: boolean; readonly mailDue: boolean }>;
  release(claim: Claim): Promise<void>;
  viewSession(claim: Claim): Promise<SessionView>;
  /** Nodes of the current cycle from oldest to `head`. */
  loadState(sessionId: string, head: string): Promise<readonly StateNode[]>;
  beginTurn(claim: Claim, input: BeginTurn): Promise<Turn>;
  /** Counts another attempt after a crash; returns the number. */
  resumeTurn(claim: Claim, turnId: string): Promise<number>;
  commitInput(claim: Claim, input: CommitInput): Promise<void>;
  commitReply(claim: Claim, input: CommitReply): Promise<void>;
  startCall(claim: Claim, call: CallRef): Promise<void>;
  commitCall(claim: Claim, call: CallRef, result: ToolResult, progress: TurnProgress): Promise<void>;
  /** Commits a bubble as the effect of a call. The call's result follows by commitCall when its pieces close. */
  commitSend(claim: Claim, call: CallRef, delivery: NewDelivery, progress: TurnProgress): Promise<Entry>;
  finishTurn(claim: Claim, input: FinishTurn): Promise<void>;
  /** Sessions with due mail or a turn whose worker is gone, most urgent first; one per bot is enough to ring. */
  dueSessions(limit: number): Promise<readonly { readonly sessionId: string; readonly rank: number }[]>;
  /** Puts mail into a session from outside a turn (a failed send, Retry). `dedupeKey` makes it happen once. */
  postMail(input: { sessionId: string; mail: NewMail; entryId?: string; dedupeKey: string }): Promise<boolean>;
  /** Host card outside a turn; `dedupeKey` makes it happen once. */
  postHostCard(input: { dedupeKey: string; delivery: NewDelivery }): Promise<boolean>;

  // delivery
  claimSender(input: { nativeChannel: string; owner: string; leaseMs: number }): Promise<SenderClaim | null>;
  releaseSender(claim: SenderClaim): Promise<void>;
  /**
   * Oldest unfinished piece of the channel, whether due or not yet (then `dueInMs` > 0); null when all are closed. A piece whose last attempt
   * was never closed becomes due `attemptTimeoutMs` after that attempt began (default 0), and must then be looked up.
   */
  nextPiece(
    nativeChannel: string,
    attemptTimeoutMs?: number,
  ): Promise<{ readonly piece: OutboxPiece; readonly dueInMs: number; readonly lookUp: boolean } | null>;
  startPiece(claim: SenderClaim, pieceId: string): Promise<void>;
  saveProgress(claim: SenderClaim, pieceId: string, progress: unknown): Promise<void>;
  closePiece(claim: SenderClaim, pieceId: string, close: PieceClose): Promise<ClosedPiece>;
  sendState(entryId: string): Promise<SendState | null>;
  dueChannels(limit: number): Promise<readonly string[]>;

  // cards
  readCard(cardId: string): Promise<Card | null>;
  owedSettles(limit: number): Promise<readonly OwedSettle[]>;
  closeSettle(
    cardId: string,
    result: { readonly done: true } | { readonly done: false; readonly delayMs: number },
  ): Promise<void>;
  expireCards(): Promise<number>;
  createSecretLink(input: { tokenHash: string; cardId: string; ttlMs: number }): Promise<void>;
  /** The card behind an unused, unexpired link. */
  readSecretLink(tokenHash: string): Promise<Card | null>;

  // vault
  readSecret(query: { botId: string; connector: string; field: string }): Promise<SealedSecret | null>;
  listSecrets(orgId: string): Promise<readonly SealedSecret[]>;
  revokeSecret(query: { botId: string; connector: string; field: string }): Promise<boolean>;

  // files
  dueFiles(limit: number): Promise<readonly (PendingFile & { readonly attempts: number })[]>;
  closeFile(
    id: string,
    result:
      | { readonly state: "stored"; readonly file: FileRef }
      | { readonly state: "failed"; readonly text: string }
      | { readonly state: "pending"; readonly delayMs: number },
  ): Promise<void>;
  fileStates(ids: readonly string[]): Promise<readonly FileRef[]>;

  keyValues(scope: string): KeyValueStore;
  prune(): Promise<void>;
  /** Round trip to the database, for health. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
