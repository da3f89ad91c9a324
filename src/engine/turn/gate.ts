/**
 * What may still be said in a turn (SPEC M9, M13). Pure: refusals are texts for the model that say what to do; nothing refused is delivered.
 */

import { createHash } from "node:crypto";
import type { Bubble } from "../bubble.ts";
import type { TurnProgress } from "../session.ts";

/** Limits the gate looks at. */
export interface GateLimits {
  readonly bubblesPerTurn: number;
}

/** Refusals in a row that end the turn. */
export const MAX_REFUSED_IN_ROW = 5;

/** Whether a bubble may be said; `text` tells the model why not. */
export type GateDecision =
  | { readonly open: true; readonly print: string }
  | { readonly open: false; readonly text: string; readonly repeated: boolean };

/** Whether this bubble may be said now; `print` is remembered when it was. */
export function decideSend(progress: TurnProgress, bubble: Bubble, limits: GateLimits): GateDecision {
  if (progress.waitingCardId) {
    return refusal(
      "Not sent: you are already waiting on the person's answer to your question. Your turn is over; the answer will wake you.",
    );
  }
  if (progress.bubbles >= limits.bubblesPerTurn) {
    return refusal(
      `Not sent: this turn has reached its limit of ${limits.bubblesPerTurn} messages. End your turn now.`,
    );
  }
  const print = fingerprint(bubble);
  if (progress.said.includes(print)) {
    return {
      open: false,
      repeated: true,
      text: "Not sent: you have already sent this message in this turn and it was delivered. Send something new, or end your turn.",
    };
  }
  return { open: true, print };
}

function refusal(text: string): GateDecision {
  return { open: false, repeated: false, text };
}

/** True when the turn must end now: limits reached, or it keeps repeating itself. */
export function mustEnd(progress: TurnProgress, limits: GateLimits): boolean {
  return (
    Boolean(progress.waitingCardId) ||
    progress.bubbles >= limits.bubblesPerTurn ||
    progress.refusedInRow >= MAX_REFUSED_IN_ROW
  );
}

/** Addresses and ids: there every character counts. */
const EXACT_FIELDS: ReadonlySet<string> = new Set(["url", "bcId"]);

/** Equal for bubbles that look the same: space, case and invisible characters do not matter, and neither does the address replied to. */
export function fingerprint(bubble: Bubble): string {
  const { replyTo: _replyTo, ...content } = bubble;
  const seen = JSON.stringify(content, (key, value: unknown) =>
    typeof value === "string" && !EXACT_FIELDS.has(key) ? asSeen(value) : value,
  );
  return createHash("sha256").update(seen).digest("base64url").slice(0, 16);
}

function asSeen(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replace(/\s+/gu, " ")
    .trim()
    .toLowerCase();
}

/** Progress after a bubble was said. */
export function afterSend(progress: TurnProgress, print: string, waitingCardId?: string): TurnProgress {
  return {
    ...progress,
    bubbles: progress.bubbles + 1,
    said: [...progress.said, print],
    refusedInRow: 0,
    callsSinceSend: 0,
    workAfterSend: false,
    silentTries: 0,
    reminded: [],
    ...(waitingCardId ? { waitingCardId } : {}),
  };
}
