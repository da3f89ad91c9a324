/**
 * What a person writes: into the timeline first, then to the engine, then acknowledged to the page.
 * Invariant: a message is shown once and received once, however often the page sends it: its client-made id names both the record and the event.
 * A mark written before the first step and removed after the last lets a restart hand in what a crash left half-way.
 */

import type { InboundEvent, InboundFile, MessageEvent, Reception } from "../../engine/index.ts";
import { type Place, toRef } from "./channels.ts";
import { findMentions, namesEveryone, quotedRanges } from "./format.ts";
import type { Hub, RunningBot } from "./hub.ts";
import { PLATFORM, toPersonRef } from "./people.ts";
import type { StoredPost } from "./timeline.ts";
import type { WirePerson, WireReception } from "./wire.ts";

/** A checked message of a person. */
export interface PersonMessage {
  readonly clientId: string;
  readonly text: string;
  readonly files: Extract<StoredPost["content"], { type: "message" }>["files"];
}

interface Owed {
  readonly channelId: string;
  readonly once: string;
}

/** Takes a message; safe to repeat. Rejects only when the engine could not store it: the page then keeps and resends it. */
export async function takeMessage(
  hub: Hub,
  person: WirePerson,
  place: Place,
  message: PersonMessage,
): Promise<{ readonly seq: number; readonly post: StoredPost; readonly reception: WireReception }> {
  const once = `say/${person.id}/${message.clientId}`;
  const owed = `owed/${place.id}/${once}`;
  await hub.kv.set(owed, { channelId: place.id, once } satisfies Owed);
  const { seq } = await hub.timeline.append(place.id, toPost(hub, person, message, once));
  const post = await hub.timeline.post(place.id, seq);
  if (!post) throw new Error("The timeline lost a record it had just confirmed.");
  const reception = await handIn(hub, place, seq, post);
  await hub.kv.delete(owed);
  return { seq, post, reception };
}

/** Hands in the messages for this bot that were written down before a crash but perhaps never received (the engine drops repetitions). */
export async function handInOwed(hub: Hub, bot: RunningBot): Promise<void> {
  const rows = await hub.kv.list({ prefix: "owed/", limit: 500 });
  for (const row of rows) {
    const { channelId, once } = row.value as Owed;
    const place = await hub.channels.place(channelId);
    if (!place?.bots.includes(bot.account.botId)) continue;
    const seq = await hub.timeline.find(channelId, once);
    const post = seq === null ? null : await hub.timeline.post(channelId, seq);
    // Without a record the page was never told "sent": it resends, or is in the middle of sending.
    if (seq === null || !post) continue;
    await handIn(hub, place, seq, post);
    await hub.kv.delete(row.key);
  }
}

/** Hands one event to each bot of the place; copies share the dedupe key. */
export async function receiveForAll(
  hub: Hub,
  place: Pick<Place, "bots">,
  toEvent: (bot: RunningBot) => InboundEvent,
): Promise<WireReception> {
  hub.lastEventAt = new Date(hub.clock.now());
  const bots = hub.botsOf(place);
  if (bots.length === 0) return { status: "refused", reason: "No bot is here. Choose one in the channel's settings." };
  const receptions: Reception[] = [];
  for (const bot of bots) receptions.push(await bot.context.receive(toEvent(bot)));
  const best = ["accepted", "refused", "duplicate", "ignored"] as const;
  const status = best.find((one) => receptions.some((reception) => reception.status === one)) ?? "ignored";
  const reason = receptions.find((reception) => reception.status === status && reception.reason)?.reason;
  return reason ? { status, reason } : { status };
}

async function handIn(hub: Hub, place: Place, seq: number, post: StoredPost): Promise<WireReception> {
  if (post.content.type !== "message") return { status: "ignored" };
  const content = post.content;
  const named = await everybody(hub, place);
  return receiveForAll(hub, place, (bot) => toEvent(bot, place, seq, post, content, named));
}

function toEvent(
  bot: RunningBot,
  place: Place,
  seq: number,
  post: StoredPost,
  content: Extract<StoredPost["content"], { type: "message" }>,
  named: Awaited<ReturnType<typeof everybody>>,
): MessageEvent {
  const mentions = findMentions(content.text, named);
  return {
    type: "message",
    dedupeKey: `${PLATFORM}:${place.id}:${seq}`,
    installationId: bot.installation.id,
    conversation: toRef(place),
    at: new Date(post.at),
    from: toPersonRef(post.author),
    platformId: String(seq),
    text: content.text,
    mentions,
    quoted: quotedRanges(content.text),
    everyone: namesEveryone(content.text),
    namesBot: mentions.some((mention) => mention.platformId === bot.account.botId),
    files: content.files.map(
      (file): InboundFile => ({
        platformFileId: `${file.sha256}.${file.ext}`,
        name: file.name,
        mediaType: file.mediaType,
        size: file.size,
        stored: file,
      }),
    ),
  };
}

/** Everybody who can be mentioned; bots come first, so that a person cannot take over a bot's handle by choosing its name. */
async function everybody(hub: Hub, place: Place): Promise<readonly { id: string; name: string }[]> {
  const bots = [...hub.bots.values()].map((bot) => ({ id: bot.account.botId, name: bot.account.name }));
  const people = place.kind === "channel" ? await hub.people.list() : [];
  return [...bots, ...people];
}

function toPost(hub: Hub, person: WirePerson, message: PersonMessage, once: string): StoredPost {
  return {
    type: "post",
    once,
    at: new Date(hub.clock.now()).toISOString(),
    author: { kind: "person", id: person.id, name: person.name },
    content: { type: "message", text: message.text, files: message.files },
    clientId: message.clientId,
  };
}
