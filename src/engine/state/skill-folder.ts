/**
 * Reads files of one folder safely, whoever filled it: only regular files of one name that really lie inside it, only text, only up to a size. Invariant: no path
 * and no link leads out of the folder, also when something is exchanged while it is being opened; nothing here throws for what a folder contains.
 */

import { constants, type Dirent, promises as fs } from "node:fs";
import { isAbsolute, join, relative, sep } from "node:path";

/** Largest file that is read, bytes. */
export const SKILL_FILE_BYTES = 1024 * 1024;
/** Files of a skill that are listed. */
export const SKILL_FILES = 200;
/** How deep folders of a skill may lie. */
const MAX_DEPTH = 6;

/** A text, or why there is none; `reason` completes a sentence about the file. */
export type FolderText = { readonly ok: true; readonly text: string } | { readonly ok: false; readonly reason: string };

/** The text of a file given by its path inside the folder. */
export async function readTextIn(folder: string, path: string, maxBytes = SKILL_FILE_BYTES): Promise<FolderText> {
  if (!isInnerPath(path))
    return { ok: false, reason: "is not a path inside the skill (write it as files are listed, without ..)" };
  let handle: fs.FileHandle | undefined;
  try {
    const root = await fs.realpath(folder);
    const real = await fs.realpath(join(root, path));
    if (!isInside(real, root)) return { ok: false, reason: "leads out of its folder by a link, which is refused" };
    // Neither follows a link that took the file's place nor hangs on a pipe that did.
    handle = await fs.open(real, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
    const stat = await handle.stat({ bigint: true });
    if (!stat.isFile()) return { ok: false, reason: "is not a file" };
    if (stat.nlink > 1n)
      return { ok: false, reason: "has another name elsewhere (a hard link), which is refused; copy it" };
    if (stat.size > BigInt(maxBytes)) return { ok: false, reason: `is larger than ${Math.round(maxBytes / 1024)} kB` };
    const now = await fs.lstat(await fs.realpath(join(root, path)), { bigint: true });
    if (now.ino !== stat.ino || now.dev !== stat.dev)
      return { ok: false, reason: "was exchanged while it was being read" };
    return textOf(await readBytes(handle, Number(stat.size)));
  } catch {
    // Missing, forbidden or a broken link: for the reader they are the same.
    return { ok: false, reason: "does not exist or cannot be read" };
  } finally {
    await handle?.close();
  }
}

/** Paths of the regular files in a folder, in a fixed order, at most SKILL_FILES; names that begin with a dot are left out. */
export async function listFilesIn(folder: string): Promise<readonly string[]> {
  const found: string[] = [];
  const visit = async (inner: string, depth: number): Promise<void> => {
    for (const entry of await entriesOf(join(folder, inner))) {
      if (found.length >= SKILL_FILES || entry.name.startsWith(".")) continue;
      const path = inner === "" ? entry.name : `${inner}/${entry.name}`;
      if (entry.isDirectory() && depth < MAX_DEPTH) await visit(path, depth + 1);
      else if (entry.isFile()) found.push(path);
    }
  };
  await visit("", 1);
  return found;
}

/** What lies directly in a folder, by name; nothing when it is not there. */
export async function entriesOf(folder: string): Promise<readonly Dirent[]> {
  const entries = await fs.readdir(folder, { withFileTypes: true }).catch(() => []); // Missing: nothing in it.
  return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** What is wrong with a folder that `isSkillFolderName` refuses; completes a sentence about the skill. */
export const BAD_FOLDER_NAME =
  "lies in a folder whose name is not of letters, digits, dots, - and _. Rename the folder.";

/** True for names of folders that may stand in a skill's id, and so in prompts. */
export function isSkillFolderName(name: string): boolean {
  return /^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name);
}

/** True for a relative path of plain parts. */
export function isInnerPath(path: string): boolean {
  if (path === "" || path.length > 500 || isAbsolute(path) || /[\0\\]/.test(path)) return false;
  return path.split("/").every((part) => part !== "" && part !== "." && part !== "..");
}

function isInside(path: string, folder: string): boolean {
  const rest = relative(folder, path);
  return rest !== "" && rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

/** The first `size` bytes; what was appended since it was measured is left out. */
async function readBytes(handle: fs.FileHandle, size: number): Promise<Buffer> {
  const bytes = Buffer.alloc(size);
  let length = 0;
  while (length < size) {
    const { bytesRead } = await handle.read(bytes, length, size - length, length);
    if (bytesRead === 0) break;
    length += bytesRead;
  }
  return bytes.subarray(0, length);
}

function textOf(bytes: Buffer): FolderText {
  if (bytes.includes(0)) return { ok: false, reason: "is not text" };
  try {
    return { ok: true, text: new TextDecoder("utf-8", { fatal: true, ignoreBOM: false }).decode(bytes) };
  } catch {
    return { ok: false, reason: "is not text in UTF-8" };
  }
}
