/**
 * Why a bot wakes: a piece of mail in its session's durable mailbox (SPEC T1, T2).
 */

import type { CardAnswer } from "./card.ts";
import type { DiscussionPerson } from "./discussion.ts";
import type { Role } from "./person.ts";
import type { Authority } from "./session.ts";

/** Who wakes the bot (SPEC T1). */
export type MailKind = "person" | "bot" | "background";

/** Order of kinds: people first. */
export const MAIL_RANK: Readonly<Record<MailKind, number>> = { person: 0, bot: 1, background: 2 };

/** What the mail says beyond its entry. */
export type MailBody =
  /** A person's message: the entry holds the text. */
  | {
      readonly type: "message";
      readonly role: Role;
      readonly nativeReplyTo?: string;
      readonly replyTo?: string;
      /** Questions of the bot that this message passed over: told once (SPEC C1, C4). */
      readonly movedOnFrom?: readonly string[];
      /** Names of the other bots that got the same message (SPEC A3). */
      readonly broadcastTo?: readonly string[];
    }
  /** It is this member's turn in a Group's discussion (SPEC G): it reads what is new there. */
  | {
      readonly type: "discussion";
      readonly role: Role;
      readonly discussionId: string;
      readonly epoch: number;
      readonly round: number;
      /** Named by the person: it owes an answer (SPEC M12). */
      readonly named: boolean;
      /** Whom the turn serves: everybody who took part. */
      readonly persons: readonly DiscussionPerson[];
      /** Questions of this member that the message passed over: told once (SPEC C1, C4). */
      readonly movedOnFrom?: readonly string[];
      /** Who is in the Group, in configured order. */
      readonly roster: readonly { readonly botId: string; readonly name: string }[];
      readonly nativeReplyTo?: string;
    }
  /** A person answered a card: structured data for the model (SPEC C3). */
  | {
      readonly type: "answer";
      readonly role: Role;
      readonly cardId: string;
      readonly prompt: string;
      readonly answer: CardAnswer;
      readonly nativeReplyTo?: string;
      readonly ask?: DiscussionAsk;
    }
  /** A secret was stored or declined: label and destination only (SPEC C5). */
  | {
      readonly type: "secret";
      readonly role: Role;
      readonly cardId: string;
      readonly label: string;
      readonly connector: string;
      readonly field: string;
      readonly outcome: "stored" | "declined";
      readonly nativeReplyTo?: string;
      readonly ask?: DiscussionAsk;
    }
  /** A person allowed a call that had asked (SPEC C8): the host runs exactly this one. */
  | {
      readonly type: "approved";
      readonly role: Role;
      readonly cardId: string;
      readonly call: { readonly name: string; readonly args: unknown };
      readonly nativeReplyTo?: string;
      readonly ask?: DiscussionAsk;
    }
  /** A person pressed Retry on a host notice: the unanswered message is still in the session (SPEC M12, T8). */
  | {
      readonly type: "retry";
      readonly role: Role;
      readonly cardId: string;
      readonly nativeReplyTo?: string;
      readonly ask?: DiscussionAsk;
    }
  /**
   * Another bot wrote (SPEC A1). ask: it wants something from this bot · reply: its answer comes back to the session that asked · report: the host
   * says in `text` what became of a message.
   */
  | {
      readonly type: "peer";
      readonly direction: "ask" | "reply" | "report";
      /** Session at the beginning of the chain; loops are counted per root. */
      readonly root: string;
      /** On whose behalf the chain runs. */
      readonly serves: Authority;
      /** Where the session that asked answers its people; carried along, opaque here. */
      readonly nativeReplyTo?: string;
      readonly text?: string;
      /** A person's message to all bots at once (SPEC A3); the bot whose conversation it is brings the answers. */
      readonly isBroadcast?: boolean;
      /** Asked for in a Group's discussion: where its answer counts. Carried along, opaque to whoever works on it. */
      readonly ask?: DiscussionAsk;
    }
  /** Text being worked on was edited or deleted (SPEC T6). */
  | { readonly type: "steering"; readonly role: Role; readonly text: string }
  /** Something the host tells the bot: a send that failed for good, a call approved, an apology owed. `role` when a person caused it. */
  | {
      readonly type: "host";
      readonly text: string;
      readonly role?: Role;
      readonly nativeReplyTo?: string;
      readonly ask?: DiscussionAsk;
    };

/**
 * Where the answer to a member's question counts (SPEC A1, G3, G8): a question to a teammate, `key` names the call that asked; or a card that a person
 * answered, `key` names the card.
 */
export interface DiscussionAsk {
  readonly discussionId: string;
  readonly key: string;
}

/** One piece of mail as a worker reads it. */
export interface Mail {
  readonly id: string;
  readonly sessionId: string;
  readonly kind: MailKind;
  readonly entryId?: string;
  readonly authorId?: string;
  readonly authorName?: string;
  /** Conversation-and-installation key; bursts are taken together only on the same route. */
  readonly route: string;
  readonly body: MailBody;
  readonly audience: string;
  readonly hops: number;
  readonly orderAt: Date;
}
