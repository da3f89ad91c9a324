/**
 * Who may import whom. Parts of the program are zones; each zone lists the zones it may see, everything else is refused, types included.
 * Packages have one home each. Both tables are the written rules of ARCHITECTURE.md; a new package needs a line here before it can be used.
 */
import type { Import, Source } from "./sources.ts";

/** Inside the engine imports point to the right only; files directly in src/engine are the nouns. */
const ENGINE_ORDER = [
  "index",
  "routing",
  "turn",
  "group",
  "context",
  "delivery",
  "queue",
  "state",
  "model",
  "net",
  "store",
  "nouns",
];

const HOMES: readonly (readonly [package_: RegExp, home: RegExp])[] = [
  [/^@slack\//, /^src\/adapters\/slack\//],
  [/^(discord\.js|@discordjs\/)/, /^src\/adapters\/discord\//],
  [/^(@prisma\/|pg$|@electric-sql\/)/, /^src\/engine\/store\//],
  [/^(bullmq|ioredis|croner)$/, /^src\/engine\/queue\//],
  [/^@modelcontextprotocol\//, /^src\/tools\/mcp\//],
  [/^(ai$|@ai-sdk\/)/, /^src\/engine\/model\//],
  [/^(undici|ipaddr\.js)$/, /^src\/engine\/net\//],
  [/^(hono$|@hono\/)/, /^src\/(main[-.]|adapters\/web\/|console\/)/],
  [/^markdown-it$/, /^src\/adapters\/shared\//],
  [/^pino$/, /^src\/log[-.]/],
  [/^prom-client$/, /^src\/metrics[-.]/],
  [/^yaml$/, /^src\/(config[-.]|cli\/|engine\/state\/skill-file\.ts)/],
  [/^commander$/, /^src\/cli\//],
  [/^preact$/, /^src\/(adapters\/web\/client|console)\//],
  [/^file-type$/, /^src\/engine\/store\//],
  [/^zod$/, /^src\//],
];

/** Parts that are files directly in src; `config-schema.ts` belongs to `config`. */
const ROOT_ZONES = ["main", "config", "log", "metrics"];

/** Zone of a file in src: the unit that arrows are drawn between. */
export function zoneOf(path: string): string {
  const [, first = "", second = "", third] = path.split("/");
  if (second === "") return ROOT_ZONES.find((zone) => first === `${zone}.ts` || first.startsWith(`${zone}-`)) ?? first;
  if (first === "engine") return `engine/${engineZone(second, third)}`;
  if (first !== "adapters") return first;
  return third === undefined ? "adapters/index" : `adapters/${second}`;
}

function engineZone(second: string, third: string | undefined): string {
  if (third !== undefined) return second;
  return /^(index|create-engine.*)\.ts$/.test(second) ? "index" : "nouns";
}

/** Undefined when the import is allowed, else what is wrong with it. */
export function problemOf({ from, target, isRelative }: Import): string | undefined {
  if (!isRelative) return homeProblem(from, target);
  if (!target.startsWith("src/")) return "leaves src";
  const [zone, seen] = [zoneOf(from), zoneOf(target)];
  if (zone === seen) return undefined;
  if (zone.startsWith("engine/")) return engineProblem(zone, seen);
  const isDoor = /\/index\.ts$/.test(target) || /^src\/(config|log|metrics)\.ts$/.test(target);
  if (!isDoor)
    return seen === "adapters/shared" && zone.startsWith("adapters/")
      ? undefined
      : `reaches past the door of ${seen}: only its index may be imported`;
  return mayImport(zone, seen) ? undefined : `${zone} may not import ${seen}`;
}

function mayImport(zone: string, seen: string): boolean {
  if (zone === "main") return /^(engine\/index|adapters\/index|tools|console|config|log|metrics)$/.test(seen);
  if (seen === "engine/index") return true;
  if (zone === "cli") return seen === "config" || seen === "adapters/index";
  if (zone === "log") return seen === "config";
  if (zone === "adapters/index") return /^adapters\/(?!shared)/.test(seen);
  return zone.startsWith("adapters/") && seen === "adapters/shared";
}

function engineProblem(zone: string, seen: string): string | undefined {
  if (!seen.startsWith("engine/")) return `the engine imports nothing outside it, and ${seen} is`;
  const [here, there] = [zone, seen].map((name) => ENGINE_ORDER.indexOf(name.slice("engine/".length)));
  if (here === -1 || there === -1) return `${here === -1 ? zone : seen} has no place in the engine's order`;
  return (there ?? 0) > (here ?? 0) ? undefined : `${zone} may not import ${seen}: ${ENGINE_ORDER.join(" ► ")}`;
}

function homeProblem(from: string, target: string): string | undefined {
  if (target.startsWith("node:")) return undefined;
  const home = HOMES.find(([name]) => name.test(target));
  if (home === undefined) return `package ${target} has no home yet; add it to the list in test/architecture/arrows.ts`;
  return home[1].test(from) ? undefined : `package ${target} is at home in ${home[1].source.replaceAll("\\", "")} only`;
}

/** Groups of files that import each other in a circle, each as a readable path. */
export function findCycles(sources: readonly Source[]): string[] {
  const edges = new Map(
    sources.map(({ path, imports }) => [path, imports.filter((item) => item.isRelative).map((item) => item.target)]),
  );
  const state = new Map<string, "open" | "done">();
  const cycles: string[] = [];
  const visit = (path: string, trail: readonly string[]): void => {
    if (state.get(path) === "open") cycles.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
    if (state.has(path)) return;
    state.set(path, "open");
    for (const next of edges.get(path) ?? []) visit(next, [...trail, path]);
    state.set(path, "done");
  };
  for (const path of edges.keys()) visit(path, []);
  return cycles;
}
