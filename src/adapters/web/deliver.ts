/**
 * Posting into the timeline, finding what was posted, and redrawing cards.
 * Invariant: a piece appears once, by its id, however often it is delivered; `find` is exact. A card's end is written beside the log and into it,
 * so that both open pages and later visitors see it closed.
 */

import {
  type CardOutcome,
  DeliveryError,
  type HistoryMessage,
  type PersonRef,
  type Piece,
  type Place as PostPlace,
  personId,
  type Receipt,
} from "../../engine/index.ts";
import { filesOf, textOf } from "./format.ts";
import type { Hub, RunningBot } from "./hub.ts";
import { PLATFORM, WORKSPACE_ID } from "./people.ts";
import type { WebPiece } from "./render.ts";
import type { StoredPost } from "./timeline.ts";

/** Posts a piece, or finds it posted already. Throws only DeliveryError. */
export async function deliver(hub: Hub, piece: Piece): Promise<Receipt> {
  const bot = botOf(hub, piece.place);
  const channelId = await writableChannel(hub, piece.place);
  const content = toWebPiece(piece.content);
  try {
    for (const file of filesOf(content.content)) await hub.rememberFile(file);
    const { seq } = await hub.timeline.append(channelId, toPost(hub, bot, piece, content));
    return { nativeId: String(seq) };
  } catch (cause) {
    throw new DeliveryError("unknown", "The playground's timeline did not confirm the message.", { cause });
  }
}

/** Whether a piece was posted. */
export async function find(hub: Hub, piece: Piece): Promise<Receipt | null> {
  const seq = await hub.timeline.find(piece.place.ref.channelId, onceOf(piece));
  return seq === null ? null : { nativeId: String(seq) };
}

/** Shows how a card ended. */
export async function settle(
  hub: Hub,
  place: PostPlace,
  receipts: readonly Receipt[],
  outcome: CardOutcome,
): Promise<void> {
  for (const receipt of receipts) {
    const target = Number(receipt.nativeId);
    if (!Number.isSafeInteger(target)) continue;
    const once = `settle/${target}/${outcome.state}`;
    await hub.timeline.amend(place.ref.channelId, { type: "settle", once, target, outcome });
  }
}

/** Adds a bot's reaction to a post; an equal one counts as done. */
export async function react(hub: Hub, place: PostPlace, nativeId: string, emoji: string): Promise<void> {
  const bot = botOf(hub, place);
  const target = Number(nativeId);
  if (!(await hub.timeline.post(place.ref.channelId, target))) {
    throw new DeliveryError("place", "That message is not in this conversation.");
  }
  await hub.timeline.amend(place.ref.channelId, {
    type: "reaction",
    once: `react/${target}/${bot.account.botId}/${emoji}`,
    target,
    reaction: { emoji, byId: bot.account.botId, byName: bot.account.name },
  });
}

/** The newest posts of a channel, oldest first. */
export async function history(hub: Hub, channelId: string, limit: number): Promise<readonly HistoryMessage[]> {
  const head = await hub.timeline.head(channelId);
  const found: HistoryMessage[] = [];
  let end = head;
  while (end > 0 && found.length < limit) {
    const start = Math.max(0, end - 200);
    const items = await hub.timeline.after(channelId, start, end - start);
    const posts = items.flatMap((item) => (item.record.type === "post" ? [toHistory(item.seq, item.record)] : []));
    found.unshift(...posts);
    end = start;
  }
  return found.slice(-limit);
}

function toHistory(seq: number, post: StoredPost): HistoryMessage {
  const kind: PersonRef["kind"] = post.author.kind === "bot" ? "bot" : "member";
  const { id, name } = post.author;
  return {
    platformId: String(seq),
    at: new Date(post.at),
    from: { id: personId(PLATFORM, WORKSPACE_ID, id), platformId: id, name, kind },
    text: textOf(post.content),
    isRoot: false,
  };
}

function botOf(hub: Hub, place: PostPlace): RunningBot {
  const bot = hub.botOfInstallation(place.installationId);
  if (!bot) throw new DeliveryError("bot", "This bot does not run in the playground now.");
  return bot;
}

async function writableChannel(hub: Hub, place: PostPlace): Promise<string> {
  const { channelId } = place.ref;
  const known = await hub.channels.place(channelId).catch((cause: unknown) => {
    throw new DeliveryError("wait", "The playground's store does not answer.", { waitMs: 1000, cause });
  });
  if (!known) throw new DeliveryError("place", "This conversation does not exist in the playground.");
  return channelId;
}

function toWebPiece(content: unknown): WebPiece {
  if (typeof content === "object" && content !== null && "content" in content) return content as WebPiece;
  throw new DeliveryError("content", "This piece was not made by the playground's render.");
}

function onceOf(piece: Piece): string {
  return `piece/${piece.id}`;
}

function toPost(hub: Hub, bot: RunningBot, piece: Piece, content: WebPiece): StoredPost {
  return {
    type: "post",
    once: onceOf(piece),
    at: new Date(hub.clock.now()).toISOString(),
    author: { kind: "bot", id: bot.account.botId, name: content.botName },
    content: content.content,
    ...(content.cardId ? { cardId: content.cardId } : {}),
    ...(content.replyTo ? { replyTo: content.replyTo } : {}),
  };
}
