/**
 * A bot's side of a conversation, the claim on it, and one waking of it. Rows as the engine sees them.
 */

import type { Route } from "./conversation.ts";
import type { Role } from "./person.ts";

/** One bot's side of one conversation; `stateHead` names its newest model state. */
export interface Session {
  readonly id: string;
  readonly botId: string;
  readonly conversationKey: string;
  readonly installationId?: string;
  readonly cursor: number;
  readonly cycle: number;
  readonly stateHead?: string;
  /** Names of the bots in its Group as this cycle's identity tells them (SPEC X4); absent outside Groups. */
  readonly teammates?: readonly string[];
  /** The directory of teammates this cycle began with (SPEC X4); absent before its first turn. */
  readonly directory?: string;
  /** The list of skills this cycle began with (SPEC X4); absent before its first turn. */
  readonly skills?: string;
  /** Skill id → print of what the bot was last told of it. */
  readonly skillsTold?: Readonly<Record<string, string>>;
}

/** The permission to run a session's turns until the lease ends; `fence` guards every write (SPEC T3). */
export interface Claim {
  readonly sessionId: string;
  readonly botId: string;
  readonly owner: string;
  readonly fence: number;
}

/** Whom a turn serves and with which authority: the lowest role among them. */
export interface Authority {
  readonly role: Role;
  readonly personIds: readonly string[];
  /** Display names by person id, for cards and mentions. */
  readonly names: Readonly<Record<string, string>>;
}

/** running and settling turns are unfinished: a worker that finds one goes on with it. */
export type TurnStatus = "running" | "settling" | "done" | "failed";
/** How a turn ended. */
export type TurnOutcome = "sent" | "reacted" | "silent" | "passed" | "waiting" | "stopped" | "failed" | "cap";
/** What a turn is for; decides tools and reminders (SPEC X2). */
export type TurnKind = "main" | "member" | "room" | "peer" | "subagent" | "background";

/** Counters of gate and reminders (SPEC M9, M11–M13); committed with the step they belong to, so a restart forgets nothing. */
export interface TurnProgress {
  /** Bubbles said in this turn. */
  readonly bubbles: number;
  /** Normalised hashes of what was said, for M13. */
  readonly said: readonly string[];
  readonly refusedInRow: number;
  /** Tool calls other than SendMessage since the last send or person message. */
  readonly callsSinceSend: number;
  /** True once text or tools came after the last send without another send. */
  readonly workAfterSend: boolean;
  readonly reacted: boolean;
  /** How far the M12 ladder has gone: 0 not yet, 1 reminded, 2 forced, more: forced again. */
  readonly silentTries: number;
  /** The closing re-run after an acknowledgement was used. */
  readonly closingTried: boolean;
  /** Reminders already given in this silent streak. */
  readonly reminded: readonly string[];
  readonly waitingCardId?: string;
  /** Counter n of the newest person message consumed; bubbles take their address from it. */
  readonly personCount: number;
  /** The turn's attempts when its model last answered: interruptions are counted from there, so a turn that gets on is not given up. */
  readonly attemptsAtReply?: number;
}

/** One waking of a bot, as stored. */
export interface Turn {
  readonly id: string;
  readonly sessionId: string;
  readonly step: number;
  readonly route: Route;
  readonly authority: Authority;
  /** The discussion it is a member's turn of, and the newest epoch it has read (SPEC G7). */
  readonly discussionId?: string;
  readonly epoch?: number;
  readonly status: TurnStatus;
  readonly stopRequested: boolean;
  readonly progress: TurnProgress;
  /** How often a worker picked this turn up again after losing it. */
  readonly attempts: number;
  readonly startedAt: Date;
}
