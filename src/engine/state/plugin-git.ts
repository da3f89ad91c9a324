/**
 * Fetches one version of a git repository with the `git` program. Invariant: nothing that the repository contains runs (no hooks, no filters, no submodules, no
 * links), nothing but https and ssh is spoken, it ends within its time and size, and the program sees none of this service's environment beyond what is handed in.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { promises as fs } from "node:fs";
import { join } from "node:path";

/** How a fetch is bounded. */
export interface GitLimits {
  /** Longest run of one git command, ms. */
  readonly timeoutMs: number;
  /** Most bytes that may lie in the folder meanwhile. */
  readonly maxBytes: number;
  /** Ends it early. */
  readonly signal?: AbortSignal;
}

/** The commit, or why there is none. */
export type GitFetch = { readonly ok: true; readonly commit: string } | { readonly ok: false; readonly text: string };

const WATCH_EVERY_MS = 250;
/** Characters of git's own complaint that are shown. */
const COMPLAINT_CHARS = 300;

/** For every command: settings of the machine and its user do not apply, except for ssh. */
const SAFE = [
  ["core.hooksPath", "/dev/null"],
  ["core.symlinks", "false"],
  ["core.fsmonitor", "false"],
  ["core.protectNTFS", "true"],
  ["core.protectHFS", "true"],
  ["fetch.recurseSubmodules", "false"],
  ["transfer.fsckObjects", "true"],
  ["http.followRedirects", "initial"],
  ["http.lowSpeedLimit", "1000"],
  ["http.lowSpeedTime", "30"],
].flatMap(([key, value]) => ["-c", `${key}=${value}`]);

/**
 * Puts the files of `ref` into `folder`, which must be new and empty, without the repository itself. `env` is what git may see: where programs are, and what ssh
 * needs.
 */
export async function fetchRepository(
  source: { readonly url: string; readonly ref: string },
  folder: string,
  env: Readonly<Record<string, string>>,
  limits: GitLimits,
): Promise<GitFetch> {
  // A redirect must not lead to another protocol.
  const protocol = /^(https?):/.exec(source.url)?.[1] ?? "ssh";
  const ownEnv = { ...env, GIT_ALLOW_PROTOCOL: protocol };
  const git = (...args: readonly string[]) => runGit(args, folder, ownEnv, limits);
  const steps: readonly (readonly string[])[] = [
    ["init", "--quiet", "--template="],
    ["fetch", "--quiet", "--depth=1", "--no-tags", "--no-recurse-submodules", "--", source.url, source.ref],
    ["checkout", "--quiet", "--force", "--detach", "FETCH_HEAD"],
  ];
  for (const step of steps) {
    const done = await git(...step);
    if (!done.ok) return done;
  }
  const head = await git("rev-parse", "FETCH_HEAD");
  if (!head.ok) return head;
  await fs.rm(join(folder, ".git"), { recursive: true, force: true });
  return { ok: true, commit: head.output.trim() };
}

type GitRun = { readonly ok: true; readonly output: string } | { readonly ok: false; readonly text: string };

function runGit(
  args: readonly string[],
  folder: string,
  env: Readonly<Record<string, string>>,
  limits: GitLimits,
): Promise<GitRun> {
  const safeEnv = {
    ...env,
    GIT_TERMINAL_PROMPT: "0",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_SSH_COMMAND: "ssh -o BatchMode=yes -o ConnectTimeout=20",
    LC_ALL: "C",
  };
  return new Promise((resolve) => {
    // A group of its own, so that the programs git starts end with it.
    const child = spawn("git", [...SAFE, ...args], {
      cwd: folder,
      env: safeEnv,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    let problem: string | undefined;
    const end = (text: string) => {
      problem ??= text;
      endGroup(child);
    };
    const timer = setTimeout(
      () => end(`git took longer than ${Math.round(limits.timeoutMs / 1000)} s`),
      limits.timeoutMs,
    );
    const watch = setInterval(() => {
      void sizeOf(folder, limits.maxBytes).then((size) => {
        if (size > limits.maxBytes) end(`it is larger than ${Math.round(limits.maxBytes / 1024 / 1024)} MB`);
      });
    }, WATCH_EVERY_MS);
    const stop = () => end("it was stopped");
    if (limits.signal?.aborted) stop();
    else limits.signal?.addEventListener("abort", stop, { once: true });
    const output = collect(child.stdout);
    const complaint = collect(child.stderr);
    const settle = (run: GitRun) => {
      clearTimeout(timer);
      clearInterval(watch);
      limits.signal?.removeEventListener("abort", stop);
      resolve(run);
    };
    child.on("error", (error: NodeJS.ErrnoException) => {
      const text = error.code === "ENOENT" ? "the program git is not installed on this machine" : error.message;
      settle({ ok: false, text });
    });
    child.on("close", (code) => {
      if (problem === undefined && code === 0) settle({ ok: true, output: output() });
      else settle({ ok: false, text: problem ?? `git says: ${lastWords(complaint())}` });
    });
  });
}

function endGroup({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, "SIGKILL");
  } catch {
    // Ended by itself meanwhile.
  }
}

function collect(stream: NodeJS.ReadableStream): () => string {
  let text = "";
  stream.setEncoding("utf8");
  stream.on("data", (part: string) => {
    if (text.length < 64 * 1024) text += part;
  });
  return () => text;
}

function lastWords(complaint: string): string {
  const line =
    complaint
      .split("\n")
      .map((one) => one.trim())
      .filter(Boolean)
      .at(-1) ?? "nothing";
  return line.replace(/[\p{Cc}]/gu, " ").slice(0, COMPLAINT_CHARS);
}

/** Bytes in a folder; stops counting above `enough`. */
async function sizeOf(folder: string, enough: number): Promise<number> {
  let size = 0;
  const names = await fs.readdir(folder, { recursive: true }).catch(() => []); // Git is moving files about.
  for (const name of names) {
    if (size > enough) break;
    size += (await fs.lstat(join(folder, name)).catch(() => null))?.size ?? 0; // Gone since it was listed.
  }
  return size;
}
