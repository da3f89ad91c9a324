/**
 * `npm run bench`: builds the product, then runs the measurements one after the other, each in a process of its own. `npm run bench -- latency`
 * runs one of them; `crash` runs only when named, because it takes long. Nothing here passes or fails by the clock.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { availableParallelism, cpus, loadavg } from "node:os";
import { fileURLToPath } from "node:url";

interface Measurement {
  readonly file: string;
  readonly about: string;
  /** Runs only when it is named. */
  readonly onRequest?: true;
}

const MEASUREMENTS: Readonly<Record<string, Measurement>> = {
  latency: { file: "latency.ts", about: "from a message to its answer, against a bare Bolt echo" },
  memory: { file: "memory.ts", about: "memory and idle CPU for 1, 10 and 50 bots" },
  startup: { file: "startup.ts", about: "first start and restart, by phase" },
  store: { file: "store.ts", about: "operations of the store, embedded and on a server" },
  prefix: { file: "prefix.ts", about: "how much of a prompt the model has seen before" },
  group: { file: "group-cost.ts", about: "requests and prompt sizes of discussions of 2, 4 and 6 bots" },
  queue: { file: "queue-chaos.ts", about: "two workers on Redis while everything breaks", onRequest: true },
  crash: { file: "crash-matrix.ts", about: "kill -9 at every stage of a turn", onRequest: true },
};

const pathOf = (file: string) => fileURLToPath(new URL(file, import.meta.url));

async function runNode(parameters: readonly string[]): Promise<void> {
  const child = spawn(process.execPath, parameters, { stdio: "inherit" });
  const [code, signal] = await once(child, "exit");
  if (code !== 0) throw new Error(`${parameters.join(" ")} ended with ${signal ?? code}`);
}

function printHeader(names: readonly string[]): void {
  const [cpu] = cpus();
  console.log(
    [
      `Parley benchmark: ${names.join(", ")}`,
      `Node ${process.version}, ${availableParallelism()} × ${cpu?.model.trim() ?? "unknown CPU"}, load at the start ${loadavg()[0]?.toFixed(1)}.`,
      "What is compared was measured in turns within one run, and medians are shown: trust the ratios. Absolute times belong to this machine",
      "at this moment; whatever else runs on it is in them. Slack and the language model are emulated on loopback; the model answers at once.",
    ].join("\n"),
  );
}

function printUsage(): void {
  console.log("npm run bench [-- <name>…]");
  for (const [name, { about, onRequest }] of Object.entries(MEASUREMENTS)) {
    console.log(`  ${name.padEnd(8)} ${about}${onRequest ? " (only when named)" : ""}`);
  }
}

function chosen(asked: readonly string[]): readonly string[] {
  const all = Object.entries(MEASUREMENTS).filter(([, { file }]) => existsSync(pathOf(file)));
  if (asked.length === 0) return all.filter(([, { onRequest }]) => !onRequest).map(([name]) => name);
  return asked.filter((name) => all.some(([known]) => known === name));
}

async function run(parameters: readonly string[]): Promise<void> {
  const names = chosen(parameters.slice(0, 1));
  if (names.length === 0) {
    printUsage();
    process.exitCode = 1;
    return;
  }
  await runNode([pathOf("../scripts/build.mjs")]);
  printHeader(names);
  for (const name of names) {
    const started = performance.now();
    await runNode(["--import", "tsx", pathOf(MEASUREMENTS[name]?.file ?? ""), ...parameters.slice(1)]);
    console.log(`\n  (${name}: ${Math.round((performance.now() - started) / 1000)} s)`);
  }
}

await run(process.argv.slice(2));
