/**
 * Kills the product with SIGKILL at random instants while people write, fifty rounds by default, and prints what became of every message. Nothing
 * lost, nothing said twice, no claim left is the only good result; anything else ends with code 1.
 *
 *   node --import tsx bench/crash-matrix.ts [rounds] [seed]
 */
import { pathToFileURL } from "node:url";
import { type CrashRound, type CrashTally, runCrashRounds } from "../test/support/crash-rounds.ts";
import { startWorld } from "../test/support/world.ts";

/** Runs the matrix on a world of its own and prints one line a round. */
export async function runCrashMatrix(rounds: number, seed: number): Promise<CrashTally> {
  await using world = await startWorld({ process: "own", people: ["Alice", "Bob"] });
  process.stdout.write(`crash matrix: ${rounds} rounds, seed ${seed}\n\n`);
  process.stdout.write(line(["round", "messages", "killed after", "again in start", "open at restart"]));
  const onRound = (round: CrashRound) => process.stdout.write(line(cellsOf(round)));
  // Awaited here, because leaving this function ends the world.
  return await runCrashRounds(world, { rounds, seed, onRound });
}

/** The result as a table, ready to print. */
export function crashTable(tally: CrashTally): string {
  const { sent, once, lost, doubled, stuckClaims, resumed, wrong } = tally;
  const head = ["messages sent", "answered exactly once", "lost", "doubled", "stuck claims", "turns taken up again"];
  const table = `\n${line(head)}${line([sent, once, lost, doubled, stuckClaims, resumed].map(String))}`;
  return wrong.length === 0
    ? table
    : `${table}\nnot answered exactly once:\n${wrong.map((text) => `  ${text}\n`).join("")}`;
}

function cellsOf({ round, messages, killedAfterMs, killedInStart, openWork }: CrashRound): string[] {
  return [String(round), String(messages), `${killedAfterMs} ms`, killedInStart ? "yes" : "no", String(openWork)];
}

function line(cells: readonly string[]): string {
  return `${cells.map((cell) => cell.padEnd(22)).join("")}\n`;
}

async function main(): Promise<void> {
  const [rounds = 50, seed = Math.floor(Math.random() * 1e9)] = process.argv.slice(2).map(Number);
  const tally = await runCrashMatrix(rounds, seed);
  process.stdout.write(crashTable(tally));
  if (tally.once !== tally.sent || tally.stuckClaims > 0) process.exitCode = 1;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) await main();
