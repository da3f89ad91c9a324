/**
 * What members of a discussion ask of teammates outside it, and how the answers are told (SPEC A1 in G): in a turn beside the round that neither takes
 * nor gives the turn, but counts against the bubbles of the discussion. Pure.
 * Invariant: an answer takes the bubble that was kept for it when it was asked for, so the discussion with all its answers stays within its limit.
 */

import type { DiscussionState } from "../discussion.ts";
import { inOrder, type Roster } from "./discussion.ts";

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
