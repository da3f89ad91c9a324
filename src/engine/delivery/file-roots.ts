/**
 * Opens the files a bot names by `file://` address, inside the given folders only (SPEC M5): its workspace and the attachments.
 * Invariant: what is read is a regular file that lies inside a root at the moment it is open, whatever links or names were exchanged meanwhile, and is none
 * of the service's own secrets. Which names count as secret is left to secret-files, storing the bytes to the blobs.
 */
import { type BigIntStats, constants, promises as fs } from "node:fs";
import { basename, dirname, isAbsolute, join, relative, sep } from "node:path";
import type { Readable } from "node:stream";
import { fileURLToPath } from "node:url";
import { createSecretFiles, type SecretFiles } from "./secret-files.ts";

/** A folder bots may send files from. */
export interface FileRoot {
  /** Where it really is. It need not exist yet. */
  readonly path: string;
  /** The path bots know it by, such as `/workspace`, when that differs. */
  readonly seenAs?: string;
}

/**
 * bad-url · traversal (`..`) · outside · secret · not-found · directory · not-a-file (device, pipe, socket) · unreadable · changed (exchanged while it was
 * being opened) · too-large.
 */
export type FileRefusalReason =
  | "bad-url"
  | "traversal"
  | "outside"
  | "secret"
  | "not-found"
  | "directory"
  | "not-a-file"
  | "unreadable"
  | "changed"
  | "too-large";

/** Why a file is not opened; `text` is for the model and says what to do. It never tells whether something outside the roots exists. */
export interface FileRefusal {
  readonly ok: false;
  readonly reason: FileRefusalReason;
  readonly text: string;
}

/** An open file. `stream` must be read or destroyed. */
export interface OpenedFile {
  readonly ok: true;
  /** Last part of the path, for a label. */
  readonly fileName: string;
  /** Bytes at the time of opening. */
  readonly size: number;
  readonly stream: Readable;
}

/** Contract: never throws for anything a bot can write; failures of the machine are `unreadable`. */
export interface FileRoots {
  open(url: string, limits?: { readonly maxBytes?: number }): Promise<OpenedFile | FileRefusal>;
}

/** What a check of the path found, to be compared with what was opened. */
interface CheckedFile {
  readonly path: string;
  readonly stat: BigIntStats;
}

/** Roots for one bot. `secretPaths` are files or folders of the service itself (key file, .env, settings, database folder), refused wherever they lie. */
export function createFileRoots(options: {
  readonly roots: readonly FileRoot[];
  readonly secretPaths?: readonly string[];
}): FileRoots {
  const secrets = createSecretFiles(options.secretPaths ?? []);
  return {
    async open(url, limits = {}) {
      const asked = toPath(url, options.roots);
      if (typeof asked !== "string") return asked;
      const checked = await checkPath(asked, options.roots, secrets);
      return "ok" in checked ? checked : openChecked(checked, secrets, limits.maxBytes);
    },
  };
}

function toPath(url: string, roots: readonly FileRoot[]): string | FileRefusal {
  if (!/^file:\/\//i.test(url)) return refuse("bad-url", "A file address starts with file:// and the full path.");
  const written = url.slice("file://".length);
  // Looked at before parsing, because parsing resolves `..` silently and the address then says something else than it shows.
  if (segmentsOf(written).includes(".."))
    return refuse("traversal", "The path contains `..`, which is refused. Write the full path of the file.");
  if (/%2f|%5c/i.test(written))
    return refuse("traversal", "The path contains an encoded slash, which is refused. Write / between folders.");
  if (/%00|\0/.test(written)) return refuse("bad-url", "The path contains a NUL character, which is refused.");
  const parsed = URL.canParse(url) ? new URL(url) : null;
  if (parsed === null || parsed.hostname !== "") {
    return refuse(
      "bad-url",
      `A file address needs the full path after three slashes, such as file://${exampleOf(roots)}/report.pdf.`,
    );
  }
  if (parsed.search !== "" || parsed.hash !== "") {
    return refuse("bad-url", "The file address contains ? or #. If they belong to the name, write %3F and %23.");
  }
  return decodePath(parsed, roots);
}

function decodePath(parsed: URL, roots: readonly FileRoot[]): string | FileRefusal {
  try {
    return toRealName(fileURLToPath(parsed.href), roots);
  } catch {
    // Broken percent-encoding; the text says all there is to know.
    return refuse("bad-url", "The file address is not properly encoded. Write a plain % in a name as %25.");
  }
}

function segmentsOf(written: string): string[] {
  return written.split(/[\\/]/).map((segment) => segment.replace(/%2e/gi, ".").replace(/[?#].*$/, ""));
}

/** Replaces the folder a bot knows by the one that is there. */
function toRealName(path: string, roots: readonly FileRoot[]): string {
  const root = roots.find(({ seenAs }) => seenAs !== undefined && isInside(path, seenAs));
  return root?.seenAs === undefined ? path : join(root.path, relative(root.seenAs, path));
}

async function checkPath(
  asked: string,
  roots: readonly FileRoot[],
  secrets: SecretFiles,
): Promise<CheckedFile | FileRefusal> {
  const realRoots = (await Promise.all(roots.map((root) => realpathOrNull(root.path)))).filter((path) => path !== null);
  const real = await realpathOrNull(asked);
  if (real === null) return refuseMissing(asked, roots, realRoots);
  if (!realRoots.some((root) => isInside(real, root))) return refuseOutside(roots);
  if ((await secrets.isSecretPath(asked)) || (await secrets.isSecretPath(real))) return refuseSecret();
  const stat = await fs.lstat(real, { bigint: true }).catch(() => null); // Gone since a moment ago.
  if (stat?.isSymbolicLink() === true) return refuseChanged();
  return stat === null ? refuseNotFound(asked) : (refuseKind(stat) ?? { path: real, stat });
}

/** "Not found" is said only of places inside the roots; a link that leads out must not become a way to learn what exists elsewhere. */
async function refuseMissing(
  asked: string,
  roots: readonly FileRoot[],
  realRoots: readonly string[],
): Promise<FileRefusal> {
  const isNamedInside = [...roots.map((root) => root.path), ...realRoots].some((root) => isInside(asked, root));
  if (!isNamedInside) return refuseOutside(roots);
  let existing = asked;
  let real: string | null = null;
  while (real === null) {
    const isDangling = (await fs.lstat(existing).catch(() => null))?.isSymbolicLink() === true; // Missing: look at its folder.
    if (isDangling) return refuseOutside(roots);
    existing = dirname(existing);
    real = await realpathOrNull(existing);
  }
  const found = real;
  const isReallyInside = realRoots.some((root) => found === root || isInside(found, root));
  const isRootMissing = roots.some((root) => isInside(root.path, existing));
  return isReallyInside || isRootMissing ? refuseNotFound(asked) : refuseOutside(roots);
}

async function openChecked(
  checked: CheckedFile,
  secrets: SecretFiles,
  maxBytes: number | undefined,
): Promise<OpenedFile | FileRefusal> {
  let handle: fs.FileHandle;
  try {
    // Neither follows a link that took the file's place nor hangs on a pipe that did.
    handle = await fs.open(checked.path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    // Permission, or exchanged for a link: either way the bot cannot have it.
    return refuse(
      "unreadable",
      `The file ${basename(checked.path)} cannot be read. Check its permissions, or write it again.`,
    );
  }
  const refusal = await recheck(handle, checked, secrets, maxBytes).catch(() => refuseChanged()); // A path that vanished counts as exchanged.
  if (refusal !== null) {
    await handle.close();
    return refusal;
  }
  const { size } = await handle.stat();
  return { ok: true, fileName: basename(checked.path), size, stream: handle.createReadStream() };
}

/** Looks at the file that is open: it must lie where the checked path said, and be no secret. */
async function recheck(
  handle: fs.FileHandle,
  checked: CheckedFile,
  secrets: SecretFiles,
  maxBytes: number | undefined,
): Promise<FileRefusal | null> {
  const opened = await handle.stat({ bigint: true });
  if (!(await isStillAt(handle, opened, checked))) return refuseChanged();
  // A second name (hard link) for the key file has an innocent path, but it is the same file.
  if (await secrets.isSecretFile(opened)) return refuseSecret();
  if (maxBytes !== undefined && opened.size > BigInt(maxBytes)) {
    return refuse(
      "too-large",
      `The file has ${opened.size} bytes, more than the ${maxBytes} allowed. Send a smaller one, or a link.`,
    );
  }
  // A second name may belong to anything, for example a file inside the database's folder: only files of one name are surely the bot's own.
  if (opened.isFile() && opened.nlink > 1n) {
    return refuse(
      "secret",
      "The file has another name elsewhere (a hard link) and is not sent. Make a copy of it and send that.",
    );
  }
  return refuseKind(opened);
}

/** Path checks alone can be beaten by exchanging a folder back and forth; the system's own record of what was opened cannot. */
async function isStillAt(handle: fs.FileHandle, opened: BigIntStats, checked: CheckedFile): Promise<boolean> {
  if (process.platform === "linux") {
    const actual = await fs.readlink(`/proc/self/fd/${handle.fd}`).catch(() => null); // No /proc mounted: compare by hand.
    if (actual !== null) return actual === checked.path;
  }
  const now = await fs.lstat(checked.path, { bigint: true });
  const isSame = [checked.stat, now].every((stat) => stat.dev === opened.dev && stat.ino === opened.ino);
  return isSame && (await fs.realpath(checked.path)) === checked.path;
}

function refuseKind(stat: BigIntStats): FileRefusal | null {
  if (stat.isFile()) return null;
  if (stat.isDirectory())
    return refuse("directory", "This is a folder. Send its files one by one, or pack them into a zip file first.");
  return refuse("not-a-file", "This is a device, pipe or socket, not a file that could be sent.");
}

function refuseOutside(roots: readonly FileRoot[]): FileRefusal {
  const folders = roots.map((root) => root.seenAs ?? root.path).join(", ");
  return refuse(
    "outside",
    `The file is outside the folders that may be sent from (${folders}). Copy it into the workspace first.`,
  );
}

function refuseNotFound(asked: string): FileRefusal {
  return refuse(
    "not-found",
    `There is no file ${basename(asked)} at this path. Check the path, or create the file first.`,
  );
}

function refuseSecret(): FileRefusal {
  return refuse(
    "secret",
    "This file holds secrets or settings of the service and is never sent. Do not try other ways to send it.",
  );
}

function refuseChanged(): FileRefusal {
  return refuse(
    "changed",
    "The file was exchanged while it was being opened. Wait until nothing writes to it, then send it again.",
  );
}

function refuse(reason: FileRefusalReason, text: string): FileRefusal {
  return { ok: false, reason, text };
}

function realpathOrNull(path: string): Promise<string | null> {
  return fs.realpath(path).catch(() => null); // Missing or unreadable: nothing to send in either case.
}

function isInside(path: string, folder: string): boolean {
  const rest = relative(folder, path);
  return rest !== "" && rest !== ".." && !rest.startsWith(`..${sep}`) && !isAbsolute(rest);
}

function exampleOf(roots: readonly FileRoot[]): string {
  const root = roots[0];
  return root === undefined ? "/workspace" : (root.seenAs ?? root.path);
}
