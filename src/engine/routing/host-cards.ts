/**
 * What the host itself says outside a turn: refusals, a full mailbox, answers to commands. Plain notices in the outbox, each once per dedupe key.
 * System notices never wake a bot (SPEC T8).
 */

import type { Place } from "../adapter.ts";
import type { HostCard } from "../card.ts";
import { type AdapterLookup, nativeChannelOf, renderHostCard } from "../delivery/render-delivery.ts";
import { newId } from "../ids.ts";
import type { MessageEvent, StopEvent } from "../inbound-event.ts";
import type { Store } from "../store/store.ts";
import type { Installations } from "./installations.ts";
import type { MessageCase } from "./message-case.ts";
import { nativeReplyTo } from "./message-case.ts";

/** What the host says outside turns; each call says it at most once. */
export interface HostCards {
  denied(item: MessageCase, reason: string): Promise<void>;
  mailboxFull(item: MessageCase, botIds: readonly string[]): Promise<void>;
  /** `botId` = the bot named with the command; else the one that heard it answers. */
  commandAnswer(item: MessageCase, command: "status" | "help", botId?: string): Promise<void>;
  /** What `!group` tells, by the bot named; with the card's controls when it is a Group. */
  groupAnswer(item: MessageCase, botId: string, text: string, card?: HostCard): Promise<void>;
  stopAnswer(where: StopPlace, text: string): Promise<void>;
  /** The card of a Group that has begun, by its first member (SPEC G1). */
  group(where: ChannelPlace, botId: string, card: HostCard, dedupeKey: string): Promise<void>;
  /** A bot that came when the Group was full. */
  groupFull(where: ChannelPlace, botId: string, dedupeKey: string): Promise<void>;
  /** Somebody named only bots that take no part. */
  noPart(item: MessageCase, botIds: readonly string[]): Promise<void>;
}

/** A channel itself, outside its threads. */
export type ChannelPlace = Pick<MessageCase, "ref" | "key">;

/** Where a stop was asked for, typed or by a control. */
export type StopPlace = Pick<MessageCase, "ref" | "key" | "installation"> & {
  readonly event: Pick<StopEvent, "dedupeKey"> & Partial<Pick<MessageEvent, "platformId" | "opensThread">>;
};

interface Said {
  readonly dedupeKey: string;
  readonly botId: string;
  readonly key: string;
  readonly place: Place;
  readonly text: string;
  /** Instead of a plain notice. */
  readonly card?: HostCard;
}

const HOUR_MS = 3_600_000;

/** HostCards through the outbox of the platform they answer on. */
export function createHostCards(parts: {
  readonly store: Store;
  readonly adapters: AdapterLookup;
  readonly installations: Installations;
  readonly nudge: (nativeChannel: string) => void;
  readonly maxMembers: number;
}): HostCards {
  const say = async (said: Said): Promise<void> => {
    const adapter = parts.adapters(said.place.ref.platform);
    if (!adapter) return;
    const delivery = renderHostCard(adapter, {
      entryId: newId("ent"),
      conversationKey: said.key,
      botId: said.botId,
      botName: parts.installations.botName(said.botId),
      place: said.place,
      ...(said.card ? { cardId: newId("crd") } : {}),
      card: said.card ?? { kind: "notice", text: said.text, controls: [] },
      allowed: [],
      data: {},
    });
    if (await parts.store.postHostCard({ dedupeKey: said.dedupeKey, delivery }))
      parts.nudge(nativeChannelOf(said.place));
  };
  const about = (item: MessageCase, botId = item.installation.botId) => {
    const own = parts.installations.ofBot(botId, item.installation) ?? item.installation;
    const place = { installationId: own.id, ref: item.ref, nativeReplyTo: nativeReplyTo(item) };
    return { botId: own.botId, key: item.key, place };
  };
  const inChannel = ({ ref, key }: ChannelPlace, botId: string) => {
    const own = parts.installations.ofBot(botId, ref);
    return { botId, key, place: { installationId: own?.id ?? "", ref } };
  };
  const full = (botId: string) =>
    `${parts.installations.botName(botId)} takes no part here: this Group has ${parts.maxMembers} members already, which is the most a Group can have. Remove one of them first.`;
  return {
    group: (where, botId, card, dedupeKey) => say({ ...inChannel(where, botId), dedupeKey, text: card.text, card }),
    groupFull: (where, botId, dedupeKey) => say({ ...inChannel(where, botId), dedupeKey, text: full(botId) }),
    noPart: async (item, botIds) => {
      for (const botId of botIds)
        await say({ ...about(item, botId), dedupeKey: `no-part:${item.event.dedupeKey}:${botId}`, text: full(botId) });
    },
    denied: (item, reason) =>
      say({
        ...about(item),
        dedupeKey: `denied:${item.installation.id}:${item.event.from.id}:${dayOf(item)}`,
        text: reason,
      }),
    mailboxFull: async (item, botIds) => {
      const hour = Math.floor(item.event.at.getTime() / HOUR_MS);
      for (const botId of botIds) {
        const name = parts.installations.botName(botId);
        const text = `${name} has too many messages waiting here and could not take this one. Please try again in a little while.`;
        await say({ ...about(item, botId), dedupeKey: `full:${botId}:${item.key}:${hour}`, text });
      }
    },
    commandAnswer: (item, command, botId) => {
      const { installations } = parts;
      const text =
        command === "help" ? helpText(about(item, botId).botId, installations) : statusText(item, installations);
      return say({ ...about(item, botId), dedupeKey: `command:${item.event.dedupeKey}`, text });
    },
    groupAnswer: (item, botId, text, card) =>
      say({ ...about(item, botId), dedupeKey: `command:${item.event.dedupeKey}`, text, ...(card ? { card } : {}) }),
    stopAnswer: ({ event, ref, key, installation }, text) => {
      const { platformId, opensThread } = event;
      const reply = platformId ? { nativeReplyTo: nativeReplyTo({ event: { platformId, opensThread }, ref }) } : {};
      const place = { installationId: installation.id, ref, ...reply };
      return say({ dedupeKey: `stop:${event.dedupeKey}`, botId: installation.botId, key, place, text });
    },
  };
}

function dayOf(item: MessageCase): string {
  return item.event.at.toISOString().slice(0, 10);
}

function helpText(botId: string, installations: Installations): string {
  const name = installations.botName(botId);
  return [
    `Write to ${name} here, or mention @${name} in a channel.`,
    `\`!stop\` or \`@${name} stop\` stops the work in this conversation · \`!status\` tells what is going on · \`!group\` tells who is in this Group and how it listens · \`!help\` shows this.`,
  ].join("\n");
}

function statusText(item: MessageCase, installations: Installations): string {
  if (item.view.sessions.length === 0) return "Nothing is running here.";
  return item.view.sessions
    .map((session) => `${installations.botName(session.botId)} is ${session.running ? "working" : "idle"} here.`)
    .join("\n");
}
