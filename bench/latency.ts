/**
 * From a person's message to the bot's post, seen by Slack: the product on both databases and both kinds of connection against a bare Bolt echo
 * of the same workspace. Contenders take turns in short rounds; conversations are many, because both Slack and the product pace each channel.
 */
import type { App, Channel, Slack, User } from "../test/emulators/slack/index.ts";
import type { Child, Usage } from "./children.ts";
import {
  newFolder,
  newServerDatabase,
  type Surroundings,
  startEcho,
  startProduct,
  startSurroundings,
} from "./surroundings.ts";
import { median, ms, percentile, printNote, printTable, ratio } from "./table.ts";

const ROUNDS = 4;
const PER_ROUND = 40;
const FLIGHTS = [1, 16] as const;
/** Posts per conversation stay below the burst that Slack allows. */
const POSTS_PER_CONVERSATION = 6;
/** A conversation rests while others are used, so that its next message finds the turn before ended. */
const MIN_CONVERSATIONS = 3;
const ANSWER_MS = 30_000;

interface Contender {
  readonly name: string;
  readonly app: App;
  readonly process: Child;
}

interface Measured {
  readonly times: number[];
  cpuMs: number;
  wallMs: number;
  statements: number;
  calls: number;
  messages: number;
}

interface Place {
  readonly person: User;
  readonly channel: Channel;
}

/** People with direct conversations, each used a few times and then left. */
function createConversations(slack: Slack) {
  let made = 0;
  const waiting = new Map<Channel, (at: number) => void>();
  const watch = (channel: Channel): void => {
    const push = channel.messages.push.bind(channel.messages);
    channel.messages.push = (...messages) => {
      if (messages.some((message) => message.app !== null)) {
        waiting.get(channel)?.(performance.now());
        waiting.delete(channel);
      }
      return push(...messages);
    };
  };
  return {
    meet(app: App): Place {
      made += 1;
      const person = slack.addPerson(`Person ${made}`);
      const channel = slack.dmChannel(person, app);
      watch(channel);
      return { person, channel };
    },
    /** Resolves with the milliseconds until the answer arrived. */
    ask(app: App, { person, channel }: Place, text: string): Promise<number> {
      return new Promise((resolve, reject) => {
        const started = performance.now();
        const limit = setTimeout(() => reject(new Error(`no answer by ${app.name} within ${ANSWER_MS} ms`)), ANSWER_MS);
        waiting.set(channel, (at) => {
          clearTimeout(limit);
          resolve(at - started);
        });
        slack.say(person, channel, text);
      });
    },
  };
}

type Conversations = ReturnType<typeof createConversations>;

/** One round: `flight` conversations at once, each asking as soon as it was answered. */
async function askRound(talk: Conversations, app: App, flight: number, total: number): Promise<number[]> {
  const times: number[] = [];
  const lane = async (count: number) => {
    const size = Math.max(MIN_CONVERSATIONS, Math.ceil(count / POSTS_PER_CONVERSATION));
    const places = Array.from({ length: size }, () => talk.meet(app));
    for (let i = 0; i < count; i += 1) {
      const place = places[i % size];
      if (place) times.push(await talk.ask(app, place, `Question ${i}: how long does this take?`));
    }
  };
  const perLane = Math.ceil(total / flight);
  await Promise.all(Array.from({ length: flight }, () => lane(perLane)));
  return times;
}

/** Resolves when the contender has finished what comes after its answer. */
async function settle(slack: Slack): Promise<void> {
  await slack.settle(150);
}

async function measureRound(
  around: Surroundings,
  talk: Conversations,
  contender: Contender,
  flight: number,
  into: Measured,
) {
  const { slack } = around;
  const before: Usage = await contender.process.usage();
  const callsBefore = slack.requests.length;
  const started = performance.now();
  const times = await askRound(talk, contender.app, flight, PER_ROUND);
  into.wallMs += performance.now() - started;
  await settle(slack);
  const after = await contender.process.usage();
  into.times.push(...times);
  into.messages += times.length;
  into.cpuMs += after.cpuMs - before.cpuMs;
  into.statements += (after.statements ?? 0) - (before.statements ?? 0);
  into.calls += slack.requests.length - callsBefore;
}

async function measureAll(around: Surroundings, contenders: readonly Contender[], flight: number) {
  const talk = createConversations(around.slack);
  const results = new Map<Contender, Measured>();
  for (const contender of contenders) {
    results.set(contender, { times: [], cpuMs: 0, wallMs: 0, statements: 0, calls: 0, messages: 0 });
    await askRound(talk, contender.app, flight, Math.max(8, flight));
  }
  await settle(around.slack);
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const [contender, measured] of results) await measureRound(around, talk, contender, flight, measured);
  }
  return results;
}

function printFlight(flight: number, results: ReadonlyMap<Contender, Measured>, echoes: readonly Contender[]): void {
  const rows = [...results].map(([{ name, app }, found]) => {
    const rival = echoes.find((echo) => echo.app.mode === app.mode);
    const base = rival && results.get(rival);
    const perMessage = (total: number) => total / found.messages;
    const p50 = median(found.times);
    const cpu = perMessage(found.cpuMs);
    return [
      name,
      ms(p50),
      ms(percentile(found.times, 0.99)),
      base && base !== found ? ratio(p50, median(base.times)) : undefined,
      ms(cpu),
      base && base !== found ? ratio(cpu, base.cpuMs / base.messages) : undefined,
      (found.messages / (found.wallMs / 1000)).toFixed(0),
      found.statements > 0 ? perMessage(found.statements).toFixed(1) : undefined,
      perMessage(found.calls).toFixed(1),
    ];
  });
  const columns = ["", "p50", "p99", "p50/echo", "CPU/msg", "CPU/echo", "msg/s", "SQL/msg", "Slack calls/msg"];
  printTable(`Direct message to answer, ${flight} in flight (${ROUNDS * PER_ROUND} messages each)`, columns, rows);
}

async function run(): Promise<void> {
  const around = await startSurroundings();
  const { slack } = around;
  const home = newFolder();
  const otherHome = newFolder();
  const server = await newServerDatabase();
  const app = (name: string, mode: "socket" | "http") => slack.addApp({ name, mode });
  const [echoSocket, echoHttp] = [app("EchoSocket", "socket"), app("EchoHttp", "http")];
  const [ada, bea, cleo] = [app("Ada", "socket"), app("Bea", "http"), app("Cleo", "socket")];
  const echo = await startEcho(slack, [echoSocket, echoHttp]);
  const embedded = await startProduct(around, { folder: home.path, apps: [ada, bea] });
  const onServer =
    server && (await startProduct(around, { folder: otherHome.path, apps: [cleo], databaseUrl: server.url }));
  const echoes: Contender[] = [
    { name: "Bolt echo, Socket Mode", app: echoSocket, process: echo },
    { name: "Bolt echo, HTTP", app: echoHttp, process: echo },
  ];
  const contenders: Contender[] = [
    ...echoes,
    { name: "Parley, Socket Mode, embedded", app: ada, process: embedded },
    { name: "Parley, HTTP, embedded", app: bea, process: embedded },
    ...(onServer ? [{ name: "Parley, Socket Mode, PostgreSQL", app: cleo, process: onServer }] : []),
  ];
  try {
    for (const flight of FLIGHTS) printFlight(flight, await measureAll(around, contenders, flight), echoes);
    if (!onServer) printNote("No PostgreSQL answered, so only the embedded database was measured.");
    printNote(
      "An answer takes two model steps (SendMessage, end of turn); CPU and SQL include everything after the post, and the sweeps.",
    );
  } finally {
    await Promise.all([echo.stop(), embedded.stop(), onServer?.stop()]);
    await around.close();
    await server?.drop();
    home.remove();
    otherHome.remove();
  }
}

await run();
