/**
 * `npm start`: builds what is out of date (says so on stderr), then runs the product in this very process, so that signals reach it.
 * Everything after `npm start --` is handed to the product's main function. stdout carries nothing but its log lines.
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
const { main } = await import(pathToFileURL(join(root, "dist/main.js")).href);
await main(process.argv.slice(2));
