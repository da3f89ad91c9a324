/**
 * Makes the database client in src/engine/store/generated from prisma/schema.prisma; does nothing when it is already up to date.
 * Generating needs no schema engine, but Prisma's command line insists on downloading one. When none is given, an executable that
 * is never called stands in for it, so that this works without internet. Output goes to stderr: `npm start` keeps stdout for log lines.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { hashOf, root, step, versionOf, withLock } from "./steps.mjs";

const output = join(root, "src/engine/store/generated");

async function runPrisma() {
  rmSync(output, { recursive: true, force: true });
  const command = [join(root, "node_modules/prisma/build/index.js"), "generate", "--no-hints"];
  const env = {
    PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
    PRISMA_HIDE_UPDATE_MESSAGE: "1",
    CHECKPOINT_DISABLE: "1",
    ...process.env,
  };
  const child = spawn(process.execPath, command, { cwd: root, env, stdio: ["ignore", 2, 2] });
  const [code] = await once(child, "exit");
  if (code !== 0) throw new Error(`prisma generate ended with code ${code}; its output above says why.`);
}

/** Brings the generated client up to date. Returns true when it had to be made. Call it under the build lock. */
export function generateClient() {
  return step({
    stamp: join(output, ".stamp"),
    hash: hashOf(["prisma/schema.prisma", "prisma.config.ts"], versionOf("prisma")),
    output: join(output, "client.ts"),
    make: runPrisma,
  });
}

if (import.meta.url === pathToFileURL(process.argv[1]).href) await withLock("build", generateClient);
