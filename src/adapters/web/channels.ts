/**
 * The places of the playground: channels people make, and one direct conversation per person and bot.
 * Invariant: a direct conversation is visible to its person only; a channel's id never changes. A channel holds
 * any number of bots; two or more are a Group.
 */

import type { ConversationRef, KeyValueStore } from "../../engine/index.ts";
import { MAX_CHANNEL_NAME } from "./limits.ts";
import { PLATFORM, WORKSPACE_ID } from "./people.ts";

/** A channel as stored. */
export interface StoredChannel {
  readonly id: string;
  readonly name: string;
  readonly bots: readonly string[];
}

/** A place a person asked for by id. */
export type Place =
  | { readonly kind: "channel"; readonly id: string; readonly name: string; readonly bots: readonly string[] }
  | { readonly kind: "direct"; readonly id: string; readonly bots: readonly string[]; readonly personId: string };

/** Reads and writes the channel list. */
export class Channels {
  readonly #kv: KeyValueStore;
  #adding: Promise<unknown> = Promise.resolve();

  constructor(kv: KeyValueStore) {
    this.#kv = kv;
  }

  /** All channels by name, up to 500. */
  async list(): Promise<readonly StoredChannel[]> {
    const rows = await this.#kv.list({ prefix: "channel/", limit: 500 });
    return rows.map((row) => row.value as StoredChannel);
  }

  /** False when the name is taken. */
  async create(channel: StoredChannel): Promise<boolean> {
    return this.#kv.insert(`channel/${channel.id}`, channel);
  }

  /** Changes who is in a channel. */
  async setBots(channel: StoredChannel, bots: readonly string[]): Promise<StoredChannel> {
    const changed = { id: channel.id, name: channel.name, bots };
    await this.#kv.set(`channel/${channel.id}`, changed);
    return changed;
  }

  /** Adds a bot to a channel, once in its life: whoever takes it out later is not overruled at the next start. */
  addOnce(channelId: string, botId: string): Promise<void> {
    const added = this.#adding.then(async () => {
      if (!(await this.#kv.insert(`joined/${channelId}/${botId}`, true))) return;
      const channel = await this.get(channelId);
      if (channel && !channel.bots.includes(botId)) await this.setBots(channel, [...channel.bots, botId]);
    });
    // One after the other, so that two bots starting together do not write over each other; whoever asked hears of a failure.
    this.#adding = added.catch(() => undefined);
    return added;
  }

  /** One channel, or null. */
  async get(id: string): Promise<StoredChannel | null> {
    return ((await this.#kv.get(`channel/${id}`)) ?? null) as StoredChannel | null;
  }

  /** The place with this id, if it exists; access is `mayRead`'s. */
  async place(id: string): Promise<Place | null> {
    const direct = /^dm\.([a-z0-9-]+)\.(u[a-z0-9]+)$/.exec(id);
    if (direct?.[1] && direct[2]) return { kind: "direct", id, bots: [direct[1]], personId: direct[2] };
    if (!isChannelId(id)) return null;
    const channel = await this.get(id);
    return channel ? { kind: "channel", ...channel } : null;
  }
}

/** The id of the direct conversation of a person and a bot. */
export function directId(botId: string, person: string): string {
  return `dm.${botId}.${person}`;
}

/** Whether this person may read and write there. */
export function mayRead(place: Place, person: string): boolean {
  return place.kind === "channel" || place.personId === person;
}

/** The place as the engine names it. */
export function toRef(place: Place): ConversationRef {
  const base = { platform: PLATFORM, workspaceId: WORKSPACE_ID, channelId: place.id };
  return place.kind === "direct" ? { ...base, kind: "direct" } : { ...base, kind: "channel", channelName: place.name };
}

/** A channel's id and name from what a person typed ("# My Plans" → my-plans), or what is wrong with it. */
export function checkChannelName(typed: unknown): { readonly id: string } | { readonly error: string } {
  if (typeof typed !== "string") return { error: 'Send a channel name: {"name": "…"}.' };
  const id = typed
    .normalize("NFKC")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, "-")
    .replace(/^-+|-+$/g, "");
  if (!isChannelId(id)) return { error: "A channel name needs at least one letter or digit." };
  if ([...id].length > MAX_CHANNEL_NAME) return { error: `Please keep it under ${MAX_CHANNEL_NAME} characters.` };
  return { id };
}

function isChannelId(id: string): boolean {
  return /^[\p{L}\p{N}](?:[\p{L}\p{N}-]*)$/u.test(id);
}
