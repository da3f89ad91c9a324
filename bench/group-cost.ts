/**
 * What a discussion costs (SPEC G3, G6): requests to the model and characters of prompts for 2, 4 and 6 members, and whether a member's prompt stays
 * within its budget (24 entries) as the channel grows.
 */
import { done, type LlmRequest, type Script, sendMessage } from "../test/emulators/llm/index.ts";
import type { App, Channel, User } from "../test/emulators/slack/index.ts";
import { newFolder, type Product, type Surroundings, startProduct, startSurroundings } from "./surroundings.ts";
import { median, printNote, printTable, ratio } from "./table.ts";

const SIZES = [2, 4, 6];
/** Lines of people before the discussion. */
const CHATTER = [0, 20, 100, 400];
const LINE =
  "I looked at the board: two tickets are open, both in review, and the tests of the last build have passed.";
const NAMES = ["Ada", "Bea", "Cleo", "Dov", "Eli", "Fay"];

/** Each speaks in round 1 and passes in round 2, so a discussion is two rounds of every member. */
const onceEach: Script = (request) => {
  if (request.callsThisTurn.length > 0) return done();
  return spoken.has(`${request.model}:${discussion}`) ? done() : remembered(request);
};
const spoken = new Set<string>();
let discussion = 0;

function remembered(request: LlmRequest) {
  spoken.add(`${request.model}:${discussion}`);
  return sendMessage(`${request.model}: ${LINE}`);
}

interface Stage {
  readonly around: Surroundings;
  readonly product: Product;
  readonly apps: readonly App[];
  readonly channel: Channel;
  readonly person: User;
}

/** One discussion of everybody; its requests, in order. */
async function discuss({ around, product, apps, channel, person }: Stage): Promise<readonly LlmRequest[]> {
  discussion += 1;
  const from = around.llm.requests.length;
  const turns = () => product.lines.filter((line) => line.includes('"turn ended"')).length;
  const before = turns();
  around.slack.say(person, channel, `@all number ${discussion}: what is left to do?`);
  await around.slack.waitUntil(() => turns() >= before + apps.length * 2, `discussion ${discussion}`, 120_000);
  return around.llm.requests.slice(from).filter((request) => request.outcome === "answered");
}

/** Lines nobody has to answer; resolves when the last one is stored. */
async function chat({ around, channel, person }: Stage, lines: number): Promise<void> {
  for (let i = 0; i < lines; i += 1) around.slack.say(person, channel, `${i}: ${LINE}`);
  const isHeard = () => around.slack.deliveries.every((item) => item.acknowledgedAt !== null || item.lost);
  await around.slack.waitUntil(isHeard, "the lines to be taken in", 120_000);
}

const sum = (values: readonly number[]) => values.reduce((all, one) => all + one, 0);
const lengths = (requests: readonly LlmRequest[]) => requests.map((request) => request.promptLength);

async function measure(size: number) {
  const around = await startSurroundings(onceEach);
  const folder = newFolder();
  const person = around.slack.addPerson("Alice");
  const apps = NAMES.slice(0, size).map((name) => around.slack.addApp({ name }));
  const channel = around.slack.addChannel("plans", [...apps, person]);
  const settings = { groups: { activation: "mention" }, slack: { replies: "channel" } };
  const product = await startProduct(around, { folder: folder.path, apps, settings });
  const stage = { around, product, apps, channel, person };
  try {
    const grown: number[] = [];
    let first: readonly LlmRequest[] = [];
    for (const lines of CHATTER) {
      await chat(stage, lines);
      const requests = await discuss(stage);
      if (lines === 0) first = requests;
      const fresh = requests.map((request) => request.promptLength * (1 - request.sharedPrefix));
      grown.push(Math.max(...fresh));
    }
    return { size, first, grown };
  } finally {
    await product.stop();
    await around.close();
    folder.remove();
  }
}

const results = [];
for (const size of SIZES) results.push(await measure(size));
const base = results[0];
const costs = results.map(({ size, first }) => {
  const characters = sum(lengths(first));
  return [
    `${size} members`,
    String(first.length),
    (first.length / size).toFixed(1),
    String(characters),
    ratio(characters, sum(lengths(base?.first ?? []))),
    median(lengths(first)).toFixed(0),
  ];
});
const columns = ["", "requests", "per member", "characters of prompts", "to 2 members", "median prompt"];
printTable("One discussion: everybody speaks once, then passes", columns, costs);
const growth = results.map(({ size, grown }) => [
  `${size} members`,
  ...grown.map((value) => `${value.toFixed(0)} (${ratio(value, grown[0] ?? value)})`),
]);
printTable(
  "Most new characters in one request, after so many lines of people",
  ["", ...CHATTER.map((n) => `${n} lines`)],
  growth,
);
printNote(
  "Characters are tools, system text and messages; about four make a token. 'New' is what the request before it did not begin with.",
);
