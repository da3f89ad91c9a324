/**
 * What the host says about Groups outside discussions (SPEC G1, C9): the card when one begins, the answer to `!group`, and why a bot takes no part.
 * Each is said once per dedupe key, by the bot it concerns.
 */

import type { Place } from "../adapter.ts";
import type { HostCard } from "../card.ts";
import type { Installations } from "./installations.ts";
import { type MessageCase, nativeReplyTo } from "./message-case.ts";

/** A channel itself, outside its threads. */
export type ChannelPlace = Pick<MessageCase, "ref" | "key">;

/** One thing to be said. */
export interface Said {
  readonly dedupeKey: string;
  readonly botId: string;
  readonly key: string;
  readonly place: Place;
  readonly text: string;
  /** Instead of a plain line. */
  readonly card?: HostCard;
}

/** What the host says about Groups. */
export interface GroupHostCards {
  /** The card of a Group that has begun, by its first member. */
  group(where: ChannelPlace, botId: string, card: HostCard, dedupeKey: string): Promise<void>;
  /** A bot that came when the Group was full. */
  groupFull(where: ChannelPlace, botId: string, dedupeKey: string): Promise<void>;
  /** Somebody named only bots that take no part. */
  noPart(item: MessageCase, botIds: readonly string[]): Promise<void>;
  /** What `!group` tells; with the card's controls when it is a Group. */
  groupAnswer(item: MessageCase, botId: string, text: string, card?: HostCard): Promise<void>;
}

/** GroupHostCards over the host's way to speak. */
export function createGroupHostCards(
  say: (said: Said) => Promise<void>,
  parts: { readonly installations: Installations; readonly maxMembers: number },
): GroupHostCards {
  const inChannel = ({ ref, key }: ChannelPlace, botId: string) => {
    const own = parts.installations.ofBot(botId, ref);
    return { botId, key, place: { installationId: own?.id ?? "", ref } };
  };
  const full = (botId: string) =>
    `${parts.installations.botName(botId)} takes no part here: this Group has ${parts.maxMembers} members already, which is the most a Group can have. Remove one of them first.`;
  return {
    group: (where, botId, card, dedupeKey) => say({ ...inChannel(where, botId), dedupeKey, text: card.text, card }),
    groupFull: (where, botId, dedupeKey) => say({ ...inChannel(where, botId), dedupeKey, text: full(botId) }),
    async noPart(item, botIds) {
      for (const botId of botIds) {
        const dedupeKey = `no-part:${item.event.dedupeKey}:${botId}`;
        await say({ ...placeAbout(parts, item, botId), dedupeKey, text: full(botId) });
      }
    },
    groupAnswer(item, botId, text, card) {
      const dedupeKey = `command:${item.event.dedupeKey}`;
      return say({ ...placeAbout(parts, item, botId), dedupeKey, text, ...(card ? { card } : {}) });
    },
  };
}

/** Where a message is answered, as the bot with this id, or as the one that heard it. */
export function placeAbout(
  { installations }: { readonly installations: Installations },
  item: MessageCase,
  botId = item.installation.botId,
): Pick<Said, "botId" | "key" | "place"> {
  const own = installations.ofBot(botId, item.installation) ?? item.installation;
  const place = { installationId: own.id, ref: item.ref, nativeReplyTo: nativeReplyTo(item) };
  return { botId: own.botId, key: item.key, place };
}
