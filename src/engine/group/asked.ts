/**
 * What members of a discussion ask of teammates outside it and of people on cards, and how the answers are told (SPEC A1 in G, G8): in a turn beside the
 * round that neither takes nor gives the turn, but counts against the bubbles of the discussion. Pure.
 * Invariant: an answer takes the bubble that was kept for it when it was asked for, so the discussion with all its answers stays within its limit.
 */

import type { DiscussionState } from "../discussion.ts";
import { beginDiscussion, goOn, inOrder, type Roster } from "./discussion.ts";
import { type GroupLimits, hasFreeBubble } from "./group-limits.ts";

/** A member asked a teammate: `ask` names the call, so that a repetition after a crash counts once. */
export function afterAsk(state: DiscussionState, ask: string, botId: string): DiscussionState {
  return { ...state, asked: { ...state.asked, [ask]: botId } };
}

/** A bubble that tells the answer. Teammates mentioned in it are called while the discussion goes on; afterwards a bot's words begin nothing. */
export function afterTold(
  state: DiscussionState,
  ask: string,
  botId: string,
  calls: readonly string[],
  roster: Roster,
): DiscussionState {
  const isOver = state.endReason !== null;
  const called = isOver ? [] : inOrder(roster, calls).filter((id) => id !== botId && id !== state.current);
  return {
    ...afterAnswered(state, ask),
    called: [...new Set([...state.called, ...called])],
    total: state.total + 1,
    inRound: isOver ? state.inRound : state.inRound + 1,
  };
}

/** Such a bubble was not taken by the platform: it counts for nothing, and one is kept again. */
export function afterUntold(state: DiscussionState, ask: string, botId: string): DiscussionState {
  const back = state.endReason === "stopped" ? state : afterAsk(state, ask, botId);
  const inRound = state.endReason === null ? Math.max(0, state.inRound - 1) : state.inRound;
  return { ...back, total: Math.max(0, state.total - 1), inRound };
}

/** The turn that read the answer is over: nothing is kept for it any longer. */
export function afterAnswered(state: DiscussionState, ask: string): DiscussionState {
  const { [ask]: _told, ...asked } = state.asked;
  return { ...state, asked };
}

/** The turn that read the answer is over. When nobody has the turn, the rounds go on with whom it called, or the discussion ends. */
export function afterAnswerTurn(
  state: DiscussionState,
  ask: string,
  limits: GroupLimits,
  roster: Roster,
): DiscussionState {
  const { [ask]: _told, ...answering } = state.answering;
  return goOn({ ...afterAnswered(state, ask), answering }, limits, roster);
}

/** Key of what a member tells on the answer of this card. */
export function cardKey(cardId: string): string {
  return `card:${cardId}`;
}

/**
 * A person answered a member's card while a discussion goes on: that member alone tells what came of it, beside the round (SPEC G8). Undefined when
 * everything that is left to say is kept for others, so that nothing could be told now.
 */
export function afterCardAnswer(
  state: DiscussionState,
  key: string,
  botId: string,
  limits: GroupLimits,
): DiscussionState | undefined {
  if (!hasFreeBubble(state, limits)) return undefined;
  return { ...afterAsk(state, key, botId), answering: { ...state.answering, [key]: botId } };
}

/** A person answered a member's card when nothing was going on: a discussion in which only that member speaks, and whom it calls. */
export function beginCardAnswer(key: string, botId: string, roster: Roster): DiscussionState {
  const begun = beginDiscussion({ selected: [botId], named: [] }, roster);
  const own = { [key]: botId };
  return { ...begun, current: null, served: [botId], asked: own, answering: own };
}
