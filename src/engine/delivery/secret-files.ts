/**
 * Knows which files are never sent to anyone: the service's own key, settings and database, and files that by their name hold credentials (SPEC M5).
 * Invariant: a listed file is recognised under every name it has (links of both kinds). Deciding where files may lie at all is left to file-roots.
 */
import { type BigIntStats, promises as fs } from "node:fs";
import { relative, sep } from "node:path";

/** The check, for one set of listed paths. */
export interface SecretFiles {
  /** By name, or by lying at or under a listed path. */
  isSecretPath(path: string): Promise<boolean>;
  /** Whether an open file is one of the listed files under another name. */
  isSecretFile(stat: BigIntStats): Promise<boolean>;
}

const SECRET_NAMES = [
  /^\.env(?!\.(example|sample|template)$)(\..+)?$/,
  /^parley\.ya?ml$/,
  /\.(key|pem|p12|pfx|keystore|jks|kdbx|ppk)$/,
  /^id_(rsa|dsa|ecdsa|ed25519)(_sk)?$/,
  /^\.(netrc|npmrc|pypirc|pgpass|git-credentials|htpasswd)$/,
];
const SECRET_FOLDERS: ReadonlySet<string> = new Set([".ssh", ".gnupg", ".aws", ".kube", ".docker"]);

/** `listed` are files or folders; they need not exist yet. */
export function createSecretFiles(listed: readonly string[]): SecretFiles {
  return {
    async isSecretPath(path) {
      if (hasSecretName(path)) return true;
      const real = await Promise.all(listed.map((entry) => fs.realpath(entry).catch(() => entry))); // Not there yet: its name still counts.
      return [...listed, ...real].some((entry) => isAtOrUnder(path, entry));
    },
    async isSecretFile(stat) {
      if (stat.nlink < 2n) return false;
      const stats = await Promise.all(listed.map((entry) => fs.stat(entry, { bigint: true }).catch(() => null))); // Absent files have no second name.
      return stats.some((entry) => entry !== null && entry.dev === stat.dev && entry.ino === stat.ino);
    },
  };
}

function hasSecretName(path: string): boolean {
  // Lower case, because some file systems open `.ENV` as `.env`.
  const parts = path.toLowerCase().split(sep);
  const name = parts.at(-1) ?? "";
  return (
    SECRET_NAMES.some((pattern) => pattern.test(name)) || parts.slice(0, -1).some((part) => SECRET_FOLDERS.has(part))
  );
}

function isAtOrUnder(path: string, entry: string): boolean {
  const rest = relative(entry, path);
  return rest === "" || (rest !== ".." && !rest.startsWith(`..${sep}`) && !rest.startsWith(sep));
}
