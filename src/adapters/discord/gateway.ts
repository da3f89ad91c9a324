/**
 * One bot's gateway connection with Discord's own client: resumes instead of starting anew wherever that is possible, also after a restart, and never
 * leaves a connection behind.
 * Invariant: at most one session per bot; once stopped nothing connects again; what is remembered of a session for the next process counts only
 * events that were taken in. A start of a session (IDENTIFY) happens only when the budget allows it.
 */

import type { SessionInfo } from "@discordjs/ws";
import { SimpleShardingStrategy, WebSocketManager, WebSocketShardEvents } from "@discordjs/ws";
import type { REST } from "discord.js";
import type { Clock, Log } from "../../engine/index.ts";
import { type Fields, toFields } from "../shared/fields.ts";
import type { IdentifyBudget } from "./identify-budget.ts";

/** What the connection tells. Nothing here may throw. */
export interface GatewayEvents {
  /** A new session: what happened before it is not replayed. */
  ready(data: Fields): void;
  /** The old session goes on; everything missed was or will be dispatched. */
  resumed(): void;
  /** An event, with its place in the session. */
  dispatch(event: string, data: Fields, sequence: number): void;
  /** The connection is down and is being opened again. */
  down(code: number): void;
  /** Discord will not have us: nothing is tried any more. */
  ended(code: number): void;
  /** A heartbeat was answered. */
  beat(): void;
}

/** What a connection is made from. */
export interface GatewayParts {
  readonly token: string;
  readonly intents: number;
  readonly rest: REST;
  readonly budget: IdentifyBudget;
  /** The session to go on with, from an earlier process. */
  readonly session: SessionInfo | null;
  readonly events: GatewayEvents;
  readonly clock: Clock;
  readonly log: Log;
  readonly backoffMs?: readonly number[];
}

/** One bot's connection. */
export interface Gateway {
  /** Begins to connect. Rejects when Discord's answer about its gateway does not allow it; later trouble is told by events. */
  open(): Promise<void>;
  /** The session as the client sees it; null when there is none. */
  session(): SessionInfo | null;
  /** Closes so that the session can be resumed by the next process. */
  close(): Promise<void>;
}

/** Close codes after which Discord will not talk to us again. */
const FINAL_CODES = new Set([4004, 4010, 4011, 4012, 4013, 4014]);
/** Closing with it keeps the session alive for a few minutes. */
const KEEP_SESSION = 4200;
const BACKOFF_MS = [0, 500, 1000, 2000, 5000, 10_000, 30_000];
/** Attempts in a row to go on with a session, about ten seconds with the waits above; the next ones ask for a fresh session. */
const RESUME_ATTEMPTS = 5;

/** Creates the connection; nothing happens before `open`. */
export function createGateway(parts: GatewayParts): Gateway {
  const state: SessionState = { current: parts.session, isOver: new AbortController(), failures: 0 };
  const manager = new WebSocketManager({
    token: parts.token,
    intents: parts.intents,
    rest: parts.rest,
    buildStrategy: (owner) => new SingleConnection(owner, state, parts),
    buildIdentifyThrottler: () => Promise.resolve({ waitForIdentify: (_shard, signal) => parts.budget.take(signal) }),
    // Given per bot: by default all connections of a process share one memory of sessions.
    // A session lives on one host; when that host cannot be reached, a fresh one is begun at the general address and history is read instead.
    retrieveSessionInfo: () => (state.failures > RESUME_ATTEMPTS ? null : state.current),
    updateSessionInfo: (_shard, session) => {
      if (!state.isOver.signal.aborted) state.current = session;
    },
    // One connection carries up to 2,500 servers; the session above is that one's.
    shardCount: 1,
    handshakeTimeout: 10_000,
    helloTimeout: 15_000,
  });
  listen(manager, state, parts);
  return {
    async open() {
      await checkLimit(manager, parts.budget);
      // Settles with the first session; trouble before that is told by events, and the client goes on trying.
      manager.connect().catch((error: unknown) => {
        parts.log.debug(
          { error: error instanceof Error ? error.name : "" },
          "discord gateway: first connection failed",
        );
      });
    },
    session: () => state.current,
    async close() {
      state.isOver.abort();
      await manager.destroy({ code: KEEP_SESSION, reason: "restarting" });
    },
  };
}

interface SessionState {
  current: SessionInfo | null;
  readonly isOver: AbortController;
  /** Attempts to connect since the last session or resume. */
  failures: number;
}

/** The client's own reason to refuse, found out before anything is built: no starts left today. */
async function checkLimit(manager: WebSocketManager, budget: IdentifyBudget): Promise<void> {
  const { session_start_limit: limit } = await manager.fetchGatewayInformation();
  await budget.told({ total: limit.total, remaining: limit.remaining, resetAfterMs: limit.reset_after });
}

function listen(manager: WebSocketManager, state: SessionState, { events, budget, log }: GatewayParts): void {
  manager.on(WebSocketShardEvents.Ready, ({ data }) => {
    state.failures = 0;
    events.ready(toFields(data));
  });
  manager.on(WebSocketShardEvents.Resumed, () => {
    state.failures = 0;
    events.resumed();
  });
  manager.on(WebSocketShardEvents.Dispatch, ({ data }) => events.dispatch(data.t, toFields(data.d), data.s));
  manager.on(WebSocketShardEvents.HeartbeatComplete, () => {
    budget.steady();
    events.beat();
  });
  manager.on(WebSocketShardEvents.Closed, ({ code }) => {
    if (state.isOver.signal.aborted) return;
    log.info({ code }, "discord gateway closed");
    if (!FINAL_CODES.has(code)) return events.down(code);
    state.isOver.abort();
    events.ended(code);
  });
  // The client reports refused connections and bad frames here; it goes on by itself, and without a listener the process would end.
  manager.on(WebSocketShardEvents.Error, ({ error }) => log.debug({ error: error.name }, "discord gateway trouble"));
}

/** The part of the client's connection that decides about connecting again. */
interface Connectable {
  internalConnect(): Promise<void>;
}

/**
 * The client tries again twice a second without end, also after it was told to stop while it was between two tries. Every try goes through here: it
 * waits longer each time, and none is made once the connection is over.
 */
class SingleConnection extends SimpleShardingStrategy {
  readonly #state: SessionState;
  readonly #parts: GatewayParts;

  constructor(manager: WebSocketManager, state: SessionState, parts: GatewayParts) {
    super(manager);
    this.#state = state;
    this.#parts = parts;
  }

  override async spawn(shardIds: number[]): Promise<void> {
    await super.spawn(shardIds);
    const { shards } = this as unknown as { readonly shards: ReadonlyMap<number, Connectable> };
    for (const shard of shards.values()) {
      const connect = shard.internalConnect.bind(shard);
      shard.internalConnect = () => this.#connect(connect);
    }
  }

  async #connect(connect: () => Promise<void>): Promise<void> {
    const { clock, backoffMs = BACKOFF_MS } = this.#parts;
    const { isOver } = this.#state;
    const wait = backoffMs[Math.min(this.#state.failures, backoffMs.length - 1)] ?? 0;
    this.#state.failures += 1;
    if (wait > 0) await clock.delay(wait * (0.7 + 0.6 * Math.random()), isOver.signal);
    if (!isOver.signal.aborted) await connect();
  }
}
