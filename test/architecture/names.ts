/**
 * Names: one word for each thing, the same file names in every adapter, nothing called by what it is made of. Platform folders may use their
 * platform's words.
 */
import type { Finding } from "./constructs.ts";
import { declaredName } from "./measures.ts";
import { type Source, topLevel } from "./sources.ts";

/** The names every adapter has, so that the second one is quick to read. */
export const ADAPTER_FILES = [
  "index",
  "connect",
  "inbound",
  "actions",
  "render",
  "deliver",
  "secret-form",
  "format",
  "limits",
];

/** Words we have another word for, with that word. */
const OTHER_WORD: Readonly<Record<string, string>> = {
  assistant: "Bot",
  tenant: "Org",
  room: "Conversation or Group",
  chat: "Conversation",
  debate: "Discussion",
  iteration: "step",
  knowledge: "Memory",
  job: "Mail",
  notice: "HostCard",
  dialog: "Card",
  manager: "what it does",
  helper: "what it does",
  util: "what it does",
  misc: "what it does",
};
/** Where the words of a platform, of a page, or of the providers' message format are the right ones. */
const FOREIGN_WORDS = /^src\/(adapters\/(slack|discord|web\/client)|engine\/model)\//;
/** Names fixed by the tools' public schema, by HTTP, or by the field. */
const AGENT_ALLOWED =
  /Send-?To-?Agent|Create-?Agent|Update-?Agent|[Ss]ubagent|[Cc]ursor-?Agent|guarded-?agent|UserAgent/i;

const wordsOf = (name: string) =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split(/[^a-z0-9]+/)
    .map((word) => word.replace(/(?<=..)s$/, ""));

/** Files and declarations named with a word that the vocabulary gives another word for. */
export function wrongWords(source: Source): Finding[] {
  const file =
    source.path
      .split("/")
      .at(-1)
      ?.replace(/\.tsx?$/, "") ?? "";
  const names = [
    { name: file, line: 1 },
    ...topLevel(source).map(({ node }) => ({ name: declaredName(node), line: source.lineOf(node.start) })),
  ];
  return names.flatMap(({ name, line }) => {
    if (/^I[A-Z][a-z]/.test(name)) return [{ path: source.path, line, text: `${name}: no I before a type's name` }];
    const wrong = FOREIGN_WORDS.test(source.path)
      ? undefined
      : wordsOf(name).find((word) => Object.hasOwn(OTHER_WORD, word) || isWrongAgent(word, name));
    return wrong === undefined
      ? []
      : [{ path: source.path, line, text: `${name}: we say ${OTHER_WORD[wrong] ?? "Bot"}, not ${wrong}` }];
  });
}

function isWrongAgent(word: string, name: string): boolean {
  return word === "agent" && !AGENT_ALLOWED.test(name);
}

/** Files that are not kebab-case, or named `types`. */
export function wrongFileNames(paths: readonly string[]): Finding[] {
  return paths
    .filter((path) => /\.(ts|tsx|mjs)$/.test(path))
    .flatMap((path) => {
      const name = path.split("/").at(-1) ?? "";
      if (/^types\.tsx?$/.test(name)) return [{ path, line: 1, text: "types.ts: put a type beside what it describes" }];
      return /^[a-z0-9]+(-[a-z0-9]+)*(\.[a-z]+)*$/.test(name)
        ? []
        : [{ path, line: 1, text: "file names are kebab-case" }];
    });
}

/** Adapter folders that lack one of the common names. */
export function missingAdapterFiles(paths: readonly string[]): Finding[] {
  const platforms = new Set(paths.flatMap((path) => /^src\/adapters\/([^/]+)\/[^/]+\.ts$/.exec(path)?.[1] ?? []));
  platforms.delete("shared");
  return [...platforms].flatMap((platform) =>
    ADAPTER_FILES.filter((name) => !paths.includes(`src/adapters/${platform}/${name}.ts`)).map((name) => ({
      path: `src/adapters/${platform}`,
      line: 1,
      text: `has no ${name}.ts; every adapter has ${ADAPTER_FILES.join(", ")}`,
    })),
  );
}
