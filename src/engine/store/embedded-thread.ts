/**
 * The main thread's end of the embedded database's worker: starts it, turns its messages into promises and notices when it has died
 * or hangs. Knows nothing of PostgreSQL. Invariant: `onFatal` is called at most once, only after `ready`, and never for a wanted end.
 */
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import { ConfigError } from "../errors.ts";
import type { Log } from "../log.ts";
import { DatabaseInUseError } from "./embedded-lock.ts";
import type { EmbeddedStats, WorkerReport, WorkerRequest, WorkerTask } from "./embedded-worker.ts";

type Ready = Extract<WorkerReport, { type: "ready" }>;

interface Waiter {
  resolve(stats: EmbeddedStats): void;
  reject(error: Error): void;
}

const closeMs = 3_000;

/** Ticks without any answer until the thread counts as hanging. Ticks, not time: a laptop that slept must not look like a hang. */
const silentTicks = 4;

/** Starts the worker for a task and speaks to it until `close`. */
export class DatabaseThread {
  /** Resolves when the database serves; rejects with the reason (a ConfigError) when it cannot. */
  readonly ready: Promise<Ready>;
  readonly #worker: Worker;
  readonly #log: Log;
  readonly #onFatal: (error: Error) => void;
  readonly #exited: Promise<void>;
  readonly #waiters = new Map<number, Waiter>();
  #state: "starting" | "open" | "over" = "starting";
  #reason = "its thread ended without a word";
  #lastId = 0;
  #unanswered = 0;
  #watch: NodeJS.Timeout | undefined;

  /** `watchMs` is the pause between signs of life that are asked for. */
  constructor(task: WorkerTask, log: Log, onFatal: (error: Error) => void, watchMs: number) {
    this.#log = log;
    this.#onFatal = onFatal;
    this.#worker = startWorker(task);
    this.#exited = new Promise((resolve) => this.#worker.once("exit", () => resolve()));
    this.ready = new Promise((resolve, reject) => {
      this.#worker.on("message", (report: WorkerReport) => this.#hear(report, resolve, reject));
      this.#worker.on("error", (error) => {
        this.#reason = error.message;
      });
      this.#worker.on("exit", () => {
        const problem = `the embedded database in ${task.directory} does not start: ${this.#reason}`;
        reject(new ConfigError(`storage.dir: ${problem}`));
        this.#end();
      });
    });
    this.#watch = setInterval(() => this.#lookAfter(), watchMs);
    this.#watch.unref();
  }

  /** Numbers of the worker. Rejects when it is closed or dies first. */
  stats(): Promise<EmbeddedStats> {
    return new Promise((resolve, reject) => {
      if (this.#state !== "open") return reject(new Error("The embedded database is closed."));
      this.#lastId += 1;
      this.#waiters.set(this.#lastId, { resolve, reject });
      this.#send({ type: "stats", id: this.#lastId });
    });
  }

  /** Asks the worker to end, and ends it by force after 3 s; nothing acknowledged is lost either way. */
  async close(): Promise<void> {
    if (this.#state === "open") {
      this.#state = "over";
      this.#send({ type: "close" });
      const timer = setTimeout(() => void this.#worker.terminate(), closeMs);
      await this.#exited;
      clearTimeout(timer);
    }
    await this.#exited;
  }

  #send(request: WorkerRequest): void {
    this.#worker.postMessage(request);
  }

  #hear(report: WorkerReport, resolve: (ready: Ready) => void, reject: (error: Error) => void): void {
    this.#unanswered = 0;
    if (report.type === "ready") {
      this.#state = "open";
      resolve(report);
    } else if (report.type === "failed") {
      this.#state = "over";
      const { inUse } = report;
      reject(inUse ? new DatabaseInUseError(inUse.directory, inUse.pid) : new ConfigError(report.message));
    } else if (report.type === "stats") {
      this.#waiters.get(report.id)?.resolve(report.stats);
      this.#waiters.delete(report.id);
    } else if (report.type === "log") this.#log[report.level]({ from: "postgres" }, report.message);
    else if (report.type === "broken") this.#reason = report.message;
  }

  #lookAfter(): void {
    if (this.#state !== "open") return;
    if (this.#unanswered >= silentTicks) {
      this.#reason = "it has not answered for too long";
      void this.#worker.terminate();
      return;
    }
    this.#unanswered += 1;
    this.stats().catch(() => undefined); // its end is reported by the exit event
  }

  #end(): void {
    const error = new Error(`The embedded database stopped: ${this.#reason}`);
    const wasOpen = this.#state === "open";
    this.#state = "over";
    clearInterval(this.#watch);
    for (const waiter of this.#waiters.values()) waiter.reject(error);
    this.#waiters.clear();
    if (wasOpen) this.#onFatal(error);
  }
}

/** The thread runs the same files as its parent: JavaScript in dist; in development and tests TypeScript, which needs tsx in the thread too. */
function startWorker(task: WorkerTask): Worker {
  const settings = { name: "embedded-database", workerData: task, execArgv: [] };
  if (!import.meta.url.endsWith(".ts")) return new Worker(new URL("./embedded-worker.js", import.meta.url), settings);
  const loader = pathToFileURL(createRequire(import.meta.url).resolve("tsx"));
  const register = JSON.stringify(new URL("./esm/api/index.mjs", loader).href);
  const entry = JSON.stringify(new URL("./embedded-worker.ts", import.meta.url).href);
  const code = `import { register } from ${register}; register(); await import(${entry});`;
  return new Worker(new URL(`data:text/javascript,${encodeURIComponent(code)}`), settings);
}
