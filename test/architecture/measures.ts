/**
 * Sizes and comments: how long files and functions are, how deep control flow goes, whether each file and export says what it is for.
 */
import type { Finding } from "./constructs.ts";
import { childrenOf, isSyntax, nameOf, type Source, type Syntax, walk } from "./sources.ts";

const MAX_FILE = 300;
const MAX_FUNCTION = 60;
const MAX_NESTING = 4;
const MAX_OPENING = 10;
const FUNCTION = /^(FunctionDeclaration|FunctionExpression|ArrowFunctionExpression)$/;
const DEEPER = /^(IfStatement|For(In|Of)?Statement|(Do)?WhileStatement|SwitchStatement|TryStatement)$/;

/** Files over 300 lines. */
export function longFiles(source: Source): Finding[] {
  const lines = source.text.trimEnd().split("\n").length;
  return lines <= MAX_FILE ? [] : [{ path: source.path, line: 1, text: `${lines} lines; at most ${MAX_FILE}` }];
}

/** Functions over 60 lines. One that only lists tests is a table of contents, not a function to follow. */
export function longFunctions(source: Source): Finding[] {
  return [...walk(source.program)].flatMap((node) => {
    if (!FUNCTION.test(node.type) || listsTests(node)) return [];
    const lines = source.lineOf(node.end) - source.lineOf(node.start) + 1;
    const name = nameOf(node.id) || "a function";
    const at = { path: source.path, line: source.lineOf(node.start) };
    return lines <= MAX_FUNCTION ? [] : [{ ...at, text: `${name} has ${lines} lines; at most ${MAX_FUNCTION}` }];
  });
}

function listsTests(node: Syntax): boolean {
  const body = isSyntax(node.body) ? node.body.body : undefined;
  return Array.isArray(body) && body.some((statement) => isSyntax(statement) && isTestCall(statement.expression));
}

/** `test(…)`, `describe.each(…)(…)` and the like. */
function isTestCall(node: unknown): boolean {
  if (!isSyntax(node)) return false;
  if (node.type === "CallExpression") return isTestCall(node.callee);
  if (node.type === "MemberExpression") return isTestCall(node.object);
  return /^(test|describe)$/.test(nameOf(node));
}

/** Control flow deeper than 4 inside one function; `else if` is no deeper than its `if`. */
export function deepNesting(source: Source): Finding[] {
  const found: Finding[] = [];
  const visit = (node: Syntax, depth: number, isElseIf: boolean): void => {
    // A function inside a function starts afresh: it is read by itself.
    const outer = FUNCTION.test(node.type) ? 0 : depth;
    const own = DEEPER.test(node.type) && !isElseIf ? outer + 1 : outer;
    if (own > MAX_NESTING && own > outer)
      found.push({
        path: source.path,
        line: source.lineOf(node.start),
        text: `nested ${own} deep; at most ${MAX_NESTING}`,
      });
    eachChild(node, own);
  };
  const eachChild = (node: Syntax, depth: number): void => {
    for (const child of childrenOf(node))
      visit(child, depth, node.type === "IfStatement" && child === node.alternate && child.type === "IfStatement");
  };
  visit(source.program, 0, false);
  return found;
}

/** Files that do not begin by saying what they do. */
export function missingOpenings(source: Source): Finding[] {
  const at = (text: string) => [{ path: source.path, line: 1, text }];
  const start = source.text.startsWith("#!") ? source.text.indexOf("\n") + 1 : 0;
  const first = source.comments[0];
  const opens =
    first !== undefined &&
    source.text.slice(start, first.start).trim() === "" &&
    source.text.startsWith("/**", first.start);
  if (!opens) return at("no opening comment: say what the file does, its invariant, what it leaves to whom");
  const lines = source.lineOf(first.end) - source.lineOf(first.start) + 1;
  // Emulators tell at their head what they imitate.
  return lines <= MAX_OPENING || source.path.startsWith("test/")
    ? []
    : at(`the opening comment has ${lines} lines; at most ${MAX_OPENING}`);
}

/** Exported declarations without a comment of their own. Lines that follow each other without a gap share the comment above them. */
export function undocumentedExports(source: Source): Finding[] {
  const ends = source.comments.map((comment) => comment.end);
  let previous = { line: Number.NEGATIVE_INFINITY, isDocumented: false };
  return (source.program.body as Syntax[]).flatMap((node) => {
    const line = source.lineOf(node.start);
    const hasComment = ends.some((end) => end <= node.start && source.text.slice(end, node.start).trim() === "");
    const isDocumented = hasComment || (previous.isDocumented && previous.line === line - 1);
    previous = { line: source.lineOf(node.end), isDocumented };
    const declaration = node.declaration;
    if (node.type !== "ExportNamedDeclaration" || !isSyntax(declaration) || isDocumented) return [];
    return [{ path: source.path, line, text: `${declaredName(declaration)} is exported without a sentence about it` }];
  });
}

/** Name of a declaration, or of the first variable it declares. */
export function declaredName(declaration: Syntax): string {
  const variables = declaration.declarations;
  const first: unknown = Array.isArray(variables) ? variables[0] : undefined;
  return nameOf(declaration.id) || (isSyntax(first) ? nameOf(first.id) : "");
}
