/**
 * From a person's message to the bot's post, as Slack sees it: the product on both databases and both kinds of connection against a bare Bolt echo
 * in the same workspace. Contenders take turns in short rounds. One bot works its conversations off one after the other (SPEC T2), so with many
 * messages in flight there is also a contender of many bots.
 */
import type { App, Slack } from "../test/emulators/slack/index.ts";
import type { Child } from "./children.ts";
import { type Conversations, createConversations } from "./conversations.ts";
import {
  newFolder,
  newServerDatabase,
  type Surroundings,
  startEcho,
  startProduct,
  startSurroundings,
} from "./surroundings.ts";
import { median, ms, percentile, printNote, printTable, ratio, rounds } from "./table.ts";

const ROUNDS = 6;
const PER_ROUND = 16;
/** For all rounds of one number in flight, ms. */
const BUDGET_MS = 30_000;
const FLIGHTS = [1, 16] as const;

interface Contender {
  readonly name: string;
  /** Asked in turns. */
  readonly apps: readonly App[];
  readonly process: Child;
  /** Prints a line at the end of each turn. */
  readonly isProduct: boolean;
}

interface Measured {
  readonly times: number[];
  /** With one in flight: until the bot had finished all that comes after its answer. */
  readonly turns: number[];
  cpuMs: number;
  wallMs: number;
  statements: number;
  calls: number;
}

const turnsEnded = ({ process }: Contender) => process.lines.filter((line) => line.includes('"turn ended"')).length;

/** One message at a time: the next one is sent when the turn has ended. */
async function askOneByOne(talk: Conversations, contender: Contender, total: number, into: Measured): Promise<void> {
  const lane = talk.lane(contender.apps, total);
  for (let i = 0; i < total; i += 1) {
    const ended = turnsEnded(contender) + 1;
    const started = performance.now();
    into.times.push(await lane.ask());
    while (contender.isProduct && turnsEnded(contender) < ended) await new Promise((resolve) => setTimeout(resolve, 1));
    into.turns.push(performance.now() - started);
  }
}

/** Many at once: each conversation asks again as soon as it was answered. */
async function askTogether(
  talk: Conversations,
  { apps }: Contender,
  flight: number,
  total: number,
  into: Measured,
): Promise<void> {
  const count = Math.ceil(total / flight);
  const lanes = Array.from({ length: flight }, (_, i) => talk.lane([apps[i % apps.length] as App], count));
  const run = async (lane: (typeof lanes)[number]) => {
    for (let i = 0; i < count; i += 1) into.times.push(await lane.ask());
  };
  await Promise.all(lanes.map(run));
}

const nothing = (): Measured => ({ times: [], turns: [], cpuMs: 0, wallMs: 0, statements: 0, calls: 0 });

async function measureRound(
  slack: Slack,
  talk: Conversations,
  contender: Contender,
  flight: number,
  into: Measured,
): Promise<void> {
  const before = await contender.process.usage();
  const calls = slack.requests.length;
  const started = performance.now();
  if (flight === 1) await askOneByOne(talk, contender, PER_ROUND, into);
  else await askTogether(talk, contender, flight, PER_ROUND, into);
  into.wallMs += performance.now() - started;
  await slack.settle(150);
  const after = await contender.process.usage();
  into.cpuMs += after.cpuMs - before.cpuMs;
  into.statements += (after.statements ?? 0) - (before.statements ?? 0);
  into.calls += slack.requests.length - calls;
}

async function measureAll(slack: Slack, contenders: readonly Contender[], flight: number) {
  const talk = createConversations(slack);
  const results = new Map<Contender, Measured>();
  for (const contender of contenders) {
    await askTogether(talk, contender, Math.min(flight, 8), 8, nothing());
    results.set(contender, nothing());
  }
  await slack.settle(150);
  for (const _round of rounds(ROUNDS, BUDGET_MS)) {
    for (const [contender, measured] of results) await measureRound(slack, talk, contender, flight, measured);
  }
  return results;
}

function printFlight(flight: number, results: ReadonlyMap<Contender, Measured>): void {
  const rows = [...results].map(([{ name, apps, isProduct }, found]) => {
    const rival = [...results].find(([other]) => !other.isProduct && other.apps[0]?.mode === apps[0]?.mode)?.[1];
    const count = found.times.length;
    const p50 = median(found.times);
    return [
      name,
      ms(p50),
      ms(percentile(found.times, 0.99)),
      isProduct && rival ? ratio(p50, median(rival.times)) : undefined,
      isProduct && flight === 1 ? ms(median(found.turns)) : undefined,
      ms(found.cpuMs / count),
      isProduct && rival ? ratio(found.cpuMs / count, rival.cpuMs / rival.times.length) : undefined,
      (count / (found.wallMs / 1000)).toFixed(0),
      isProduct ? (found.statements / count).toFixed(1) : undefined,
      (found.calls / count).toFixed(1),
    ];
  });
  const columns = ["", "p50", "p99", "to echo", "turn", "CPU/msg", "to echo", "msg/s", "SQL/msg", "Slack calls/msg"];
  const [count = 0] = [...results.values()].map(({ times }) => times.length);
  printTable(`Direct message to answer, ${flight} in flight, ${count} messages each`, columns, rows);
}

function addApps(slack: Slack) {
  const app = (name: string, mode: "socket" | "http" = "socket") => slack.addApp({ name, mode });
  return {
    echoes: [app("EchoSocket"), app("EchoHttp", "http")],
    ada: app("Ada"),
    bea: app("Bea", "http"),
    cleo: app("Cleo"),
    team: Array.from({ length: 16 }, (_, i) => app(`Team${i}`)),
  };
}

async function startAll(around: Surroundings, folders: readonly string[], databaseUrl: string | undefined) {
  const { slack } = around;
  const { echoes, ada, bea, cleo, team } = addApps(slack);
  const [own = "", other = ""] = folders;
  const echo = await startEcho(slack, echoes);
  const embedded = await startProduct(around, { folder: own, apps: [ada, bea, ...team] });
  const server = databaseUrl ? await startProduct(around, { folder: other, apps: [cleo], databaseUrl }) : undefined;
  const [socket, http] = echoes.map((app) => [app]);
  const one: Contender[] = [
    { name: "Bolt echo, Socket Mode", apps: socket ?? [], process: echo, isProduct: false },
    { name: "Bolt echo, HTTP", apps: http ?? [], process: echo, isProduct: false },
    { name: "Parley, Socket Mode, embedded", apps: [ada], process: embedded, isProduct: true },
    { name: "Parley, HTTP, embedded", apps: [bea], process: embedded, isProduct: true },
    ...(server ? [{ name: "Parley, Socket Mode, PostgreSQL", apps: [cleo], process: server, isProduct: true }] : []),
  ];
  const many = { name: "Parley, 16 bots, embedded", apps: team, process: embedded, isProduct: true };
  return { one, many, stop: () => Promise.all([echo.stop(), embedded.stop(), server?.stop()]) };
}

async function run(): Promise<void> {
  const around = await startSurroundings();
  const folders = [newFolder(), newFolder()];
  const server = await newServerDatabase();
  const paths = folders.map(({ path }) => path);
  const { one, many, stop } = await startAll(around, paths, server?.url);
  try {
    for (const flight of FLIGHTS) {
      printFlight(flight, await measureAll(around.slack, flight === 1 ? one : [...one, many], flight));
    }
    if (!server) printNote("No PostgreSQL answered, so only the embedded database was measured.");
    printNote(
      "turn: until the second model step (end of turn) was stored too. CPU and SQL count everything up to there, and the sweeps.",
    );
  } finally {
    await stop();
    await around.close();
    await server?.drop();
    for (const folder of folders) folder.remove();
  }
}

await run();
