/**
 * Names of connectors' tools as models see them (SPEC X2): `mcp__<connector>__<tool>`, only characters every provider takes, at most 64 of them.
 * Pure and deterministic. Invariant: two tools never share a name, and a tool's name does not depend on which others there are, except on those of
 * its own connector that would have the same one.
 */

import { createHash } from "node:crypto";

const MAX_NAME = 64;
const MAX_SLUG = 20;

/** The part of a name that stands for a connector; equal only for equal ids. */
export function toSlug(connectorId: string): string {
  const plain = connectorId.replace(/[^A-Za-z0-9]+/g, "-").replace(/^-+|-+$/g, "");
  const isClean = plain === connectorId && plain.length <= MAX_SLUG && plain !== "";
  return isClean ? plain : `${plain.slice(0, MAX_SLUG - 6)}-${fingerprint(connectorId, 5)}`;
}

/** Names of one connector's tools, by the server's own names; these must be unique. */
export function toToolNames(connectorId: string, tools: readonly string[]): ReadonlyMap<string, string> {
  const prefix = `mcp__${toSlug(connectorId)}__`;
  const room = MAX_NAME - prefix.length;
  const wanted = new Map(tools.map((tool) => [tool, tool.replace(/[^A-Za-z0-9_-]+/g, "_")]));
  const isTaken = new Set<string>();
  const names = new Map<string, string>();
  for (const [tool, plain] of [...wanted].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const isClean = plain === tool && plain.length <= room && plain !== "";
    const short = isClean ? plain : `${plain.slice(0, room - 9)}_${fingerprint(tool, 8)}`;
    const name = isTaken.has(short) ? `${plain.slice(0, room - 13)}_${fingerprint(tool, 12)}` : short;
    isTaken.add(name);
    names.set(tool, `${prefix}${name}`);
  }
  return names;
}

function fingerprint(text: string, length: number): string {
  return createHash("sha256").update(text.toWellFormed()).digest("hex").slice(0, length);
}
