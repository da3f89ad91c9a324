/**
 * The durable timeline of the playground: one log per channel in the adapter's key-value store, numbered 1, 2, 3 … without gaps.
 * Invariant: a record's `once` id appears at most once in its channel, whoever appends it, however often and from however many processes.
 * How: a marker (first writer wins) remembers from where the id could stand; an append walks on from there, reads what others wrote, and takes
 * the first free number. So a repeated delivery and a look-up after an unknown outcome are both exact.
 */

import type { BubbleContent, CardOutcome, FileRef, HostCard, KeyValueStore } from "../../engine/index.ts";
import type { WireReaction } from "./wire.ts";

/** What a stored post shows: a person's message, a bubble or a host card. */
export type StoredContent =
  | { readonly type: "message"; readonly text: string; readonly files: readonly FileRef[] }
  | BubbleContent
  | { readonly type: "host-card"; readonly card: HostCard };

/** A visible message as it is stored. */
export interface StoredPost {
  readonly type: "post";
  readonly once: string;
  readonly at: string;
  readonly author: { readonly kind: "person" | "bot"; readonly id: string; readonly name: string };
  readonly content: StoredContent;
  readonly cardId?: string;
  readonly replyTo?: number;
  readonly clientId?: string;
}

/** What the log holds: posts and what happened to them later. */
export type StoredRecord =
  | StoredPost
  | { readonly type: "settle"; readonly once: string; readonly target: number; readonly outcome: CardOutcome }
  | { readonly type: "reaction"; readonly once: string; readonly target: number; readonly reaction: WireReaction }
  | { readonly type: "workspace"; readonly once: string };

/** A record with its number. */
export interface Numbered {
  readonly seq: number;
  readonly record: StoredRecord;
}

/** What happened to a post after it was written; kept beside the log so that a page of old posts is complete. */
export interface Overlay {
  readonly outcome?: CardOutcome;
  readonly reactions: readonly WireReaction[];
}

/** The log in which changes of the channel list and of names are announced. */
export const WORKSPACE_LOG = "~workspace";

const BATCH = 200;
const DIGITS = 12;

/** Contract: safe to use from several processes at once on the same store. `onAppend` runs after each new record. */
export class Timeline {
  readonly #kv: KeyValueStore;
  readonly #onAppend: (channelId: string) => void;
  readonly #heads = new Map<string, number>();

  constructor(kv: KeyValueStore, onAppend: (channelId: string) => void) {
    this.#kv = kv;
    this.#onAppend = onAppend;
  }

  /** Appends the record, or finds where its `once` id stands already. `fresh` is false in the second case. */
  async append(channelId: string, record: StoredRecord): Promise<{ seq: number; fresh: boolean }> {
    const head = this.#heads.get(channelId) ?? (await this.head(channelId));
    const marker = markerKey(channelId, record.once);
    const first = await this.#kv.insert(marker, { from: head });
    let from = first ? head : await this.#markedFrom(marker, head);
    for (;;) {
      const found = first && from === head ? undefined : await this.#scan(channelId, from, record.once);
      if (found?.seq) return { seq: found.seq, fresh: false };
      from = found?.head ?? from;
      if (await this.#kv.insert(logKey(channelId, from + 1), record)) break;
      const other = await this.#read(channelId, from + 1);
      if (other?.once === record.once) return { seq: from + 1, fresh: false };
      from += 1;
    }
    this.#raiseHead(channelId, from + 1);
    await this.#kv.increment(PULSE);
    this.#onAppend(channelId);
    return { seq: from + 1, fresh: true };
  }

  /** Where the record with this `once` id stands, or null. Exact: it never misses a committed record. */
  async find(channelId: string, once: string): Promise<number | null> {
    const marker = await this.#kv.get(markerKey(channelId, once));
    if (!isMarker(marker)) return null;
    return (await this.#scan(channelId, marker.from, once)).seq ?? null;
  }

  /** Records after a number, oldest first. */
  async after(channelId: string, after: number, limit = BATCH): Promise<readonly Numbered[]> {
    const rows = await this.#kv.list({ prefix: logPrefix(channelId), after: logKey(channelId, after), limit });
    const last = rows.at(-1);
    if (last) this.#raiseHead(channelId, seqOf(last.key));
    return rows.map((row) => ({ seq: seqOf(row.key), record: row.value as StoredRecord }));
  }

  /** One post, or null when the number is not a post's. */
  async post(channelId: string, seq: number): Promise<StoredPost | null> {
    if (!Number.isSafeInteger(seq) || seq < 1) return null;
    const record = await this.#read(channelId, seq);
    return record?.type === "post" ? record : null;
  }

  /** Number of the newest record; 0 for an empty channel. */
  async head(channelId: string): Promise<number> {
    const [last] = await this.#kv.list({ prefix: logPrefix(channelId), limit: 1, reverse: true });
    const head = last ? seqOf(last.key) : 0;
    this.#raiseHead(channelId, head);
    return head;
  }

  /** Rises with every record of any channel, in every process: what other processes poll. */
  async pulse(): Promise<number> {
    const value = await this.#kv.get(PULSE);
    return Number(value ?? 0);
  }

  /** Tells other processes that something beside the log changed. */
  async beat(): Promise<void> {
    await this.#kv.increment(PULSE);
  }

  /** Writes what happened to a post, first beside the log and then into it. */
  async amend(channelId: string, record: Extract<StoredRecord, { target: number }>): Promise<void> {
    const key = `${overlayPrefix(channelId)}${pad(record.target)}/${record.once}`;
    await this.#kv.set(key, record);
    await this.append(channelId, record);
  }

  /** What happened later to the posts `first`…`last`. */
  async overlays(channelId: string, first: number, last: number): Promise<ReadonlyMap<number, Overlay>> {
    const prefix = overlayPrefix(channelId);
    const found = new Map<number, Overlay>();
    let after = `${prefix}${pad(first)}`;
    for (;;) {
      const rows = await this.#kv.list({ prefix, after, limit: BATCH });
      for (const row of rows) {
        const record = row.value as Extract<StoredRecord, { target: number }>;
        if (record.target > last) return found;
        found.set(record.target, withRecord(found.get(record.target), record));
      }
      const end = rows.at(-1);
      if (!end || rows.length < BATCH) return found;
      after = end.key;
    }
  }

  async #scan(channelId: string, from: number, once: string): Promise<{ seq?: number; head: number }> {
    let head = from;
    for (;;) {
      const batch = await this.after(channelId, head);
      const hit = batch.find((item) => item.record.once === once);
      if (hit) return { seq: hit.seq, head: hit.seq };
      head = batch.at(-1)?.seq ?? head;
      if (batch.length < BATCH) return { head };
    }
  }

  async #read(channelId: string, seq: number): Promise<StoredRecord | undefined> {
    return ((await this.#kv.get(logKey(channelId, seq))) ?? undefined) as StoredRecord | undefined;
  }

  async #markedFrom(marker: string, head: number): Promise<number> {
    const value = await this.#kv.get(marker);
    return isMarker(value) ? value.from : head;
  }

  #raiseHead(channelId: string, seq: number): void {
    if (seq > (this.#heads.get(channelId) ?? -1)) this.#heads.set(channelId, seq);
  }
}

const PULSE = "pulse";

function withRecord(overlay: Overlay | undefined, record: Extract<StoredRecord, { target: number }>): Overlay {
  const base = overlay ?? { reactions: [] };
  if (record.type === "settle") return { ...base, outcome: record.outcome };
  return { ...base, reactions: [...base.reactions, record.reaction] };
}

function isMarker(value: unknown): value is { from: number } {
  return typeof value === "object" && value !== null && "from" in value && typeof value.from === "number";
}

function pad(seq: number): string {
  return String(seq).padStart(DIGITS, "0");
}

function logPrefix(channelId: string): string {
  return `log/${channelId}/`;
}

function logKey(channelId: string, seq: number): string {
  return `${logPrefix(channelId)}${pad(seq)}`;
}

function overlayPrefix(channelId: string): string {
  return `later/${channelId}/`;
}

function markerKey(channelId: string, once: string): string {
  return `once/${channelId}/${once}`;
}

function seqOf(key: string): number {
  return Number(key.slice(-DIGITS));
}
