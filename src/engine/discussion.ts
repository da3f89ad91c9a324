/**
 * A Group's discussion as it is stored (SPEC G): what one person's message started, whose turn it is, who was heard and what may still be said.
 * Plain data; the rules that move it are in group/discussion.ts, the row is moved by the store under its revision.
 */

import type { ConversationRef } from "./conversation.ts";
import type { Role } from "./person.ts";

/** Why a discussion ended (SPEC G9). */
export type EndReason = "passed" | "limit" | "stopped" | "failed";

/** Where a discussion stands. Ids are bot ids; lists of members are in configured order. */
export interface DiscussionState {
  /** Rises with every message of a person (SPEC G7). */
  readonly epoch: number;
  /** 1 for the first pass over the members. */
  readonly round: number;
  /** Selected by the person, and those that teammates called in. */
  readonly members: readonly string[];
  /** Named by the person: they owe an answer (SPEC M12). */
  readonly named: readonly string[];
  /** Still to come in this round, next first. */
  readonly order: readonly string[];
  /** Whose turn it is; null when the rounds are over, for good or until those who are at work beside them have ended. */
  readonly current: string | null;
  /** Said something in this epoch. */
  readonly heard: readonly string[];
  /** Had a turn in this epoch and ended it. */
  readonly served: readonly string[];
  /** Failed or took too long in this epoch; the rounds pass them by. */
  readonly out: readonly string[];
  /** Mentioned by a teammate and without a turn since; members or not. */
  readonly called: readonly string[];
  /** Still at work beside the round, with the bubbles each may still say. */
  readonly apart: Readonly<Record<string, number>>;
  /**
   * Bubbles kept for members beside the round, one for each (SPEC G3): key of what it is for → the member. The call that asked a teammate or the card
   * that a person answered outlives epochs and the end of the discussion (SPEC A1); being late or passed over lasts as long as the place in `apart`.
   */
  readonly asked: Readonly<Record<string, string>>;
  /** Members that are telling what a person's answer to their card brought: key as in `asked` → the member. The discussion waits for them. */
  readonly answering: Readonly<Record<string, string>>;
  /** Bubbles of this epoch, of this round, of the current turn. */
  readonly total: number;
  readonly inRound: number;
  readonly inTurn: number;
  readonly endReason: EndReason | null;
  /** Who was still to speak when a limit ended it. */
  readonly owed: readonly string[];
}

/** A member as the discussion knows it. */
export interface GroupMember {
  readonly botId: string;
  readonly name: string;
  readonly installationId: string;
}

/** Somebody who took part, with the authority turns act with. */
export interface DiscussionPerson {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
}

/** What does not change from turn to turn. */
export interface DiscussionFrame {
  /** Everybody in the Group, in configured order, selected or not. */
  readonly roster: readonly GroupMember[];
  /** Oldest first; the last one wrote the newest message. */
  readonly persons: readonly DiscussionPerson[];
  readonly audience: string;
  /** Where it is held. */
  readonly ref: ConversationRef;
  /** Native id of the newest message of a person, where the platform shows replies. */
  readonly nativeReplyTo?: string;
}

/** A discussion's row. */
export interface Discussion {
  readonly id: string;
  /** Row id of the native channel. */
  readonly channelId: string;
  /** Key of the conversation it is held in. */
  readonly threadKey: string;
  readonly revision: number;
  readonly state: DiscussionState;
  readonly frame: DiscussionFrame;
  /** The newest message of a person in it. */
  readonly entryId?: string;
}

/** One step of a discussion, stored only when nobody else moved it since `revision` was read (0 = it is new). */
export interface DiscussionMove {
  readonly id: string;
  readonly channelId: string;
  readonly threadKey: string;
  readonly revision: number;
  readonly state: DiscussionState;
  readonly frame: DiscussionFrame;
  /** Somebody's time to show something begins anew (SPEC G8). */
  readonly restartsWait: boolean;
  /** Waiting mail of this discussion no longer holds (SPEC G7). */
  readonly cancelsMail: boolean;
}
