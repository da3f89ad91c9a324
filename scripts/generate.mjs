/**
 * Makes the database client in src/engine/store/generated from prisma/schema.prisma; does nothing when it is already up to date.
 * Generating needs no schema engine, but Prisma's command line insists on downloading one. When none is given, an executable that
 * is never called stands in for it, so that this works without internet. Output goes to stderr: `npm start` keeps stdout for log lines.
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { isFresh, root, runStep, runTool, versionOf, withLock } from "./steps.mjs";

const folder = "src/engine/store/generated";

async function runPrisma() {
  rmSync(join(root, folder), { recursive: true, force: true });
  await runTool("prisma generate", "node_modules/prisma/build/index.js", ["generate", "--no-hints"], {
    PRISMA_SCHEMA_ENGINE_BINARY: process.env.PRISMA_SCHEMA_ENGINE_BINARY ?? process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: "1",
    CHECKPOINT_DISABLE: "1",
  });
}

/** The step of the build that makes the client. */
export const generateStep = {
  name: "generate",
  inputs: ["prisma/schema.prisma", "prisma.config.ts"],
  extra: versionOf("prisma"),
  output: `${folder}/client.ts`,
  make: runPrisma,
};

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href && !isFresh(generateStep)) {
  await withLock("build", () => runStep(generateStep));
}
