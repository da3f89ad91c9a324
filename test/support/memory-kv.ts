/** The adapters' key-value store in memory, with the contract's order and atomicity; values are copied like JSON. */

import type { KeyValueStore } from "../../src/engine/index.ts";

/** A store; several adapters may share one, like processes share a database. */
export function createMemoryKv(): KeyValueStore & { readonly keys: () => readonly string[] } {
  const rows = new Map<string, string>();
  const sorted = () => [...rows.keys()].sort();
  return {
    keys: sorted,
    get: async (key) => parse(rows.get(key)),
    set: async (key, value) => void rows.set(key, JSON.stringify(value)),
    insert: async (key, value) => {
      if (rows.has(key)) return false;
      rows.set(key, JSON.stringify(value));
      return true;
    },
    list: async ({ prefix, after, limit, reverse }) => {
      const keys = sorted().filter((key) => key.startsWith(prefix));
      if (reverse) keys.reverse();
      const rest = after === undefined ? keys : keys.filter((key) => (reverse ? key < after : key > after));
      return rest.slice(0, limit).map((key) => ({ key, value: parse(rows.get(key)) }));
    },
    delete: async (key) => void rows.delete(key),
    increment: async (key) => {
      const next = Number(parse(rows.get(key)) ?? 0) + 1;
      rows.set(key, JSON.stringify(next));
      return next;
    },
  };
}

function parse(text: string | undefined): unknown {
  return text === undefined ? undefined : JSON.parse(text);
}
