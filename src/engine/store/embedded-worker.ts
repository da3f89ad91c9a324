/**
 * Entry of the worker thread in which the embedded PostgreSQL lives: claims the directory, makes sure of a cluster, starts PGlite on it
 * and serves it. A thread of its own, because PGlite computes for milliseconds to seconds without a pause and the main thread must
 * go on acknowledging events. Says everything to the main thread by messages; once the database is broken it says so and ends.
 */
import { join } from "node:path";
import { type MessagePort, parentPort, workerData } from "node:worker_threads";
import { PGlite } from "@electric-sql/pglite";
import { ConfigError } from "../errors.ts";
import { DurableFiles, durableStart } from "./embedded-files.ts";
import { claimDirectory, DatabaseInUseError, type DirectoryClaim } from "./embedded-lock.ts";
import { simpleQuery } from "./embedded-messages.ts";
import { ensureCluster } from "./embedded-template.ts";
import { type DatabaseSession, WireServer } from "./embedded-wire.ts";

/** What the main thread gives the worker. */
export interface WorkerTask {
  directory: string;
  templateFile: string | undefined;
  idleTransactionMs: number;
}

/** From the main thread. `stats` is answered with the same id. */
export type WorkerRequest = { type: "close" } | { type: "stats"; id: number };

/** Numbers for tests and metrics: fdatasync calls since the start and clients connected now. */
export interface EmbeddedStats {
  syncs: number;
  clients: number;
}

/** To the main thread: exactly one of ready or failed, then at most one of closed or broken. */
export type WorkerReport =
  | { type: "ready"; host: string; port: number; origin: "found" | "unpacked" | "made" }
  | { type: "failed"; message: string; inUse?: { directory: string; pid: number | undefined } }
  | { type: "broken"; message: string }
  | { type: "closed" }
  | { type: "stats"; id: number; stats: EmbeddedStats }
  | { type: "log"; level: "debug" | "warn"; message: string };

const textOf = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** PostgreSQL's ERROR lines quote values of people's messages, so only lines about the server itself are passed on. */
const aboutServer = /\b(LOG|WARNING|FATAL|PANIC): /;

/** PostgreSQL's last lines, to tell why it did not start or gave up. */
interface ServerLines {
  add(line: string): void;
  /** The last line that says why the server cannot go on. */
  reason(): string | undefined;
}

function rememberLines(say: (report: WorkerReport) => void): ServerLines {
  const lines: string[] = [];
  return {
    add: (line) => {
      lines.push(line);
      if (lines.length > 20) lines.shift();
      if (aboutServer.test(line)) say({ type: "log", level: line.includes("LOG: ") ? "debug" : "warn", message: line });
    },
    reason: () => lines.findLast((line) => /FATAL: |PANIC: /.test(line)),
  };
}

/** The database as the wire server sees it. Syncing is PostgreSQL's own business here, see embedded-files. */
function sessionOf(db: PGlite): DatabaseSession {
  return {
    run: (messages, answer) => db.execProtocolRawStream(messages, { syncToFs: false, onRawData: answer }),
    inTransaction: () => db.isInTransaction(),
  };
}

async function serve(claim: DirectoryClaim, task: WorkerTask, port: MessagePort): Promise<void> {
  const say = (report: WorkerReport) => port.postMessage(report);
  const cluster = join(task.directory, "cluster");
  const origin = await ensureCluster(cluster, task.templateFile);
  const lines = rememberLines(say);
  const breakDown = (error: unknown) => {
    say({ type: "broken", message: lines.reason() ?? textOf(error) });
    process.exit(1);
  };
  const files = new DurableFiles(cluster, () => breakDown("PostgreSQL gave up"));
  const onStderr = (line: string) => {
    lines.add(line);
    return false;
  };
  const db = await PGlite.create({ fs: files, startParams: durableStart, onStderr }).catch((error: unknown) => {
    const reason = lines.reason() ?? textOf(error);
    throw new ConfigError(`storage.dir: the embedded database in ${cluster} does not start: ${reason}`, {
      cause: error,
    });
  });
  const session = sessionOf(db);
  const wire = new WireServer(session, {
    idleTransactionMs: task.idleTransactionMs,
    onBroken: breakDown,
    onNotice: (message) => say({ type: "log", level: "warn", message }),
  });
  claim.serve((socket) => wire.accept(socket));
  const close = async () => {
    await wire.stop();
    await session.run(simpleQuery("CHECKPOINT"), () => undefined);
    await db.close();
    await claim.release();
    say({ type: "closed" });
    port.close();
  };
  port.on("message", (request: WorkerRequest) => {
    if (request.type === "close") void close();
    else say({ type: "stats", id: request.id, stats: { syncs: files.syncs, clients: wire.clients } });
  });
  say({ type: "ready", host: claim.host, port: claim.port, origin });
}

async function run(task: WorkerTask, port: MessagePort): Promise<void> {
  let claim: DirectoryClaim | undefined;
  try {
    claim = await claimDirectory(task.directory);
    await serve(claim, task, port);
  } catch (error) {
    const inUse = error instanceof DatabaseInUseError ? { directory: error.directory, pid: error.pid } : undefined;
    port.postMessage({ type: "failed", message: textOf(error), ...(inUse && { inUse }) } satisfies WorkerReport);
    await claim?.release();
    port.close();
  }
}

if (parentPort) await run(workerData as WorkerTask, parentPort);
