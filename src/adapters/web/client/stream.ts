/**
 * The live connection. The browser reconnects by itself and says what it saw last; where it gives up, or falls silent after a sleep, this opens a
 * new connection that continues from the same place.
 */

import type { WireRecord, WireWorking } from "../wire.ts";

/** What the page wants to hear. */
export interface StreamListener {
  onRecord(record: WireRecord): void;
  onWorking(working: readonly WireWorking[]): void;
  onState(state: "live" | "offline"): void;
  /** The server refused the connection instead of being away: perhaps it no longer knows this person. */
  onRefused(): void;
}

const SILENCE_MS = 40_000;
const MAX_WAIT_MS = 10_000;

/** One live connection that heals itself. */
export class LiveStream {
  readonly #listener: StreamListener;
  #source: EventSource | undefined;
  #cursor = "";
  #failures = 0;
  #retry: ReturnType<typeof setTimeout> | undefined;
  #heardAt = 0;

  constructor(listener: StreamListener) {
    this.#listener = listener;
    setInterval(() => this.#checkSilence(), 5000);
    addEventListener("online", () => this.#source && this.#open());
    addEventListener("offline", () => this.#listener.onState("offline"));
  }

  /** Starts, or starts again, after this cursor. */
  start(cursor: string): void {
    this.#cursor = cursor;
    this.#open();
  }

  /** Ends the connection for good. */
  stop(): void {
    clearTimeout(this.#retry);
    this.#source?.close();
    this.#source = undefined;
  }

  #open(): void {
    clearTimeout(this.#retry);
    this.#source?.close();
    const source = new EventSource(`/api/stream?after=${encodeURIComponent(this.#cursor)}`);
    this.#source = source;
    this.#heardAt = Date.now();
    source.onopen = () => this.#onOpen();
    source.onerror = () => this.#onError(source);
    source.addEventListener("record", (event) => {
      this.#cursor = event.lastEventId;
      this.#heard();
      this.#listener.onRecord(JSON.parse(event.data) as WireRecord);
    });
    source.addEventListener("working", (event) => {
      this.#heard();
      this.#listener.onWorking(JSON.parse(event.data) as WireWorking[]);
    });
    source.addEventListener("beat", () => this.#heard());
  }

  #onOpen(): void {
    this.#failures = 0;
    this.#heard();
    this.#listener.onState("live");
  }

  #onError(source: EventSource): void {
    this.#listener.onState("offline");
    if (source.readyState !== EventSource.CLOSED || source !== this.#source) return;
    this.#failures += 1;
    const wait = Math.min(MAX_WAIT_MS, 500 * 2 ** this.#failures);
    clearTimeout(this.#retry);
    this.#retry = setTimeout(() => this.#open(), wait);
    this.#listener.onRefused();
  }

  #heard(): void {
    this.#heardAt = Date.now();
  }

  #checkSilence(): void {
    if (this.#source && Date.now() - this.#heardAt > SILENCE_MS) this.#open();
  }
}
