/**
 * The documents against the program: examples load and are complete, commands exist, links lead somewhere.
 */
import { existsSync, readFileSync, rmSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { expect, test } from "vitest";
import { parse } from "yaml";
import { runCommand } from "../src/cli/program.ts";
import { loadConfig } from "../src/config.ts";
import { parseEnvText } from "../src/config-file.ts";
import { allKeys } from "../src/config-keys.ts";
import { repositoryFiles, root } from "./architecture/sources.ts";

const read = (path: string) => readFileSync(join(root, path), "utf8");
const documents = repositoryFiles().filter((path) => path.endsWith(".md"));
const scripts = (JSON.parse(read("package.json")) as { scripts: Record<string, string> }).scripts;
const variables = Object.keys(parseEnvText(read(".env.example")));

/** Every key in a settings text, in the form of `allKeys`. */
function keysIn(value: unknown, prefix = ""): string[] {
  if (Array.isArray(value)) return [prefix, `${prefix}[]`, ...value.flatMap((item) => keysIn(item, `${prefix}[]`))];
  if (typeof value !== "object" || value === null) return [prefix];
  return [
    prefix,
    ...Object.entries(value).flatMap(([key, child]) => keysIn(child, prefix === "" ? key : `${prefix}.${key}`)),
  ];
}

test("parley.example.yaml loads with the variables of .env.example", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "parley-docs-"));
  const values: Record<string, string> = {
    DATABASE_URL: "postgresql://h/d",
    REDIS_URL: "redis://h",
    PARLEY_HOST: "",
    PARLEY_CONFIG: "",
    PARLEY_LOG_LEVEL: "",
  };
  const env = Object.fromEntries(variables.map((name) => [name, values[name] ?? `value of ${name}`]));
  const config = loadConfig({ argv: ["--config", join(root, "parley.example.yaml")], env, cwd });
  rmSync(cwd, { recursive: true });
  expect(config.bots.map((bot) => bot.id)).toEqual(["ada", "bo", "cy"]);
});

test("a copy of .env.example changes nothing until it is filled in", async () => {
  const cwd = await mkdtemp(join(tmpdir(), "parley-docs-"));
  await writeFile(join(cwd, ".env"), read(".env.example"));
  const config = loadConfig({ argv: [], env: {}, cwd });
  rmSync(cwd, { recursive: true });
  expect(config.origin).toBe("demo");
});

test("parley.example.yaml shows every key there is", () => {
  const shown = new Set(keysIn(parse(read("parley.example.yaml"))));
  const pattern = (key: string) => new RegExp(`^${key.replace(/[.[\]]/g, "\\$&").replaceAll("<name>", "[^.]+")}$`);
  const missing = allKeys().filter((key) => ![...shown].some((name) => pattern(key).test(name)));
  expect(missing).toEqual([]);
});

test("the README's table names every block and key", () => {
  const table = read("README.md");
  const names = new Set(
    allKeys().flatMap((key) =>
      key
        .replace(/\.<name>|\[\]/g, "")
        .split(".")
        .slice(0, 2),
    ),
  );
  expect([...names].filter((name) => !table.includes(`\`${name}`))).toEqual([]);
});

test("every variable that an example names is in .env.example", () => {
  const named = ["parley.example.yaml", "README.md", "compose.yaml"].flatMap((path) =>
    [...read(path).matchAll(/\$\{([A-Z_]+)[}:]/g)].map((match) => match[1] ?? ""),
  );
  expect(
    [...new Set(named)].filter((name) => !variables.includes(name) && !["NAME", "POSTGRES_PASSWORD"].includes(name)),
  ).toEqual([]);
});

test("every npm script that a document mentions exists", () => {
  const mentioned = documents.flatMap((path) =>
    [...read(path).matchAll(/npm (?:run )?(start|test|(?<=run )[a-z:]+)/g)].map((match) => match[1] ?? ""),
  );
  expect([...new Set(mentioned)].filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
  expect(mentioned.length).toBeGreaterThan(5);
});

test("every parley command that a document mentions exists", async () => {
  const help: string[] = [];
  const line = {
    cwd: root,
    env: {},
    print: (text: string) => help.push(text),
    complain: (text: string) => help.push(text),
    fetch,
  };
  await runCommand(["--help"], line, {});
  const mentioned = documents.flatMap((path) =>
    [...read(path).matchAll(/npx parley ([a-z]+)/g)].map((match) => match[1] ?? ""),
  );
  expect([...new Set(mentioned)].filter((name) => !new RegExp(`^ +${name}\\b`, "m").test(help.join("\n")))).toEqual([]);
});

test("links and pictures lead to a file", () => {
  const broken = documents.flatMap((path) =>
    [...read(path).matchAll(/\]\(([^)#\s]+)[^)]*\)/g)]
      .map((match) => match[1] ?? "")
      .filter((link) => !/^[a-z]+:/.test(link) && !existsSync(resolve(root, dirname(path), link)))
      .map((link) => `${path}: ${link}`),
  );
  expect(broken).toEqual([]);
});

test("what the container starts with is in the build", () => {
  const dockerfile = read("Dockerfile");
  for (const [, path = ""] of dockerfile.matchAll(/"(scripts\/[^"]+)"/g))
    expect(existsSync(join(root, path)), path).toBe(true);
  expect(dockerfile).toContain("USER node");
});
