/**
 * The house rules, checked on the sources themselves: arrows, homes of packages, names, budgets, state, and that the map is the tree. Every
 * violation is listed with its place, so one run shows all there is to mend. The rules live in test/architecture/.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { findCycles, problemOf } from "./architecture/arrows.ts";
import {
  emptyCatches,
  environmentReads,
  type Finding,
  forbiddenConstructs,
  importEffects,
  moduleState,
} from "./architecture/constructs.ts";
import {
  deepNesting,
  longFiles,
  longFunctions,
  missingOpenings,
  undocumentedExports,
} from "./architecture/measures.ts";
import { missingAdapterFiles, wrongFileNames, wrongWords } from "./architecture/names.ts";
import {
  leadsSomewhere,
  parseSource,
  parseSources,
  repositoryFiles,
  root,
  type Source,
} from "./architecture/sources.ts";
import { mapDifferences, readMap, unwantedText } from "./architecture/tree.ts";

/** Settings files of tools, in the form those tools ask for. */
const TOOL_SETTINGS = /(^|\/)[a-z.]+\.config\.ts$/;

const paths = repositoryFiles();
const all = parseSources(paths);
const product = all.filter(({ path }) => path.startsWith("src/") && !TOOL_SETTINGS.test(path));

const toLines = (findings: readonly Finding[]) => findings.map(({ path, line, text }) => `${path}:${line} ${text}`);
const each = (sources: readonly Source[], rule: (source: Source) => readonly Finding[]) =>
  toLines(sources.flatMap((source) => rule(source)));
const inProduct = (rule: (source: Source) => readonly Finding[]) => expect(each(product, rule)).toEqual([]);
const everywhere = (rule: (source: Source) => readonly Finding[]) => expect(each(all, rule)).toEqual([]);

describe("imports", () => {
  test("point only where the arrows point, types included", () => {
    const wrong = product
      .flatMap((source) => source.imports)
      .flatMap((item) => {
        const text = problemOf(item);
        return text === undefined ? [] : [{ path: item.from, line: item.line, text }];
      });
    expect(toLines(wrong)).toEqual([]);
  });

  test("lead to a file, with its extension", () => {
    const wrong = all
      .flatMap((source) => source.imports)
      .filter((item) => item.isRelative && !/generated\//.test(item.target) && !leadsSomewhere(item.target));
    expect(wrong.map((item) => `${item.from}:${item.line} ${item.target}`)).toEqual([]);
  });

  test("never go round in a circle", () => expect(findCycles(product)).toEqual([]));
  test("have no side effects", () => inProduct(importEffects));
});

describe("code", () => {
  test("keeps no state at module level", () => inProduct(moduleState));
  test("reads the environment in config.ts only", () => inProduct(environmentReads));
  test("does without any, non-null assertions, default exports, export *, enums and namespaces", () => {
    everywhere((source) => (TOOL_SETTINGS.test(source.path) ? [] : forbiddenConstructs(source)));
  });
  test("explains every catch that does nothing", () => everywhere(emptyCatches));
});

describe("budgets", () => {
  test("files have at most 300 lines", () => everywhere(longFiles));
  test("functions have at most 60 lines", () => everywhere(longFunctions));
  test("control flow is nested at most 4 deep", () => everywhere(deepNesting));
});

describe("comments", () => {
  test("open every file", () => {
    everywhere((source) => (TOOL_SETTINGS.test(source.path) ? [] : missingOpenings(source)));
  });
  test("explain every export", () => inProduct(undocumentedExports));
});

describe("names", () => {
  test("use the vocabulary", () => inProduct(wrongWords));
  test("of files are kebab-case and say what is inside", () => expect(toLines(wrongFileNames(paths))).toEqual([]));
  test("of files are the same in every adapter", () => expect(toLines(missingAdapterFiles(paths))).toEqual([]));
});

describe("repository", () => {
  test("looks like the map in ARCHITECTURE.md", () => {
    const map = readMap(readFileSync(join(root, "ARCHITECTURE.md"), "utf8"));
    expect(toLines(mapDifferences(map, paths))).toEqual([]);
  });
  test("holds no machine's paths and no marks of unfinished work", () =>
    expect(toLines(unwantedText(paths))).toEqual([]));
});

describe("the rules themselves", () => {
  const check = (text: string, rule: (source: Source) => readonly Finding[], path = "src/engine/turn/sample.ts") =>
    rule(parseSource(path, text)).length;
  const refused = (text: string, path: string) =>
    parseSource(path, text)
      .imports.map(problemOf)
      .filter((problem) => problem !== undefined).length;

  test("see a leftward import, a type import and a far reach", () => {
    expect(refused('import { a } from "../routing/router.ts";', "src/engine/turn/loop.ts")).toBe(1);
    expect(refused('import type { A } from "../turn/loop.ts";', "src/engine/store/rows.ts")).toBe(1);
    expect(refused('type A = import("../../engine/bot.ts").Bot;', "src/adapters/slack/render.ts")).toBe(1);
    expect(refused('import { a } from "../discord/format.ts";', "src/adapters/slack/render.ts")).toBe(1);
    expect(refused('import { a } from "../shared/split-text.ts";', "src/adapters/slack/render.ts")).toBe(0);
    expect(refused('import { a } from "../store/store.ts";', "src/engine/turn/loop.ts")).toBe(0);
  });

  test("see a package away from home", () => {
    expect(refused('import { Pool } from "pg";', "src/engine/turn/loop.ts")).toBe(1);
    expect(refused('const bolt = await import("@slack/bolt");', "src/adapters/web/index.ts")).toBe(1);
    expect(refused('import { z } from "zod";', "src/tools/send-message.ts")).toBe(0);
  });

  test("see state at module level and what changes it", () => {
    expect(check("let a = 1;", moduleState)).toBe(1);
    expect(check("const a = new Map(); export function f() { a.set(1, 2); }", moduleState)).toBe(1);
    expect(check("const a = { n: 0 }; export function f() { a.n += 1; }", moduleState)).toBe(1);
    expect(check("const a = /x/g; export const f = (s: string) => a.test(s);", moduleState)).toBe(1);
    expect(check("const a = new Map([[1, 2]]); export const f = () => a.get(1);", moduleState)).toBe(0);
  });

  test("measure depth and length", () => {
    const deep = (levels: number) => `export function f() { ${"if (x) { ".repeat(levels)}${"} ".repeat(levels)} }`;
    expect(check(deep(4), deepNesting)).toBe(0);
    expect(check(deep(5), deepNesting)).toBe(1);
    expect(check(`function f() {${"\n".repeat(59)}}`, longFunctions)).toBe(0);
    expect(check(`function f() {${"\n".repeat(60)}}`, longFunctions)).toBe(1);
  });

  test("see a forgotten and an invented place on the map", () => {
    const map = readMap("```map\nsrc/  all\n  main.ts\n  gone/  nothing\n```");
    expect(mapDifferences(map, ["src/main.ts", "src/new/a.ts"]).map(({ path }) => path)).toEqual([
      "src/new/",
      "src/gone/",
    ]);
  });
});
