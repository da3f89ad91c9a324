/** What delivery operations of the store take and give (SPEC T3, M7, C1): part of the store contract, split for reading. */

import type { Piece, Place, Receipt } from "../adapter.ts";
import type { Card, CardOutcome } from "../card.ts";

/** The permission to post in a native channel until the lease ends. */
export interface SenderClaim {
  readonly nativeChannel: string;
  readonly owner: string;
  readonly fence: number;
  /** True when an earlier sender's lease had run out: its attempts may still be on their way. */
  readonly takenOver: boolean;
}

/** A piece with its state. */
export interface OutboxPiece extends Piece {
  readonly entryId: string;
  readonly platform: string;
  readonly state: "due" | "sending" | "sent" | "failed";
}

/** How an attempt ended. */
export type PieceClose =
  | { readonly to: "sent"; readonly receipt: Receipt }
  | { readonly to: "failed"; readonly problem: string; readonly text: string }
  /** Again after `delayMs`; `lookUp` = the outcome is unknown, ask the platform first. */
  | { readonly to: "due"; readonly delayMs: number; readonly lookUp: boolean; readonly text: string };

/** How far the pieces of an entry are. `failed` names the first permanent failure. */
export interface SendState {
  readonly entryId: string;
  readonly conversationKey: string;
  readonly address?: string;
  readonly open: number;
  readonly sent: number;
  readonly failed?: string;
  readonly nativeIds: readonly string[];
}

/** What closing a piece completed. */
export interface ClosedPiece {
  readonly entryId: string;
  readonly entryClosed: boolean;
  readonly failed: boolean;
  readonly sessionId?: string;
  /** A card on this entry is no longer open and must be redrawn. */
  readonly settleOwed: boolean;
}

/** A card to be redrawn, with all that is needed to do it. */
export interface OwedSettle {
  readonly card: Card;
  readonly outcome: CardOutcome;
  readonly deliveryBody: unknown;
  readonly place: Place;
  readonly receipts: readonly Receipt[];
  readonly platform: string;
  readonly attempts: number;
}
