/**
 * Where a plugin comes from, as operators write it: a folder, or a git address with an optional version and folder, `https://host/repo.git#v2:plugins/one`. Pure.
 * Invariant: only https and ssh addresses (plain http on this machine only) get through; nothing that git would run as a command, and no password.
 */

import { resolve } from "node:path";
import { isInnerPath } from "./skill-folder.ts";

/** A source that can be fetched. `folder` is a path inside the repository. */
export type PluginSource =
  | { readonly kind: "folder"; readonly path: string }
  | { readonly kind: "git"; readonly url: string; readonly ref: string; readonly folder?: string };

/** A source with the address that names it from anywhere, or what is wrong with the text. */
export type ReadSource =
  | { readonly ok: true; readonly source: PluginSource; readonly address: string }
  | { readonly ok: false; readonly text: string };

const SCP_LIKE = /^[A-Za-z0-9._-]+@[A-Za-z0-9.-]+:[^-\s][^\s]*$/;
const REF = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,199}$/;

/** Reads a source; relative folders are taken from `cwd`. */
export function readSource(written: string, cwd: string): ReadSource {
  const text = written.trim();
  const hash = text.indexOf("#");
  const address = hash < 0 ? text : text.slice(0, hash);
  if (text === "") return no("name a folder or a git address");
  if (!isAddress(address)) {
    const folder = resolve(cwd, text);
    return { ok: true, source: { kind: "folder", path: folder }, address: folder };
  }
  const problem = addressProblem(address);
  if (problem) return no(problem);
  const [ref = "", folder, ...more] = hash < 0 ? [] : text.slice(hash + 1).split(":");
  if (more.length > 0 || (ref !== "" && (!REF.test(ref) || ref.includes(".."))))
    return no("after # comes a branch, tag or commit, and after a further : a folder, for example #v2:plugins/one");
  const path = folder?.replace(/^\.?\/+|\/+$/g, "");
  if (path !== undefined && path !== "" && !isInnerPath(path))
    return no("the folder after : must lie inside the repository");
  const source = { kind: "git" as const, url: address, ref: ref || "HEAD", ...(path ? { folder: path } : {}) };
  return { ok: true, source, address: text };
}

/** Anything with a scheme or in the form user@host:path; all else is a folder. */
function isAddress(address: string): boolean {
  return /^[a-z][a-z0-9+.-]*:(:|\/\/)/i.test(address) || SCP_LIKE.test(address);
}

function addressProblem(address: string): string | undefined {
  // The first would be an option for a program that git starts; line ends vanish when an address is checked, and not when it is used.
  if (address.startsWith("-") || /[\s\p{Cc}]/u.test(address)) return "the address has signs that no address has";
  if (SCP_LIKE.test(address)) return undefined;
  const url = URL.canParse(address) ? new URL(address) : undefined;
  const isLocal = url?.protocol === "http:" && /^(127\.0\.0\.1|localhost|\[::1\])$/.test(url.hostname);
  if (!url || !(isLocal || url.protocol === "https:" || url.protocol === "ssh:") || url.hostname.startsWith("-"))
    return "only https:// and ssh addresses are fetched";
  if (url.password !== "" || (url.username !== "" && url.protocol !== "ssh:"))
    return "leave name and password out of the address; for a private repository use its ssh address";
  return undefined;
}

function no(text: string): ReadSource {
  return { ok: false, text };
}
