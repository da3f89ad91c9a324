/**
 * What the host itself says outside a turn: refusals, a full mailbox, answers to commands. Plain notices in the outbox, each once per dedupe key.
 * System notices never wake a bot (SPEC T8).
 */

import type { Place } from "../adapter.ts";
import type { ConversationRef } from "../conversation.ts";
import { type AdapterLookup, nativeChannelOf, renderHostCard } from "../delivery/render-delivery.ts";
import { newId } from "../ids.ts";
import type { StopEvent } from "../inbound-event.ts";
import type { Store } from "../store/store.ts";
import type { Installations } from "./installations.ts";
import type { MessageCase } from "./message-case.ts";
import { nativeReplyTo } from "./message-case.ts";

/** What the host says outside turns; each call says it at most once. */
export interface HostCards {
  denied(item: MessageCase, reason: string): Promise<void>;
  mailboxFull(item: MessageCase, botIds: readonly string[]): Promise<void>;
  commandAnswer(item: MessageCase, command: "status" | "help"): Promise<void>;
  nothingToStop(
    event: Pick<StopEvent, "conversation" | "dedupeKey" | "installationId">,
    key: string,
    cancelled: number,
  ): Promise<void>;
}

interface Said {
  readonly dedupeKey: string;
  readonly botId: string;
  readonly key: string;
  readonly place: Place;
  readonly text: string;
}

const HOUR_MS = 3_600_000;

/** HostCards through the outbox of the platform they answer on. */
export function createHostCards(parts: {
  readonly store: Store;
  readonly adapters: AdapterLookup;
  readonly installations: Installations;
  readonly nudge: (nativeChannel: string) => void;
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
      card: { kind: "notice", text: said.text, controls: [] },
      allowed: [],
      data: {},
    });
    if (await parts.store.postHostCard({ dedupeKey: said.dedupeKey, delivery }))
      parts.nudge(nativeChannelOf(said.place));
  };
  const about = (item: MessageCase) => ({
    botId: item.installation.botId,
    key: item.key,
    place: { installationId: item.installation.id, ref: item.ref, nativeReplyTo: nativeReplyTo(item) },
  });
  return {
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
        await say({ ...about(item), botId, dedupeKey: `full:${botId}:${item.key}:${hour}`, text });
      }
    },
    commandAnswer: (item, command) =>
      say({
        ...about(item),
        dedupeKey: `command:${item.event.dedupeKey}`,
        text:
          command === "help" ? helpText(about(item).botId, parts.installations) : statusText(item, parts.installations),
      }),
    nothingToStop: (event, key, cancelled) => {
      const botId = parts.installations.get(event.installationId)?.botId ?? "";
      const text = cancelled > 0 ? "Stopped: what was waiting has been dropped." : "Nothing is running here.";
      const place = { installationId: event.installationId, ref: event.conversation satisfies ConversationRef };
      return say({ dedupeKey: `stop:${event.dedupeKey}`, botId, key, place, text });
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
    `\`!stop\` or \`@${name} stop\` stops the work in this conversation · \`!status\` tells what is going on · \`!help\` shows this.`,
  ].join("\n");
}

function statusText(item: MessageCase, installations: Installations): string {
  if (item.view.sessions.length === 0) return "Nothing is running here.";
  return item.view.sessions
    .map((session) => `${installations.botName(session.botId)} is ${session.running ? "working" : "idle"} here.`)
    .join("\n");
}
