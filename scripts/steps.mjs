/**
 * The bricks of the build scripts: a content hash, a stamp that says "already made from exactly these inputs", and a lock between processes.
 * Invariant: a stamp is written only after its step has finished, so an interrupted build repeats the step.
 * A lock left by a killed build is taken over as soon as its process is gone.
 */
import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { fileURLToPath } from "node:url";

/** Folder of package.json. */
export const root = join(dirname(fileURLToPath(import.meta.url)), "..");

/** Every file at or below `path`, sorted, without node_modules. A missing path is an empty list. */
function filesBelow(path) {
  if (!existsSync(path)) return [];
  if (!statSync(path).isDirectory()) return [path];
  return readdirSync(path, { withFileTypes: true })
    .filter((entry) => entry.name !== "node_modules")
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => (entry.isDirectory() ? filesBelow(join(path, entry.name)) : [join(path, entry.name)]));
}

/** One hash over names and contents of the given files and folders (relative to the package root). */
function hashOf(inputs, extra = "") {
  const hash = createHash("sha256").update(extra);
  for (const input of inputs) {
    for (const file of filesBelow(join(root, input))) {
      hash.update(`\0${file.slice(root.length)}\0`).update(readFileSync(file));
    }
  }
  return hash.digest("hex");
}

/** Installed version of a package: part of a step's inputs, so that an upgrade repeats the step. */
export function versionOf(name) {
  const file = join(root, "node_modules", name, "package.json");
  return existsSync(file) ? `${name}@${JSON.parse(readFileSync(file, "utf8")).version}` : `${name} is not installed`;
}

/** A step is {name, inputs, extra, output, make}: it is fresh when `output` exists and its stamp carries the hash of today's inputs. */
export function isFresh(step) {
  const stamp = stampOf(step);
  return existsSync(join(root, step.output)) && existsSync(stamp) && readFileSync(stamp, "utf8") === stepHash(step);
}

/** Runs a step unless it is fresh. The old stamp goes first: a step that dies half-way must not look finished. */
export async function runStep(step) {
  if (isFresh(step)) return;
  const hash = stepHash(step);
  rmSync(stampOf(step), { force: true });
  await step.make();
  mkdirSync(dirname(stampOf(step)), { recursive: true });
  writeFileSync(stampOf(step), hash);
}

const stampOf = (step) => join(root, "dist/.stamps", step.name);
const stepHash = (step) => hashOf(step.inputs, step.extra);

/** Runs a program of node_modules with its output on stderr, because stdout belongs to the product's log. Rejects unless it ends with 0. */
export async function runTool(title, script, parameters, env = {}) {
  const child = spawn(process.execPath, [join(root, script), ...parameters], {
    cwd: root,
    env: { ...process.env, ...env },
    stdio: ["ignore", 2, 2],
  });
  const [code, signal] = await once(child, "exit");
  if (code !== 0) throw new Error(`${title} ended with ${signal ?? `code ${code}`}; its output above says why.`);
}

function isRunning(pid) {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error.code === "EPERM";
  }
}

/** The pid inside the lock, or undefined when the lock is gone or not yet written. */
function holderOf(lock) {
  try {
    return Number(readFileSync(join(lock, "pid"), "utf8")) || undefined;
  } catch {
    return undefined;
  }
}

/** Only one waiter can win the rename, so a dead lock is removed exactly once. */
function clearDeadLock(lock) {
  const holder = holderOf(lock);
  if (holder === undefined || isRunning(holder)) return;
  const grave = `${lock}.${process.pid}`;
  try {
    renameSync(lock, grave);
    const moved = holderOf(grave);
    if (moved === holder) rmSync(grave, { recursive: true, force: true });
    else renameSync(grave, lock);
  } catch {
    // Another waiter moved it first, which is just as good.
  }
}

/** The lock appears with its pid already inside: a folder made aside is renamed into place, which fails when a lock is there. */
function tryLock(lock) {
  const mine = `${lock}.new.${process.pid}`;
  rmSync(mine, { recursive: true, force: true });
  mkdirSync(mine, { recursive: true });
  writeFileSync(join(mine, "pid"), String(process.pid));
  try {
    renameSync(mine, lock);
    return true;
  } catch {
    rmSync(mine, { recursive: true, force: true });
    return false;
  }
}

/** Runs `work` while no other process of this checkout runs under the same lock; waits up to 10 minutes for it. */
export async function withLock(name, work) {
  const lock = join(root, "node_modules", `.parley-${name}.lock`);
  const deadline = Date.now() + 600_000;
  while (!tryLock(lock)) {
    if (Date.now() > deadline) {
      throw new Error(`Process ${holderOf(lock)} holds ${lock} since 10 minutes. End it, or remove that folder.`);
    }
    clearDeadLock(lock);
    await delay(100);
  }
  try {
    return await work();
  } finally {
    rmSync(lock, { recursive: true, force: true });
  }
}
