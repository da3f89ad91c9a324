/** What intake operations of the store take and give (SPEC T1): part of the store contract, split for reading. */

import type { Bot, Installation, Persona } from "../bot.ts";
import type { Card, CardAnswer, CardState } from "../card.ts";
import type { Channel, ChannelSettings, Conversation, ConversationRef, ReplyMode } from "../conversation.ts";
import type { Discussion, DiscussionMove } from "../discussion.ts";
import type { FileRef } from "../file-ref.ts";
import type { MailBody, MailKind } from "../mail.ts";
import type { PersonRef } from "../person.ts";
import type { Entry, EntryAuthor, EntryKind, EntryMark } from "../transcript.ts";

/** A bot of the settings file, as synchronised at start. */
export interface BotSeed {
  readonly id: string;
  readonly name: string;
  readonly role: string;
  readonly model: string;
  readonly lanes: number;
}

/** An account as its platform described it at start. */
export interface InstallationSeed {
  readonly botId: string;
  readonly platform: string;
  readonly appId: string;
  readonly workspaceId: string;
  readonly botUserId: string;
  readonly otherIds: readonly string[];
  readonly persona?: Persona;
  readonly credentialRef: string;
}

/** Everything the router needs to decide about one event, read in one query. */
export interface PlaceView {
  readonly conversation?: Conversation;
  readonly channel?: Channel;
  /** Sessions of this conversation: which bots take part. */
  readonly sessions: readonly PlaceSession[];
  /** Open cards of this conversation, oldest first. */
  readonly openCards: readonly Card[];
  /** The discussion that is going on in this conversation. */
  readonly discussion?: Discussion;
  /** Installations of our bots that are known to be in this channel (those that delivered an event from it or were seen as members). */
  readonly bots: readonly { readonly bot: Bot; readonly installation: Installation }[];
  /** Outcome of an earlier copy of this event, if any. */
  readonly mark?: "stored" | "ignored";
}

/** An entry to be stored; address and seq are given by the store. */
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

/** Mail to be stored in a session's mailbox. */
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

/** A sealed secret with the place it is bound to. */
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

/** A bot that gets a session in a conversation; with mail it wakes. */
export interface Wake {
  readonly botId: string;
  readonly installationId: string;
  readonly mail?: NewMail;
}

/** A bot's session of a conversation. */
export interface PlaceSession {
  readonly sessionId: string;
  readonly botId: string;
  readonly running: boolean;
  /** The discussion its running turn is a member's turn of, if it is one. */
  readonly discussionId?: string;
}

/** One inbound event as one transaction: dedupe mark, place, entry, card claim, sealed secret, sessions and mail (SPEC T1). */
export interface TakeIn {
  readonly dedupeKey: string;
  /** ignored: only the mark is written (a better copy may still be accepted). */
  readonly outcome: "stored" | "ignored";
  readonly ref: ConversationRef;
  readonly conversationKey: string;
  /** Bots that are here; those not known yet are added behind the others. */
  readonly channel?: { readonly members: readonly string[]; readonly replyMode: ReplyMode; readonly audience: string };
  readonly person?: PersonRef;
  readonly entry?: NewEntry;
  readonly files?: readonly PendingFile[];
  /** Bots that get a session here; with mail they wake. */
  readonly wake: readonly Wake[];
  /** Begins or moves the discussion here, in the same transaction (SPEC G12). */
  readonly discussion?: DiscussionMove;
  /** Laid over the channel's settings. */
  readonly channelSettings?: ChannelSettings;
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

/** What became of an event: `late` means the card was no longer open and nothing was stored. */
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

/** What an edit or deletion met. */
export type AmendResult =
  | { readonly status: "replaced" | "cancelled" | "marked" | "unknown" | "duplicate" }
  | { readonly status: "steered"; readonly woken: readonly { readonly sessionId: string; readonly rank: number }[] };

/** How much bots that are not ours have said. */
export interface ForeignTraffic {
  readonly recent: number;
  readonly sincePerson: number;
}

/** How a new beginning went: sessions begun anew, or what is unfinished and kept them as they are. */
export interface StartedOver {
  readonly first: boolean;
  readonly renewed: number;
  readonly busy: number;
}
