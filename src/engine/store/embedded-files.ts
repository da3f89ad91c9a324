/**
 * PGlite's file layer and start settings made durable and small. PGlite starts PostgreSQL with fsync off and its Node file layer has no
 * sync operation; here both are put right, so that a commit is on disk before it is acknowledged.
 * It hooks into the inside of one exact PGlite version, hence the exact pin in package.json and the test that counts the syncs.
 * Gap that stays: names of new files are not synced, so survival of kill -9 is a promise, of power loss only a best effort.
 */
import { fdatasyncSync } from "node:fs";
import { PGlite } from "@electric-sql/pglite";
import { NodeFS } from "@electric-sql/pglite/nodefs";

/** What is touched of the Emscripten file system: the operations on an open file, which lack `fsync`. */
interface NodeFileOperations {
  stream_ops: { fsync?: (stream: { nfd: number }) => number };
}

/** PGlite's file layer on a folder, with a real sync. */
export class DurableFiles extends NodeFS {
  /** fdatasync calls so far. */
  syncs = 0;
  readonly #onAbort: () => void;

  /** `onAbort` is called when PostgreSQL gives up (PANIC); PGlite swallows that and would loop for ever at the next message. */
  constructor(folder: string, onAbort: () => void) {
    super(folder);
    this.#onAbort = onAbort;
  }

  /** Called by PGlite before PostgreSQL starts. */
  override async init(...parameters: Parameters<NodeFS["init"]>): ReturnType<NodeFS["init"]> {
    const prepared = await super.init(...parameters);
    const preRun = prepared.emscriptenOpts.preRun ?? [];
    if (!Array.isArray(preRun)) throw new Error("PGlite's preRun is no list any more: review embedded-files.ts.");
    preRun.push((module) => this.addSync(module.FS));
    return { emscriptenOpts: { ...prepared.emscriptenOpts, preRun, onAbort: this.#onAbort } };
  }

  private addSync(fileSystem: unknown): void {
    const { filesystems } = fileSystem as { filesystems: { NODEFS: NodeFileOperations } };
    filesystems.NODEFS.stream_ops.fsync = (stream) => {
      fdatasyncSync(stream.nfd);
      this.syncs += 1;
      return 0;
    };
  }
}

/** PostgreSQL settings for a database of one process: durable, and small because the whole memory lies inside our own process. */
const settings = [
  "fsync=on",
  "wal_sync_method=fsync",
  "synchronous_commit=on",
  "full_page_writes=on",
  "shared_buffers=8MB",
  "wal_buffers=512kB",
  "max_wal_size=32MB",
  "min_wal_size=16MB",
  "max_connections=10",
  "jit=off",
];

/** Start parameters for a durable cluster: PGlite's own without the one that turns fsync off. */
export const durableStart = [
  ...PGlite.defaultStartParams.filter((parameter) => parameter !== "-F"),
  ...settings.flatMap((setting) => ["-c", setting]),
];

/** A WAL segment is allocated as a whole: 4 MB keeps a fresh database and the stall of a segment change small. */
export const clusterLayout = ["--wal-segsize=4"];
