/**
 * A person's message that may be heard: typed answer to an open widget, mail for the bots it addresses, or chatter kept for context (SPEC I2, C4).
 */

import { createHash } from "node:crypto";
import type { Card } from "../card.ts";
import { audienceOf } from "../conversation.ts";
import { DiscussionMovedError } from "../errors.ts";
import type { FileRef } from "../file-ref.ts";
import { repeated } from "../group/repeated.ts";
import type { InboundFile, Reception } from "../inbound-event.ts";
import type { NewMail, PendingFile, TakeIn, TakeInResult } from "../store/store.ts";
import { addressedBots, addressingOf } from "./addressing.ts";
import { decideInGroup, groupHere } from "./group-message.ts";
import type { MessageCase } from "./message-case.ts";
import { nativeReplyTo } from "./message-case.ts";
import { readPlace, replyModeOf } from "./place.ts";
import type { RouterParts } from "./router-parts.ts";
import { takeTypedAnswer } from "./typed-answers.ts";

const IGNORED: Reception = { status: "ignored" };

/** Decides and commits; wakes sessions after the commit. In a Group it is decided again when the discussion was moved meanwhile. */
export async function takeMessage(parts: RouterParts, item: MessageCase): Promise<Reception> {
  let current = item;
  return repeated(async () => {
    try {
      return await decideAndTake(parts, current);
    } catch (error) {
      if (error instanceof DiscussionMovedError) current = { ...item, ...(await readPlace(parts, item.event)) };
      throw error;
    }
  });
}

async function decideAndTake(parts: RouterParts, item: MessageCase): Promise<Reception> {
  const here = groupHere(parts, item);
  const inGroup = here && decideInGroup(parts, item, here.group);
  const woken = inGroup?.selected ?? wokenBots(parts, item);
  const answered = await takeTypedAnswer(parts, item, woken);
  if (answered) return answered;
  // In a Group only the first speaker hears now which of its questions was passed over.
  const told = inGroup ? inGroup.wake.map((one) => one.botId) : woken;
  const more = inGroup ? { wake: inGroup.wake, ...(inGroup.move ? { discussion: inGroup.move } : {}) } : {};
  const asks = here?.asked ? { channelSettings: { group: true, asked: here.asked } } : {};
  const stored = woken.length > 0 || item.view.sessions.length > 0;
  const taken = { ...intake(parts, item, woken, told), ...more, ...asks };
  const result = await parts.store.takeIn(stored ? taken : ignoredIntake(parts, item));
  if (here?.asked) parts.membership.touch(item.ref);
  else if (here) parts.membership.heard(item.ref, item.view.channel);
  if (inGroup && woken.length === 0 && inGroup.beyond.length > 0) await parts.hostCards.noPart(item, inGroup.beyond);
  if (result.status === "ignored") return IGNORED;
  if (result.status !== "stored") return { status: "duplicate" };
  await afterTaken(parts, item, told, result);
  return woken.length > 0 ? { status: "accepted" } : IGNORED;
}

async function afterTaken(
  parts: RouterParts,
  item: MessageCase,
  told: readonly string[],
  result: Extract<TakeInResult, { status: "stored" }>,
): Promise<void> {
  if (item.event.files.some((file) => !file.stored)) parts.onFilesDue();
  for (const { sessionId, rank } of result.woken) {
    parts.queue.ring(sessionId, rank);
    parts.queue.signal(sessionId, "steer");
  }
  if (movedOnFrom(item, told).some(closesWhenPassed)) parts.onSettleOwed();
  if (result.full.length > 0) await parts.hostCards.mailboxFull(item, result.full);
}

function wokenBots(parts: RouterParts, item: MessageCase): readonly string[] {
  const { onlyBot } = item;
  const woken = addressedBots(addressingOf(parts, item));
  return onlyBot ? woken.filter((botId) => botId === onlyBot) : woken;
}

/**
 * A copy that wakes nobody must not close the door for one that does: another bot's copy may be the one in which it is named. Nor must a copy that
 * could not know a bot close it for that bot's own.
 */
function dedupeKeyOf({ event, onlyBot }: MessageCase, woken: readonly string[]): string {
  if (onlyBot) return `${event.dedupeKey}:${onlyBot}`;
  return woken.length > 0 ? event.dedupeKey : `${event.dedupeKey}:heard`;
}

/** The message as it is stored, with mail for the bots it wakes. */
export function intake(
  parts: RouterParts,
  item: MessageCase,
  woken: readonly string[],
  told: readonly string[],
): TakeIn {
  const { event, ref } = item;
  const audience = audienceOf(ref, event.from.id);
  const moved = movedOnFrom(item, told);
  const uploads = event.files.map((file) => uploadOf(item, file, audience));
  return {
    dedupeKey: dedupeKeyOf(item, woken),
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
      body: {},
      files: uploads.map((upload) => upload.ref),
      ...(event.repliesTo ? { nativeReplyTo: event.repliesTo } : {}),
    },
    files: uploads.flatMap((upload) => upload.pending ?? []),
    wake: woken.map((botId) => wakeOf(parts, item, botId, personMail(parts, item, audience, botId))),
    skip: moved.filter((card) => !closesWhenPassed(card)).map((card) => card.id),
    dismiss: moved.filter(closesWhenPassed).map((card) => card.id),
    mailLimit: parts.settings.limits.mailPerSession,
  };
}

/**
 * A file of the message: bytes our own web server has already, or a row whose bytes are fetched after the acknowledgement (SPEC W8). Its id is the same
 * in every copy of the message.
 */
function uploadOf(
  item: MessageCase,
  file: InboundFile,
  audience: string,
): { readonly ref: FileRef; readonly pending?: PendingFile } {
  if (file.stored) return { ref: file.stored };
  const id = `fil_${createHash("sha256").update(`${item.event.dedupeKey}\n${file.platformFileId}`).digest("hex").slice(0, 32)}`;
  const facts = { name: file.name, ...(file.mediaType ? { mediaType: file.mediaType } : {}), size: file.size ?? 0 };
  const source = { platform: item.ref.platform, installationId: item.installation.id, file };
  return {
    ref: { sha256: "", ext: "", mediaType: "application/octet-stream", ...facts, state: "pending", fileId: id },
    pending: { id, ...facts, source, audience },
  };
}

function personMail(parts: RouterParts, item: MessageCase, audience: string, botId: string): NewMail {
  const { event } = item;
  const prompts = movedOnFrom(item, [botId]).flatMap(promptOf);
  const movedOn = prompts.length > 0 ? { movedOnFrom: prompts } : {};
  return {
    kind: "person",
    body: { type: "message", role: item.role, nativeReplyTo: nativeReplyTo(item), ...movedOn },
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

function promptOf(card: Card): string[] {
  if (card.spec.kind === "widget") return [card.spec.widget.prompt];
  return card.spec.kind === "secret" ? [card.spec.secret.label] : [];
}

/** Open questions to this person that a message to these bots passes over (SPEC C4); a question is passed over once, and only when its bot hears of it. */
function movedOnFrom(item: MessageCase, woken: readonly string[]): readonly Card[] {
  return item.view.openCards
    .filter((card) => (card.kind === "widget" || card.kind === "secret") && !card.skipped)
    .filter((card) => woken.includes(card.botId) && card.allowed.includes(item.event.from.id));
}

function closesWhenPassed(card: Card): boolean {
  return card.spec.kind === "widget" && card.spec.widget.dismissOnMoveOn;
}
