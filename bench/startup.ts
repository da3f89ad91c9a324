/**
 * From the start of the process to "every bot is connected": on an empty folder (the database's template is unpacked and migrated), and again on
 * the same folder. Phases are read from the product's own log. Beside it the same Node doing nothing, and a bare Bolt app that connects.
 */
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { App } from "../test/emulators/slack/index.ts";
import {
  newFolder,
  type Product,
  type Surroundings,
  startEcho,
  startProduct,
  startSurroundings,
} from "./surroundings.ts";
import { median, ms, printNote, printTable, ratio, rounds } from "./table.ts";

const ROUNDS = 4;
const BUDGET_MS = 30_000;

/** Points on the way, in order; each phase ends with its point. */
const POINTS = [
  ["Node", "process"],
  ["modules loaded", "modules"],
  ["database open", /"embedded database open"/],
  ["migrated", /"database migrated"/],
  ["web listens", /"msg":"ready"/],
  ["bots connected", "ready"],
] as const;

type Points = ReadonlyMap<string, number>;

function pointsOf(product: Product, lines: ReadonlyMap<string, number>): Points {
  const points = new Map<string, number>();
  for (const [name, mark] of POINTS) {
    const at =
      mark === "ready" ? product.readyAt : typeof mark === "string" ? product.phases.get(mark) : lines.get(name);
    if (at !== undefined) points.set(name, at);
  }
  return points;
}

async function startOnce(around: Surroundings, folder: string, app: App): Promise<Points> {
  const product = await startProduct(around, { folder, apps: [app] });
  const lines = new Map<string, number>();
  for (const [name, mark] of POINTS) {
    if (mark instanceof RegExp && product.lines.some((line) => mark.test(line))) {
      lines.set(name, (await product.line(mark)).at);
    }
  }
  const points = pointsOf(product, lines);
  await product.stop();
  return points;
}

function phaseTimes(runs: readonly Points[]): ReadonlyMap<string, number> {
  const phases = new Map<string, number[]>();
  for (const points of runs) {
    let before = 0;
    for (const [name, at] of points) {
      phases.set(name, [...(phases.get(name) ?? []), at - before]);
      before = at;
    }
  }
  return new Map([...phases].map(([name, times]) => [name, median(times)]));
}

const totalOf = (runs: readonly Points[]) => median(runs.map((points) => Math.max(...points.values())));

function timed(work: () => unknown): number {
  const started = performance.now();
  work();
  return performance.now() - started;
}

async function measureEcho(around: Surroundings, app: App): Promise<number> {
  const started = performance.now();
  const echo = await startEcho(around.slack, [app]);
  const took = performance.now() - started;
  await echo.stop();
  return took;
}

async function run(): Promise<void> {
  const around = await startSurroundings();
  const [app, echoApp] = ["Ada", "Echo"].map((name) => around.slack.addApp({ name })) as [App, App];
  const runs = { first: [] as Points[], again: [] as Points[], echo: [] as number[], node: [] as number[] };
  const check: number[] = [];
  for (const _round of rounds(ROUNDS, BUDGET_MS)) {
    const folder = newFolder();
    runs.node.push(timed(() => spawnSync(process.execPath, ["-e", "0"])));
    runs.echo.push(await measureEcho(around, echoApp));
    runs.first.push(await startOnce(around, folder.path, app));
    runs.again.push(await startOnce(around, folder.path, app));
    check.push(
      timed(() => spawnSync(process.execPath, [fileURLToPath(new URL("../scripts/build.mjs", import.meta.url))])),
    );
    folder.remove();
  }
  await around.close();
  print(runs, median(check));
}

function print(
  runs: { first: readonly Points[]; again: readonly Points[]; echo: readonly number[]; node: readonly number[] },
  check: number,
): void {
  const [first, again] = [phaseTimes(runs.first), phaseTimes(runs.again)];
  const [firstTotal, againTotal, echo, node] = [
    totalOf(runs.first),
    totalOf(runs.again),
    median(runs.echo),
    median(runs.node),
  ];
  const share = (time: number | undefined, total: number) =>
    time === undefined ? undefined : `${Math.round((time / total) * 100)} %`;
  const cell = (time: number | undefined) => (time === undefined ? undefined : ms(time));
  const phases = POINTS.map(([name]) => [
    `… ${name}`,
    cell(first.get(name)),
    share(first.get(name), firstTotal),
    cell(again.get(name)),
    share(again.get(name), againTotal),
  ]);
  printTable(
    `Start-up, median of ${runs.first.length}`,
    ["", "first", "share", "again", "share"],
    [
      ["Parley, one Slack bot, embedded", ms(firstTotal), undefined, ms(againTotal)],
      ...phases,
      ["to a Bolt app that connects", ratio(firstTotal, echo), undefined, ratio(againTotal, echo)],
      ["a Bolt app that connects", ms(echo), undefined, ms(echo)],
      ["Node doing nothing", ms(node), undefined, ms(node)],
    ],
  );
  printNote(`npm start looks first whether everything is built: another ${ms(check)} with a process of its own.`);
}

await run();
