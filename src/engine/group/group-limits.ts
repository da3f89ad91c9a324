/**
 * What a Group may say (SPEC G3): counts are checked before a bubble is delivered, so that a refusal reaches the model and not the void.
 * Pure. Invariant: as long as a selected member has not had its turn, one bubble is kept for it.
 */

import type { DiscussionState, EndReason } from "../discussion.ts";

/** The limits of one discussion. */
export interface GroupLimits {
  readonly maxRounds: number;
  /** Bubbles in all. */
  readonly maxBubbles: number;
  /** Bubbles of one member's turn. */
  readonly maxPerTurn: number;
}

/** Whether a bubble may be said; `text` tells the model why not. A refusal holds for the rest of the member's turn. */
export type BubbleDecision = { readonly open: true } | { readonly open: false; readonly text: string };

const ENDED: Readonly<Record<EndReason, string>> = {
  passed: "everybody has said what they had to say",
  limit: "its limit of messages or rounds is reached",
  stopped: "a person stopped it",
  failed: "its members could not speak",
};

/** Whether this member may say one more bubble now. */
export function mayBubble(state: DiscussionState, botId: string, limits: GroupLimits): BubbleDecision {
  if (state.endReason) return refusal(`the discussion has ended, because ${ENDED[state.endReason]}.`);
  if (state.current !== botId && (state.apart[botId] ?? 0) <= 0)
    return refusal("the round has moved on to your teammates and it is no longer your turn.");
  if (state.current === botId && state.inTurn >= limits.maxPerTurn)
    return refusal(`you have reached the limit of ${limits.maxPerTurn} messages for one turn in a Group.`);
  const left = limits.maxBubbles - state.total;
  if (left <= 0) return refusal(`the discussion has reached its limit of ${limits.maxBubbles} messages.`);
  const called = state.called.filter((id) => !state.members.includes(id) && !state.out.includes(id));
  if (!isKeptFor(state, botId) && left <= keptFor(state, botId).length + called.length)
    return refusal("the messages that are left are kept for teammates who have not spoken yet.");
  return { open: true };
}

/** Members other than this one for whom a bubble is kept. */
export function keptFor(state: DiscussionState, botId: string): readonly string[] {
  return state.members.filter((id) => id !== botId && isKeptFor(state, id));
}

/** A bubble is kept for a member until it has spoken or its first turn is over. */
function isKeptFor({ members, heard, served, out }: DiscussionState, botId: string): boolean {
  return members.includes(botId) && ![...heard, ...served, ...out].includes(botId);
}

function refusal(why: string): BubbleDecision {
  return { open: false, text: `Not sent: ${why} Nobody saw this message. End your turn now.` };
}
