/** Plays whole discussions over the pure rules: members that talk as a plan says, in any order of events. */
import type { DiscussionState } from "../../../src/engine/discussion.ts";
import { afterBubble, afterTurn, beginDiscussion } from "../../../src/engine/group/discussion.ts";
import { type GroupLimits, mayBubble } from "../../../src/engine/group/group-limits.ts";

export const LIMITS: GroupLimits = { maxRounds: 3, maxBubbles: 10, maxPerTurn: 2 };

/** What a member does in one turn. */
export interface Act {
  /** Bubbles it tries to say. */
  readonly tries: number;
  /** Teammates it mentions in the first of them. */
  readonly calls?: readonly string[];
  readonly fails?: boolean;
}

export interface Played {
  readonly state: DiscussionState;
  /** Speakers of the bubbles, in order. */
  readonly said: readonly string[];
  /** Members in the order of their turns, with the round. */
  readonly turns: readonly { readonly botId: string; readonly round: number; readonly bubbles: number }[];
  readonly refused: number;
}

export const rosterOf = (ids: readonly string[]) => ids.map((botId) => ({ botId }));

/** Runs a discussion to its end; `act` decides what the member does in its n-th turn. */
export function play(
  roster: readonly string[],
  selected: readonly string[],
  act: (botId: string, turn: number) => Act,
  limits: GroupLimits = LIMITS,
): Played {
  const members = rosterOf(roster);
  let state = beginDiscussion({ selected, named: [] }, members);
  const said: string[] = [];
  const turns: { botId: string; round: number; bubbles: number }[] = [];
  let refused = 0;
  while (state.current !== null) {
    if (turns.length > 200) throw new Error("the discussion does not end");
    const botId = state.current;
    const { tries, calls = [], fails = false } = act(botId, turns.filter((turn) => turn.botId === botId).length);
    const turn = { botId, round: state.round, bubbles: 0 };
    for (let at = 0; at < tries && !fails; at += 1) {
      if (!mayBubble(state, botId, limits).open) {
        refused += 1;
        continue;
      }
      state = afterBubble(state, botId, at === 0 ? calls : [], members);
      said.push(botId);
      turn.bubbles += 1;
    }
    turns.push(turn);
    state = afterTurn(state, botId, fails ? "failed" : "done", limits, members);
  }
  return { state, said, turns, refused };
}
