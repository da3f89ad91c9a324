/**
 * A person's message that may be heard: typed answer to an open widget, mail for the bots it addresses, or chatter kept for context (SPEC I2, C4).
 */

import { answerFromText, mayAnswer } from "../card.ts";
import { audienceOf } from "../conversation.ts";
import type { Reception } from "../inbound-event.ts";
import type { NewMail, TakeIn } from "../store/store.ts";
import { addressedBots } from "./addressing.ts";
import { typedAnswer } from "./answers.ts";
import type { MessageCase } from "./message-case.ts";
import { nativeReplyTo } from "./message-case.ts";
import { replyModeOf } from "./place.ts";
import type { RouterParts } from "./router-parts.ts";

const IGNORED: Reception = { status: "ignored" };

/** Decides and commits; wakes sessions after the commit. */
export async function takeMessage(parts: RouterParts, item: MessageCase): Promise<Reception> {
  const typed = openWidgetAnswer(item);
  if (typed) return typedAnswer(parts, item, typed.card, typed.answer);
  const woken = addressedBots({
    event: item.event,
    direct: item.ref.kind === "direct",
    inThread: item.ref.kind === "thread" && item.event.platformId !== item.ref.threadId,
    receiver: parts.installations.handleOf(item.installation),
    bots: item.bots,
    takingPart: item.view.sessions.map((session) => session.botId),
    threads: parts.settings.threads,
  });
  const stored = woken.length > 0 || item.view.sessions.length > 0;
  const result = await parts.store.takeIn(stored ? intake(parts, item, woken) : ignoredIntake(parts, item));
  if (result.status === "ignored") return IGNORED;
  if (result.status !== "stored") return { status: "duplicate" };
  for (const { sessionId, rank } of result.woken) {
    parts.queue.ring(sessionId, rank);
    parts.queue.signal(sessionId, "steer");
  }
  if ((item.view.openCards ?? []).some((card) => dismissedBy(item).includes(card.id))) parts.onSettleOwed();
  if (result.full.length > 0) await parts.hostCards.mailboxFull(item, result.full);
  return woken.length > 0 ? { status: "accepted" } : IGNORED;
}

function intake(parts: RouterParts, item: MessageCase, woken: readonly string[]): TakeIn {
  const { event, ref } = item;
  const audience = audienceOf(ref, event.from.id);
  const moved = woken.length > 0 ? cardsMovedOnFrom(item) : [];
  const dismiss = dismissedBy(item);
  return {
    // A copy that wakes nobody must not close the door for one that does: another bot's copy may be the one in which it is named.
    dedupeKey: woken.length > 0 ? event.dedupeKey : `${event.dedupeKey}:heard`,
    outcome: "stored",
    ref,
    conversationKey: item.key,
    ...channelFacts(parts, item, audience),
    person: event.from,
    entry: {
      author: { kind: "person", id: event.from.id, name: event.from.name },
      kind: "message",
      platformId: event.platformId,
      at: event.at,
      text: event.text,
      body: { files: event.files.filter((file) => !file.stored).map((file) => file.name) },
      files: event.files.flatMap((file) => (file.stored ? [file.stored] : [])),
      ...(event.repliesTo ? { nativeReplyTo: event.repliesTo } : {}),
    },
    wake: woken.map((botId) => wakeOf(parts, item, botId, personMail(parts, item, audience))),
    skip: moved.filter((id) => !dismiss.includes(id)),
    dismiss: woken.length > 0 ? dismiss : [],
    mailLimit: parts.settings.limits.mailPerSession,
  };
}

function personMail(parts: RouterParts, item: MessageCase, audience: string): NewMail {
  const { event } = item;
  return {
    kind: "person",
    body: { type: "message", role: item.role, nativeReplyTo: nativeReplyTo(item) },
    authorId: event.from.id,
    authorName: event.from.name,
    route: item.key,
    audience,
    hops: 0,
    orderAt: event.at,
    ...(parts.settings.limits.debounceMs > 0 ? { delayMs: parts.settings.limits.debounceMs } : {}),
  };
}

/** A wake with the bot's own installation in its route. */
export function wakeOf(
  parts: RouterParts,
  item: Pick<MessageCase, "installation">,
  botId: string,
  mail: NewMail,
): TakeIn["wake"][number] {
  const own = parts.installations.ofBot(botId, item.installation);
  const installationId = own?.id ?? item.installation.id;
  return { botId, installationId, mail: { ...mail, route: `${mail.route}|${installationId}` } };
}

/** Only the dedupe mark: a later, better copy of the same message may still be accepted. */
export function ignoredIntake(parts: RouterParts, item: MessageCase): TakeIn {
  return {
    dedupeKey: item.event.dedupeKey,
    outcome: "ignored",
    ref: item.ref,
    conversationKey: item.key,
    wake: [],
    mailLimit: parts.settings.limits.mailPerSession,
  };
}

/** Facts of the channel row, written at first contact; direct messages have none. */
export function channelFacts(parts: RouterParts, item: MessageCase, audience: string): Pick<TakeIn, "channel"> {
  if (item.ref.kind === "direct") return {};
  const members = [...new Set([...(item.view.channel?.members ?? []), item.installation.botId])];
  const replyMode = item.view.channel?.replyMode ?? replyModeOf(parts, item.ref);
  return { channel: { members, replyMode, audience } };
}

function openWidgetAnswer(item: MessageCase) {
  const open = item.view.openCards.filter((card) => card.kind === "widget" && mayAnswer(card, item.event.from.id));
  for (const card of [...open].reverse()) {
    if (card.spec.kind !== "widget" || card.allowed.length === 0 || item.event.files.length > 0) continue;
    const answer = answerFromText(card.spec.widget, plainWords(item));
    if (answer) return { card, answer };
  }
  return undefined;
}

/** The typed words without mentions of our own bots: "@Ada yes" answers as "yes" does. Empty when somebody else is addressed. */
function plainWords(item: MessageCase): string {
  let { text } = item.event;
  for (const mention of [...item.event.mentions].sort((a, b) => b.start - a.start)) {
    if (!item.bots.some((bot) => bot.platformIds.includes(mention.platformId))) return "";
    text = text.slice(0, mention.start) + text.slice(mention.end);
  }
  return text;
}

function cardsMovedOnFrom(item: MessageCase): readonly string[] {
  return item.view.openCards
    .filter((card) => (card.kind === "widget" || card.kind === "secret") && !card.skipped)
    .filter((card) => card.allowed.includes(item.event.from.id))
    .map((card) => card.id);
}

function dismissedBy(item: MessageCase): readonly string[] {
  const moved = cardsMovedOnFrom(item);
  return item.view.openCards
    .filter((card) => moved.includes(card.id) && card.spec.kind === "widget" && card.spec.widget.dismissOnMoveOn)
    .map((card) => card.id);
}
