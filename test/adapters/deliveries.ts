/** Deliveries as the engine would hand them to an adapter, and waiting for what comes of them. Used by the adapters' tests. */

import type { Adapter, BubbleContent, Delivery, Piece, Place, Receipt } from "../../src/engine/index.ts";

/** Looks again and again until there is something. */
export async function waitUntil<T>(probe: () => T | Promise<T>, what: string, ms = 8000): Promise<NonNullable<T>> {
  for (const end = Date.now() + ms; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 5))) {
    const found = await probe();
    if (found !== null && found !== undefined && found !== false) return found;
  }
  throw new Error(`waited ${ms} ms for ${what}`);
}

/** For pieces whose progress does not matter. */
export const noProgress = () => Promise.resolve();

/** A bubble as the engine would hand it over. */
export function bubble(entryId: string, content: BubbleContent, cardId?: string): Delivery {
  return {
    kind: "bubble",
    entryId,
    botName: "Ada",
    content,
    mentionable: [],
    ...(cardId === undefined ? {} : { cardId }),
  };
}

/** The notice a failed turn leaves. */
export function retryCard(entryId: string, cardId: string): Delivery {
  return {
    kind: "host-card",
    entryId,
    botName: "Ada",
    cardId,
    card: {
      kind: "retry",
      text: "That did not work.",
      controls: [{ value: "retry", label: "Retry", style: "primary" }],
    },
  };
}

/** A page a person should open. */
export function linkCard(entryId: string, cardId: string): Delivery {
  return {
    kind: "host-card",
    entryId,
    botName: "Ada",
    cardId,
    card: {
      kind: "connect",
      text: "Please sign in.",
      link: { label: "Sign in", url: "https://example.com/sign-in" },
      controls: [{ value: "done", label: "Done", style: "default" }],
    },
  };
}

/** The pieces of a delivery as the outbox would store them. */
export function pieces(h: { readonly adapter: Adapter }, delivery: Delivery, place: Place): Piece[] {
  return h.adapter.render(delivery, place).map((content, index) => ({
    id: `${delivery.entryId}-${index}`,
    index,
    place,
    content: JSON.parse(JSON.stringify(content)) as unknown,
    progress: null,
    attempts: 0,
  }));
}

/** Delivers all pieces in order. */
export async function deliver(h: { readonly adapter: Adapter }, delivery: Delivery, place: Place): Promise<Receipt[]> {
  const receipts: Receipt[] = [];
  for (const piece of pieces(h, delivery, place)) receipts.push(await h.adapter.deliver(piece, noProgress));
  return receipts;
}
