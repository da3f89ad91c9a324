/**
 * kill -9 at random instants while people write, round after round, and the count at the end: every message answered exactly once, no claim left.
 * Random choices come from a seed, so a bad run can be repeated. Used by a test (few rounds) and by the bench (many).
 */
import { pause } from "../emulators/loopback.ts";
import type { Post } from "../emulators/slack/index.ts";
import { echo } from "./scripts.ts";
import type { World } from "./world.ts";

/** What became of all messages. */
export interface CrashTally {
  readonly rounds: number;
  readonly sent: number;
  readonly once: number;
  readonly lost: number;
  readonly doubled: number;
  /** Sessions and channels that somebody still holds although nothing runs. */
  readonly stuckClaims: number;
  /** Turns that a start took up again. */
  readonly resumed: number;
  /** Messages that were not answered exactly once, with their answers. */
  readonly wrong: readonly string[];
}

/** One round: what happened in it, for a table. */
export interface CrashRound {
  readonly round: number;
  readonly messages: number;
  readonly killedAfterMs: number;
  /** A second kill hit the product while it was starting. */
  readonly killedInStart: boolean;
  readonly openWork: number;
}

export interface CrashOptions {
  readonly rounds: number;
  readonly seed: number;
  /** Latest instant of a kill after the last message, ms. */
  readonly latestMs?: number;
  readonly onRound?: (round: CrashRound) => void;
}

const STUCK = `
SELECT (SELECT count(*) FROM "Session" WHERE "owner" IS NOT NULL AND "leaseUntil" > now())
  + (SELECT count(*) FROM "SenderClaim" WHERE "owner" <> '' AND "leaseUntil" > now()) AS "stuck"`;

/** Runs the rounds on a world whose product has a process of its own; leaves it running and finished. */
export async function runCrashRounds(world: World, options: CrashOptions): Promise<CrashTally> {
  const random = createRandom(options.seed);
  world.script("Ada", echo);
  const asked: Post[] = [];
  for (let round = 1; round <= options.rounds; round += 1) {
    const room = world.channel(`round-${round}`);
    const messages = 1 + Math.floor(random() * 3);
    for (let n = 1; n <= messages; n += 1) {
      const by = random() < 0.5 ? "Alice" : "Bob";
      asked.push(world.say(by, `@Ada round ${round} message ${n}`, { in: room, gapMs: Math.floor(random() * 20) }));
    }
    const killedAfterMs = Math.floor(random() * (options.latestMs ?? 600));
    await pause(killedAfterMs);
    await world.crash();
    const killedInStart = random() < 0.25;
    if (killedInStart) await startAndCrash(world, Math.floor(random() * 1200));
    await world.start();
    options.onRound?.({ round, messages, killedAfterMs, killedInStart, openWork: await world.openWork() });
  }
  await world.quiet(60_000);
  return tally(world, asked, options.rounds);
}

async function startAndCrash(world: World, afterMs: number): Promise<void> {
  const started = world.start().catch(() => "killed while it was starting");
  await pause(afterMs);
  await world.crash();
  await started;
}

async function tally(world: World, asked: readonly Post[], rounds: number): Promise<CrashTally> {
  const counts = asked.map((post) => world.answers(post).length);
  const [row] = await world.database().rows<{ stuck: string }>(STUCK);
  return {
    rounds,
    sent: asked.length,
    once: counts.filter((n) => n === 1).length,
    lost: counts.filter((n) => n === 0).length,
    doubled: counts.filter((n) => n > 1).length,
    stuckClaims: Number(row?.stuck ?? Number.NaN),
    resumed: world.logs.filter((line) => line.includes("turn taken up again")).length,
    wrong: asked.filter((_post, at) => counts[at] !== 1).map((post) => describe(world, post)),
  };
}

function describe(world: World, post: Post): string {
  return `${post.text}: ${JSON.stringify(world.answers(post).map((answer) => answer.text))}`;
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function createRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
