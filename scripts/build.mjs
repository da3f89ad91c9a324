/**
 * Builds the product into dist: database client, compiled sources, web client, migrations and the template of an empty database.
 * Each step remembers a hash of what it was made from and is skipped when nothing changed, so a repeated build takes a blink.
 * Builds that run at the same time wait for each other. All output goes to stderr.
 */
import { cpSync, existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join, relative } from "node:path";
import { pathToFileURL } from "node:url";
import { generateStep } from "./generate.mjs";
import { isFresh, root, runStep, runTool, versionOf, withLock } from "./steps.mjs";

const webClient = "src/adapters/web/client";
const migrations = "prisma/migrations";
const template = "dist/database-template.tar.gz";

async function compile() {
  await runTool("The TypeScript compiler", "node_modules/typescript/bin/tsc", ["-p", "tsconfig.json"]);
  removeOrphans("dist");
}

/** Compiled files whose source is gone would still be found by imports and by folder listings. */
function removeOrphans(folder) {
  for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
    const path = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      if (!entry.name.startsWith(".") && path !== "dist/adapters/web/public") removeOrphans(path);
      continue;
    }
    const compiled = /^(.*)\.js(\.map)?$/.exec(relative(join(root, "dist"), join(root, path)));
    if (compiled && !existsSync(join(root, "src", `${compiled[1]}.ts`))) rmSync(join(root, path));
  }
}

function copyMigrations() {
  const target = join(root, "dist/migrations");
  rmSync(target, { recursive: true, force: true });
  cpSync(join(root, migrations), target, { recursive: true });
}

/** In a process of its own, because initdb leaves several hundred MB behind. */
async function makeTemplate() {
  const aside = join(root, `${template}.${process.pid}`);
  await runTool("The database template", "scripts/make-template.mjs", [aside]);
  renameSync(aside, join(root, template));
}

const compileStep = {
  name: "compile",
  inputs: ["src", "tsconfig.json", "package-lock.json"],
  extra: versionOf("typescript"),
  output: "dist/main.js",
  make: compile,
};
const webStep = {
  name: "web",
  inputs: ["src/adapters/web", "package-lock.json"],
  extra: versionOf("vite"),
  output: "dist/adapters/web/public/index.html",
  make: () =>
    runTool("The web client's build", "node_modules/vite/bin/vite.js", [
      "build",
      "--config",
      `${webClient}/vite.config.ts`,
      "--logLevel",
      "warn",
    ]),
};
const migrationsStep = {
  name: "migrations",
  inputs: [migrations],
  output: "dist/migrations",
  make: copyMigrations,
};
const templateStep = {
  name: "database-template",
  inputs: ["src/engine/store/embedded-template.ts", "src/engine/store/embedded-files.ts", "scripts/make-template.mjs"],
  extra: versionOf("@electric-sql/pglite"),
  output: template,
  make: makeTemplate,
};

function allSteps() {
  const hasWebClient = existsSync(join(root, webClient, "index.html"));
  return [generateStep, compileStep, ...(hasWebClient ? [webStep] : []), migrationsStep, templateStep];
}

/** An installed package or image has dist, but neither the sources nor the tools to build them. */
function cannotBuild() {
  const toolsThere = existsSync(join(root, "node_modules/typescript")) && existsSync(join(root, "src"));
  return !toolsThere && existsSync(join(root, "dist/main.js"));
}

/** Brings dist up to date. Rejects with the failed step's name; what is already built stays. */
export async function build() {
  if (cannotBuild() || allSteps().every(isFresh)) return;
  await withLock("build", async () => {
    for (const step of allSteps()) {
      if (!isFresh(step)) process.stderr.write(`build: ${step.name}\n`);
      await runStep(step);
    }
  });
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  await build().catch((error) => {
    process.stderr.write(`build: ${error.message}\n`);
    process.exitCode = 1;
  });
}
