/** Folders, databases and child processes of the embedded database's tests, with their clean-up. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import pg from "pg";
import {
  type EmbeddedDatabase,
  type EmbeddedOptions,
  openEmbeddedDatabase,
} from "../../../src/engine/store/embedded.ts";
import { silentLog } from "./silent-log.ts";

const folders: string[] = [];
const endings: (() => Promise<void>)[] = [];

/** Registers what must happen after the test, whatever its result. */
export function endAfterTest(end: () => Promise<void>): void {
  endings.push(end);
}

/** Runs the registered endings. */
export async function endEverything(): Promise<void> {
  for (const end of endings.splice(0)) await end();
}

/** Removes every folder that was handed out. */
export function removeFolders(): void {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** A new empty folder. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "parley-db-"));
  folders.push(folder);
  return folder;
}

/** Opens a database without upkeep rounds; it is closed after the test. */
export async function openIn(dir: string, more: Partial<EmbeddedOptions> = {}): Promise<EmbeddedDatabase> {
  const db = await openEmbeddedDatabase({ dir, log: silentLog, onFatal: () => undefined, upkeepMs: 0, ...more });
  endAfterTest(db.close);
  return db;
}

/** Runs one statement on a connection of its own. */
export async function query(
  db: EmbeddedDatabase,
  text: string,
  values: unknown[] = [],
): Promise<Record<string, unknown>[]> {
  const client = new pg.Client(db.poolOptions);
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(text, values)).rows;
  } finally {
    await client.end();
  }
}

/** Starts the committing child; `lines` grows as it prints. */
export function startChild(dir: string) {
  const file = fileURLToPath(new URL("./embedded-child.ts", import.meta.url));
  const child = spawn(process.execPath, ["--import", "tsx", file, dir], { stdio: ["ignore", "pipe", "inherit"] });
  const lines: string[] = [];
  createInterface({ input: child.stdout }).on("line", (line) => lines.push(line));
  const kill = async () => {
    child.kill("SIGKILL");
    if (child.exitCode === null && child.signalCode === null) await once(child, "exit");
  };
  endAfterTest(kill);
  return { child, lines, kill };
}
