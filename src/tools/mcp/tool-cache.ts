/**
 * What is remembered of a connector between starts: its list of tools, so that bots know them before the server is there, and the incident that is
 * going on, so that people are told of it once.
 */

import { createHash, randomUUID } from "node:crypto";
import type { KeyValueStore } from "../../engine/index.ts";
import type { ConnectorDefinition } from "./definitions.ts";
import type { ListedTool } from "./opened-client.ts";

/** A server's tools in the order of their names, and how many it has beyond what we take. */
export interface KnownTools {
  readonly tools: readonly ListedTool[];
  readonly omitted: number;
  /** What the server says of itself, one line of text that is shown as its words. */
  readonly about?: string;
}

/** Characters of a list that is worth keeping. */
const MAX_KEPT = 2_000_000;

/** Changes whenever the connection leads somewhere else; holds no value of env or headers. */
export function fingerprintOf({ address }: ConnectorDefinition): string {
  const facts =
    address.kind === "program"
      ? [address.command, address.args, Object.keys(address.env)]
      : [address.url, Object.keys(address.headers)];
  return createHash("sha256").update(JSON.stringify(facts)).digest("hex").slice(0, 16);
}

/** The memory of one connection. */
export function createToolCache(kv: KeyValueStore, key: string, fingerprint: string) {
  return {
    async read(): Promise<KnownTools> {
      const row = (await kv.get(`tools:${key}`)) as { fingerprint: string; list: string } | null | undefined;
      return row?.fingerprint === fingerprint ? (JSON.parse(row.list) as KnownTools) : { tools: [], omitted: 0 };
    },
    async write(known: KnownTools): Promise<void> {
      const list = JSON.stringify(known).toWellFormed();
      // The database takes no NUL, not even escaped.
      if (list.length <= MAX_KEPT) await kv.set(`tools:${key}`, { fingerprint, list: list.replaceAll("\\u0000", "") });
    },
    /** The incident's name; begins one when there is none. */
    async beginIncident(): Promise<string> {
      await kv.insert(`incident:${key}`, randomUUID());
      return String(await kv.get(`incident:${key}`));
    },
    endIncident: () => kv.delete(`incident:${key}`),
  };
}
