/**
 * Pieces of language this code base does without: state that outlives a call, work done by importing, ways around the types. Each rule takes a
 * parsed file and names the lines that break it.
 */
import { isSyntax, nameOf, type Source, type Syntax, topLevel, walk } from "./sources.ts";

/** A broken rule at a place. */
export interface Finding {
  readonly path: string;
  readonly line: number;
  readonly text: string;
}

/** Files whose import is meant to do something: a process, a worker thread or a page begins in them. */
const ENTRY =
  /^src\/(main\.ts|cli\/index\.ts|engine\/store\/embedded-worker\.ts|(adapters\/web|console)\/client\/(main|index)\.tsx?)$/;
const MUTATORS = /^(set|add|delete|clear|push|pop|shift|unshift|splice|sort|reverse|fill|copyWithin)$/;
const FORBIDDEN: Readonly<Record<string, string>> = {
  TSAnyKeyword: "any: say what it is, or unknown",
  TSNonNullExpression: "non-null assertion: handle the missing case",
  TSEnumDeclaration: "enum: use a union of strings",
  TSModuleDeclaration: "namespace: a file is one already",
  TSParameterProperty: "parameter property: declare the field",
  ExportDefaultDeclaration: "default export: export a name",
};

const finding = (source: Source, node: Syntax, text: string): Finding => ({
  path: source.path,
  line: source.lineOf(node.start),
  text,
});

/** Ways around the types, and exports without a name. */
export function forbiddenConstructs(source: Source): Finding[] {
  return [...walk(source.program)].flatMap((node) => {
    const text = FORBIDDEN[node.type];
    if (text !== undefined) return [finding(source, node, text)];
    const isStar = node.type === "ExportAllDeclaration" && source.path !== "src/engine/index.ts";
    return isStar ? [finding(source, node, "export *: name what is exported")] : [];
  });
}

/** State at module level: rebindable variables, collections and objects that something in the file changes, expressions with a memory. */
export function moduleState(source: Source): Finding[] {
  const declarations = topLevel(source)
    .filter(({ node }) => node.type === "VariableDeclaration")
    .map(({ node }) => node);
  const rebindable = declarations
    .filter((node) => node.kind !== "const")
    .map((node) => finding(source, node, `module-level ${String(node.kind)}: pass it in or return it`));
  const constants = new Map(
    declarations.flatMap((node) => node.declarations as Syntax[]).map((item) => [nameOf(item.id), item]),
  );
  constants.delete("");
  const changed = [...walk(source.program)].flatMap((node) => {
    const name = changedName(node, constants);
    return name === undefined
      ? []
      : [finding(source, node, `module-level ${name} is changed here: keep state in what a function creates`)];
  });
  return [...rebindable, ...changed];
}

function changedName(node: Syntax, constants: ReadonlyMap<string, Syntax>): string | undefined {
  const place =
    node.type === "AssignmentExpression"
      ? node.left
      : node.type === "UpdateExpression" || (node.type === "UnaryExpression" && node.operator === "delete")
        ? node.argument
        : undefined;
  if (isSyntax(place) && place.type === "MemberExpression") return known(place.object, constants);
  const callee = node.type === "CallExpression" ? node.callee : undefined;
  if (!isSyntax(callee) || callee.type !== "MemberExpression") return undefined;
  const name = known(callee.object, constants);
  if (name === undefined) return undefined;
  const method = nameOf(callee.property);
  const initial = constants.get(name)?.init;
  // A regular expression with g or y remembers where it stopped.
  if (/^(test|exec)$/.test(method) && isSyntax(initial) && /[gy]/.test(flagsOf(initial))) return name;
  return MUTATORS.test(method) ? name : undefined;
}

function flagsOf(initial: Syntax): string {
  const regex = initial.regex;
  return typeof regex === "object" && regex !== null && "flags" in regex ? String(regex.flags) : "";
}

function known(node: unknown, constants: ReadonlyMap<string, Syntax>): string | undefined {
  const name = nameOf(node);
  return constants.has(name) ? name : undefined;
}

/** Statements that run on import, and imports for their effect. Entry files are meant to run. */
export function importEffects(source: Source): Finding[] {
  if (ENTRY.test(source.path)) return [];
  const bare = source.imports
    .filter((item) => item.isBare)
    .map((item) => ({ path: source.path, line: item.line, text: `import of ${item.target} for its side effect` }));
  const harmless = /^(Import|Export|TS)|Declaration$|^EmptyStatement$/;
  const statements = topLevel(source)
    .filter(({ node }) => !harmless.test(node.type))
    .map(({ node }) => finding(source, node, "runs on import: put it into a function that main calls"));
  return [...bare, ...statements];
}

/** Reads of the environment, which belong to config.ts. */
export function environmentReads(source: Source): Finding[] {
  if (source.path === "src/config.ts") return [];
  return [...walk(source.program)].flatMap((node) => {
    const isRead =
      node.type === "MemberExpression" && nameOf(node.object) === "process" && nameOf(node.property) === "env";
    return isRead ? [finding(source, node, "process.env: only src/config.ts reads the environment")] : [];
  });
}

/** Catch blocks that neither do something nor say why nothing is right. */
export function emptyCatches(source: Source): Finding[] {
  return [...walk(source.program)].flatMap((node) => {
    const body = node.type === "CatchClause" ? node.body : undefined;
    if (!isSyntax(body) || (body.body as unknown[]).length > 0) return [];
    const isExplained = source.comments.some((comment) => comment.start > body.start && comment.end < body.end);
    return isExplained ? [] : [finding(source, node, "empty catch: handle it, or say why ignoring is right")];
  });
}
