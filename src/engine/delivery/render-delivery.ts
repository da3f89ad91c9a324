/**
 * Turns something to be said into rows ready to commit: renders it with the platform's adapter, shortens what would be too many pieces
 * (SPEC M2) and names the native channel whose sender will post it. Says nothing itself.
 */

import type { Adapter, Delivery, Place } from "../adapter.ts";
import type { BubbleContent } from "../bubble.ts";
import type { CardKind, CardSpec, HostCard } from "../card.ts";
import type { FileRef } from "../file-ref.ts";
import type { NewDelivery } from "../store/store.ts";

/** Finds the adapter of a platform; undefined when it is not running. */
export type AdapterLookup = (platform: string) => Adapter | undefined;

/** The lock name of a native channel: one sender at a time gives order and one rate budget (SPEC T3). */
export function nativeChannelOf(place: Place): string {
  return `${place.ref.platform}:${place.ref.workspaceId}:${place.ref.channelId}`;
}

/** A host card and where it is said; without `cardId` it is a plain notice. */
export interface HostCardInput {
  readonly entryId: string;
  readonly cardId?: string;
  readonly conversationKey: string;
  readonly botId: string;
  readonly botName: string;
  readonly place: Place;
  readonly card: HostCard;
  readonly allowed: readonly string[];
  readonly sessionId?: string;
  readonly turnId?: string;
  readonly data: Readonly<Record<string, unknown>>;
  readonly ttlMs?: number;
}

/** A host card or notice (SPEC C9), ready for postHostCard or finishTurn. */
export function renderHostCard(adapter: Adapter, input: HostCardInput): NewDelivery {
  const delivery: Delivery = {
    kind: "host-card",
    entryId: input.entryId,
    botName: input.botName,
    card: input.card,
    ...(input.cardId ? { cardId: input.cardId } : {}),
  };
  const back = input.place.nativeReplyTo ? { nativeReplyTo: input.place.nativeReplyTo } : {};
  const spec: CardSpec = { kind: "host", host: input.card, data: input.data, ...back };
  return {
    entryId: input.entryId,
    conversationKey: input.conversationKey,
    botId: input.botId,
    botName: input.botName,
    kind: "host-card",
    text: input.card.text,
    body: delivery,
    files: [],
    personCount: 0,
    place: input.place,
    nativeChannel: nativeChannelOf(input.place),
    pieces: adapter.render(delivery, input.place),
    ...(input.cardId && input.card.kind !== "notice"
      ? { card: cardRow(input, input.card.kind, spec, input.cardId) }
      : {}),
  };
}

function cardRow(input: HostCardInput, kind: CardKind, spec: CardSpec, id: string): NewDelivery["card"] {
  return {
    id,
    kind,
    spec,
    allowed: input.allowed,
    ...(input.sessionId ? { sessionId: input.sessionId } : {}),
    ...(input.turnId ? { turnId: input.turnId } : {}),
    ...(input.ttlMs ? { ttlMs: input.ttlMs } : {}),
  };
}

/** Characters of a very long text that stay in the message; the whole goes into a file (SPEC M2). */
const SUMMARY_CHARS = 1500;

/** Renders a bubble; when its text needs more pieces than the platform should show, keeps its beginning and adds the whole as a file. */
export async function renderBubble(
  adapter: Adapter,
  place: Place,
  delivery: Extract<Delivery, { kind: "bubble" }>,
  storeText: (text: string) => Promise<FileRef>,
): Promise<{ readonly delivery: Delivery; readonly pieces: readonly unknown[] }> {
  const pieces = adapter.render(delivery, place);
  const { content } = delivery;
  if (content.type !== "text" || pieces.length - (content.images.length > 0 ? 1 : 0) <= adapter.maxTextPieces) {
    return { delivery, pieces };
  }
  const document = await storeText(content.content);
  const shorter: BubbleContent = { ...content, content: beginningOf(content.content), document };
  const shortened = { ...delivery, content: shorter };
  return { delivery: shortened, pieces: adapter.render(shortened, place) };
}

/** The first ~1,500 characters, cut at a paragraph, line, word or visible character, with an open code fence closed. */
export function beginningOf(text: string): string {
  const head = text.slice(0, SUMMARY_CHARS);
  const cut = ["\n\n", "\n", " "].map((mark) => head.lastIndexOf(mark)).find((at) => at > SUMMARY_CHARS / 2);
  const kept = text.slice(0, text.length <= SUMMARY_CHARS ? undefined : (cut ?? characterStart(text, SUMMARY_CHARS)));
  const fence = openFence(kept);
  return `${kept.trimEnd()}${fence ? `\n${fence}` : ""}\n\n… The whole text is in the attached file.`;
}

/** Where the visible character at this place begins; a family of emoji, a flag or a letter with its accents is one. */
function characterStart(text: string, at: number): number {
  const segments = new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text.slice(0, at + 100));
  return segments.containing(at)?.index ?? at;
}

/** The sign that closes a code fence left open, or "". A fence ends with at least as many of its own signs and nothing else in the line. */
function openFence(text: string): string {
  let open = "";
  for (const line of text.split("\n")) {
    const [, sign = "", rest = ""] = /^\s*(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (!sign) continue;
    if (!open) open = sign.startsWith("`") && rest.includes("`") ? "" : sign;
    else if (sign.startsWith(open) && rest.trim() === "") open = "";
  }
  return open;
}
