/**
 * What happens on a platform, in the engine's words. An adapter makes one InboundEvent of each native event and hands it to `receive`;
 * it acknowledges the platform only after `receive` has resolved (SPEC T1). Text inside is untrusted data.
 */

import type { ConversationRef } from "./conversation.ts";
import type { FileRef } from "./file-ref.ts";
import type { PersonRef } from "./person.ts";
import type { SecretValue } from "./secret-value.ts";

/** A live mention found in platform structure; `start` and `end` are offsets into the event's clean text. */
export interface Mention {
  /** The mentioned account's native id, or a user group's or role's id. */
  readonly platformId: string;
  readonly start: number;
  readonly end: number;
  /** For user groups and roles: the native ids of its members, as far as known. */
  readonly members?: readonly string[];
}

/** A file a person uploaded. The adapter says where it lies; the engine fetches it after the acknowledgement (SPEC W8). */
export interface InboundFile {
  readonly platformFileId: string;
  readonly name: string;
  readonly mediaType?: string;
  readonly size?: number;
  /** Where the adapter can fetch it from; never shown to the model. */
  readonly url?: string;
  /** Set when the adapter stored the bytes already (uploads through our own web server). */
  readonly stored?: FileRef;
}

interface EventBase {
  /** Unique per platform happening and identical in every copy of it, for example `slack:T1:C1:100.000100`. */
  readonly dedupeKey: string;
  readonly installationId: string;
  readonly conversation: ConversationRef;
  readonly at: Date;
}

/** A person (or a foreign bot) wrote. */
export interface MessageEvent extends EventBase {
  readonly type: "message";
  readonly from: PersonRef;
  /** Native id of the message, unique in its conversation. */
  readonly platformId: string;
  /** Decoded, with mentions written as "@Name". */
  readonly text: string;
  readonly mentions: readonly Mention[];
  /** Ranges of `text` that are code or quotation: names there address nobody (SPEC I3). */
  readonly quoted: readonly { readonly start: number; readonly end: number }[];
  /** A mass ping (channel, here, everyone). */
  readonly everyone: boolean;
  /** The platform itself says that this installation's bot is addressed (for example an app_mention event). */
  readonly namesBot: boolean;
  readonly files: readonly InboundFile[];
  /** Native id of the thread that an answer would open, for a top-level channel message. */
  readonly opensThread?: string;
  /** Native id of the message this one replies to. */
  readonly repliesTo?: string;
  /**
   * Native id of the account whose message a person answers with the platform's own reply; the same in every copy. It addresses that account when the
   * words name no bot.
   */
  readonly answersAccount?: string;
}

/** A person used a control of a card. `choices` are option values; `text` is free text where the card allows it. */
export interface AnswerEvent extends EventBase {
  readonly type: "answer";
  readonly from: PersonRef;
  readonly cardId: string;
  readonly choices: readonly string[];
  readonly text?: string;
}

/** A person declines a card (secret-request, hand-off). */
export interface DismissEvent extends EventBase {
  readonly type: "dismiss";
  readonly from: PersonRef;
  readonly cardId: string;
}

/** A person handed over a secret. The value lives in memory only until it is sealed (SPEC C5). */
export interface SecretEvent extends EventBase {
  readonly type: "secret";
  readonly from: PersonRef;
  readonly cardId: string;
  readonly value: SecretValue;
  /** The one-time link it came through; used up in the same transaction. */
  readonly token?: string;
}

/** A person asks for the one-time link to the masked web form of a secret-request; the Reception carries the link. */
export interface SecretLinkEvent extends EventBase {
  readonly type: "secret-link";
  readonly from: PersonRef;
  readonly cardId: string;
}

/** A person changed the visible text of a message. Equal text (link previews) must not become an event. */
export interface EditEvent extends EventBase {
  readonly type: "edit";
  readonly from: PersonRef;
  readonly platformId: string;
  readonly text: string;
}

/** A message of a person was deleted. */
export interface DeleteEvent extends EventBase {
  readonly type: "delete";
  readonly platformId: string;
}

/** The platform's own stop control was used (SPEC T5). */
export interface StopEvent extends EventBase {
  readonly type: "stop";
  readonly from: PersonRef;
}

/** A person put an emoji on a message, or took it away. Never wakes a bot; it is told what it missed. */
export interface ReactionEvent extends EventBase {
  readonly type: "reaction";
  readonly from: PersonRef;
  /** Native id of the message. */
  readonly platformId: string;
  /** Emoji, or its short name without colons. */
  readonly emoji: string;
  readonly change: "added" | "removed";
  /** As in a message: the thread an answer to a top-level channel message opens. */
  readonly opensThread?: string;
}

/** A bot or person joined or left the channel. */
export interface MembershipEvent extends EventBase {
  readonly type: "membership";
  readonly platformId: string;
  readonly change: "joined" | "left";
}

/** Everything a platform can tell the engine. */
export type InboundEvent =
  | MessageEvent
  | AnswerEvent
  | DismissEvent
  | SecretEvent
  | SecretLinkEvent
  | EditEvent
  | DeleteEvent
  | StopEvent
  | ReactionEvent
  | MembershipEvent;

/**
 * What became of an event, so that the adapter can acknowledge and, for a click, answer the person.
 * accepted: stored, a bot will act · ignored: nobody is addressed · duplicate: seen before · refused: `reason` is for the person's eyes.
 */
export interface Reception {
  readonly status: "accepted" | "ignored" | "duplicate" | "refused";
  readonly reason?: string;
  /** One-time link, for `secret-link` and for a message that asks for it in words; for the eyes of that person only. */
  readonly link?: string;
}

/** Contract: resolves when the event is durably stored or knowingly dropped; rejects only when it could not be stored (do not acknowledge then). */
export type Receive = (event: InboundEvent) => Promise<Reception>;
