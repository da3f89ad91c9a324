/**
 * Clicks, modals and typed answers (SPEC C1–C5). Every path ends in one operation that claims the card atomically and stores the answer and the
 * mail with it; whoever comes late, or is not meant, gets a reason. Shares no queue with turns, so a click is answered at once.
 */

import type { Card, CardAnswer } from "../card.ts";
import { checkAnswer, mayAnswer } from "../card.ts";
import { untrustedName } from "../context/untrusted.ts";
import { audienceOf, type ConversationRef } from "../conversation.ts";
import { repeated } from "../group/repeated.ts";
import type { AnswerEvent, DismissEvent, Reception, SecretEvent, SecretLinkEvent } from "../inbound-event.ts";
import type { MailBody } from "../mail.ts";
import type { PersonRef, Role } from "../person.ts";
import type { NewEntry, SealedSecret, TakeIn, Wake } from "../store/store.ts";
import { belongsHere, hasJoined, isAskedByCall, refOf } from "./card-place.ts";
import { countInGroup } from "./group-answers.ts";
import { type HostAnswer, replyPlace, settleHostCard } from "./host-answers.ts";
import type { MessageCase } from "./message-case.ts";
import { admit } from "./pairing.ts";
import type { RouterParts } from "./router-parts.ts";

const USED_LINK = "This link was used already or has expired. Please ask for a new one.";

type CardEvent = AnswerEvent | DismissEvent | SecretEvent | SecretLinkEvent;

/** A card with the right person in front of it. */
interface CardCase {
  readonly event: CardEvent;
  readonly card: Card;
  readonly ref: ConversationRef;
  readonly role: Role;
}

/** How an answer is stored. */
interface Settled {
  readonly state: "answered" | "dismissed";
  readonly answer?: CardAnswer;
  readonly sealed?: SealedSecret;
  readonly entry?: Pick<NewEntry, "text" | "body" | "platformId" | "nativeReplyTo">;
  /** Mail for the card's bot. */
  readonly body?: MailBody;
  readonly more?: HostAnswer["more"];
}

/** Handles a control of a card, a decline, a secret, or the request for the one-time link. */
export async function receiveAnswer(parts: RouterParts, event: CardEvent): Promise<Reception> {
  const card = await parts.store.readCard(event.cardId);
  if (!card || !belongsHere(parts, card, event)) return refused("This card does not exist any more.");
  const ref = refOf(card, event.conversation);
  const access = await admit(parts, event.from, ref.kind === "direct");
  if (!access.allowed) return refused(access.reason);
  if (!mayAnswer(card, event.from.id) && !(await hasJoined(parts, card, event.from.id)))
    return refused("This question is for somebody else; only they can answer it.");
  if (card.state !== "open") return refused(closedReason(card));
  const item: CardCase = { event, card, ref, role: access.role };
  if (event.type === "secret-link") return secretLink(parts, item);
  return repeated(async () => {
    const decided = await settle(parts, item);
    const settled = "reason" in decided ? decided : await countInGroup(parts, item, decided);
    if ("reason" in settled) return refused(settled.reason);
    return (await commit(parts, item, settled)) ?? refused(closedReason(await currentCard(parts, card)));
  });
}

/** SPEC C4: typed text that equals a choice, or is a custom answer. Undefined when the card was closed a moment ago: an ordinary message then. */
export async function typedAnswer(
  parts: RouterParts,
  item: MessageCase,
  card: Card,
  answer: CardAnswer,
): Promise<Reception | undefined> {
  const typed = typedCase(parts, item, card, { type: "answer", choices: answer.values });
  return commitTyped(parts, item, typed, widgetAnswer(card, answer, item.role, item.event.from));
}

/** SPEC C4: the typed label of a host card's control. Undefined also when the control cannot be used now. */
export async function typedControl(
  parts: RouterParts,
  item: MessageCase,
  card: Card,
  value: string,
): Promise<Reception | undefined> {
  const typed = typedCase(parts, item, card, { type: "answer", choices: [value] });
  if (typed.event.type !== "answer") return undefined;
  const settled = await settleHostCard(parts, card, typed.event, item.role);
  return "reason" in settled ? undefined : commitTyped(parts, item, typed, settled);
}

/** SPEC C4: a secret-request declined in words. */
export async function typedDecline(parts: RouterParts, item: MessageCase, card: Card): Promise<Reception | undefined> {
  const typed = typedCase(parts, item, card, { type: "dismiss" });
  const settled = settleSecret(parts, typed);
  return "reason" in settled ? undefined : commitTyped(parts, item, typed, settled);
}

/** SPEC C4: the one-time link asked for in words. The message is kept and wakes nobody; the adapter tells the link to that person alone. */
export async function typedLinkRequest(parts: RouterParts, item: MessageCase, card: Card): Promise<Reception> {
  const typed = typedCase(parts, item, card, { type: "secret-link" });
  const { card: _open, ...kept } = intake(parts, typed, {
    state: "answered",
    entry: typedEntry(item, { cardId: card.id }),
  });
  const result = await parts.store.takeIn(kept);
  return result.status === "stored" ? secretLink(parts, typed) : { status: "duplicate" };
}

type TypedUse = Pick<AnswerEvent, "type" | "choices"> | { readonly type: "dismiss" | "secret-link" };

/** The message as the use of a control, by the way of the card's own bot. */
function typedCase(
  parts: RouterParts,
  { event, ref, role, installation }: MessageCase,
  card: Card,
  use: TypedUse,
): CardCase {
  const { dedupeKey, conversation, at, from } = event;
  const installationId = parts.installations.ofBot(card.botId, installation)?.id ?? event.installationId;
  return { event: { dedupeKey, conversation, at, from, installationId, cardId: card.id, ...use }, card, ref, role };
}

function commitTyped(
  parts: RouterParts,
  item: MessageCase,
  typed: CardCase,
  settled: Settled,
): Promise<Reception | undefined> {
  const body = settled.answer ? answerBody(typed.card, settled.answer, item.event.from) : { cardId: typed.card.id };
  return repeated(async () => {
    const counted = await countInGroup(parts, typed, settled);
    return "reason" in counted ? undefined : commit(parts, typed, { ...counted, entry: typedEntry(item, body) });
  });
}

/** What was typed stands in the transcript as it is seen. */
function typedEntry({ event }: MessageCase, body: unknown): NonNullable<Settled["entry"]> {
  const { text, platformId, repliesTo } = event;
  return { text, body, platformId, ...(repliesTo ? { nativeReplyTo: repliesTo } : {}) };
}

async function settle(parts: RouterParts, item: CardCase): Promise<Settled | { readonly reason: string }> {
  const { event, card, role } = item;
  switch (card.spec.kind) {
    case "widget": {
      if (event.type === "dismiss")
        return {
          state: "dismissed",
          ...(card.spec.askedByCall
            ? {}
            : { body: hostBody(role, `${untrustedName(event.from.name)} dismissed the question.`) }),
        };
      if (event.type !== "answer") return { reason: "This question does not take that." };
      const check = checkAnswer(card.spec.widget, event.choices, event.text);
      return check.ok ? widgetAnswer(card, check.answer, role, event.from) : { reason: check.reason };
    }
    case "secret":
      return settleSecret(parts, item);
    case "host":
      if (event.type !== "answer") return { reason: "This control does not work here." };
      return settleHostCard(parts, card, event, role);
  }
}

function widgetAnswer(card: Card, answer: CardAnswer, role: Role, by: PersonRef): Settled {
  const prompt = card.spec.kind === "widget" ? card.spec.widget.prompt : "";
  return {
    state: "answered",
    answer,
    entry: { text: answer.custom ?? answer.labels.join(", "), body: answerBody(card, answer, by) },
    ...(isAskedByCall(card)
      ? {}
      : { body: { type: "answer" as const, role, cardId: card.id, prompt, answer, ...replyPlace(card) } }),
  };
}

function answerBody(card: Card, answer: CardAnswer, by: PersonRef): unknown {
  return { cardId: card.id, answer, by: by.id };
}

function settleSecret(parts: RouterParts, item: CardCase): Settled | { readonly reason: string } {
  const { event, card, role } = item;
  if (card.spec.kind !== "secret") return { reason: "This card does not take a secret." };
  const { label, connector, field } = card.spec.secret;
  const about = { type: "secret" as const, role, cardId: card.id, label, connector, field, ...replyPlace(card) };
  if (event.type === "dismiss") {
    return {
      state: "dismissed",
      entry: { text: `Declined to give "${label}".`, body: {} },
      body: { ...about, outcome: "declined" as const },
    };
  }
  if (event.type !== "secret") return { reason: "Please use the private form of this request." };
  if (event.token !== undefined && !parts.secrets.hash(event.token)) return { reason: USED_LINK };
  const result = parts.secrets.seal(card, event.value, event.from.id);
  if (!result.ok) return { reason: result.reason };
  return {
    state: "answered",
    sealed: result.sealed,
    entry: { text: `Gave "${label}" privately; it is in the vault.`, body: {} },
    body: { ...about, outcome: "stored" as const },
  };
}

/** What a person did, in the host's words. Their name is their own choice: it goes in only as untrustedName. */
function hostBody(role: Role, text: string): MailBody {
  return { type: "host", role, text };
}

/** The card after somebody was faster, or its one-time link turned out to be used up. */
async function currentCard(parts: RouterParts, card: Card): Promise<Card> {
  return (await parts.store.readCard(card.id)) ?? card;
}

/** One operation; undefined when the card could not be claimed, and then nothing was stored. */
async function commit(parts: RouterParts, item: CardCase, settled: Settled): Promise<Reception | undefined> {
  const result = await parts.store.takeIn(intake(parts, item, settled));
  if (result.status === "late") return undefined;
  if (result.status !== "stored") return { status: "duplicate" };
  parts.onSettleOwed();
  for (const { sessionId, rank } of result.woken) {
    parts.queue.ring(sessionId, rank);
    parts.queue.signal(sessionId, "steer");
  }
  return { status: "accepted" };
}

function intake(parts: RouterParts, item: CardCase, settled: Settled): TakeIn {
  const { event, card, ref } = item;
  const audience = audienceOf(ref, event.from.id);
  const token = event.type === "secret" && event.token ? parts.secrets.hash(event.token) : null;
  return {
    dedupeKey: event.dedupeKey,
    outcome: "stored",
    ref,
    conversationKey: card.conversationKey,
    person: event.from,
    ...(settled.entry ? { entry: entryOf(item, settled.entry) } : {}),
    wake: settled.body ? [wakeOf(parts, item, settled.body, audience)] : [],
    ...settled.more,
    card: {
      cardId: card.id,
      state: settled.state,
      by: event.from,
      ...(settled.answer ? { answer: settled.answer } : {}),
      ...(settled.sealed ? { secret: settled.sealed } : {}),
      ...(token ? { tokenHash: token } : {}),
    },
    mailLimit: Number.MAX_SAFE_INTEGER,
  };
}

/** The answer goes to the bot that asked by its own account, though a persona's click and a typed answer may come in by another one's. */
function wakeOf(parts: RouterParts, { card, event }: CardCase, body: MailBody, audience: string): Wake {
  const { id: authorId, name: authorName } = event.from;
  const used = parts.installations.get(event.installationId);
  const installationId = (used && parts.installations.ofBot(card.botId, used)?.id) ?? event.installationId;
  const route = `${card.conversationKey}|${installationId}`;
  const mail = { kind: "person" as const, body, authorId, authorName, route, audience, hops: 0, orderAt: event.at };
  return { botId: card.botId, installationId, mail };
}

function entryOf(item: CardCase, entry: NonNullable<Settled["entry"]>): NewEntry {
  const { from, at } = item.event;
  return { ...entry, author: { kind: "person", id: from.id, name: from.name }, kind: "answer", at, files: [] };
}

async function secretLink(parts: RouterParts, item: CardCase): Promise<Reception> {
  if (item.card.kind !== "secret") return refused("This card does not ask for a secret.");
  const link = await parts.secrets.createLink(item.card);
  if (!link)
    return refused(
      "No private web form is set up here; please use the form of this app, or ask an administrator to set web.publicUrl.",
    );
  return { status: "accepted", link };
}

function closedReason(card: Card): string {
  const by = card.answeredByName ? ` by ${card.answeredByName}` : "";
  switch (card.state) {
    case "expired":
      return "This card has expired. Please ask again.";
    case "dismissed":
      return `This card was closed${by}.`;
    case "answered":
      return `This was already answered${by}.`;
    case "open":
      return USED_LINK;
  }
}

function refused(reason: string): Reception {
  return { status: "refused", reason };
}
