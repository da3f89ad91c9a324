#!/usr/bin/env node
/**
 * Where `npx parley` begins: gives the commands this process's folder, terminal and network. Everything else is in program.ts.
 */
import { platformSetups } from "../adapters/index.ts";
import { runCommand } from "./program.ts";

const line = {
  cwd: process.cwd(),
  print: (text: string) => console.log(text),
  complain: (text: string) => console.error(text),
  fetch,
};
process.exitCode = await runCommand(process.argv.slice(2), line, platformSetups);
