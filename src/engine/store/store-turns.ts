/** What turn operations of the store take and give (SPEC T3–T5): part of the store contract, split for reading. */

import type { Place } from "../adapter.ts";
import type { Bot, Installation } from "../bot.ts";
import type { CardKind, CardSpec } from "../card.ts";
import type { Conversation, Route } from "../conversation.ts";
import type { DiscussionMove } from "../discussion.ts";
import type { FileRef } from "../file-ref.ts";
import type { Mail } from "../mail.ts";
import type { ModelCall, ModelMessage } from "../model-message.ts";
import type { Authority, Claim, Session, Turn, TurnOutcome, TurnProgress } from "../session.ts";
import type { ToolResult } from "../tool.ts";
import type { EntryKind } from "../transcript.ts";
import type { NewMail, Wake } from "./store-intake.ts";

/** Who asks for a claim, and with which patience. */
export interface ClaimRequest {
  /** Any session of the bot; the claim may be on another session of the same bot that is first in order. */
  readonly sessionId: string;
  readonly owner: string;
  readonly leaseMs: number;
  /** SPEC T2: a person waiting this long opens another lane. */
  readonly waitMs: number;
  readonly ageingMs: number;
  /** Platforms that run here; work of others is left alone and keeps nobody waiting. Without it, all. */
  readonly platforms?: readonly string[];
}

/** A claim, or when to ask again. */
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

/** A tool call with what is known of its result. */
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

/** A new turn and the mail it takes. */
export interface BeginTurn {
  readonly turnId: string;
  readonly discussionId?: string;
  readonly epoch?: number;
  /** Names for the identity of this cycle; kept when there are some already. */
  readonly teammates?: readonly string[];
  readonly route: Route;
  readonly authority: Authority;
  readonly progress: TurnProgress;
  readonly mailIds: readonly string[];
  /** What the model will read first, in the same transaction: a turn begun with its input is never found without it after a crash. */
  readonly nodes?: readonly StateNode[];
  /** Highest entry seq that this input shows. */
  readonly cursor?: number;
}

/** What the model will read next, committed before it is asked: results of the last step and new input (SPEC T4, T5). */
export interface CommitInput {
  readonly turnId: string;
  readonly nodes: readonly StateNode[];
  /** Mail consumed by this input, beyond what the turn has taken already. */
  readonly mailIds: readonly string[];
  readonly authority?: Authority;
  readonly route?: Route;
  /** The newest epoch of its discussion that the turn has read. */
  readonly epoch?: number;
  /** Highest entry seq now shown to the model. */
  readonly cursor: number;
  readonly progress: TurnProgress;
}

/** A model's reply before any of its calls runs. */
export interface CommitReply {
  readonly turnId: string;
  /** The step this reply belongs to: the turn's step rises to it. */
  readonly step: number;
  readonly node: StateNode;
  readonly calls: readonly ModelCall[];
  readonly progress: TurnProgress;
}

/** Names one call of one step. */
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

/** How a turn ends, committed with everything that goes with it. */
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
  /** Moves the discussion and wakes its next speaker, in the same transaction (SPEC G12). */
  readonly discussion?: DiscussionMove;
  readonly wake?: readonly Wake[];
  /** Also cancels the stopper's own waiting mail (SPEC T5). */
  readonly cancelMailOf?: string;
}

/** A move of a discussion outside a turn (SPEC G8): the move, whom it wakes, and what the host says with it. */
export interface StepDiscussion {
  readonly move: DiscussionMove;
  readonly wake: readonly Wake[];
  readonly hostCards: readonly NewDelivery[];
}
