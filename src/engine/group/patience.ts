/**
 * Members that show nothing for too long (SPEC G8): one named line, and the round goes on. What they say later still counts, if it is in time.
 * Run by the sweep; two processes that find the same member move the discussion once.
 */

import type { Clock } from "../clock.ts";
import type { AdapterLookup } from "../delivery/render-delivery.ts";
import type { Discussion } from "../discussion.ts";
import { DiscussionMovedError } from "../errors.ts";
import type { Log } from "../log.ts";
import type { RunQueue } from "../queue/run-queue.ts";
import type { GroupsSettings } from "../settings.ts";
import type { Store } from "../store/store.ts";
import { afterLate } from "./discussion.ts";
import { continueCard, moveTo, wakeCurrent } from "./discussion-mail.ts";
import { groupDelivery } from "./group-cards.ts";

/** What looking for late members needs. */
export interface PatienceParts {
  readonly store: Store;
  readonly adapters: AdapterLookup;
  readonly queue: Pick<RunQueue, "ring">;
  readonly nudge: (nativeChannel: string) => void;
  readonly groups: GroupsSettings;
  readonly clock: Clock;
  readonly log: Log;
}

/** Goes on with every discussion whose current member has shown nothing for the configured time. */
export async function passByLateMembers(parts: PatienceParts): Promise<void> {
  for (const discussion of await parts.store.lateDiscussions(parts.groups.patienceMs)) await passBy(parts, discussion);
}

async function passBy(parts: PatienceParts, discussion: Discussion): Promise<void> {
  const adapter = parts.adapters(discussion.frame.ref.platform);
  const late = discussion.frame.roster.find((member) => member.botId === discussion.state.current);
  if (!adapter || !late) return;
  const move = moveTo(discussion, afterLate(discussion.state, parts.groups, discussion.frame.roster));
  const more = continueCard(move);
  const goesOn = move.state.current === null ? "" : " The others go on.";
  const line = { kind: "notice" as const, text: `${late.name} is taking longer than expected.${goesOn}`, controls: [] };
  const hostCards = [line, ...(more ? [more] : [])].map((card) => groupDelivery(adapter, move, card));
  try {
    const woken = await parts.store.stepDiscussion({ move, wake: wakeCurrent(move, parts.clock.now()), hostCards });
    for (const { nativeChannel } of hostCards) parts.nudge(nativeChannel);
    for (const { sessionId, rank } of woken) parts.queue.ring(sessionId, rank);
    parts.log.warn({ discussionId: discussion.id, botId: late.botId }, "a member of a Group was passed by");
  } catch (error) {
    // It has shown something, or another process was faster: then there is nothing to pass by.
    if (!(error instanceof DiscussionMovedError)) throw error;
  }
}
