/**
 * Memory and CPU of bots that have nothing to do, for 1, 10 and 50 Slack bots in one process on Socket Mode, and the same number of bare Bolt apps.
 * Memory is read after full garbage collections; what one more bot costs is the difference, which leaves out what a process costs by itself.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { App } from "../test/emulators/slack/index.ts";
import type { Child, Usage } from "./children.ts";
import { newFolder, type Surroundings, startEcho, startProduct, startSurroundings } from "./surroundings.ts";
import { mb, printNote, printTable } from "./table.ts";

const SIZES = [1, 10, 50] as const;
/** After the start, until what it needed has been given back. */
const REST_MS = 1500;
const IDLE_MS = 3000;

interface Idle extends Usage {
  readonly cpuPerSecond: number;
}

async function rest(child: Child): Promise<Idle> {
  await delay(REST_MS);
  const before = await child.usage();
  const started = performance.now();
  await delay(IDLE_MS);
  const after = await child.usage();
  return { ...after, cpuPerSecond: (after.cpuMs - before.cpuMs) / ((performance.now() - started) / 1000) };
}

async function measureProduct(around: Surroundings, apps: readonly App[]): Promise<Idle> {
  const folder = newFolder();
  const product = await startProduct(around, { folder: folder.path, apps });
  try {
    return await rest(product);
  } finally {
    await product.stop();
    folder.remove();
  }
}

async function measureEcho({ slack }: Surroundings, apps: readonly App[]): Promise<Idle> {
  const echo = await startEcho(slack, apps);
  try {
    return await rest(echo);
  } finally {
    await echo.stop();
  }
}

type Measure = (around: Surroundings, apps: readonly App[]) => Promise<Idle>;

async function measureSizes(name: string, measure: Measure): Promise<(readonly string[])[]> {
  const around = await startSurroundings();
  const found: { size: number; idle: Idle }[] = [];
  try {
    for (const size of SIZES) {
      const apps = Array.from({ length: size }, (_, i) => around.slack.addApp({ name: `Bot${size}n${i}` }));
      found.push({ size, idle: await measure(around, apps) });
    }
  } finally {
    await around.close();
  }
  const rows = found.map(({ size, idle }) => [
    `${name}, ${size} bot${size > 1 ? "s" : ""}`,
    mb(idle.rss),
    mb(idle.heapUsed),
    mb(idle.external),
    `${idle.cpuPerSecond.toFixed(1)} ms/s`,
  ]);
  return [...rows, oneMore(name, found)];
}

function oneMore(name: string, found: readonly { readonly size: number; readonly idle: Idle }[]): readonly string[] {
  const [first, last] = [found[0], found.at(-1)];
  if (!first || !last) return [];
  const per = (read: (idle: Idle) => number) => (read(last.idle) - read(first.idle)) / (last.size - first.size);
  return [
    `${name}, one bot more`,
    mb(per((idle) => idle.rss)),
    mb(per((idle) => idle.heapUsed)),
    mb(per((idle) => idle.external)),
    `${per((idle) => idle.cpuPerSecond).toFixed(2)} ms/s`,
  ];
}

const rows = [...(await measureSizes("Parley", measureProduct)), ...(await measureSizes("Bolt echo", measureEcho))];
printTable("Idle bots on Socket Mode", ["", "RSS", "heap", "external", "CPU"], rows);
printNote("Parley's RSS contains the embedded database; its heap is that of the main thread.");
