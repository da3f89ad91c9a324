/**
 * The embedded database: a real PostgreSQL (PGlite) in a worker thread, kept in one directory and reached through a unix socket in it.
 * Needs no server, no account and no root; everything above speaks to it with `pg` exactly as to a server.
 * Invariant: one process per directory, and a commit that was acknowledged is on disk before the acknowledgement leaves the thread.
 * Survives kill -9; power loss only as well as the file system keeps names of new files. For several processes use a server.
 */
import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { PoolConfig } from "pg";
import { ConfigError } from "../errors.ts";
import type { Log } from "../log.ts";
import { DatabaseInUseError } from "./embedded-lock.ts";
import { startUpkeep } from "./embedded-upkeep.ts";
import type { EmbeddedStats, WorkerReport, WorkerRequest, WorkerTask } from "./embedded-worker.ts";
import { embeddedPoolOptions } from "./pool.ts";

/** How to open it. */
export interface EmbeddedOptions {
  /** Its own directory, made private (0700); nothing else belongs inside. */
  dir: string;
  log: Log;
  /** Called at most once when the database dies after it was opened: nothing can be stored any more, so the process should end. */
  onFatal: (error: Error) => void;
  /** Archive of an empty cluster; default is the one that the build makes. Without one the first start takes seconds longer. */
  templateFile?: string;
  /** A client that holds a transaction this long without using it, while others wait, is dropped (default 30,000). */
  idleTransactionMs?: number;
  /** Pause between rounds of checkpoint and vacuum (default 60,000; 0 = never). */
  upkeepMs?: number;
}

/** An open embedded database. */
export interface EmbeddedDatabase {
  /** Options for a `pg` Pool or Client. */
  readonly poolOptions: PoolConfig;
  /** The same as a URL, for other processes of this machine and user (for example `psql`). */
  readonly connectionString: string;
  /** Whether the directory already held a database, or a new one was unpacked or made. */
  readonly origin: "found" | "unpacked" | "made";
  stats(): Promise<EmbeddedStats>;
  /** Rolls back what is open, writes a checkpoint and frees the directory; takes 3 s at most. Close pools first. Calling it again is harmless. */
  close(): Promise<void>;
}

type Ready = Extract<WorkerReport, { type: "ready" }>;
const closeMs = 3_000;

/**
 * Opens the database in `dir`, making it on the first start. Throws DatabaseInUseError when another process holds the directory,
 * ConfigError when it cannot be opened.
 */
export async function openEmbeddedDatabase(options: EmbeddedOptions): Promise<EmbeddedDatabase> {
  const directory = resolve(options.dir);
  const worker = startWorker({
    directory,
    templateFile: options.templateFile ?? findTemplate(),
    idleTransactionMs: options.idleTransactionMs ?? 30_000,
  });
  const thread = watchWorker(worker, options);
  const ready = await thread.ready;
  const poolOptions = embeddedPoolOptions(ready.host, ready.port);
  const upkeep = startUpkeep({ poolOptions, log: options.log, everyMs: options.upkeepMs ?? 60_000 });
  const connectionString = `postgresql://postgres@localhost/postgres?host=${encodeURIComponent(ready.host)}&port=${ready.port}`;
  options.log.info({ directory, origin: ready.origin }, "embedded database open");
  return {
    poolOptions,
    connectionString,
    origin: ready.origin,
    stats: () => thread.stats(),
    close: async () => {
      upkeep.stop();
      await thread.close();
    },
  };
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

function findTemplate(): string | undefined {
  const places = ["../../database-template.tar.gz", "../../../dist/database-template.tar.gz"];
  return places.map((place) => fileURLToPath(new URL(place, import.meta.url))).find((file) => existsSync(file));
}

function errorOf(report: Extract<WorkerReport, { type: "failed" }>): Error {
  if (report.inUse) return new DatabaseInUseError(report.inUse.directory, report.inUse.pid);
  return new ConfigError(report.message);
}

interface Thread {
  ready: Promise<Ready>;
  stats(): Promise<EmbeddedStats>;
  close(): Promise<void>;
}

/** Turns the worker's messages into promises; its death counts as fatal unless it was asked to end or never became ready. */
function watchWorker(worker: Worker, options: EmbeddedOptions): Thread {
  const waiting = new Map<number, { resolve: (stats: EmbeddedStats) => void; reject: (error: Error) => void }>();
  const exited = new Promise<void>((resolve) => worker.once("exit", () => resolve()));
  let state: "starting" | "open" | "over" = "starting";
  let reason = "its thread ended";
  let lastId = 0;
  const send = (request: WorkerRequest) => worker.postMessage(request);
  const ready = new Promise<Ready>((resolve, reject) => {
    const onReport = (report: WorkerReport) => {
      if (report.type === "ready") {
        state = "open";
        resolve(report);
      } else if (report.type === "failed") {
        state = "over";
        reject(errorOf(report));
      } else if (report.type === "broken") reason = report.message;
      else if (report.type === "log") options.log[report.level]({ from: "postgres" }, report.message);
      else if (report.type === "stats") waiting.get(report.id)?.resolve(report.stats);
    };
    worker.on("message", onReport);
    worker.on("error", (error) => {
      reason = error.message;
    });
    worker.on("exit", () => {
      const error = new Error(`The embedded database stopped: ${reason}`);
      for (const request of waiting.values()) request.reject(error);
      reject(error);
      if (state === "open") options.onFatal(error);
      state = "over";
    });
  });
  const stats = () =>
    new Promise<EmbeddedStats>((resolve, reject) => {
      if (state !== "open") return reject(new Error("The embedded database is closed."));
      lastId += 1;
      waiting.set(lastId, { resolve, reject });
      send({ type: "stats", id: lastId });
    });
  const close = async () => {
    if (state !== "open") return exited;
    state = "over";
    send({ type: "close" });
    const timer = setTimeout(() => void worker.terminate(), closeMs);
    await exited;
    clearTimeout(timer);
  };
  return { ready, stats, close };
}
