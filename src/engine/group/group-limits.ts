/**
 * What a Group may say (SPEC G3): counts are checked before a bubble is delivered, so that a refusal reaches the model and not the void.
 * Pure. Invariant: as long as a selected member has not had its turn, one bubble is kept for it; so is one for each answer that a member waits for.
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
  const isOwn = isKeptFor(state, botId) || (state.current !== botId && state.asked[keptBeside(botId)] !== undefined);
  if (!isOwn && left <= keptFor(state, botId).length + keptForCalled(state) + keptForAnswers(state))
    return refusal("the messages that are left are kept for teammates who have not spoken yet.");
  return { open: true };
}

/**
 * Whether the answer to what a member asked a teammate may be told (SPEC A1): in a turn beside the round, in `said` bubbles so far, also when the
 * discussion has ended meanwhile; only a Stop silences it.
 */
export function mayTell(state: DiscussionState, ask: string, said: number, limits: GroupLimits): BubbleDecision {
  if (state.endReason === "stopped") return refusal(`the discussion has ended, because ${ENDED.stopped}.`);
  if (said >= limits.maxPerTurn)
    return refusal(`you have reached the limit of ${limits.maxPerTurn} messages for one answer in a Group.`);
  const left = limits.maxBubbles - state.total;
  const kept = state.endReason === null ? keptFor(state, "").length : 0;
  const isOwn = state.asked[ask] !== undefined;
  const others = isOwn ? 0 : keptForAnswers(state) + (state.endReason === null ? keptForCalled(state) : 0);
  if (left > kept + others) return { open: true };
  return refusal(`the discussion has reached its limit of ${limits.maxBubbles} messages.`);
}

/** Whether a member may ask a teammate now: only if a bubble can be kept in which the answer is told. `ask` is the answer this turn tells, if any. */
export function mayAsk(state: DiscussionState, ask: string | undefined, limits: GroupLimits): BubbleDecision {
  const own = ask !== undefined && state.asked[ask] !== undefined ? 1 : 0;
  const firsts = state.endReason === null ? keptFor(state, "").length + keptForCalled(state) : 0;
  if (limits.maxBubbles - state.total > firsts + keptForAnswers(state) - own) return { open: true };
  const text =
    "Not sent: the messages that are left in this discussion are kept for others, so its answer could not be told here. Say with SendMessage, if you may, what should be asked, or end your turn.";
  return { open: false, text };
}

/** Whether one more bubble could be kept for somebody beside the round of this open discussion. */
export function hasFreeBubble(state: DiscussionState, limits: GroupLimits): boolean {
  return limits.maxBubbles - state.total > keptFor(state, "").length + keptForCalled(state) + keptForAnswers(state);
}

/** Key in `asked` of the bubble that is kept for a member the round has left while it was at work. */
export function keptBeside(botId: string): string {
  return `beside:${botId}`;
}

/** Bubbles kept beside the round: for answers of teammates, for answered cards, for members the round has left. */
export function keptForAnswers(state: DiscussionState): number {
  return Object.keys(state.asked).length;
}

function keptForCalled({ called, members, out }: DiscussionState): number {
  return called.filter((id) => !members.includes(id) && !out.includes(id)).length;
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
