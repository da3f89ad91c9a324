/**
 * Finds or makes the key the vault is sealed with: from the environment, else from a key file that only its owner can read (SPEC C5).
 * A key file holds one key per line (32 bytes as base64 or hex, `#` comments): the first seals, the others still open older secrets.
 * Invariant: an existing file is never overwritten, and two processes starting at once end up with the same key. Error texts never quote a key.
 */
import { createHmac, randomBytes } from "node:crypto";
import { constants, promises as fs } from "node:fs";
import { dirname, join } from "node:path";
import { ConfigError } from "../errors.ts";

/** One AES-256 key. The id is derived from the key, tells nothing about it, and is stored with every sealed value. */
export interface VaultKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/** `current` seals; `all` (current included) can open. */
export interface VaultKeys {
  readonly current: VaultKey;
  readonly all: readonly VaultKey[];
}

/**
 * Loads the keys. `envKey` (one key or several, separated by spaces or commas) goes first and then no file is made, though an existing file's keys can
 * still open. Without it the file is made with mode 0600 when missing. Throws ConfigError with the fix for a bad key or a file others can read.
 */
export async function loadVaultKey(options: {
  readonly keyFile: string;
  readonly envKey?: string | undefined;
}): Promise<VaultKeys> {
  const fromEnv = parseKeys((options.envKey ?? "").split(/[\s,]+/), "The vault key in the environment");
  if (fromEnv.length === 0) await createKeyFile(options.keyFile);
  const all = dedupe([...fromEnv, ...(await readKeyFile(options.keyFile))]);
  const current = all[0];
  if (current === undefined)
    throw new ConfigError(
      `Key file ${options.keyFile} holds no key. Restore it from a backup, or delete it to start with an empty vault.`,
    );
  return { current, all };
}

/** A key from its 32 bytes; anything else is a RangeError. */
export function toVaultKey(bytes: Uint8Array): VaultKey {
  if (bytes.byteLength !== 32) throw new RangeError("A vault key has 32 bytes.");
  const id = createHmac("sha256", bytes).update("parley vault key id").digest("hex").slice(0, 12);
  return { id, bytes: Buffer.from(bytes) };
}

async function createKeyFile(keyFile: string): Promise<void> {
  if (await exists(keyFile)) return;
  const folder = dirname(keyFile);
  await fs.mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = join(folder, `.${randomBytes(8).toString("hex")}.key.new`);
  await writeDurably(
    draft,
    `# Parley vault key: whoever has it can read the stored secrets. Back it up apart from the database.\n${randomBytes(32).toString("base64")}\n`,
  );
  try {
    // A link appears whole and fails if the name is taken, so a second process that starts now reads this key instead of replacing it.
    await fs.link(draft, keyFile);
  } catch (error) {
    if (!isCode(error, "EEXIST"))
      throw new ConfigError(
        `Key file ${keyFile} cannot be created. Check storage.keyFile and the folder's permissions.`,
        { cause: error },
      );
  } finally {
    await fs.rm(draft, { force: true });
  }
  await syncFolder(folder);
}

async function writeDurably(path: string, text: string): Promise<void> {
  try {
    const handle = await fs.open(path, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600);
    try {
      await handle.writeFile(text, "utf8");
      await handle.sync();
    } finally {
      await handle.close();
    }
  } catch (error) {
    throw new ConfigError(
      `The key file cannot be written in ${dirname(path)}. Check storage.keyFile and the folder's permissions.`,
      { cause: error },
    );
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await fs.open(folder, constants.O_RDONLY);
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}

async function readKeyFile(keyFile: string): Promise<VaultKey[]> {
  let handle: fs.FileHandle;
  try {
    handle = await fs.open(keyFile, constants.O_RDONLY | constants.O_NONBLOCK);
  } catch (error) {
    if (isCode(error, "ENOENT")) return [];
    throw new ConfigError(
      `Key file ${keyFile} cannot be read. Check its owner and permissions (it should be 0600 and belong to this process's user).`,
      { cause: error },
    );
  }
  try {
    // Checked on the open file, so that it cannot be exchanged between the check and the reading.
    const stat = await handle.stat();
    if (!stat.isFile()) throw new ConfigError(`storage.keyFile: ${keyFile} is not a file.`);
    if (process.platform !== "win32" && (stat.mode & 0o077) !== 0) {
      throw new ConfigError(
        `Key file ${keyFile} can be read by others (mode ${(stat.mode & 0o777).toString(8).padStart(4, "0")}). Run: chmod 600 ${keyFile}`,
      );
    }
    const lines = (await handle.readFile("utf8")).split("\n").filter((line) => !line.trim().startsWith("#"));
    return parseKeys(lines, `Key file ${keyFile}`);
  } finally {
    await handle.close();
  }
}

function parseKeys(texts: readonly string[], source: string): VaultKey[] {
  return texts
    .map((text) => text.trim())
    .filter((text) => text !== "")
    .map((text) => parseKey(text, source));
}

function parseKey(text: string, source: string): VaultKey {
  const isHex = /^[0-9a-fA-F]{64}$/.test(text);
  if (!isHex && !/^[A-Za-z0-9+/_-]{43}=?$/.test(text)) {
    throw new ConfigError(
      `${source} is not a key: 32 bytes as base64 (44 characters) or hex (64) are expected. Make one with: openssl rand -base64 32`,
    );
  }
  return toVaultKey(Buffer.from(text, isHex ? "hex" : "base64"));
}

function dedupe(keys: readonly VaultKey[]): VaultKey[] {
  return [...new Map(keys.map((key) => [key.id, key])).values()];
}

async function exists(path: string): Promise<boolean> {
  return fs.stat(path).then(
    () => true,
    (error: unknown) => !isCode(error, "ENOENT"),
  );
}

function isCode(error: unknown, code: string): boolean {
  return error instanceof Error && "code" in error && error.code === code;
}
