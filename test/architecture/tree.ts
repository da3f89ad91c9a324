/**
 * The map in ARCHITECTURE.md against the tree, and what no text of the repository may hold: paths of one machine, addresses of package mirrors,
 * marks of unfinished work.
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Finding } from "./constructs.ts";
import { root } from "./sources.ts";

/** The lines of the map: one path each, folders with a slash at the end, indented under their folder or written out. */
export function readMap(text: string): Set<string> {
  const block = /```map\n([\s\S]*?)```/.exec(text)?.[1] ?? "";
  const stack: { indent: number; path: string }[] = [];
  const found = new Set<string>();
  for (const line of block.split("\n")) {
    const match = /^( *)(\S+)/.exec(line);
    if (match === null) continue;
    const [, space = "", name = ""] = match;
    while ((stack.at(-1)?.indent ?? -1) >= space.length) stack.pop();
    const path = `${stack.at(-1)?.path ?? ""}${name}`;
    found.add(path);
    if (name.endsWith("/")) stack.push({ indent: space.length, path });
  }
  return found;
}

/** Folders and top files that the map does not show, and places on the map that do not exist. A folder marked `**` stands for all below it. */
export function mapDifferences(map: ReadonlySet<string>, paths: readonly string[]): Finding[] {
  const wild = [...map].filter((place) => place.endsWith("/**")).map((place) => place.slice(0, -2));
  const isWild = (path: string) => wild.some((place) => path.startsWith(place));
  const folders = new Set(
    paths.map((path) => `${dirname(path)}/`).filter((folder) => folder !== "./" && !isWild(folder)),
  );
  // Files are shown one by one only where each is a part of its own.
  const singles = paths.filter((path) => /^src\/[^/]+$/.test(path));
  const tree = new Set([...folders, ...singles]);
  const at = (path: string, text: string): Finding => ({ path, line: 1, text });
  const missing = [...tree]
    .filter((place) => !map.has(place))
    .map((place) => at(place, "is not on the map in ARCHITECTURE.md"));
  const isThere = (place: string) => paths.some((path) => path === place || path.startsWith(place));
  const stale = [...map]
    .map((place) => place.replace(/\*\*$/, ""))
    .filter((place) => !isThere(place))
    .map((place) => at(place, "is on the map in ARCHITECTURE.md, but not in the tree"));
  return [...missing, ...stale];
}

/** Written in pieces, because this file is searched too. */
const UNWANTED: readonly (readonly [RegExp, string])[] = [
  [/(^|[\s"'`(=:])\/(work|root|home\/[a-z]+|Users\/[a-z]+|tmp)\//i, "a path of one machine"],
  [
    new RegExp(["regis", 'try\\.(?!npmjs\\.org)[a-z0-9.-]+/|"resol', 'ved":'].join(""), "i"),
    "an address of a package source",
  ],
  [
    new RegExp(
      `\\b(${["TO", "DO"].join("")}|${["FIX", "ME"].join("")}|${["X", "XX"].join("")}|${["HA", "CK"].join("")})\\b`,
    ),
    "a mark of unfinished work",
  ],
];
const BINARY = /\.(png|jpe?g|gif|webp|ico|woff2?|gz|zip|pdf|tgz|wasm)$/;
/** Made by npm and Prisma; nobody writes in them. */
const MACHINE_MADE = /^(package-lock\.json|prisma\/migrations\/.*\.sql)$/;

/** Lines of tracked text files that hold something that does not belong there. */
export function unwantedText(paths: readonly string[]): Finding[] {
  return paths
    .filter((path) => !BINARY.test(path) && !MACHINE_MADE.test(path))
    .flatMap((path) =>
      readFileSync(join(root, path), "utf8")
        .split("\n")
        .flatMap((line, index) =>
          UNWANTED.filter(([pattern]) => pattern.test(line)).map(([, text]) => ({
            path,
            line: index + 1,
            text: `${text}: ${line.trim().slice(0, 80)}`,
          })),
        ),
    );
}
