/**
 * Redis for tests: the one on this machine's standard port under keys of its own, or a server of the test's own that may be killed and emptied.
 * The shared one is never stopped and never flushed.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort } from "./free-port.ts";

/** The server of this machine. */
export const SHARED_REDIS = "redis://127.0.0.1:6379";

/** True when something answers PING there. */
export function isRedisThere(port = 6379): Promise<boolean> {
  return ask(port, "PING").then(
    (answer) => answer.startsWith("+PONG"),
    () => false, // No server is an ordinary case; the tests then say that they were skipped.
  );
}

/** Keys nobody else has. */
export function uniquePrefix(): string {
  return `parley-test-${randomUUID()}`;
}

/** Where the server's program is, or undefined. */
export function redisProgram(): string | undefined {
  return ["/usr/bin/redis-server", "/usr/local/bin/redis-server"].find((path) => existsSync(path));
}

/** A server of the test's own, in memory only. */
export interface OwnRedis {
  readonly url: string;
  /** Ends it as a power cut does and starts it again, empty, on the same port. */
  restart(): Promise<void>;
  flush(): Promise<void>;
  /** Ends it without a restart. */
  kill(): Promise<void>;
  close(): Promise<void>;
}

/** Starts one on a free port. */
export async function startRedis(): Promise<OwnRedis> {
  const program = redisProgram();
  if (!program) throw new Error("redis-server is not installed");
  const port = await freePort();
  const folder = mkdtempSync(join(tmpdir(), "parley-redis-"));
  let child: ChildProcess | undefined;
  const start = async () => {
    const options = [
      "--port",
      String(port),
      "--bind",
      "127.0.0.1",
      "--save",
      "",
      "--appendonly",
      "no",
      "--dir",
      folder,
    ];
    child = spawn(program, options, { stdio: "ignore" });
    for (let tries = 0; !(await isRedisThere(port)); tries += 1) {
      if (tries > 400) throw new Error("redis-server does not answer");
      await new Promise((resolve) => setTimeout(resolve, 25));
    }
  };
  const kill = async () => {
    const ending = child;
    child = undefined;
    if (!ending) return;
    ending.kill("SIGKILL");
    if (ending.exitCode === null && ending.signalCode === null) await once(ending, "exit");
  };
  await start();
  return {
    url: `redis://127.0.0.1:${port}`,
    restart: async () => {
      await kill();
      await start();
    },
    flush: async () => void (await ask(port, "FLUSHALL")),
    kill,
    close: async () => {
      await kill();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** One inline command; the first piece of the answer. */
function ask(port: number, command: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${command}\r\n`));
    socket.setTimeout(2000, () => socket.destroy(new Error("no answer")));
    socket.once("error", reject);
    socket.once("data", (data) => {
      socket.destroy();
      resolve(data.toString());
    });
  });
}
