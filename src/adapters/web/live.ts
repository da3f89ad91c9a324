/**
 * Live updates as Server-Sent Events. Each subscriber has a cursor (the newest number sent, per channel); a wake-up reads the log after it and
 * sends what is there, in order. The cursor travels as the event id, so a page that reconnects continues exactly where it stopped.
 * Invariant: nothing is sent that the log does not hold, and no number is skipped: a lost wake-up only delays. In this process appends wake at
 * once; those of other processes are noticed by polling the log's pulse. A beat lets the page notice a connection that died silently.
 */

import type { Clock } from "../../engine/index.ts";
import { HEARTBEAT_MS, MAX_BACKLOG, POLL_MS } from "./limits.ts";
import type { Numbered } from "./timeline.ts";
import type { WireRecord, WireWorking } from "./wire.ts";

/** What the live side reads. */
export interface LiveSource {
  /** Records of a channel after a number, oldest first. */
  after(channelId: string, after: number): Promise<readonly Numbered[]>;
  pulse(): Promise<number>;
  /** Bots at work, in any process. */
  working(): Promise<readonly WireWorking[]>;
  toWire(channelId: string, item: Numbered): WireRecord;
}

/** One open page. `channels` says anew at each wake-up what its person may read. */
export interface Watcher {
  readonly cursor: ReadonlyMap<string, number>;
  channels(): Promise<readonly string[]>;
}

/** All open pages of this process. */
export class Live {
  readonly #source: LiveSource;
  readonly #clock: Clock;
  readonly #streams = new Set<Stream>();
  readonly #ended = new AbortController();
  #polling = false;

  constructor(source: LiveSource, clock: Clock) {
    this.#source = source;
    this.#clock = clock;
  }

  /** A response body that stays open until the page leaves or the server stops. */
  open(watcher: Watcher): ReadableStream<Uint8Array> {
    const stream = new Stream(watcher, this.#source, () => this.#streams.delete(stream));
    if (this.#ended.signal.aborted) stream.close();
    else this.#streams.add(stream);
    stream.wake();
    void this.#poll();
    return stream.body;
  }

  /** A record was appended to a channel; without one anything may have changed. */
  wake(channelId?: string): void {
    for (const stream of this.#streams) stream.wake(channelId);
  }

  /** Ends all streams; pages reconnect to whoever serves next. */
  close(): void {
    this.#ended.abort();
    for (const stream of [...this.#streams]) stream.close();
  }

  /** One loop per process, only while somebody watches. */
  async #poll(): Promise<void> {
    if (this.#polling) return;
    this.#polling = true;
    let seen = -1;
    let beatAt = this.#clock.now() + HEARTBEAT_MS;
    while (this.#streams.size > 0 && !this.#ended.signal.aborted) {
      await this.#clock.delay(POLL_MS, this.#ended.signal);
      const pulse = await this.#source.pulse().catch(() => seen); // The store is away for a moment: the next beat tells.
      const beat = this.#clock.now() >= beatAt;
      if (beat) beatAt = this.#clock.now() + HEARTBEAT_MS;
      for (const stream of this.#streams) {
        if (beat) stream.beat();
        if (beat || pulse !== seen) stream.wake();
      }
      seen = pulse;
    }
    this.#polling = false;
  }
}

/** One page's stream: at most one pump runs, and a wake-up during it makes it run once more. */
class Stream {
  readonly body: ReadableStream<Uint8Array>;
  readonly #watcher: Watcher;
  readonly #source: LiveSource;
  readonly #onEnd: () => void;
  readonly #cursor: Map<string, number>;
  readonly #encoder = new TextEncoder();
  #controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  #pumping = false;
  /** Channels to look at in the next round; "all" after a wake-up that names none. */
  #due: Set<string> | "all" = new Set();
  #closed = false;
  #working = "";

  constructor(watcher: Watcher, source: LiveSource, onEnd: () => void) {
    this.#watcher = watcher;
    this.#source = source;
    this.#onEnd = onEnd;
    this.#cursor = new Map(watcher.cursor);
    this.body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          this.#send("retry: 1000\n\n");
        },
        cancel: () => this.close(),
      },
      { highWaterMark: 1 },
    );
  }

  wake(channelId?: string): void {
    if (channelId === undefined) this.#due = "all";
    else if (this.#due !== "all") this.#due.add(channelId);
    if (!this.#pumping && !this.#closed) void this.#pump();
  }

  beat(): void {
    this.#send("event: beat\ndata: {}\n\n");
  }

  close(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#onEnd();
    try {
      this.#controller?.close();
    } catch {
      // The page left first; the stream is closed already.
    }
  }

  async #pump(): Promise<void> {
    this.#pumping = true;
    try {
      while ((this.#due === "all" || this.#due.size > 0) && !this.#closed) {
        const due = this.#due;
        this.#due = new Set();
        const channels = await this.#watcher.channels();
        for (const channelId of channels) if (due === "all" || due.has(channelId)) await this.#sendAfter(channelId);
        if (due === "all") await this.#sendWorking(channels);
      }
    } catch {
      this.close(); // The store did not answer. The page reconnects and resumes from its cursor.
    }
    this.#pumping = false;
  }

  async #sendAfter(channelId: string): Promise<void> {
    for (;;) {
      const items = await this.#source.after(channelId, this.#cursor.get(channelId) ?? 0);
      for (const item of items) {
        this.#cursor.set(channelId, item.seq);
        const data = JSON.stringify(this.#source.toWire(channelId, item));
        this.#send(`id: ${formatCursor(this.#cursor)}\nevent: record\ndata: ${data}\n\n`);
      }
      if (items.length === 0 || this.#closed) return;
    }
  }

  async #sendWorking(channels: readonly string[]): Promise<void> {
    const mine = (await this.#source.working()).filter((item) => channels.includes(item.channelId));
    const data = JSON.stringify(mine);
    if (data === this.#working) return;
    this.#working = data;
    this.#send(`event: working\ndata: ${data}\n\n`);
  }

  #send(text: string): void {
    const controller = this.#controller;
    if (!controller || this.#closed) return;
    if ((controller.desiredSize ?? 0) < -MAX_BACKLOG) this.close();
    else controller.enqueue(this.#encoder.encode(text));
  }
}

/** A cursor as text: "general=12&dm.ada.u1=5". */
export function formatCursor(cursor: ReadonlyMap<string, number>): string {
  const parameters = new URLSearchParams();
  for (const [channelId, seq] of cursor) parameters.set(channelId, String(seq));
  return parameters.toString();
}

/** Reads a cursor; anything unreadable in it is left out, which only means that more is sent. */
export function parseCursor(text: string): ReadonlyMap<string, number> {
  const cursor = new Map<string, number>();
  for (const [channelId, seq] of new URLSearchParams(text)) {
    if (/^\d{1,12}$/.test(seq)) cursor.set(channelId, Number(seq));
  }
  return cursor;
}
