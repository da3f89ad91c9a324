/** What the operations on messages between bots and on bots made at run time take and give (SPEC A): part of the store contract. */

import type { Bot } from "../bot.ts";
import type { ConversationRef } from "../conversation.ts";
import type { DiscussionMove } from "../discussion.ts";
import type { FileRef } from "../file-ref.ts";
import type { MailBody } from "../mail.ts";
import type { TurnProgress } from "../session.ts";
import type { ToolResult } from "../tool.ts";

/** A message to another bot, with everything that is committed together. */
export interface CommitPeer {
  readonly from: {
    readonly botId: string;
    readonly botName: string;
    readonly conversationKey: string;
    readonly ref: ConversationRef;
    /** n of the last person message the turn consumed; the message's address is t<n>a<k> (SPEC M8). */
    readonly personCount: number;
  };
  /** A bot with the place of its conversation with this session, or the session that asked. */
  readonly to:
    | { readonly botId: string; readonly conversationKey: string; readonly ref: ConversationRef }
    | { readonly sessionId: string };
  readonly text: string;
  readonly files: readonly FileRef[];
  readonly mail: Extract<MailBody, { type: "peer" }>;
  readonly audience: string;
  /** Messages between bots since the last person's, this one included (SPEC I7). */
  readonly hops: number;
  readonly urgent: boolean;
  /** Keeps a bubble of the asker's discussion for the answer, in the same transaction; throws DiscussionMovedError when somebody moved it meanwhile. */
  readonly discussion?: DiscussionMove;
  /** `{address}` in its text becomes the address of the message. */
  readonly result: ToolResult;
  readonly progress: TurnProgress;
  readonly limits: {
    readonly mailPerSession: number;
    readonly maxHops: number;
    /** Messages of one pair in the window; the one beyond begins a rest. */
    readonly pairTurns: number;
    readonly pairWindowMs: number;
    readonly restMs: number;
  };
}

/**
 * queued: wake the session · done: the call had its result already · refused, nothing stored: hops, pair = a loop · full = too much mail waits there ·
 * gone = the bot or session is no longer there · stopped = a person has stopped the turn that asks.
 */
export type PeerOutcome =
  | { readonly status: "queued"; readonly result: ToolResult; readonly sessionId: string; readonly botId: string }
  | { readonly status: "done"; readonly result: ToolResult }
  | { readonly status: "refused"; readonly reason: "hops" | "pair" | "full" | "gone" | "stopped" };

/** A session's place as far as the host needs it to say or show something there. */
export interface SessionPlace {
  readonly sessionId: string;
  readonly botId: string;
  readonly botName: string;
  readonly conversationKey: string;
  readonly ref: ConversationRef;
  readonly installationId: string;
  readonly personCount: number;
  /** Native id of the newest person message there, where the platform shows replies. */
  readonly nativeReplyTo?: string;
}

/** A bot to be made. Its id becomes `id`, or that with a number. */
export interface CreateBot {
  readonly bot: Pick<Bot, "id" | "orgId" | "name" | "role" | "model" | "lanes">;
  /** Bots made at run time that there may be. */
  readonly limit: number;
  readonly result: ToolResult;
}

/** A change of a bot; what is left out stays. */
export interface UpdateBot {
  readonly bot: Pick<Bot, "id" | "orgId"> & Partial<Pick<Bot, "name" | "role">>;
  readonly result: ToolResult;
}

/** taken: another bot has the name · limit: too many · unknown: there is no such bot. `bot` is absent when the call had its result already. */
export type BotOutcome =
  | { readonly status: "done"; readonly result: ToolResult; readonly bot?: Bot }
  | { readonly status: "taken" | "limit" | "unknown" };
