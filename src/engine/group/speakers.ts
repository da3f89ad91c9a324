/**
 * Who speaks on a person's message in a Group (SPEC G2, I2). Pure: takes what addressing found, gives the members in configured order.
 * Runs before intake commits, so that selection, entry and first mail are one transaction (SPEC G12).
 */

/** What addressing found in one message. */
export interface AddressFindings {
  /** Bots named by id, user group or handle. */
  readonly named: readonly string[];
  /** A mass ping of the platform, or a typed `@everyone` or `@all`. */
  readonly everyone: boolean;
  /** The message opens with mentions, and none of them is a bot of ours. */
  readonly opensWithPeople: boolean;
  /** Somebody who is not a bot of ours is mentioned. */
  readonly namesPeople: boolean;
}

/** Whether a Group hears everything or only what names a member. */
export type Activation = "all" | "mention";

/** The members that speak; those in `named` owe an answer (SPEC M12). */
export interface Speakers {
  readonly selected: readonly string[];
  readonly named: readonly string[];
}

const NOBODY: Speakers = { selected: [], named: [] };

/** Speakers among `members` (configured order). A bot that is named but no member selects nobody by that. */
export function selectSpeakers(members: readonly string[], activation: Activation, found: AddressFindings): Speakers {
  if (found.opensWithPeople && !found.everyone) return NOBODY;
  const named = members.filter((id) => found.named.includes(id));
  if (found.everyone) return { selected: members, named };
  if (named.length > 0) return { selected: named, named };
  if (found.named.length > 0 || found.namesPeople) return NOBODY;
  return activation === "all" ? { selected: members, named: [] } : NOBODY;
}
