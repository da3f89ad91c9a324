/**
 * The store's operations on the way of one message, on the embedded database and on a PostgreSQL server. The two take turns; each figure is also
 * given as a multiple of the cheapest round trip to the same database, which is what an operation saved would win.
 */
import { newPlace, type TestPlace, unique } from "../test/engine/store/store-place.ts";
import { isServerThere, openOnEmbedded, openOnServer, type StoreWorld } from "../test/engine/store/store-world.ts";
import { type Timed, walk } from "./store-walk.ts";
import { median, ms, percentile, printNote, printTable } from "./table.ts";

const ROUNDS = 8;
const WALKS_PER_ROUND = 10;
const WARM_UP = 10;
const AT_ONCE = 16;
const TAKEN_IN = 320;

interface Contender {
  readonly name: string;
  readonly world: StoreWorld;
  readonly place: TestPlace;
  readonly times: Map<string, number[]>;
}

async function open(name: string, opening: () => Promise<StoreWorld>): Promise<Contender> {
  const world = await opening();
  return { name, world, place: await newPlace(world.store), times: new Map() };
}

function timerOf(times: Map<string, number[]>): Timed {
  return async (name, work) => {
    const started = performance.now();
    const result = await work();
    times.set(name, [...(times.get(name) ?? []), performance.now() - started]);
    return result;
  };
}

async function measureRound({ world, place, times }: Contender, walks: number): Promise<void> {
  const timed = timerOf(times);
  for (let i = 0; i < walks; i += 1) {
    await timed("(round trip)", () => world.pool.query("SELECT 1"));
    await timed("(one-row commit)", () => world.pool.query(BARE_COMMIT, [unique("k")]));
    await walk(place, timed);
  }
}

const BARE_COMMIT = `INSERT INTO "KeyValue" ("scope", "key", "value") VALUES ('bench', $1, '1'::jsonb)`;

/** Events of 16 conversations at once, per second. */
async function measureIntake({ world }: Contender): Promise<number> {
  const places = await Promise.all(Array.from({ length: AT_ONCE }, () => newPlace(world.store)));
  const started = performance.now();
  const takeAll = async (place: TestPlace) => {
    for (let i = 0; i < TAKEN_IN / AT_ONCE; i += 1) {
      await place.store.takeIn(place.event("hello", { mailLimit: TAKEN_IN }));
    }
  };
  await Promise.all(places.map(takeAll));
  return TAKEN_IN / ((performance.now() - started) / 1000);
}

function print(contenders: readonly Contender[], intake: readonly number[]): void {
  const names = [...(contenders[0]?.times.keys() ?? [])];
  const rows = names.map((name) => [
    name,
    ...contenders.flatMap(({ times }) => {
      const found = times.get(name) ?? [];
      const base = median(times.get("(round trip)") ?? []);
      return [ms(median(found)), ms(percentile(found, 0.99)), `× ${(median(found) / base).toFixed(1)}`];
    }),
  ]);
  const columns = contenders.flatMap(({ name }) => [`${name} p50`, "p99", "trips"]);
  printTable(
    `Store operations, ${ROUNDS * WALKS_PER_ROUND} times each`,
    ["", ...columns],
    [
      ...rows,
      [`takeIn, ${AT_ONCE} at once`, ...intake.flatMap((rate) => [`${rate.toFixed(0)} /s`, undefined, undefined])],
    ],
  );
}

async function run(): Promise<void> {
  const hasServer = await isServerThere();
  const contenders = [
    await open("embedded", openOnEmbedded),
    ...(hasServer ? [await open("PostgreSQL", openOnServer)] : []),
  ];
  try {
    for (const contender of contenders) await measureRound({ ...contender, times: new Map() }, WARM_UP);
    for (let round = 0; round < ROUNDS; round += 1) {
      for (const contender of contenders) await measureRound(contender, WALKS_PER_ROUND);
    }
    const intake: number[] = [];
    for (const contender of contenders) intake.push(await measureIntake(contender));
    print(contenders, intake);
    if (!hasServer) printNote("No PostgreSQL answered on localhost:5432, so only the embedded database was measured.");
  } finally {
    for (const { world } of contenders) await world.close();
  }
}

await run();
