/**
 * What the host itself says outside a turn: refusals, a full mailbox, answers to commands. Plain notices in the outbox, each once per dedupe key.
 * System notices never wake a bot (SPEC T8).
 */

import { type AdapterLookup, nativeChannelOf, renderHostCard } from "../delivery/render-delivery.ts";
import { newId } from "../ids.ts";
import type { MessageEvent, StopEvent } from "../inbound-event.ts";
import type { Store } from "../store/store.ts";
import { createGroupHostCards, type GroupHostCards, placeAbout, type Said } from "./group-host-cards.ts";
import type { Installations } from "./installations.ts";
import type { MessageCase } from "./message-case.ts";
import { nativeReplyTo } from "./message-case.ts";

/** What the host says outside turns; each call says it at most once. */
export interface HostCards extends GroupHostCards {
  denied(item: MessageCase, reason: string): Promise<void>;
  mailboxFull(item: MessageCase, botIds: readonly string[]): Promise<void>;
  /** `botId` = the bot named with the command; else the one that heard it answers. */
  commandAnswer(item: MessageCase, command: "status" | "memory" | "help", botId?: string): Promise<void>;
  /** A plain line, once per key. */
  say(item: MessageCase, dedupeKey: string, text: string, botId?: string): Promise<void>;
  stopAnswer(where: StopPlace, text: string): Promise<void>;
}

/** Where a stop was asked for, typed or by a control. */
export type StopPlace = Pick<MessageCase, "ref" | "key" | "installation"> & {
  readonly event: Pick<StopEvent, "dedupeKey"> & Partial<Pick<MessageEvent, "platformId" | "opensThread">>;
};

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
  const about = (item: MessageCase, botId?: string) => placeAbout(parts, item, botId);
  return {
    ...createGroupHostCards(say, parts),
    denied: (item, reason) =>
      say({
        ...about(item),
        dedupeKey: `denied:${item.installation.id}:${item.event.from.id}:${dayOf(item)}:${reason}`,
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
    commandAnswer: async (item, command, botId) => {
      const place = about(item, botId);
      const text = await commandText(parts, item, command, place.botId);
      return say({ ...place, dedupeKey: `command:${item.event.dedupeKey}`, text });
    },
    say: (item, dedupeKey, text, botId) => say({ ...about(item, botId), dedupeKey, text }),
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

async function commandText(
  parts: { readonly store: Store; readonly installations: Installations },
  item: MessageCase,
  command: "status" | "memory" | "help",
  botId: string,
): Promise<string> {
  if (command === "help") return helpText(botId, parts.installations);
  return command === "status" ? statusText(item, parts.installations) : memoryText(parts, item, botId);
}

/** What is kept, in numbers and names only: never a secret's value. */
async function memoryText(
  parts: { readonly store: Store; readonly installations: Installations },
  item: MessageCase,
  botId: string,
): Promise<string> {
  const name = parts.installations.botName(botId);
  const count = item.view.conversation?.lastSeq ?? 0;
  const secrets = await parts.store.listSecrets(item.installation.orgId);
  const own = secrets.filter((secret) => secret.botId === botId && secret.personId === item.event.from.id);
  const given = own.map((secret) => `${secret.connector} / ${secret.field}`).join(", ");
  return [
    `${name} keeps what was said in this conversation: ${count} ${count === 1 ? "message" : "messages"}. \`!new\` makes it begin anew.`,
    given
      ? `Secrets you gave ${name}: ${given}. Their values are shown to nobody.`
      : `You have given ${name} no secrets.`,
  ].join("\n");
}

function helpText(botId: string, installations: Installations): string {
  const name = installations.botName(botId);
  return [
    `Write to ${name} here, or mention @${name} in a channel.`,
    `\`!stop\` or \`@${name} stop\` stops the work here · \`!new\` begins anew · \`!status\` tells what is going on · \`!group\` tells who is in this Group · \`!memory\` tells what is kept · \`!help\` shows this.`,
    "Administrators: `!broadcast` and a text, in a direct message, puts it to all bots.",
  ].join("\n");
}

function statusText(item: MessageCase, installations: Installations): string {
  if (item.view.sessions.length === 0) return "Nothing is running here.";
  return item.view.sessions
    .map((session) => `${installations.botName(session.botId)} is ${session.running ? "working" : "idle"} here.`)
    .join("\n");
}
