/**
 * What a move of a discussion brings with it (SPEC G12): the mail that wakes the next speaker, and what the host says when a discussion ends while
 * somebody is still owed a turn (SPEC G9). Pure; the store commits it together with the move.
 */

import type { HostCard } from "../card.ts";
import type { Discussion, DiscussionMove, DiscussionState, GroupMember } from "../discussion.ts";
import type { Wake } from "../store/store.ts";

/** The move from a discussion's stored state to this one. */
export function moveTo(
  discussion: Discussion,
  state: DiscussionState,
  more: Partial<DiscussionMove> = {},
): DiscussionMove {
  const { id, channelId, threadKey, revision, frame } = discussion;
  const restartsWait = state.current !== discussion.state.current || state.epoch !== discussion.state.epoch;
  const cancelsMail = state.epoch !== discussion.state.epoch || state.endReason !== null;
  return { id, channelId, threadKey, revision, frame, state, restartsWait, cancelsMail, ...more };
}

/** Mail for the member whose turn it is; none when the discussion has ended. */
export function wakeCurrent(
  move: Pick<DiscussionMove, "id" | "threadKey" | "state" | "frame">,
  now: number,
): readonly Wake[] {
  const { state, frame } = move;
  const member = frame.roster.find((one) => one.botId === state.current);
  return member ? [wakeOf(move, member, now)] : [];
}

function wakeOf(
  { id, threadKey, state, frame }: Pick<DiscussionMove, "id" | "threadKey" | "state" | "frame">,
  member: GroupMember,
  now: number,
): Wake {
  const { botId, installationId } = member;
  const author = frame.persons.at(-1);
  return {
    botId,
    installationId,
    mail: {
      kind: "person",
      body: {
        type: "discussion",
        role: author?.role ?? "guest",
        discussionId: id,
        epoch: state.epoch,
        round: state.round,
        named: state.named.includes(botId) && !state.heard.includes(botId),
        persons: frame.persons,
        roster: frame.roster.map(({ botId, name }) => ({ botId, name })),
        ...(frame.nativeReplyTo ? { nativeReplyTo: frame.nativeReplyTo } : {}),
      },
      ...(author ? { authorId: author.id, authorName: author.name } : {}),
      route: `${threadKey}|${installationId}`,
      audience: frame.audience,
      hops: 0,
      orderAt: new Date(now),
    },
  };
}

/** The card that offers to go on when a limit ended a discussion while somebody was still to speak. */
export function continueCard({ state, frame }: Pick<DiscussionMove, "state" | "frame">): HostCard | undefined {
  if (state.endReason !== "limit" || state.owed.length === 0) return undefined;
  const names = frame.roster.filter((member) => state.owed.includes(member.botId)).map((member) => member.name);
  return {
    kind: "continue",
    text: `This discussion has reached its limit. Still to speak: ${listOf(names)}.`,
    controls: [{ value: "continue", label: "Continue", style: "primary" }],
  };
}

/** "Ada, Bo and Cy". */
export function listOf(names: readonly string[]): string {
  const last = names.at(-1) ?? "";
  return names.length > 1 ? `${names.slice(0, -1).join(", ")} and ${last}` : last;
}
