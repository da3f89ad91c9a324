/**
 * Doorbells between processes: the run queue on Redis (docs/decisions/0005-run-queue.md). One shared BullMQ queue carries short jobs, one waiting job
 * per session; signals travel by publish and subscribe to every process. Libraries are loaded only when this queue is created.
 * Invariant: nothing here is truth. Whatever Redis loses, repeats or refuses, the claim in the database decides and the sweep rings again; while Redis
 * is away a serving process rings itself.
 */

import { randomUUID } from "node:crypto";
import type { Job, Queue, Worker } from "bullmq";
import type { Redis, RedisOptions } from "ioredis";
import type { Clock } from "../clock.ts";
import { ConfigError } from "../errors.ts";
import type { Log } from "../log.ts";
import { createLocalRunQueue } from "./local-run-queue.ts";
import type { RunQueue, SignalKind } from "./run-queue.ts";

/** What the queue is made of. `prefix` sets one installation's keys apart from others on the same server. */
export interface BullmqRunQueueParts {
  readonly redisUrl: string;
  readonly prefix: string;
  readonly clock: Clock;
  readonly log: Log;
  /** Rings handled at once in this process; each takes only as long as a claim. */
  readonly concurrency?: number;
}

const QUEUE = "rings";
const CONNECT_MS = 5000;
/** A ring is over in milliseconds; one whose worker died must not hold its session's next ring back for long. */
const LOCK_MS = 5000;
const STALLED_MS = 2000;
const WARN_EVERY_MS = 10_000;

interface Ring {
  readonly sessionId: string;
}

interface Note {
  readonly from: string;
  readonly sessionId: string;
  readonly kind: SignalKind;
}

/** Connects; throws ConfigError when no Redis answers at the address. */
export async function createBullmqRunQueue(parts: BullmqRunQueueParts): Promise<RunQueue> {
  const [bull, { Redis }] = await Promise.all([import("bullmq"), import("ioredis")]);
  const connect = (options: RedisOptions): Redis => {
    const connection = new Redis(parts.redisUrl, { ...options, lazyConnect: true, retryStrategy: backOff });
    // ioredis reports every failed attempt; without a listener each would be printed.
    connection.on("error", (error: Error) => parts.log.debug({ error: error.message }, "redis connection"));
    return connection;
  };
  // What rings must fail at once while Redis is away; what waits for rings must wait.
  const producer = connect({ enableOfflineQueue: false, maxRetriesPerRequest: 1 });
  await reach(producer, parts);
  const queue: Queue<Ring> = new bull.Queue(QUEUE, { connection: producer, prefix: parts.prefix });
  queue.on("error", (error) => parts.log.debug({ error: error.message }, "ring queue"));
  return new BullmqRunQueue(parts, {
    producer,
    queue,
    openWaiting: () => connect({ maxRetriesPerRequest: null }),
    openWorker: (connection, handle) =>
      new bull.Worker<Ring>(QUEUE, handle, {
        connection,
        prefix: parts.prefix,
        concurrency: parts.concurrency ?? 16,
        lockDuration: LOCK_MS,
        stalledInterval: STALLED_MS,
        maxStalledCount: 5,
      }),
  });
}

function backOff(attempt: number): number {
  return Math.min(1000, 50 * 2 ** Math.min(attempt, 5));
}

async function reach(producer: Redis, { clock }: BullmqRunQueueParts): Promise<void> {
  const over = new AbortController();
  const late = clock.delay(CONNECT_MS, over.signal).then(() => {
    throw new Error(`no answer within ${CONNECT_MS / 1000} s`);
  });
  try {
    await Promise.race([producer.connect(), late]);
  } catch (error) {
    producer.disconnect();
    const why = error instanceof Error ? error.message : String(error);
    throw new ConfigError(
      `REDIS_URL (storage.redisUrl): Redis cannot be reached (${why}). Check the address and that the server runs, or leave it out for one process.`,
      { cause: error },
    );
  } finally {
    late.catch(() => undefined);
    over.abort();
  }
}

interface Connections {
  readonly producer: Redis;
  readonly queue: Queue<Ring>;
  openWaiting(): Redis;
  openWorker(connection: Redis, handle: (job: Job<Ring>) => Promise<void>): Worker<Ring>;
}

class BullmqRunQueue implements RunQueue {
  readonly #parts: BullmqRunQueueParts;
  readonly #redis: Connections;
  readonly #origin = randomUUID();
  /** Takes over while Redis is away, and carries signals inside this process. */
  readonly #local: RunQueue;
  #serving: { readonly worker: Worker<Ring>; readonly connections: readonly Redis[] } | undefined;
  #closed = false;
  #warnedAt = Number.NEGATIVE_INFINITY;

  constructor(parts: BullmqRunQueueParts, redis: Connections) {
    this.#parts = parts;
    this.#redis = redis;
    this.#local = createLocalRunQueue(parts);
  }

  ring(sessionId: string, rank: number): void {
    if (this.#closed) return;
    this.#add(sessionId, rank).catch((error: unknown) => {
      if (this.#closed) return;
      this.#warn(error);
      if (this.#serving) this.#local.ring(sessionId, rank);
    });
  }

  signal(sessionId: string, kind: SignalKind): void {
    if (this.#closed) return;
    this.#local.signal(sessionId, kind);
    const note: Note = { from: this.#origin, sessionId, kind };
    // A signal that is lost costs a beat: whoever runs the turn looks at its flags each second.
    this.#redis.producer.publish(this.#channel, JSON.stringify(note)).catch((error: unknown) => this.#warn(error));
  }

  serve(onRing: (sessionId: string) => Promise<void>, onSignal: (sessionId: string, kind: SignalKind) => void): void {
    this.#local.serve(onRing, onSignal);
    const [forRings, forSignals] = [this.#redis.openWaiting(), this.#redis.openWaiting()];
    const worker = this.#redis.openWorker(forRings, (job) => onRing(job.data.sessionId));
    worker.on("error", (error) => this.#parts.log.debug({ error: error.message }, "ring worker"));
    worker.on("failed", (job, error) =>
      this.#parts.log.warn(
        { sessionId: job?.data.sessionId, error: error.message },
        "ring failed; the sweep repeats it",
      ),
    );
    forSignals.on("message", (_channel: string, text: string) => {
      const note = JSON.parse(text) as Note;
      if (note.from !== this.#origin) this.#local.signal(note.sessionId, note.kind);
    });
    // Subscribing waits for the connection, and is renewed with it.
    forSignals.subscribe(this.#channel).catch((error: unknown) => this.#warn(error));
    this.#serving = { worker, connections: [forRings, forSignals] };
  }

  async close(timeoutMs: number): Promise<void> {
    this.#closed = true;
    const { clock } = this.#parts;
    const worker = this.#serving?.worker;
    await Promise.race([Promise.allSettled([worker?.close(), this.#local.close(timeoutMs)]), clock.delay(timeoutMs)]);
    await Promise.race([Promise.allSettled([worker?.close(true), this.#redis.queue.close()]), clock.delay(500)]);
    for (const connection of [this.#redis.producer, ...(this.#serving?.connections ?? [])]) connection.disconnect();
  }

  get #channel(): string {
    return `${this.#parts.prefix}:signals`;
  }

  /** One waiting job per session. A ring that comes while a job is handled makes exactly one more; a more urgent one moves the waiting job up. */
  async #add(sessionId: string, rank: number): Promise<void> {
    const { queue } = this.#redis;
    const priority = rank + 1;
    const jobId = randomUUID();
    const job = await queue.add(
      "ring",
      { sessionId },
      {
        jobId,
        priority,
        deduplication: { id: sessionId, keepLastIfActive: true },
        removeOnComplete: true,
        removeOnFail: true,
      },
    );
    if (job.id === undefined || job.id === jobId) return;
    const waiting = await queue.getJob(job.id);
    if (!waiting || waiting.priority <= priority) return;
    // It may have begun or ended meanwhile; then its priority no longer matters.
    await waiting.changePriority({ priority }).catch(() => undefined);
  }

  #warn(error: unknown): void {
    const now = this.#parts.clock.now();
    if (now - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = now;
    this.#parts.log.warn({ error: String(error) }, "Redis does not take rings; this process goes on by itself");
  }
}
