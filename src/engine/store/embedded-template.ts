/**
 * A fresh PostgreSQL cluster as a compressed archive. Making one (initdb) costs seconds of CPU and several hundred MB of memory;
 * the build makes it once, the first start only unpacks it. Without the archive the first start makes its own.
 * Invariant: a cluster folder exists either whole or not at all; it is unpacked aside and renamed, so kill -9 leaves no half of it.
 */
import {
  closeSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { gunzipSync } from "node:zlib";
import { PGlite } from "@electric-sql/pglite";
import { ConfigError } from "../errors.ts";
import { clusterLayout } from "./embedded-files.ts";

const block = 512;
const unpackingPrefix = "unpacking-";

/** A new empty cluster, as gzipped tar. Takes 2–10 s and, for a moment, up to 900 MB. */
export async function makeTemplate(): Promise<Buffer> {
  const db = await PGlite.create({ initDbStartParams: clusterLayout });
  try {
    await db.exec("CHECKPOINT");
    const archive = await db.dumpDataDir("gzip");
    return Buffer.from(await archive.arrayBuffer());
  } finally {
    await db.close();
  }
}

/**
 * Makes sure that `cluster` holds a database: leaves an existing one alone, else unpacks the archive (or a newly made one).
 * Call it only while holding the directory around `cluster`. Throws ConfigError when a folder is there that is no cluster.
 */
export async function ensureCluster(
  cluster: string,
  archiveFile: string | undefined,
): Promise<"found" | "unpacked" | "made"> {
  const home = dirname(cluster);
  for (const name of readdirSync(home)) {
    if (name.startsWith(unpackingPrefix)) rmSync(join(home, name), { recursive: true, force: true });
  }
  if (existsSync(join(cluster, "PG_VERSION"))) return "found";
  if (existsSync(cluster)) {
    throw new ConfigError(
      `storage.dir: ${cluster} is there but holds no database. Restore it from a backup, or move it away.`,
    );
  }
  const ready = archiveFile !== undefined && existsSync(archiveFile);
  const aside = join(home, `${unpackingPrefix}${process.pid}`);
  unpackInto(aside, ready ? readFileSync(archiveFile) : await makeTemplate());
  renameSync(aside, cluster);
  syncFolder(home);
  return ready ? "unpacked" : "made";
}

/**
 * Unpacks a gzipped tar of folders, each followed by its files. Names that leave the folder are refused. Syncs nothing: the archive is of
 * a cluster that was not shut down, and PostgreSQL syncs every file of such a cluster before it first serves it.
 */
function unpackInto(folder: string, archive: Buffer): void {
  const tar = gunzipSync(archive);
  mkdirSync(folder, { mode: 0o700 });
  for (let at = 0; at + block <= tar.length && tar[at] !== 0; ) {
    const header = tar.subarray(at, at + block);
    const name = textAt(header, 0, 100).replace(/^\/+/, "");
    const size = Number.parseInt(textAt(header, 124, 12), 8) || 0;
    if (name.split("/").includes(".."))
      throw new Error(`The database template names a file outside its folder: ${name}`);
    const path = join(folder, name);
    if (textAt(header, 156, 1) === "5") mkdirSync(path, { recursive: true, mode: 0o700 });
    else writeFileSync(path, tar.subarray(at + block, at + block + size), { mode: 0o600 });
    at += block + Math.ceil(size / block) * block;
  }
}

function textAt(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length);
  const end = field.indexOf(0);
  return field.toString("utf8", 0, end === -1 ? length : end).trim();
}

function syncFolder(path: string): void {
  const folder = openSync(path, "r");
  try {
    fsyncSync(folder);
  } finally {
    closeSync(folder);
  }
}
