/**
 * What keys the settings schema knows, and which of them a mistyped one was meant to be. Walks zod's own description of the schema, so a new key
 * is known here by being added there.
 */
import type { z } from "zod";
import { settingsSchema } from "./config-schema.ts";

/** Keys and list positions from the top of the file. */
export type KeyPath = readonly (string | number)[];

/** Advice on an unknown key of the block at `path`: the nearest known key, or all keys known there. Begins with a space. */
export function suggestKey(key: string, path: KeyPath): string {
  const here = keysAt(settingsSchema, path);
  const near = nearest(key, here);
  if (near !== undefined) return ` Did you mean ${near}?`;
  const elsewhere = allKeys(settingsSchema, "").find((known) => known.split(".").at(-1) === key);
  if (elsewhere !== undefined) return ` Did you mean ${elsewhere}?`;
  return ` Known here: ${here.join(", ")}.`;
}

/** The known word closest to `word`, if it is close enough to be a slip of the keyboard. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  const ranked = known
    .map((name) => ({ name, distance: distanceBetween(word.toLowerCase(), name.toLowerCase()) }))
    .sort((a, b) => a.distance - b.distance);
  const best = ranked[0];
  if (best === undefined) return undefined;
  return best.distance <= Math.max(2, Math.floor(best.name.length / 3)) ? best.name : undefined;
}

/** Levenshtein, with a swap of neighbours counted as one. */
function distanceBetween(a: string, b: string): number {
  const rows: number[][] = Array.from({ length: a.length + 1 }, (_, i) => [i]);
  const at = (i: number, j: number) => rows[i]?.[j] ?? (i === 0 ? j : 0);
  for (let i = 0; i <= a.length; i++) {
    for (let j = i === 0 ? 0 : 1; j <= b.length; j++) {
      if (i === 0) {
        rows[0]?.splice(j, 1, j);
        continue;
      }
      const cost = a[i - 1] === b[j - 1] ? 0 : 1;
      const swapped = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1];
      const steps = [at(i - 1, j) + 1, at(i, j - 1) + 1, at(i - 1, j - 1) + cost];
      if (swapped) steps.push(at(i - 2, j - 2) + 1);
      rows[i]?.splice(j, 1, Math.min(...steps));
    }
  }
  return at(a.length, b.length);
}

/** The schema behind wrappers such as defaults and preprocessing. */
function bare(schema: unknown): z.core.$ZodTypeDef & Record<string, unknown> {
  const def = (schema as z.core.$ZodType)._zod.def as z.core.$ZodTypeDef & Record<string, unknown>;
  if ("innerType" in def) return bare(def.innerType);
  if (def.type === "pipe") {
    const out = bare(def.out);
    return out.type === "transform" ? bare(def.in) : out;
  }
  return def;
}

function childOf(schema: unknown, part: string | number): unknown {
  const def = bare(schema);
  if (def.type === "object") return (def.shape as Record<string, unknown>)[part];
  if (def.type === "array") return def.element;
  return def.type === "record" ? def.valueType : undefined;
}

function keysAt(schema: unknown, path: KeyPath): string[] {
  const target = path.reduce<unknown>((at, part) => (at === undefined ? undefined : childOf(at, part)), schema);
  if (target === undefined) return [];
  const def = bare(target);
  return def.type === "object" ? Object.keys(def.shape as object) : [];
}

/** Every key as written in the documentation: `web.port`, `bots[].lanes`, `mcp.servers.<name>.command`. */
export function allKeys(schema: unknown = settingsSchema, prefix = ""): string[] {
  const def = bare(schema);
  if (def.type === "array") return allKeys(def.element, `${prefix}[]`);
  if (def.type === "record") return allKeys(def.valueType, `${prefix}.<name>`);
  if (def.type !== "object") return prefix === "" ? [] : [prefix];
  return Object.entries(def.shape as Record<string, unknown>).flatMap(([key, child]) => {
    const name = prefix === "" ? key : `${prefix}.${key}`;
    const below = allKeys(child, name);
    return below.length > 0 ? below : [name];
  });
}
