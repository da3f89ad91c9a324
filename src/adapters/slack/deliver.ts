/**
 * Posts one piece, looks for it after an unknown outcome, redraws a settled card.
 * Invariant: one call makes at most one message: nothing is repeated here unless Slack said that it refused the content. Every post carries the
 * piece's id in its metadata, which is how it is found again; the place of a piece never changes, whatever fails.
 */

import type { CardOutcome, Delivery, Piece, Place, Receipt } from "../../engine/index.ts";
import { DeliveryError } from "../../engine/index.ts";
import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import type { OutboundLimits } from "../shared/outbound-limits.ts";
import { valuesKey } from "./actions.ts";
import type { SlackBot } from "./bot.ts";
import { problemOf, toDeliveryError } from "./errors.ts";
import { toPlainText } from "./format.ts";
import { asPersona } from "./persona.ts";
import { budgetKey, threadOf } from "./place.ts";
import { type MessageContent, renderDelivery, renderSettled, type SlackContent } from "./render.ts";
import { findShare, type SaveProgress, shareFiles } from "./upload.ts";

/** What sending needs beside the bot. */
export interface SendParts {
  readonly bot: SlackBot;
  readonly limits: OutboundLimits;
}

const METADATA_TYPE = "parley_piece";
/** Text without blocks is cut by Slack here. */
const TEXT_ONLY_CHARS = 38_000;
/** Longest time a post waits for its turn before the outbox is asked to come again, ms. */
const LONGEST_WAIT_MS = 5000;
/** Differences of clocks between us, the database and Slack, ms. */
const CLOCK_MARGIN_MS = 5 * 60_000;
const FIND_PAGES = 5;

/** Posts the piece. Throws only DeliveryError. */
export async function deliverPiece(parts: SendParts, piece: Piece, saveProgress: SaveProgress): Promise<Receipt> {
  const content = piece.content as SlackContent;
  const key = budgetKey(piece.place);
  const waitMs = parts.limits.waitOf(key);
  if (waitMs > LONGEST_WAIT_MS) throw new DeliveryError("wait", "The channel has had many messages.", { waitMs });
  try {
    if (content.kind === "files") {
      const thread = threadOf(piece.place);
      const share = { channelId: piece.place.ref.channelId, ...(thread === undefined ? {} : { threadTs: thread }) };
      return await parts.limits.run(key, "final", () => shareFiles(parts.bot, piece, content, share, saveProgress));
    }
    if (content.values) {
      await parts.bot.context.kv.set(valuesKey(content.values.cardId), [...content.values.list]);
    }
    return await postOrSimplify(parts, piece, content);
  } catch (error) {
    const failure = toDeliveryError(error);
    if (failure.problem === "wait") parts.limits.hold(key, failure.waitMs);
    throw failure;
  }
}

async function postOrSimplify(parts: SendParts, piece: Piece, content: MessageContent): Promise<Receipt> {
  const { place } = piece;
  const full = { text: content.text, blocks: content.blocks };
  try {
    return await post(parts, piece, full, threadOf(place));
  } catch (error) {
    const problem = problemOf(error);
    // A direct conversation is one place with or without its thread; in a channel the thread is the place.
    if (problem.problem === "place" && place.ref.kind === "direct" && isThreadProblem(problem.code)) {
      return post(parts, piece, full, undefined);
    }
    if (problem.problem !== "content") throw error;
    parts.bot.log.warn({ code: problem.code, piece: piece.id }, "slack refused the blocks; sending it simpler");
    return post(parts, piece, simplerOf(content), threadOf(place));
  }
}

function isThreadProblem(code: string): boolean {
  return code === "thread_not_found" || code === "cannot_reply_to_message" || code === "invalid_thread_ts";
}

function post(parts: SendParts, piece: Piece, shown: object, threadTs: string | undefined): Promise<Receipt> {
  const { bot } = parts;
  return parts.limits.run(budgetKey(piece.place), "final", async () => {
    const answer = toFields(
      await asPersona(bot, (persona) =>
        bot.calls.web("chat.postMessage", {
          channel: piece.place.ref.channelId,
          ...shown,
          ...persona,
          ...(threadTs === undefined ? {} : { thread_ts: threadTs }),
          ...QUIET,
          unfurl_links: false,
          unfurl_media: false,
          metadata: { event_type: METADATA_TYPE, event_payload: { id: piece.id } },
        }),
      ),
    );
    const ts = toText(answer.ts);
    if (ts === undefined) throw new DeliveryError("unknown", "Slack accepted the message without naming it.");
    if (threadTs !== undefined) bot.presence.posted(piece.place.ref.channelId, threadTs);
    return receiptOf(piece, ts, toText(answer.channel) ?? piece.place.ref.channelId);
  });
}

/** The receipt remembers how a card was shown: settings may change before it is redrawn. */
function receiptOf({ content }: Piece, nativeId: string, channel: string): Receipt {
  const shown = content as SlackContent;
  const isWords = shown.kind === "message" && shown.isWords === true;
  return { nativeId, extra: { channel, ...(isWords ? { isWords } : {}) } };
}

/** Neither posts nor edits let Slack look for names or links by itself. */
const QUIET = { parse: "none", link_names: false } as const;

/** What is tried once after Slack refused the content: plainer blocks where there are some, else words only. */
function simplerOf(content: MessageContent): object {
  if (content.simpler) return { text: content.text, blocks: content.simpler };
  return { text: wordsOf(content), mrkdwn: false };
}

/** A message's words without any markup, controls as a list, for when Slack will not take its blocks. */
function wordsOf(content: MessageContent): string {
  const lines: string[] = [];
  for (const block of content.blocks) {
    if (block.type === "markdown")
      lines.push((toText(block.text) ?? "").replaceAll("&lt;", "<").replaceAll("\u2060", ""));
    for (const element of toList(block.elements)) lines.push(...labelsOf(element));
  }
  const words = lines.join("\n");
  return words.trim() === "" ? content.text : toPlainText(words, TEXT_ONLY_CHARS);
}

function labelsOf(element: Fields): readonly string[] {
  const own = toText(toFields(element.text).text) ?? toText(element.text);
  const url = toText(element.url);
  const options = toList(element.options).flatMap(labelsOf);
  return own === undefined ? options : [`• ${own}${url === undefined ? "" : ` ${url}`}`, ...options];
}

/** Whether an attempt with unknown outcome landed: its receipt, or null. Throws DeliveryError when Slack cannot be asked. */
export async function findPiece(parts: SendParts, piece: Piece): Promise<Receipt | null> {
  try {
    const content = piece.content as SlackContent;
    if (content.kind === "files") return await findShare(parts.bot, piece, piece.place.ref.channelId);
    return await findMessage(parts.bot, piece);
  } catch (error) {
    const failure = toDeliveryError(error);
    // A thread that is gone holds nothing.
    if (failure.problem === "place" && isThreadProblem(problemOf(error).code)) return null;
    throw failure;
  }
}

async function findMessage(bot: SlackBot, piece: Piece): Promise<Receipt | null> {
  const thread = threadOf(piece.place);
  const channel = piece.place.ref.channelId;
  const since = (piece.attemptedAt?.getTime() ?? bot.context.clock.now() - 60 * 60_000) - CLOCK_MARGIN_MS;
  const oldest = (Math.max(0, since) / 1000).toFixed(6);
  const method = thread === undefined ? "conversations.history" : "conversations.replies";
  let cursor: string | undefined;
  for (let page = 0; page < FIND_PAGES; page += 1) {
    const answer = toFields(
      await bot.calls.web(method, {
        channel,
        ...(thread === undefined ? {} : { ts: thread }),
        oldest,
        limit: 200,
        include_all_metadata: true,
        ...(cursor === undefined ? {} : { cursor }),
      }),
    );
    const found = toList(answer.messages).find((message) => isPiece(message, piece.id));
    const ts = toText(found?.ts);
    if (ts !== undefined) return receiptOf(piece, ts, channel);
    cursor = toText(toFields(answer.response_metadata).next_cursor);
    if (cursor === undefined) return null;
  }
  return null;
}

function isPiece(message: Fields, id: string): boolean {
  const metadata = toFields(message.metadata);
  return metadata.event_type === METADATA_TYPE && toFields(metadata.event_payload).id === id;
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
  const pieces = renderDelivery(delivery, !receipts.some((receipt) => toFields(receipt.extra).isWords === true));
  const index = pieces.findIndex((piece) => piece.kind === "message" && piece.isCard === true);
  const card = pieces[index];
  const receipt = receipts[index];
  if (card?.kind !== "message" || !receipt) return;
  const { text, blocks } = renderSettled(card, delivery, outcome);
  const channel = toText(toFields(receipt.extra).channel) ?? place.ref.channelId;
  const update = () => parts.bot.calls.web("chat.update", { channel, ts: receipt.nativeId, text, blocks, ...QUIET });
  try {
    await withWaits(parts, place, update);
  } catch (error) {
    const problem = problemOf(error);
    if (problem.code === "message_not_found" || problem.code === "cant_update_message") return;
    throw toDeliveryError(error);
  }
}

const UPDATE_TRIES = 4;

/** An edit may be repeated: it gives the same message. Waits as Slack asks, so that the newest state is shown in the end. */
async function withWaits(parts: SendParts, place: Place, call: () => Promise<unknown>): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await parts.limits.run(budgetKey(place), "card", call);
      return;
    } catch (error) {
      const problem = problemOf(error);
      const repeatable = problem.problem === "wait" || problem.problem === "unknown";
      if (!repeatable || attempt >= UPDATE_TRIES || problem.waitMs > 30_000) throw error;
      await parts.bot.context.clock.delay(Math.max(problem.waitMs, 300 * attempt));
    }
  }
}
