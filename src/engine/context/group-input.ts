/**
 * What a member reads at its turn in a Group's discussion (SPEC G2, G6): what is new in the public timeline since it last looked, own lines marked, then
 * a short reminder of where it is and that it may pass. Pure. Invariant: at most GROUP_LIMIT entries, whatever the channel has grown to.
 */

import type { Entry } from "../transcript.ts";
import { GROUP_GUIDANCE, SEND_GUIDANCE } from "./reminders.ts";
import { untrustedName } from "./untrusted.ts";

/** Entries of the timeline shown at once. */
export const GROUP_LIMIT = 24;

/** Where in the discussion the member stands. */
export interface GroupPlace {
  /** Names in configured order, the member's own among them. */
  readonly roster: readonly { readonly botId: string; readonly name: string }[];
  readonly round: number;
  readonly maxRounds: number;
  readonly maxPerTurn: number;
  /** The person asked this member by name (SPEC M12). */
  readonly named: boolean;
  /** The person whose message it is about; a display name, untrusted. */
  readonly askedBy: string;
  /** It was at work already when the person wrote again (SPEC G7). */
  readonly steered: boolean;
}

/** The new lines of the timeline; `line` shows one entry. */
export function timelineBlock(unseen: readonly Entry[], omitted: number, line: (entry: Entry) => string): string {
  const left =
    omitted > 0 ? [`(${omitted} earlier messages are not shown; search the transcript if you need them.)`] : [];
  return [...left, ...unseen.map(line)].join("\n");
}

/** The host's words at the end of a member's input. */
export function groupReminder(place: GroupPlace, botId: string, guidance: boolean): string {
  const names = place.roster.map((one) => (one.botId === botId ? `${one.name} (you)` : one.name)).join(", ");
  const asker = untrustedName(place.askedBy);
  const where = place.steered
    ? `${asker} wrote again while you were at work; what is new stands above. It is still your turn in this Group.`
    : `It is your turn in a Group, round ${place.round} of ${place.maxRounds}; what is new stands above.`;
  const choice = place.named
    ? `${asker} asked you by name: answer with SendMessage, in at most ${place.maxPerTurn} messages.`
    : `Add what only you can add, in at most ${place.maxPerTurn} messages, or pass by ending your turn without sending anything. Pass when you have nothing new.`;
  const lines = [`${where} In the Group: ${names}.`, choice, "To hand over to a teammate, mention them as @Name."];
  if (guidance) lines.push(place.named ? SEND_GUIDANCE : GROUP_GUIDANCE);
  return lines.join("\n");
}
