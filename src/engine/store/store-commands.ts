/** What operations behind typed commands of people take and give (SPEC T5, A3): part of the store contract, split for reading. */

import type { ConversationRef } from "../conversation.ts";
import type { MailBody } from "../mail.ts";
import type { PersonRef } from "../person.ts";
import type { TakeIn, TakeInResult } from "./store-intake.ts";

/** Who wants what to stop. */
export interface StopRequest {
  readonly conversationKey: string;
  /** Only these bots, where no discussion ends with it. */
  readonly botIds?: readonly string[];
  readonly by: PersonRef;
  readonly dedupeKey: string;
  readonly mayStopOthers: boolean;
}

/** One message of a person to all bots (SPEC A3): the message itself, and bot mail for everybody it was not written to. */
export interface Broadcast {
  readonly intake: TakeIn;
  /** The bot it was written to; answers come back to its session. */
  readonly botId: string;
  readonly receivers: readonly {
    readonly botId: string;
    readonly conversationKey: string;
    readonly ref: ConversationRef;
  }[];
  /** Stands in receivers and mail for the id of that session, which may not exist yet. */
  readonly sessionMark: string;
  readonly author: { readonly id: string; readonly name: string };
  readonly text: string;
  readonly mail: Extract<MailBody, { type: "peer" }>;
  readonly audience: string;
  readonly mailLimit: number;
}

/** As takeIn; `sessionIds` of the other bots to ring, `skipped` are bots with too much mail waiting. */
export type BroadcastResult = TakeInResult & {
  readonly sessionIds: readonly string[];
  readonly skipped: readonly string[];
};

/** What a stop has reached. */
export interface StopOutcome {
  /** Sessions of the conversation whose turn was told to stop; the first to end says so there. */
  readonly sessionIds: readonly string[];
  /** Sessions of teammates at work for it, likewise; they say nothing. */
  readonly peerSessionIds: readonly string[];
  /** Waiting mail and discussions that were dropped. */
  readonly cancelled: number;
  /** Everything that runs is for somebody else, so nothing was touched. */
  readonly refused: boolean;
  /** A copy of this stop was dealt with before: there is nothing to say about it. */
  readonly duplicate?: boolean;
}
