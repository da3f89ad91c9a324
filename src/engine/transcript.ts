/**
 * The append-only log of a conversation and the addresses of its entries (SPEC M8, I4b).
 * An entry is never edited except by redaction; edits and deletes of people are marks beside it.
 */

import type { FileRef } from "./file-ref.ts";

/** Who speaks; the host speaks only in host cards. */
export type AuthorKind = "person" | "bot" | "host";

/** message: a person's · bubble: a bot's · peer: between two bots, seen by no person · answer: a card's answer · reaction: a person's emoji · context: loaded from before first contact · host-card: the host's own. */
export type EntryKind = "message" | "bubble" | "peer" | "answer" | "reaction" | "context" | "host-card";

/** The author of an entry. */
export interface EntryAuthor {
  readonly kind: AuthorKind;
  readonly id: string;
  /** Display name as the platform gave it; untrusted text. */
  readonly name: string;
}

/** One visible message, shared by all bots of the conversation. */
export interface Entry {
  readonly id: string;
  readonly conversationKey: string;
  readonly seq: number;
  /** `t<n>u` person · `t<n>s<k>` bubble · `t<n>a<k>` to a peer · `tb…` before any person message · absent for context and host cards. */
  readonly address?: string;
  readonly platformId?: string;
  readonly at: Date;
  readonly author: EntryAuthor;
  readonly kind: EntryKind;
  readonly text: string;
  readonly files: readonly FileRef[];
  readonly replyTo?: string;
  readonly botId?: string;
  readonly mark?: EntryMark;
  readonly redacted?: boolean;
}

/** What happened to a person's message after it was stored (SPEC T6). */
export interface EntryMark {
  readonly kind: "edited" | "deleted";
  readonly text?: string;
  readonly at: string;
}

/** Address of the n-th person message. */
export function personAddress(n: number): string {
  return `t${n}u`;
}

/** Address of the k-th bubble (s) or peer message (a) after person message n; `tb` before any person message. */
export function bubbleAddress(n: number, k: number, letter: "s" | "a" = "s"): string {
  return n > 0 ? `t${n}${letter}${k}` : `tb${letter}${k}`;
}

/** Address of the k-th file of an entry: `t<n>ua<k>`. */
export function fileAddress(entryAddress: string, k: number): string {
  return `${entryAddress}a${k}`;
}

/** True for text that has the shape of an entry address. */
export function isAddress(text: string): boolean {
  return /^t(?:b|\d+)(?:u|[sa]\d+)$/.test(text);
}
