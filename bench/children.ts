/**
 * Processes under measurement: starts them, waits for what they print, asks their probe what they used, ends them. Each is ended when the
 * measuring process ends, whatever happens. What is measured is left to the callers.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** What a process has used since it started; memory in bytes, after a full garbage collection. */
export interface Usage {
  readonly cpuMs: number;
  readonly rss: number;
  readonly heapUsed: number;
  readonly external: number;
  /** Statements sent to the database; only of the product. */
  readonly statements?: number;
}

/** A measured process. */
export interface Child {
  readonly lines: readonly string[];
  /** Milliseconds from its start until the probe reached that point. */
  readonly phases: ReadonlyMap<string, number>;
  /** Resolves with the groups of the first line that fits and the milliseconds since the start at which it came. */
  line(pattern: RegExp): Promise<{ readonly match: RegExpExecArray; readonly at: number }>;
  usage(): Promise<Usage>;
  /** Milliseconds since it was started. */
  age(): number;
  stop(): Promise<void>;
}

/** Where and how to start it. */
export interface ChildOptions {
  readonly script: string;
  readonly cwd?: string;
  readonly env?: Readonly<Record<string, string>>;
}

const LINE_MS = 60_000;

/** Starts a script of this folder under the same Node. */
export function startChild({ script, cwd, env }: ChildOptions): Child {
  const startedAt = performance.timeOrigin + performance.now();
  const child = spawn(process.execPath, ["--expose-gc", fileURLToPath(new URL(script, import.meta.url))], {
    ...(cwd ? { cwd } : {}),
    env: { PATH: process.env.PATH, HOME: process.env.HOME, ...env },
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  const age = () => performance.timeOrigin + performance.now() - startedAt;
  const kill = () => void child.kill("SIGKILL");
  process.once("exit", kill);
  const gone = once(child, "exit").then(() => void process.off("exit", kill));
  const phases = new Map<string, number>();
  child.on("message", (message) => {
    if (isPhase(message)) phases.set(message.phase, message.at - startedAt);
  });
  const reading = readLines(child, age);
  return {
    ...reading,
    phases,
    usage: () => askUsage(child),
    age,
    async stop() {
      child.kill("SIGTERM");
      await gone;
    },
  };
}

function isPhase(message: unknown): message is { phase: string; at: number } {
  return typeof message === "object" && message !== null && "phase" in message;
}

function isUsage(message: unknown): message is { usage: Usage } {
  return typeof message === "object" && message !== null && "usage" in message;
}

function askUsage(child: ChildProcess): Promise<Usage> {
  return new Promise((resolve, reject) => {
    const listen = (message: unknown) => {
      if (!isUsage(message)) return;
      child.off("message", listen);
      resolve(message.usage);
    };
    child.on("message", listen);
    child.send({ ask: "usage" }, (error) => error && reject(error));
  });
}

function readLines(child: ChildProcess, age: () => number): Pick<Child, "lines" | "line"> {
  const lines: string[] = [];
  const times: number[] = [];
  const changed = new EventTarget();
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on("line", (line) => {
      lines.push(line);
      times.push(age());
      changed.dispatchEvent(new Event("line"));
    });
  }
  const find = (pattern: RegExp) => {
    for (const [i, line] of lines.entries()) {
      const match = pattern.exec(line);
      if (match) return { match, at: times[i] ?? 0 };
    }
    return undefined;
  };
  const line: Child["line"] = (pattern) =>
    new Promise((resolve, reject) => {
      const failed = (why: string) => reject(new Error(`${why}; it printed:\n${lines.slice(-15).join("\n")}`));
      const limit = setTimeout(() => failed(`no line like ${pattern}`), LINE_MS);
      const look = () => {
        const found = find(pattern);
        if (!found) return;
        clearTimeout(limit);
        changed.removeEventListener("line", look);
        resolve(found);
      };
      changed.addEventListener("line", look);
      child.once("exit", (code) => find(pattern) || failed(`it ended with ${code}`));
      look();
    });
  return { lines, line };
}
