/**
 * Keeps one bot's Socket Mode connections alive: two lanes, each a connection that is replaced before it ends. Slack sends every payload to one of
 * the open connections, so while one is renewed the other listens.
 * Invariant: nothing here ever rejects unnoticed; one bot's revoked token stops only that bot (and is tried again now and then); more sockets
 * than the lanes need are counted as an alarm. What arrives is handled by the receiver; it decides when to acknowledge.
 */

import type { Clock, Log, Metrics } from "../../engine/index.ts";
import type { SlackProblem } from "./errors.ts";
import { problemOf } from "./errors.ts";
import { openSocket, type Socket, type SocketOptions, type SocketPayload } from "./socket.ts";

/** How the lanes are run. Times are ms. */
export interface SupervisorOptions {
  readonly lanes: number;
  /** A connection without any payload for this long is renewed: it may be dead without knowing (its pings still answered). */
  readonly silenceMs: number;
  /** So many payloads on the other lanes since this one's last make a dead one likely. */
  readonly skippedPayloads: number;
  readonly checkMs: number;
  readonly backoffMs: readonly number[];
  /** Wait between tries while the app token is refused. */
  readonly refusedMs: number;
}

/** How connections are run in production. */
export const DEFAULT_SUPERVISION: SupervisorOptions = {
  lanes: 2,
  silenceMs: 10 * 60_000,
  skippedPayloads: 12,
  checkMs: 5000,
  backoffMs: [250, 1000, 2000, 5000, 10_000, 20_000, 30_000],
  refusedMs: 60_000,
};

/** What the owner hears. `connected` comes with each first open connection, `down` when none is left. */
export interface SupervisorEvents {
  connected(): void;
  down(): void;
  refused(problem: SlackProblem): void;
}

/** What a supervisor is made of. */
export interface SupervisorParts {
  readonly socket: Omit<SocketOptions, "onPayload" | "onEnd">;
  readonly onPayload: (payload: SocketPayload, acknowledge: (response?: unknown) => void) => void;
  readonly events: SupervisorEvents;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly options: SupervisorOptions;
}

/** A bot's connections. `start` returns at once; `stop` resolves when all sockets are closed, within two seconds. */
export interface Supervisor {
  start(): void;
  stop(): Promise<void>;
  /** Open sockets right now. */
  open(): number;
}

interface Lane {
  readonly index: number;
  current: Socket | undefined;
  /** The connection before `current`, kept a moment for what it still has to acknowledge. */
  retiring: Socket | undefined;
  lastPayloadAt: number;
  skipped: number;
  renew: (() => void) | undefined;
}

const STOP_WAIT_MS = 2000;
const LINGER_MS = 1000;
const SHORT_LIFE_MS = 3000;
const FREE_RENEWALS = 2;
const FLAPPING: SlackProblem = { problem: "unknown", code: "flapping", waitMs: 0, text: "" };
const LINK_DISABLED =
  "Socket Mode was switched off for this app. Switch it on in the app's settings, or give a signingSecret for HTTP.";

/** Creates the supervisor of one bot. */
export function createSupervisor(parts: SupervisorParts): Supervisor {
  return new LaneSupervisor(parts);
}

class LaneSupervisor implements Supervisor {
  readonly #parts: SupervisorParts;
  readonly #lanes: readonly Lane[];
  readonly #sockets = new Set<Socket>();
  readonly #stopping = new AbortController();
  readonly #running: Promise<void>[] = [];

  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    this.#lanes = Array.from({ length: parts.options.lanes }, (_none, index) => ({
      index,
      current: undefined,
      retiring: undefined,
      lastPayloadAt: 0,
      skipped: 0,
      renew: undefined,
    }));
  }

  start(): void {
    for (const lane of this.#lanes) this.#running.push(this.#serve(lane));
    this.#running.push(this.#watch());
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    for (const lane of this.#lanes) lane.renew?.();
    await Promise.all([...this.#sockets].map((socket) => socket.close()));
    // A connection that is just being opened closes itself when it is there; nobody has to wait for it.
    await Promise.race([Promise.all(this.#running), this.#parts.clock.delay(STOP_WAIT_MS)]);
  }

  open(): number {
    return [...this.#sockets].filter((socket) => socket.isOpen()).length;
  }

  /** Opens, waits for a reason to renew, opens the next one, and only then closes the old one. */
  async #serve(lane: Lane): Promise<void> {
    let failures = 0;
    while (!this.#stopping.signal.aborted) {
      const opened = await this.#open(lane);
      if (!opened.ok) {
        await this.#pause(this.#waitAfter(opened.problem, failures));
        failures += 1;
        continue;
      }
      if (this.#stopping.signal.aborted) return opened.socket.close();
      const since = this.#parts.clock.now();
      await this.#use(lane, opened.socket);
      failures = this.#parts.clock.now() - since < SHORT_LIFE_MS ? failures + 1 : 0;
      // A connection that is taken away again and again must not be reopened in a tight loop.
      if (failures > FREE_RENEWALS) await this.#pause(this.#waitAfter(FLAPPING, failures - FREE_RENEWALS));
    }
  }

  async #use(lane: Lane, socket: Socket): Promise<void> {
    const old = lane.current;
    const renewed = this.#install(lane, socket);
    if (old) void this.#retire(lane, old);
    await renewed;
  }

  async #open(lane: Lane): Promise<{ ok: true; socket: Socket } | { ok: false; problem: SlackProblem }> {
    try {
      const socket = await openSocket({
        ...this.#parts.socket,
        onPayload: (payload, own) => {
          this.#heard(lane);
          this.#parts.onPayload(payload, (response) => this.#acknowledge(own, payload.envelopeId, response));
        },
        onEnd: (ended, reason) => this.#ended(lane, ended, reason),
      });
      return { ok: true, socket };
    } catch (error) {
      const problem = problemOf(error);
      this.#parts.log.warn({ code: problem.code, lane: lane.index }, "slack connection failed");
      if (problem.problem === "bot" || problem.problem === "content") this.#parts.events.refused(problem);
      return { ok: false, problem };
    }
  }

  /** A connection may end between a payload and its acknowledgement; Slack knows the payload by its id, whichever connection names it. */
  #acknowledge(own: Socket, envelopeId: string, response: unknown): void {
    if (own.acknowledge(envelopeId, response)) return;
    for (const other of this.#sockets) if (other.acknowledge(envelopeId, response)) return;
    this.#parts.metrics.count("parley_slack_lost_acknowledgements_total");
  }

  /** Makes the socket the lane's own; the promise resolves when it is time for the next one. */
  #install(lane: Lane, socket: Socket): Promise<void> {
    this.#sockets.add(socket);
    const wasDown = this.open() <= 1;
    lane.current = socket;
    lane.lastPayloadAt = this.#parts.clock.now();
    lane.skipped = 0;
    this.#alarm();
    if (wasDown) this.#parts.events.connected();
    return new Promise((resolve) => {
      lane.renew = resolve;
      if (!socket.isOpen() || this.#stopping.signal.aborted) resolve();
    });
  }

  /** At most one old socket per lane may overlap with its successor. */
  #alarm(): void {
    const count = this.open();
    if (count <= this.#lanes.length * 2) return;
    this.#parts.metrics.count("parley_slack_surplus_sockets_total");
    this.#parts.log.error({ count }, "more slack sockets than lanes need");
  }

  #ended(lane: Lane, socket: Socket, reason: string): void {
    this.#parts.log.debug({ lane: lane.index, reason }, "slack connection ends");
    if (reason === "link_disabled") {
      this.#parts.events.refused({ problem: "bot", code: reason, waitMs: 0, text: LINK_DISABLED });
    }
    if (!socket.isOpen()) this.#sockets.delete(socket);
    if (this.open() === 0 && !this.#stopping.signal.aborted) this.#parts.events.down();
    if (lane.current === socket) lane.renew?.();
  }

  /** The old connection may finish acknowledging, unless an older one still does. */
  async #retire(lane: Lane, socket: Socket): Promise<void> {
    const older = lane.retiring;
    lane.retiring = socket;
    if (older) void older.close().then(() => this.#sockets.delete(older));
    if (socket.isOpen()) await this.#pause(LINGER_MS);
    await socket.close();
    this.#sockets.delete(socket);
    if (lane.retiring === socket) lane.retiring = undefined;
  }

  #heard(lane: Lane): void {
    lane.lastPayloadAt = this.#parts.clock.now();
    lane.skipped = 0;
    for (const other of this.#lanes) if (other !== lane) other.skipped += 1;
  }

  /** Renews connections that look alive and hear nothing. */
  async #watch(): Promise<void> {
    const { options, clock } = this.#parts;
    while (!this.#stopping.signal.aborted) {
      await clock.delay(options.checkMs, this.#stopping.signal);
      for (const lane of this.#lanes) if (this.#isSuspicious(lane)) this.#renew(lane);
    }
  }

  #isSuspicious(lane: Lane): boolean {
    if (!lane.current?.isOpen()) return false;
    const { options, clock } = this.#parts;
    // Lanes take turns, so that quiet workspaces do not renew all of them at the same moment.
    const limit = options.silenceMs * (1 + lane.index / (2 * this.#lanes.length));
    return lane.skipped >= options.skippedPayloads || clock.now() - lane.lastPayloadAt >= limit;
  }

  #renew(lane: Lane): void {
    this.#parts.metrics.count("parley_slack_silent_sockets_total");
    lane.lastPayloadAt = this.#parts.clock.now();
    lane.skipped = 0;
    lane.renew?.();
  }

  #waitAfter(problem: SlackProblem, failures: number): number {
    const { backoffMs, refusedMs } = this.#parts.options;
    const base =
      problem.problem === "bot" || problem.problem === "content"
        ? refusedMs
        : (backoffMs[Math.min(failures, backoffMs.length - 1)] ?? 1000);
    // Jitter keeps many bots from knocking at the same instant after an outage.
    return Math.max(problem.waitMs, base * (0.5 + Math.random()));
  }

  #pause(ms: number): Promise<void> {
    return this.#parts.clock.delay(ms, this.#stopping.signal);
  }
}
