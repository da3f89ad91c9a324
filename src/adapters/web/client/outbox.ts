/**
 * Messages on their way to the server, kept in the browser's storage so that a reload loses none. They go out one by one in the order they were
 * written; without a connection they wait. Each carries its own id, so sending twice shows it once.
 */

import { ApiError } from "./api.ts";
import type { Outgoing } from "./model.ts";

/** What the outbox needs of the page. */
export interface OutboxPort {
  list(): readonly Outgoing[];
  change(clientId: string, change: Partial<Outgoing>): void;
  send(item: Outgoing): Promise<void>;
}

const FIRST_WAIT_MS = 1000;
const MAX_WAIT_MS = 15_000;

/** Sends what waits; `flush` may be called at any time and any number of times. */
export class Outbox {
  readonly #port: OutboxPort;
  #running = false;
  #wait = FIRST_WAIT_MS;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(port: OutboxPort) {
    this.#port = port;
  }

  /** Sends everything that is due, now. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    if (this.#running) return;
    this.#running = true;
    for (let item = this.#next(); item; item = this.#next()) {
      const went = await this.#try(item);
      if (!went) break;
    }
    this.#running = false;
  }

  #next(): Outgoing | undefined {
    return this.#port.list().find((item) => item.state === "sending" || item.state === "waiting");
  }

  async #try(item: Outgoing): Promise<boolean> {
    this.#port.change(item.clientId, { state: "sending" });
    try {
      await this.#port.send(item);
      this.#wait = FIRST_WAIT_MS;
      return true;
    } catch (error) {
      const problem = error instanceof ApiError ? error : new ApiError(0, "The message could not be sent.");
      if (!problem.temporary) {
        this.#port.change(item.clientId, { state: "failed", error: problem.message });
        return true;
      }
      this.#port.change(item.clientId, { state: "waiting" });
      this.#timer = setTimeout(() => void this.flush(), this.#wait);
      this.#wait = Math.min(MAX_WAIT_MS, this.#wait * 2);
      return false;
    }
  }
}

const KEY = "parley.outbox";

/** What was on its way when the page was left, for this person. */
export function loadOutgoing(personId: string): readonly Outgoing[] {
  try {
    const items: unknown = JSON.parse(localStorage.getItem(`${KEY}.${personId}`) ?? "[]");
    return Array.isArray(items) ? (items as Outgoing[]) : [];
  } catch {
    return []; // Storage is off or holds nonsense: then there is nothing to resume.
  }
}

/** Keeps what is on its way. */
export function saveOutgoing(personId: string, items: readonly Outgoing[]): void {
  try {
    localStorage.setItem(`${KEY}.${personId}`, JSON.stringify(items));
  } catch {
    // Storage is off or full: messages still go out, only a reload would lose those that wait.
  }
}
