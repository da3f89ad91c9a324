/**
 * Moves of a discussion are decided from what was read (SPEC G12): when somebody else moved it meanwhile, read again and decide again.
 * Invariant: a decision that was refused has changed nothing.
 */

import { DiscussionMovedError } from "../errors.ts";

/** How often a move is decided again before its caller is told; others are never that often faster. */
const MAX_MOVES = 20;

/** Runs `decide` until nobody else was faster. Anything but DiscussionMovedError passes through. */
export async function repeated<Result>(decide: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await decide();
    } catch (error) {
      if (!(error instanceof DiscussionMovedError) || attempt >= MAX_MOVES) throw error;
    }
  }
}
