/**
 * From a checked bubble to rows ready to commit (SPEC M5–M8, C2, C5): target and reply address resolved, files stored, secrets masked, rendered.
 * Everything that can be wrong is said here, before anything is committed. The commit itself belongs to the caller.
 */

import type { Adapter, Delivery, Place } from "../adapter.ts";
import type { Bot } from "../bot.ts";
import type { Bubble, BubbleContent } from "../bubble.ts";
import type { CardSpec } from "../card.ts";
import { newId } from "../ids.ts";
import type { PersonRef } from "../person.ts";
import type { Authority } from "../session.ts";
import type { EngineSettings } from "../settings.ts";
import type { NewDelivery, Store } from "../store/store.ts";
import { isAddress } from "../transcript.ts";
import { nativeChannelOf, renderBubble } from "./render-delivery.ts";
import { type FileResolver, resolveContent } from "./resolve-files.ts";
import { resolveTarget } from "./resolve-target.ts";

/** What preparing a bubble needs. */
export interface DeliverParts {
  readonly store: Store;
  readonly files: FileResolver;
  readonly settings: EngineSettings;
  /** Masks secrets in every string (SPEC C6). */
  readonly maskDeep: <T>(value: T) => T;
}

/** Who speaks, where, and for whom. */
export interface Speaker {
  readonly bot: Bot;
  readonly adapter: Adapter;
  readonly place: Place;
  readonly conversationKey: string;
  readonly sessionId: string;
  readonly turnId: string;
  readonly authority: Authority;
  readonly personCount: number;
  /** Default address bubbles reply to. */
  readonly replyTo?: string;
}

/** Rows ready for commitSend, or a text for the model; `cardId` is set when the bubble waits for a person. */
export type Prepared =
  | { readonly ok: true; readonly delivery: NewDelivery; readonly cardId?: string }
  | { readonly ok: false; readonly text: string };

/** Prepares a bubble for commitSend, or says what is wrong with it. */
export async function prepareBubble(
  parts: DeliverParts,
  speaker: Speaker,
  wanted: Bubble,
  signal: AbortSignal,
): Promise<Prepared> {
  const bubble = parts.maskDeep(wanted);
  const target = await resolveTarget(parts.store, speaker, bubble);
  if (!target.ok) return { ok: false, text: `Nothing was sent. ${target.text}` };
  const reply = await resolveReply(parts, speaker, target, bubble.replyTo);
  if (!reply.ok) return { ok: false, text: `Nothing was sent. ${reply.text}` };
  const found = await contentOf(parts, speaker, wanted, bubble, signal);
  if (!found.ok) return { ok: false, text: `Nothing was sent. ${found.text}` };
  return { ok: true, ...(await build(parts, speaker, target, reply, found.content)) };
}

interface Target {
  readonly conversationKey: string;
  readonly place: Place;
  readonly elsewhere: boolean;
}

interface Reply {
  readonly address?: string;
  readonly nativeId?: string;
}

async function resolveReply(
  parts: DeliverParts,
  speaker: Speaker,
  target: Target,
  wanted: string | undefined,
): Promise<({ readonly ok: true } & Reply) | { readonly ok: false; readonly text: string }> {
  const address = wanted ?? (target.elsewhere ? undefined : speaker.replyTo);
  if (!address) return { ok: true };
  const entry = isAddress(address) ? await parts.store.readEntry(target.conversationKey, address) : null;
  if (!entry && wanted) {
    return {
      ok: false,
      text: `reply_to ${JSON.stringify(wanted)} is not a message of this conversation. Use an address you have seen in brackets, for example t3u, or leave reply_to out.`,
    };
  }
  if (!entry) return { ok: true };
  const ids = entry.platformId ? [entry.platformId] : await parts.store.nativeIdsOf(target.conversationKey, address);
  return { ok: true, address, ...(ids[0] ? { nativeId: ids[0] } : {}) };
}

/** `wanted` keeps the addresses as the model wrote them: a masked address would not be fetchable, and it is never shown. */
async function contentOf(
  parts: DeliverParts,
  speaker: Speaker,
  wanted: Bubble,
  bubble: Bubble,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly content: BubbleContent } | { readonly ok: false; readonly text: string }> {
  switch (bubble.type) {
    case "text":
      return resolveContent(parts.files, { ...bubble, images: withUrlsOf(wanted, bubble.images) }, signal);
    case "attachment":
      return resolveContent(
        parts.files,
        wanted.type === "attachment" ? { ...bubble, file: { ...bubble.file, url: wanted.file.url } } : bubble,
        signal,
      );
    case "widget":
      return { ok: true, content: { type: "widget", widget: bubble.widget } };
    case "cursor-agent":
      return {
        ok: true,
        content: {
          type: "cursor-agent",
          bcId: bubble.bcId,
          url: `https://cursor.com/agents?id=${encodeURIComponent(bubble.bcId)}`,
        },
      };
    case "secret-request":
      return secretContent(parts, speaker, bubble);
  }
}

function withUrlsOf(wanted: Bubble, images: Extract<Bubble, { type: "text" }>["images"]) {
  if (wanted.type !== "text") return images;
  return images.map((image, i) => ({ ...image, url: wanted.images[i]?.url ?? image.url }));
}

function secretContent(
  parts: DeliverParts,
  speaker: Speaker,
  bubble: Extract<Bubble, { type: "secret-request" }>,
): { readonly ok: true; readonly content: BubbleContent } | { readonly ok: false; readonly text: string } {
  const { secretConnectors } = parts.settings.access;
  if (secretConnectors !== "any" && !secretConnectors.includes(bubble.secret.connector)) {
    const list = secretConnectors.length > 0 ? `only for: ${secretConnectors.join(", ")}` : "for no connector";
    return {
      ok: false,
      text: `secret.connector ${JSON.stringify(bubble.secret.connector)} is not allowed here; secrets may be asked ${list}.`,
    };
  }
  if (speaker.authority.personIds.length === 0) {
    return {
      ok: false,
      text: "A secret can be asked only from the person you are serving, and this turn serves nobody.",
    };
  }
  const localForm = parts.settings.localLinks && speaker.adapter.showsOwnPages === true;
  const webForm = Boolean(parts.settings.publicUrl) || localForm;
  return { ok: true, content: { type: "secret-request", secret: bubble.secret, webForm } };
}

async function build(
  parts: DeliverParts,
  speaker: Speaker,
  target: Target,
  reply: Reply,
  content: BubbleContent,
): Promise<{ readonly delivery: NewDelivery; readonly cardId?: string }> {
  const entryId = newId("ent");
  const cardId = content.type === "widget" || content.type === "secret-request" ? newId("crd") : undefined;
  const place: Place = { ...target.place, ...(reply.nativeId ? { nativeReference: reply.nativeId } : {}) };
  const delivery: Extract<Delivery, { kind: "bubble" }> = {
    kind: "bubble",
    entryId,
    botName: speaker.bot.name,
    content,
    mentionable: mentionable(speaker),
    ...(cardId ? { cardId } : {}),
  };
  const rendered = await renderBubble(speaker.adapter, place, delivery, (text) =>
    parts.files.storeText(text, "message.md"),
  );
  return {
    delivery: {
      entryId,
      conversationKey: target.conversationKey,
      botId: speaker.bot.id,
      botName: speaker.bot.name,
      kind: "bubble",
      text: plainText(content),
      body: rendered.delivery,
      files: filesOf(rendered.delivery),
      personCount: target.elsewhere ? 0 : speaker.personCount,
      place,
      nativeChannel: nativeChannelOf(place),
      pieces: rendered.pieces,
      ...(reply.address ? { replyTo: reply.address } : {}),
      ...(cardId ? { card: cardRow(parts, speaker, content, cardId) } : {}),
    },
    ...(cardId ? { cardId } : {}),
  };
}

function cardRow(
  parts: DeliverParts,
  speaker: Speaker,
  content: BubbleContent,
  id: string,
): NonNullable<NewDelivery["card"]> {
  const back = speaker.place.nativeReplyTo ? { nativeReplyTo: speaker.place.nativeReplyTo } : {};
  const owner = { id, allowed: speaker.authority.personIds, sessionId: speaker.sessionId, turnId: speaker.turnId };
  if (content.type === "widget") {
    return { ...owner, kind: "widget", spec: { kind: "widget", widget: content.widget, ...back } satisfies CardSpec };
  }
  if (content.type !== "secret-request") throw new Error(`a ${content.type} bubble has no card`);
  return {
    ...owner,
    kind: "secret",
    spec: { kind: "secret", secret: content.secret, ...back } satisfies CardSpec,
    ttlMs: parts.settings.limits.secretTtlMs,
  };
}

/** People served by the turn: their "@Name" may become a live mention (SPEC M14 leaves looks to the adapter). */
function mentionable(speaker: Speaker): readonly PersonRef[] {
  return speaker.authority.personIds.map((id) => ({
    id,
    platformId: id.split(":").slice(2).join(":"),
    name: speaker.authority.names[id] ?? "",
    kind: "member",
  }));
}

function filesOf(delivery: Delivery): NewDelivery["files"] {
  if (delivery.kind !== "bubble") return [];
  const { content } = delivery;
  if (content.type === "attachment") return [content.file];
  if (content.type !== "text") return [];
  return [...content.images, ...(content.document ? [content.document] : [])];
}

/** Searchable text of a bubble. */
export function plainText(content: BubbleContent): string {
  switch (content.type) {
    case "text":
      return content.content;
    case "attachment":
      return content.file.alt ?? content.file.name;
    case "widget":
      return `${content.widget.prompt}\n${content.widget.options.map((option) => `- ${option.label}`).join("\n")}`;
    case "cursor-agent":
      return `Cursor agent ${content.bcId}`;
    case "secret-request":
      return `Asked for the secret "${content.secret.label}"`;
  }
}
