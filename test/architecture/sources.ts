/**
 * The repository's files as the architecture test sees them: found by walking the tree (a packed checkout has no git), parsed with the parser that
 * vite brings, because TypeScript 7 has none to offer. Parsing happens once per file and test run; rules only look.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { parseSync } from "vite";

/** Folder of package.json. */
export const root = resolve(dirname(fileURLToPath(import.meta.url)), "../..");

/** A piece of syntax; offsets are in UTF-16 units. */
export interface Syntax {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [part: string]: unknown;
}

/** An import or re-export. `target` is a path from the root for relative ones, otherwise the package's name. */
export interface Import {
  readonly from: string;
  readonly target: string;
  readonly line: number;
  readonly isRelative: boolean;
  readonly isBare: boolean;
}

/** One parsed file; `path` is relative to the root with forward slashes. */
export interface Source {
  readonly path: string;
  readonly text: string;
  readonly program: Syntax;
  readonly comments: readonly { readonly start: number; readonly end: number; readonly value: string }[];
  readonly imports: readonly Import[];
  lineOf(offset: number): number;
}

/** What git does not carry, and what tools write into a checkout. */
const NOT_OURS = new Set(["node_modules", "dist", "data", ".git", "coverage", "generated"]);
const NOT_OURS_FILES = /(^|\/)(\.env|parley\.yaml|.*\.log|.*\.tsbuildinfo|\.DS_Store)$/;

/** Every file of the repository, sorted, as paths from the root. */
export function repositoryFiles(folder = root): string[] {
  return readdirSync(folder, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) => {
      if (NOT_OURS.has(entry.name)) return [];
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return repositoryFiles(path);
      const name = relative(root, path).replaceAll("\\", "/");
      return entry.isFile() && !NOT_OURS_FILES.test(name) ? [name] : [];
    });
}

/** Parses the TypeScript files among `paths`. A file that does not parse throws: the type check says more about it. */
export function parseSources(paths: readonly string[]): Source[] {
  return paths.filter((path) => /\.tsx?$/.test(path) && !path.endsWith(".d.ts")).map((path) => parseSource(path));
}

/** Parses one file. `text` replaces the file's own, for testing the rules themselves. */
export function parseSource(path: string, text = readFileSync(join(root, path), "utf8")): Source {
  const parsed = parseSync(path, text);
  const problem = parsed.errors[0];
  if (problem !== undefined) throw new Error(`${path} cannot be parsed: ${problem.message}`);
  const starts = lineStarts(text);
  const lineOf = (offset: number) => findLine(starts, offset);
  const program = parsed.program as unknown as Syntax;
  const imports = importsOf(program).map(({ specifier, start, isBare }) => ({
    ...locate(path, specifier),
    from: path,
    line: lineOf(start),
    isBare,
  }));
  return { path, text, program, comments: parsed.comments, imports, lineOf };
}

/** The children of a piece of syntax, in source order as the parser lists them. */
export function childrenOf(node: Syntax): Syntax[] {
  return Object.values(node)
    .flatMap((value) => (Array.isArray(value) ? value : [value]))
    .filter(isSyntax);
}

/** All syntax at and below `node`, parents first. */
export function* walk(node: Syntax): Generator<Syntax> {
  yield node;
  for (const child of childrenOf(node)) yield* walk(child);
}

/** True for what the parser calls a node. */
export function isSyntax(value: unknown): value is Syntax {
  return (
    typeof value === "object" && value !== null && "type" in value && typeof value.type === "string" && "start" in value
  );
}

/** The statements of a file, of which exported declarations are seen as themselves. */
export function topLevel(source: Source): { readonly node: Syntax; readonly isExported: boolean }[] {
  return (source.program.body as Syntax[]).map((node) => {
    const inner = node.declaration;
    const isExported = node.type.startsWith("Export");
    return { node: isExported && isSyntax(inner) ? inner : node, isExported };
  });
}

/** Name of an identifier-like piece, or "". */
export function nameOf(node: unknown): string {
  return isSyntax(node) && typeof node.name === "string" ? node.name : "";
}

function importsOf(program: Syntax): { specifier: string; start: number; isBare: boolean }[] {
  return [...walk(program)].flatMap((node) => {
    const isImport = /^(ImportDeclaration|Export(All|Named)Declaration|ImportExpression|TSImportType)$/.test(node.type);
    const literal = isImport ? node.source : undefined;
    if (!isSyntax(literal) || typeof literal.value !== "string") return [];
    const specifiers = node.specifiers;
    const isBare = node.type === "ImportDeclaration" && Array.isArray(specifiers) && specifiers.length === 0;
    return [{ specifier: literal.value, start: node.start, isBare }];
  });
}

function locate(from: string, specifier: string): { target: string; isRelative: boolean } {
  if (!specifier.startsWith(".")) {
    const parts = specifier.split("/");
    return {
      target: specifier.startsWith("@") ? parts.slice(0, 2).join("/") : (parts[0] ?? specifier),
      isRelative: false,
    };
  }
  return { target: relative(root, resolve(root, dirname(from), specifier)).replaceAll("\\", "/"), isRelative: true };
}

/** True when a relative import leads to a file. */
export function leadsSomewhere(target: string): boolean {
  return existsSync(join(root, target));
}

function lineStarts(text: string): number[] {
  const starts = [0];
  for (let at = text.indexOf("\n"); at !== -1; at = text.indexOf("\n", at + 1)) starts.push(at + 1);
  return starts;
}

function findLine(starts: readonly number[], offset: number): number {
  let low = 0;
  let high = starts.length - 1;
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle - 1;
  }
  return low + 1;
}
