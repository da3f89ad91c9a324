/**
 * What answering a host card does (SPEC C7, C9, G1, G9): most wake the bot the card is about; those of a Group begin a discussion anew or change how the
 * Group listens. Decides only; answers.ts commits.
 */

import type { Card, CardAnswer } from "../card.ts";
import type { Discussion, DiscussionMove, DiscussionPerson } from "../discussion.ts";
import { beginDiscussion } from "../group/discussion.ts";
import { wakeCurrent } from "../group/discussion-mail.ts";
import type { Group } from "../group/group-settings.ts";
import { newId } from "../ids.ts";
import type { AnswerEvent } from "../inbound-event.ts";
import type { MailBody } from "../mail.ts";
import type { Role } from "../person.ts";
import type { TakeIn } from "../store/store.ts";
import type { RouterParts } from "./router-parts.ts";

/** What the answer of a host card stores: mail for the card's bot, or something of its own. */
export interface HostAnswer {
  readonly state: "answered";
  readonly answer: CardAnswer;
  readonly body?: MailBody;
  readonly more?: Partial<Pick<TakeIn, "wake" | "discussion" | "channelSettings">>;
}

/** The answer, or why it does not fit, for the person. */
export async function settleHostCard(
  parts: RouterParts,
  card: Card,
  event: AnswerEvent,
  role: Role,
): Promise<HostAnswer | { readonly reason: string }> {
  const controls = card.spec.kind === "host" ? card.spec.host.controls : [];
  const choice = controls.find((control) => control.value === event.choices[0]);
  if (!choice) return { reason: "That choice is not one of the controls." };
  const answer: CardAnswer = { values: [choice.value], labels: [choice.label] };
  const settled = { state: "answered" as const, answer };
  switch (card.kind) {
    case "retry":
      return { ...settled, body: { type: "retry", role, cardId: card.id, ...replyPlace(card) } };
    case "continue":
      return continued(parts, card, event, role, settled);
    case "group": {
      parts.membership.touch(event.conversation);
      return { ...settled, more: { channelSettings: { activation: choice.value === "all" ? "all" : "mention" } } };
    }
    case "approval":
      return { ...settled, body: approvalBody(card, choice.value, role) };
    case "connect": {
      const data = card.spec.kind === "host" ? card.spec.data : {};
      if (data.askedByCall === true) return settled;
      const text =
        choice.value === "done"
          ? `${String(data.about ?? "The page")}: done, the person says. Go on; check that it works.`
          : `${String(data.about ?? "The page")}: not now, the person says. Go on without it.`;
      return { ...settled, body: { type: "host", role, text, ...replyPlace(card) } };
    }
    default: {
      const text = handOffText(card, choice.value) ?? `The person pressed "${choice.label}".`;
      return { ...settled, body: { type: "host", role, text, ...replyPlace(card) } };
    }
  }
}

/** SPEC C8: the call as the card holds it, or that it may not run. */
function approvalBody(card: Card, choice: string, role: Role): MailBody {
  const data = card.spec.kind === "host" ? card.spec.data : {};
  const call = data.call as { readonly name: string; readonly args: unknown } | undefined;
  if (choice === "approve" && call)
    return { type: "approved", role, cardId: card.id, call: { name: call.name, args: call.args }, ...replyPlace(card) };
  const text = `The person declined: ${String(data.about ?? call?.name ?? "the call")} It was not run. Do not try it again unless they ask for it.`;
  return { type: "host", role, text, ...replyPlace(card) };
}

/** SPEC G9: a new discussion of the same members, which starts with those who were owed a turn. */
async function continued(
  parts: RouterParts,
  card: Card,
  event: AnswerEvent,
  role: Role,
  settled: Pick<HostAnswer, "state" | "answer">,
): Promise<HostAnswer | { readonly reason: string }> {
  const id = card.spec.kind === "host" ? String(card.spec.data.discussionId ?? "") : "";
  const ended = await parts.store.readDiscussion(id);
  if (!ended) return { reason: "This discussion is no longer known." };
  const group = await parts.membership.groupNow(ended.frame.ref);
  if (!group) return { reason: "This is not a Group any more, so nothing goes on here. `!group on` makes it one." };
  const going = (await parts.store.openDiscussions(ended.channelId)).some((one) => one.threadKey === ended.threadKey);
  if (going) return { reason: "A discussion is going on here already." };
  const move = anew(ended, group, { id: event.from.id, name: event.from.name, role });
  if (move.state.members.length === 0) return { reason: "Those who were to speak are no longer in this Group." };
  return { ...settled, more: { discussion: move, wake: wakeCurrent(move, parts.clock.now()) } };
}

/** Without those that have left the Group since. */
function anew(ended: Discussion, group: Group, by: DiscussionPerson): DiscussionMove {
  const { state, frame, channelId, threadKey } = ended;
  const persons = [...frame.persons.filter((person) => person.id !== by.id), by];
  const roster = frame.roster.filter((member) => group.members.includes(member.botId));
  const next = { ...frame, persons, roster };
  return {
    ...{ id: newId("dis"), channelId, threadKey, revision: 0, frame: next, restartsWait: true, cancelsMail: false },
    state: beginDiscussion({ selected: state.members, named: [] }, roster, 1, state.owed),
  };
}

/** The native message the card's turn answered. */
export function replyPlace(card: Card): { nativeReplyTo?: string } {
  return card.spec.nativeReplyTo ? { nativeReplyTo: card.spec.nativeReplyTo } : {};
}

/** What a bot is told when the person answered its hand-off. */
function handOffText(card: Card, choice: string): string | undefined {
  if (card.kind !== "handoff" || card.spec.kind !== "host") return undefined;
  const instruction = String(card.spec.data.instruction ?? "");
  return choice === "done"
    ? `The person says it is done: ${instruction}\nGo on from there; check the outcome if you can.`
    : `The person says they cannot do it: ${instruction}\nFind another way, or tell them what follows from that.`;
}
