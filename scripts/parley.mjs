#!/usr/bin/env node
/**
 * `npx parley` from a checkout: builds what is out of date (says so on stderr), then runs the command. It stands in the package from the beginning,
 * so that npx finds it before anything was built.
 */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { build } from "./build.mjs";
import { root } from "./steps.mjs";

try {
  await build();
} catch (error) {
  process.stderr.write(`build: ${error.message}\n`);
  process.exit(1);
}
await import(pathToFileURL(join(root, "dist/cli/index.js")).href);
