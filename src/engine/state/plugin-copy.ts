/**
 * Copies a package into the folder of installed plugins, so that what is used cannot change until somebody says so. Invariant: only regular files are copied;
 * links and special files are left out and counted; size and number are bounded; the name of the copy says what it contains.
 */

import { createHash } from "node:crypto";
import { promises as fs } from "node:fs";
import { dirname, join } from "node:path";
import { entriesOf } from "./skill-folder.ts";

/** Most files of one package. */
export const PACKAGE_FILES = 5000;
/** Most bytes of one package. */
export const PACKAGE_BYTES = 50 * 1024 * 1024;
const CONTENT_CHARS = 16;

/** The copy's content as a hash, and how much was left out. */
export type CopiedPackage =
  | { readonly ok: true; readonly content: string; readonly links: number }
  | { readonly ok: false; readonly text: string };

/** Copies `from` to the new folder `to`. */
export async function copyPackage(from: string, to: string): Promise<CopiedPackage> {
  const stat = await fs.stat(from).catch(() => null); // Told to the operator below.
  if (!stat?.isDirectory()) return { ok: false, text: `there is no folder ${from}` };
  const files: string[] = [];
  let links = 0;
  let bytes = 0;
  const waiting = [""];
  while (waiting.length > 0) {
    const inner = waiting.shift() ?? "";
    for (const entry of await entriesOf(join(from, inner))) {
      const path = inner === "" ? entry.name : `${inner}/${entry.name}`;
      if (entry.name === ".git") continue;
      if (entry.isDirectory()) waiting.push(path);
      else if (!entry.isFile()) links += 1;
      else {
        files.push(path);
        bytes += (await fs.lstat(join(from, path))).size;
      }
      if (files.length > PACKAGE_FILES) return { ok: false, text: `it has more than ${PACKAGE_FILES} files` };
      if (bytes > PACKAGE_BYTES) return { ok: false, text: `it is larger than ${PACKAGE_BYTES / 1024 / 1024} MB` };
    }
  }
  return { ok: true, content: await copyFiles(from, to, files.sort()), links };
}

async function copyFiles(from: string, to: string, files: readonly string[]): Promise<string> {
  const hash = createHash("sha256");
  await fs.mkdir(to, { recursive: true });
  for (const path of files) {
    const target = join(to, path);
    await fs.mkdir(dirname(target), { recursive: true });
    await fs.copyFile(join(from, path), target);
    const bytes = await fs.readFile(target);
    hash.update(`${path}\n${bytes.length}\n`).update(bytes);
  }
  return hash.digest("hex").slice(0, CONTENT_CHARS);
}
