/**
 * `npm run dev`: runs the product from its TypeScript sources and restarts it at every change; rebuilds the web client likewise.
 * With `--emulated` the product runs inside test/emulators/dev.ts instead, against emulated platforms and an emulated model. Other parameters go to
 * the product. Ends everything when one part ends.
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { generateStep } from "./generate.mjs";
import { root, runStep, withLock } from "./steps.mjs";

const webClient = "src/adapters/web/client";
const fromSource = "--from-source";

function startParts(parameters) {
  const emulated = parameters.includes("--emulated");
  const forProduct = parameters.filter((parameter) => parameter !== "--emulated");
  const self = fileURLToPath(import.meta.url);
  const watched = ["node_modules/tsx/dist/cli.mjs", "watch", "--clear-screen=false", self, fromSource, ...forProduct];
  const commands = [emulated ? ["--import", "tsx", "test/emulators/dev.ts"] : watched];
  if (existsSync(join(root, webClient, "index.html"))) {
    commands.push(["node_modules/vite/bin/vite.js", "build", "--watch", "--config", `${webClient}/vite.config.ts`]);
  }
  return commands.map((command) => spawn(process.execPath, command, { cwd: root, stdio: "inherit" }));
}

async function watch(parameters) {
  await withLock("build", () => runStep(generateStep));
  const parts = startParts(parameters);
  const stop = (signal) => {
    for (const part of parts) part.kill(signal);
  };
  for (const signal of ["SIGINT", "SIGTERM"]) process.on(signal, () => stop(signal));
  for (const part of parts) {
    part.on("exit", (code) => {
      process.exitCode ??= code ?? 1;
      stop("SIGTERM");
    });
  }
}

const parameters = process.argv.slice(2);
if (parameters[0] === fromSource) {
  const { main } = await import("../src/main.ts");
  await main(parameters.slice(1));
} else {
  await watch(parameters);
}
