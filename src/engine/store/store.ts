/**
 * The store contract: named operations, each one short transaction; hot ones are one round trip (takeIn, claim, commitReply, commitCall,
 * commitSend, closePiece). No transaction object leaves the store, and nothing here waits for a model or the network. Every operation that
 * takes a Claim checks its fence in the same transaction and throws FenceLostError when the claim has passed on. Times are the database's.
 */

import type { KeyValueStore } from "../adapter.ts";
import type { Bot, Installation } from "../bot.ts";
import type { Card } from "../card.ts";
import type { Channel, ChannelSettings, ConversationRef, ReplyMode } from "../conversation.ts";
import type { Discussion, DiscussionMove } from "../discussion.ts";
import type { FileRef } from "../file-ref.ts";
import type { Claim, Turn, TurnProgress } from "../session.ts";
import type { ToolResult } from "../tool.ts";
import type { Entry } from "../transcript.ts";
import type { Broadcast, BroadcastResult, StopOutcome, StopRequest } from "./store-commands.ts";
import type { ClosedPiece, OutboxPiece, OwedSettle, PieceClose, SenderClaim, SendState } from "./store-delivery.ts";
import type {
  AmendMessage,
  AmendResult,
  BotSeed,
  ForeignTraffic,
  InstallationSeed,
  NewEntry,
  NewMail,
  PendingFile,
  PlaceView,
  SealedSecret,
  StartedOver,
  TakeIn,
  TakeInResult,
} from "./store-intake.ts";
import type { BotOutcome, CommitPeer, CreateBot, PeerOutcome, SessionPlace, UpdateBot } from "./store-peers.ts";
import type {
  BeginTurn,
  CallRef,
  ClaimRequest,
  ClaimResult,
  CommitInput,
  CommitReply,
  FinishTurn,
  NewDelivery,
  SessionView,
  StateNode,
  StepDiscussion,
} from "./store-turns.ts";
import type { SkillStore } from "./store-workflows.ts";

export type { Broadcast, BroadcastResult, StopOutcome, StopRequest } from "./store-commands.ts";
export type { ClosedPiece, OutboxPiece, OwedSettle, PieceClose, SenderClaim, SendState } from "./store-delivery.ts";
export type {
  AmendMessage,
  AmendResult,
  BotSeed,
  InstallationSeed,
  NewEntry,
  NewMail,
  PendingFile,
  PlaceSession,
  PlaceView,
  SealedSecret,
  TakeIn,
  TakeInResult,
  Wake,
} from "./store-intake.ts";
export type { BotOutcome, CommitPeer, CreateBot, PeerOutcome, SessionPlace, UpdateBot } from "./store-peers.ts";
export type {
  BeginTurn,
  CallRef,
  ClaimRequest,
  ClaimResult,
  CommitInput,
  CommitReply,
  FinishTurn,
  NewDelivery,
  SessionView,
  StateNode,
  StepDiscussion,
  StoredCall,
} from "./store-turns.ts";
export type { CommitWorkflow, SkillStore, WorkflowOutcome } from "./store-workflows.ts";

/** The store. See the opening comment for what holds for every operation. */
export interface Store extends SkillStore {
  // configuration
  syncBots(orgId: string, bots: readonly BotSeed[]): Promise<readonly Bot[]>;
  saveInstallation(orgId: string, seed: InstallationSeed): Promise<Installation>;
  listInstallations(): Promise<readonly Installation[]>;
  readBot(botId: string): Promise<Bot | null>;
  /** Every bot that is not retired, oldest first. */
  listBots(orgId: string): Promise<readonly Bot[]>;

  // intake
  readPlace(query: {
    dedupeKey: string;
    conversationKey: string;
    ref: ConversationRef;
    installationId: string;
  }): Promise<PlaceView>;
  takeIn(input: TakeIn): Promise<TakeInResult>;
  /** What foreign bots said in a channel in the last hour: this one within `pairMs`, all since a person last spoke (SPEC I7). */
  foreignTraffic(ref: ConversationRef, personId: string, pairMs: number): Promise<ForeignTraffic>;
  /** The message, and mail for all other bots, in one transaction (SPEC A3). */
  broadcast(input: Broadcast): Promise<BroadcastResult>;
  amendMessage(input: AmendMessage): Promise<AmendResult>;
  /** Stops what runs and waits in a conversation, ends its discussion, and stops what teammates do for it (SPEC T5), in one transaction. */
  requestStop(input: StopRequest): Promise<StopOutcome>;
  /** Begins the sessions of a conversation anew, unless a turn or discussion is unfinished there (`busy`); `first` is false for a repeated command. */
  startOver(input: { dedupeKey: string; conversationKey: string; botId?: string }): Promise<StartedOver>;
  addContext(conversationKey: string, entries: readonly NewEntry[]): Promise<void>;

  /** Writes which of these channels the bot is in; returns the channels that changed or have two or more bots, as they are now (SPEC G1). */
  syncMemberships(input: {
    platform: string;
    workspaceId: string;
    botId: string;
    channels: readonly { readonly channelId: string; readonly name?: string }[];
    replyMode: ReplyMode;
    /** Configured order of bots: who is in before the channel became a Group stands in it. */
    order: readonly string[];
  }): Promise<readonly Channel[]>;
  /** Bots that are in a channel; those not known yet stand behind the others. */
  addMembers(
    ref: ConversationRef,
    botIds: readonly string[],
    defaults: { replyMode: ReplyMode; audience: string },
  ): Promise<void>;
  removeMember(channelRowId: string, botId: string): Promise<void>;
  readChannel(ref: Pick<ConversationRef, "platform" | "workspaceId" | "channelId">): Promise<Channel | null>;
  /** Lays settings over those of a channel that is known. */
  setChannelSettings(channelRowId: string, settings: ChannelSettings): Promise<void>;

  // discussions
  readDiscussion(id: string): Promise<Discussion | null>;
  /** Discussions that are going on in a channel. */
  openDiscussions(channelRowId: string): Promise<readonly Discussion[]>;
  /** True when this person has written where the turn's discussion goes on. */
  hasJoined(turnId: string, personId: string): Promise<boolean>;
  /** Discussions whose current member has shown nothing for this long (SPEC G8). */
  lateDiscussions(patienceMs: number): Promise<readonly Discussion[]>;
  /** Waiting begins anew for all discussions: after a start nobody could have shown anything. */
  restartWaits(): Promise<void>;
  /** Moves a discussion outside a turn; throws DiscussionMovedError when somebody else did first. */
  stepDiscussion(input: StepDiscussion): Promise<readonly { readonly sessionId: string; readonly rank: number }[]>;

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
  /** Keeps at least two thirds of the lease ahead; `held` false = lost. Also tells what happened meanwhile. */
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
  /** The result of a call. `discussion` gives back a bubble the platform did not take, once, with it; throws DiscussionMovedError as commitSend does. */
  commitCall(
    claim: Claim,
    call: CallRef,
    result: ToolResult,
    progress: TurnProgress,
    discussion?: DiscussionMove,
  ): Promise<void>;
  /**
   * Commits a bubble as the effect of a call. The call's result follows by commitCall when its pieces close. A member's bubble moves its discussion
   * in the same transaction; throws DiscussionMovedError when somebody else moved it first, and then nothing was said.
   */
  commitSend(
    claim: Claim,
    call: CallRef,
    delivery: NewDelivery,
    progress: TurnProgress,
    discussion?: DiscussionMove,
  ): Promise<Entry>;
  /** Ends a turn; returns whom it woke. Throws DiscussionMovedError when its discussion was moved meanwhile: nothing was changed then. */
  finishTurn(
    claim: Claim,
    input: FinishTurn,
  ): Promise<readonly { readonly sessionId: string; readonly rank: number }[]>;
  /** The directory this cycle shows: the given one when it has none yet (SPEC X4). */
  keepDirectory(claim: Claim, directory: string): Promise<string>;
  /** A message to another bot as the effect of a call, with the call's result (SPEC A1). Once: a repeated call gets its first result. */
  commitPeer(claim: Claim, call: CallRef, input: CommitPeer): Promise<PeerOutcome>;
  /** The host tells the session that asked in this peer conversation what became of its message; gives the session to ring, once per key. */
  reportPeer(input: {
    readonly dedupeKey: string;
    readonly conversationKey: string;
    readonly text: string;
  }): Promise<string | null>;
  /** Reports messages to bots that are gone; gives the sessions to ring. */
  reportLostMail(): Promise<readonly string[]>;
  /** Where people can be told of something that happened in the chain that began in this session. */
  readSessionPlace(sessionId: string): Promise<SessionPlace | null>;
  /** Sessions in which a person's message has waited this long without a worker (SPEC T2). */
  waitingPeople(waitMs: number, platforms: readonly string[]): Promise<readonly SessionPlace[]>;
  /** Makes a bot as the effect of a call, with the call's result (SPEC A3). `{id}` in the result's text becomes its id. */
  createBot(claim: Claim, call: CallRef, input: CreateBot): Promise<BotOutcome>;
  updateBot(claim: Claim, call: CallRef, input: UpdateBot): Promise<BotOutcome>;
  /**
   * Sessions with due mail or a turn whose worker is gone, most urgent first; one per bot is enough to ring. With `platforms`, only sessions of
   * these.
   */
  dueSessions(
    limit: number,
    platforms?: readonly string[],
  ): Promise<readonly { readonly sessionId: string; readonly rank: number }[]>;
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

  // leases
  /** Takes or renews the lease when nobody else holds it; false while somebody does. */
  holdLease(input: { readonly name: string; readonly owner: string; readonly leaseMs: number }): Promise<boolean>;
  releaseLease(input: { readonly name: string; readonly owner: string }): Promise<void>;

  keyValues(scope: string): KeyValueStore;
  prune(): Promise<void>;
  /** Round trip to the database, for health. */
  ping(): Promise<void>;
  close(): Promise<void>;
}
