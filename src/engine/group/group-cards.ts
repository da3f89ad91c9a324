/**
 * What the host says about a Group (SPEC C9): posted by its first member, in the conversation of the discussion. Renders only; whoever calls commits it.
 */

import type { Adapter, Place } from "../adapter.ts";
import type { HostCard } from "../card.ts";
import { renderHostCard } from "../delivery/render-delivery.ts";
import type { DiscussionMove } from "../discussion.ts";
import { newId } from "../ids.ts";
import type { NewDelivery } from "../store/store.ts";

/** A host card about a discussion; answered by whoever took part (SPEC C2). */
export function groupDelivery(adapter: Adapter, move: DiscussionMove, card: HostCard): NewDelivery {
  const { frame, threadKey } = move;
  const [first] = frame.roster;
  const back = frame.nativeReplyTo ? { nativeReplyTo: frame.nativeReplyTo } : {};
  const place: Place = { installationId: first?.installationId ?? "", ref: frame.ref, ...back };
  return renderHostCard(adapter, {
    entryId: newId("ent"),
    ...(card.controls.length > 0 ? { cardId: newId("crd") } : {}),
    conversationKey: threadKey,
    botId: first?.botId ?? "",
    botName: first?.name ?? "",
    place,
    card,
    allowed: frame.persons.map((person) => person.id),
    data: { discussionId: move.id },
  });
}
