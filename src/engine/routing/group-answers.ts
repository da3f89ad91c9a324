/**
 * What a person's answer to a member's card does in a Group (SPEC C, G3, G8): it wakes only that member, and what the member says on it belongs to a
 * discussion: to the one that goes on here, beside its round, or to a new one in which it speaks alone and may call teammates. Decides only; answers.ts
 * commits it with the answer.
 */

import type { Card } from "../card.ts";
import { audienceOf, type ConversationRef, channelRowId } from "../conversation.ts";
import type { Discussion, DiscussionMove } from "../discussion.ts";
import { afterCardAnswer, beginCardAnswer, cardKey } from "../group/asked.ts";
import { moveTo } from "../group/discussion-mail.ts";
import { newId } from "../ids.ts";
import type { MailBody } from "../mail.ts";
import type { PersonRef, Role } from "../person.ts";
import { rosterAmong } from "./group-message.ts";
import { type HostAnswer, replyPlace } from "./host-answers.ts";
import type { RouterParts } from "./router-parts.ts";

/** An answered card, where it stands, and who answered it. */
export interface AnsweredCard {
  readonly card: Card;
  readonly ref: ConversationRef;
  readonly role: Role;
  readonly event: { readonly from: PersonRef };
}

const NOTHING_LEFT =
  "The discussion here is about to reach its limit, and the messages that are left are kept for others. Please answer when it has ended.";

/** The answer with the discussion in which it counts; as it is outside Groups. `reason`: nothing could be said on it now, so the card stays open. */
export async function countInGroup<Settled extends { readonly body?: MailBody; readonly more?: HostAnswer["more"] }>(
  parts: RouterParts,
  item: AnsweredCard,
  settled: Settled,
): Promise<Settled | { readonly reason: string }> {
  const { card, ref } = item;
  const { body } = settled;
  if (!body || !mayCount(body)) return settled;
  const group = await parts.membership.groupNow(ref);
  if (!group?.members.includes(card.botId)) return settled;
  const open = await parts.store.openDiscussions(channelRowId(ref));
  const going = open.find((one) => one.threadKey === card.conversationKey);
  const move = going ? besideRound(parts, going, item) : anew(parts, item, group.members);
  if (!move) return { reason: NOTHING_LEFT };
  const ask = { discussionId: move.id, key: cardKey(card.id) };
  return { ...settled, body: { ...body, ask }, more: { ...settled.more, discussion: move } };
}

/** Bodies that the answer of a card makes. */
function mayCount(
  body: MailBody,
): body is Extract<MailBody, { type: "answer" | "secret" | "approved" | "retry" | "host" }> {
  return ["answer", "secret", "approved", "retry", "host"].includes(body.type);
}

/** Whoever answers takes part from now on, and so may stop it; the newest message stays that of who wrote it. */
function besideRound(parts: RouterParts, going: Discussion, item: AnsweredCard): DiscussionMove | undefined {
  const { card, role, event } = item;
  const { id, name } = event.from;
  const state = afterCardAnswer(going.state, cardKey(card.id), card.botId, parts.settings.groups);
  const { persons } = going.frame;
  const isKnown = persons.some((person) => person.id === id);
  const frame = isKnown ? going.frame : { ...going.frame, persons: [{ id, name, role }, ...persons] };
  return state && moveTo(going, state, { frame });
}

function anew(parts: RouterParts, item: AnsweredCard, members: readonly string[]): DiscussionMove {
  const { card, ref, role, event } = item;
  const { id, name } = event.from;
  const roster = rosterAmong(parts.installations, parts.installations.inOrder(members), ref);
  return {
    ...{ id: newId("dis"), channelId: channelRowId(ref), threadKey: card.conversationKey, revision: 0 },
    state: beginCardAnswer(cardKey(card.id), card.botId, roster),
    frame: { roster, persons: [{ id, name, role }], audience: audienceOf(ref), ref, ...replyPlace(card) },
    ...{ restartsWait: true, cancelsMail: false },
  };
}
