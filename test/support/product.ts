/**
 * Runs the product for a test: in this process, or in one of its own that can be killed for real. Both read the same settings file in their folder.
 * Invariant: a started product is ready (every bot connected or definitely failed) when the promise resolves.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { start } from "../../src/main.ts";
import { pause } from "../emulators/loopback.ts";

/** A running product. */
export interface Product {
  readonly url: string;
  /** Process id; this process's own when it runs in here. */
  readonly pid: number;
  /** Drains and ends, as on SIGTERM. */
  stop(): Promise<void>;
  /** Ends at once, as a power cut. Only for a process of its own. */
  kill(): Promise<void>;
}

/** How to start it. `logs` takes every log line. */
export interface ProductOptions {
  readonly folder: string;
  readonly env: Readonly<Record<string, string>>;
  readonly logs: string[];
  /** More of the command line, for example `--role worker`; only for a process of its own. */
  readonly args?: readonly string[];
}

const READY_MS = 90_000;

/** Starts the product in this process. */
export async function startInside({ folder, env, logs }: ProductOptions): Promise<Product> {
  const running = await start({ argv: [], env, cwd: folder, writeLog: (line) => void logs.push(line) });
  await untilReady(running.url);
  const kill = () => Promise.reject(new Error('only a product with `process: "own"` can be killed'));
  return { url: running.url, pid: process.pid, stop: running.stop, kill };
}

/** A process that may not be ready yet; `kill` works from the first instant, and makes `ready` reject. */
export interface Starting {
  readonly ready: Promise<Product>;
  kill(): Promise<void>;
}

/** Starts the product in a process of its own, as `npm start` does it. */
export function startApart({ folder, env, logs, args = [] }: ProductOptions): Starting {
  const entry = fileURLToPath(new URL("../../scripts/start.mjs", import.meta.url));
  const child = spawn(process.execPath, [entry, ...args], {
    cwd: folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const exited = once(child, "exit");
  const end = async (signal: "SIGTERM" | "SIGKILL") => {
    child.kill(signal);
    await exited;
  };
  const kill = () => end("SIGKILL");
  const ready = async (): Promise<Product> => {
    const url = await readyUrl(child, logs);
    await untilReady(url);
    return { url, pid: child.pid ?? 0, stop: () => end("SIGTERM"), kill };
  };
  return { ready: ready(), kill };
}

/** Keeps reading the child's lines; resolves with the address of its "ready" line. */
function readyUrl(child: ChildProcess, logs: string[]): Promise<string> {
  return new Promise((resolve, reject) => {
    child.once("exit", (code) => reject(new Error(`the product ended with ${code}:\n${logs.slice(-20).join("\n")}`)));
    for (const stream of [child.stdout, child.stderr]) {
      if (!stream) continue;
      createInterface({ input: stream }).on("line", (line) => {
        logs.push(line);
        const url = /"url":"([^"]+)".*"msg":"ready"/.exec(line)?.[1];
        if (url) resolve(url);
      });
    }
  });
}

async function untilReady(url: string): Promise<void> {
  const end = Date.now() + READY_MS;
  for (;;) {
    const answer = await fetch(`${url}/readyz`);
    const body = await answer.text();
    if (answer.ok) return;
    if (Date.now() > end) throw new Error(`the product is not ready: ${body}`);
    await pause(10);
  }
}
