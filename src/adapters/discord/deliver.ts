/**
 * Posts one piece, looks for it after an unknown outcome, redraws a settled card.
 * Invariant: one call makes at most one message: every post carries the piece's own nonce, which Discord enforces for some minutes, and nothing is
 * repeated here unless Discord said that it refused the content or the reply's target. The place of a piece never changes, whatever fails; every
 * create and every edit says who may be pinged.
 */

import type { CardOutcome, Delivery, Piece, Place, Receipt } from "../../engine/index.ts";
import { DeliveryError } from "../../engine/index.ts";
import { toFields, toText } from "../shared/fields.ts";
import type { OutboundLimits } from "../shared/outbound-limits.ts";
import { valuesKey } from "./actions.ts";
import type { Blocked } from "./blocked.ts";
import type { DiscordBot } from "./bot.ts";
import type { UploadFile } from "./clients.ts";
import { COMPONENTS_FLAG, controlRows, NO_PREVIEWS_FLAG } from "./components.ts";
import { isFaultAt, problemOf, toDeliveryError } from "./errors.ts";
import { findPosted, nonceOf } from "./find.ts";
import { splitForDiscord } from "./format.ts";
import { type CardContent, type DiscordContent, renderDelivery, renderSettled, settledWords } from "./render.ts";
import { openThread, targetOf } from "./threads.ts";
import type { Typing } from "./typing.ts";
import { galleryBody, openFiles } from "./upload.ts";

/** What sending needs beside the bot. */
export interface SendParts {
  readonly bot: DiscordBot;
  readonly limits: OutboundLimits;
  readonly blocked: Blocked;
  readonly typing: Typing;
}

/** Stores the adapter's note on a piece. */
export type SaveProgress = (progress: unknown) => Promise<void>;

/** Longest time a post waits for its turn before the outbox is asked to come again, ms. */
const LONGEST_WAIT_MS = 5000;
/** Refusals of a place that will be the same next time. */
const LASTING = new Set(["10003", "50001", "50007", "50013", "50278", "160005"]);
const NOBODY = { parse: [], replied_user: false };

/** The budget all bots of a channel share. */
export function budgetKey(place: Place): string {
  return targetOf(place);
}

/** Posts the piece. Throws only DeliveryError. */
export async function deliverPiece(parts: SendParts, piece: Piece, saveProgress: SaveProgress): Promise<Receipt> {
  const { bot, limits, blocked, typing } = parts;
  const target = targetOf(piece.place);
  const refused = blocked.reason(bot.botId, target);
  if (refused !== undefined) throw new DeliveryError("place", refused);
  const waitMs = limits.waitOf(target);
  if (waitMs > LONGEST_WAIT_MS) throw new DeliveryError("wait", "The channel has had many messages.", { waitMs });
  typing.quiet(bot.botId, target);
  try {
    await openThread(bot, piece.place);
    const content = piece.content as DiscordContent;
    if (content.kind === "card" && content.values) {
      await bot.context.kv.set(valuesKey(content.values.cardId), [...content.values.list]);
    }
    return shownAs(piece, await limits.run(target, "final", () => postOrSimplify(parts, piece, content, saveProgress)));
  } catch (error) {
    const problem = problemOf(error);
    if (problem.problem === "wait") limits.hold(target, problem.waitMs);
    if (LASTING.has(problem.code)) blocked.add(bot.botId, target, piece.place.ref.workspaceId, problem.text);
    throw toDeliveryError(error);
  }
}

/** A card Discord will not take is said in plain words with the same controls. */
async function postOrSimplify(
  parts: SendParts,
  piece: Piece,
  content: DiscordContent,
  saveProgress: SaveProgress,
): Promise<Receipt> {
  if (content.kind !== "card") return post(parts, piece, await bodyOf(parts.bot, piece.place, content));
  const isPlain = toFields(piece.progress).plain === true;
  if (isPlain) return postPlain(parts, piece, content);
  try {
    return await post(parts, piece, { body: { flags: COMPONENTS_FLAG, components: content.components } });
  } catch (error) {
    const problem = problemOf(error);
    if (problem.problem === "content" && problem.code === "50035") {
      parts.bot.log.warn({ code: problem.code, piece: piece.id }, "discord refused a card; sending it in plain form");
      return postPlain(parts, piece, content);
    }
    // Discord fails on some texts of components: the next attempt, which looks for this one first, is made without them.
    if (problem.status >= 500) await saveProgress({ plain: true });
    throw error;
  }
}

async function postPlain(parts: SendParts, piece: Piece, content: CardContent): Promise<Receipt> {
  const receipt = await post(parts, piece, {
    body: { content: shortWords(content.words), flags: NO_PREVIEWS_FLAG, components: controlRows(content.components) },
  });
  return { ...receipt, extra: { ...toFields(receipt.extra), plain: true } };
}

function shortWords(words: string): string {
  return splitForDiscord(words)[0] ?? "\u200b";
}

interface Post {
  readonly body: Readonly<Record<string, unknown>>;
  readonly users?: readonly string[];
  readonly files?: readonly UploadFile[];
}

async function bodyOf(bot: DiscordBot, place: Place, content: Exclude<DiscordContent, CardContent>): Promise<Post> {
  switch (content.kind) {
    case "text":
      return { body: { content: content.content, flags: NO_PREVIEWS_FLAG }, users: content.users };
    case "gallery": {
      const files = await openFiles(bot, place, content.files);
      return { body: galleryBody(content.files, files), files };
    }
    case "file": {
      const files = await openFiles(bot, place, [content.file]);
      const attachments = files.map((file, index) => ({ id: String(index), filename: file.name }));
      const caption = content.caption === "" ? {} : { content: content.caption, flags: NO_PREVIEWS_FLAG };
      return { body: { ...caption, attachments }, files };
    }
  }
}

async function post(parts: SendParts, piece: Piece, { body, users = [], files = [] }: Post): Promise<Receipt> {
  const target = targetOf(piece.place);
  const whole = {
    ...body,
    nonce: nonceOf(piece),
    enforce_nonce: true,
    allowed_mentions: { ...NOBODY, ...(users.length === 0 ? {} : { users }) },
  };
  const send = (extra: object) =>
    parts.bot.calls.call("post", `/channels/${target}/messages`, { body: { ...whole, ...extra }, files });
  const reference = referenceOf(piece);
  try {
    return receiptOf(await send(reference), target);
  } catch (error) {
    const { code } = problemOf(error);
    const isOwnGone = code === "10008" && (piece.attempts > 0 || !("message_reference" in reference));
    // The same nonce was posted before and somebody deleted it since: it was said.
    if (isOwnGone) return { nativeId: `deleted:${nonceOf(piece)}`, extra: { channel: target } };
    const isReference = code === "10008" || code === "160002" || isFaultAt(error, "message_reference");
    if (!isReference || !("message_reference" in reference)) throw error;
    return receiptOf(await send({}), target);
  }
}

/** Only the first message of a bubble shows what it answers. In a direct conversation that is plain without it. */
function referenceOf(piece: Piece): object {
  const { place } = piece;
  const id = place.nativeReference ?? (place.ref.kind === "direct" ? undefined : place.nativeReplyTo);
  // A thread's first message stands in the channel above, where a reply in the thread cannot point.
  if (piece.index > 0 || id === undefined || !/^\d{15,21}$/.test(id) || id === place.ref.threadId) return {};
  return { message_reference: { type: 0, message_id: id, fail_if_not_exists: false } };
}

function receiptOf(answer: unknown, channel: string): Receipt {
  const id = toText(toFields(answer).id);
  if (id === undefined) throw new DeliveryError("unknown", "Discord accepted the message without naming it.");
  return { nativeId: id, extra: { channel } };
}

/** The receipt remembers how a card was shown: settings may change before it is redrawn. */
function shownAs({ content }: Piece, receipt: Receipt): Receipt {
  const shown = content as DiscordContent;
  if (shown.kind !== "text" || shown.kept === undefined) return receipt;
  return { ...receipt, extra: { ...toFields(receipt.extra), words: true } };
}

/** Whether an attempt with unknown outcome landed: its receipt, or null. Throws DeliveryError when Discord cannot be asked. */
export async function findPiece({ bot }: SendParts, piece: Piece): Promise<Receipt | null> {
  try {
    const found = await findPosted(bot, piece, targetOf(piece.place));
    if (found === undefined) return null;
    const extra = { channel: targetOf(piece.place), ...(found.plain ? { plain: true } : {}) };
    return shownAs(piece, { nativeId: found.id, extra });
  } catch (error) {
    const failure = toDeliveryError(error);
    // A place that is gone holds nothing.
    if (failure.problem === "place") return null;
    throw failure;
  }
}

/** Redraws a card's message without its controls. Harmless when repeated; a message that is gone needs no redraw. */
export async function settleCard(
  parts: SendParts,
  delivery: Delivery,
  place: Place,
  receipts: readonly Receipt[],
  outcome: CardOutcome,
): Promise<void> {
  if (outcome.state === "open") return;
  const pieces = renderDelivery(delivery, !receipts.some((receipt) => toFields(receipt.extra).words === true));
  const index = pieces.findIndex(
    (piece) => piece.kind === "card" || (piece.kind === "text" && piece.kept !== undefined),
  );
  const content = pieces[index];
  const receipt = receipts[index];
  if (!content || !receipt || !/^\d+$/.test(receipt.nativeId)) return;
  const extra = toFields(receipt.extra);
  const target = toText(extra.channel) ?? targetOf(place);
  const shown = settledBody(content, delivery, outcome, extra.plain === true);
  const path = `/channels/${target}/messages/${receipt.nativeId}`;
  const update = () => parts.bot.calls.call("patch", path, { body: { ...shown, allowed_mentions: NOBODY } });
  try {
    await withWaits(parts, target, update);
  } catch (error) {
    const { code } = problemOf(error);
    if (code === "10008" || code === "10003") return;
    throw toDeliveryError(error);
  }
  if (content.kind === "card" && content.values) await parts.bot.context.kv.delete(valuesKey(content.values.cardId));
}

/** What the message says from now on. */
function settledBody(
  content: DiscordContent,
  delivery: Delivery,
  outcome: CardOutcome,
  isPlain: boolean,
): Readonly<Record<string, unknown>> {
  if (content.kind !== "card") {
    const kept = content.kind === "text" ? (content.kept ?? "") : "";
    return { content: settledWords(kept, delivery, outcome), flags: NO_PREVIEWS_FLAG };
  }
  const settled = renderSettled(content, delivery, outcome);
  return isPlain
    ? { content: shortWords(settled.words), components: [] }
    : { flags: COMPONENTS_FLAG, components: settled.components };
}

const UPDATE_TRIES = 4;
const LONGEST_UPDATE_WAIT_MS = 10_000;

/** An edit may be repeated: it gives the same message. */
async function withWaits(parts: SendParts, target: string, call: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await parts.limits.run(target, "card", call);
      return;
    } catch (error) {
      const problem = problemOf(error);
      const repeatable = problem.problem === "wait" || problem.problem === "unknown";
      if (!repeatable || attempt >= UPDATE_TRIES || problem.waitMs > LONGEST_UPDATE_WAIT_MS) throw error;
      await parts.bot.context.clock.delay(Math.max(problem.waitMs, 300 * attempt));
    }
  }
}
