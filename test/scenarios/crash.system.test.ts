/**
 * kill -9 while a bot works: the turn goes on after the restart, nothing is lost and nothing is said twice. The product runs in a process of its own,
 * in a time zone far from UTC, and its clock columns must not care.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, done, type LlmRequest, sendMessage } from "../emulators/llm/index.ts";
import { runCrashRounds } from "../support/crash-rounds.ts";
import { echo, heard, steps } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const SEED = Number(process.env.CRASH_SEED ?? Math.floor(Math.random() * 1e9));
const LONG = 60_000;

let world: World;
beforeAll(async () => {
  world = await startWorld({ process: "own", people: ["Alice", "Bob"], env: { TZ: "America/New_York" } });
}, START_MS);
afterAll(() => world.close());

const never = () => new Promise<never>(() => undefined);
const requestsFor = (words: string) => world.llm.requests.filter((request) => request.raw.includes(words));

test(
  "killed before the model answered: the message is answered after the restart, once",
  async () => {
    world.script("Ada", never);
    const asked = world.say("Alice", "@Ada before the model call", { in: world.channel("before-model") });
    await world.request((request) => heard(request).includes("before the model call"));
    await world.crash();
    world.script("Ada", echo);
    await world.start();
    await world.answer(asked);
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
  },
  LONG,
);

test(
  "killed after a stop was taken in: the work stays stopped, people are told, and the model is not asked again",
  async () => {
    world.script("Ada", never);
    const asked = world.say("Alice", "@Ada stop me half-way", { in: world.channel("stopped") });
    await world.request((request) => heard(request).includes("stop me half-way"));
    world.say("Alice", "!stop", { in: asked.channel, thread: asked });
    await world.acknowledged();
    await world.crash();
    world.script("Ada", echo);
    await world.start();
    expect((await world.answer(asked)).text).toBe("Stopped.");
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
    expect(requestsFor("stop me half-way")).toHaveLength(1);
  },
  LONG,
);

test(
  "killed after a tool: the tool is not run again, and the model goes on from its result",
  async () => {
    const react = call("ReactToMessage", { message_address: "t1u", emoji: "eyes" });
    const script = (request: LlmRequest) => (request.callsThisTurn.length === 0 ? react : never());
    world.script("Ada", script);
    const asked = world.say("Alice", "@Ada after a tool", { in: world.channel("after-tool") });
    await world.until(() => requestsFor("after a tool").length === 2, "the second step");
    await world.crash();
    world.script("Ada", steps(react, sendMessage("finished")));
    await world.start();
    expect((await world.answer(asked)).text).toBe("finished");
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
    expect(world.slack.calls("reactions.add").filter((item) => item.args.timestamp === asked.ts)).toHaveLength(1);
  },
  LONG,
);

test(
  "killed inside a tool: the reply that asked for it is not asked for again",
  async () => {
    const react = call("ReactToMessage", { message_address: "t1u", emoji: "eyes" });
    world.script("Ada", steps(react, sendMessage("reacted and done")));
    world.slack.fail("reactions.add", { hang: true });
    const asked = world.say("Bob", "@Ada inside a tool", { in: world.channel("inside-tool") });
    await world.until(
      () => world.slack.calls("reactions.add").some((item) => item.args.timestamp === asked.ts),
      "the tool",
    );
    await world.crash();
    await world.start();
    await world.answer(asked);
    await world.quiet();
    const firstSteps = requestsFor("inside a tool").filter((request) => request.callsThisTurn.length === 0);
    expect([world.answers(asked).length, firstSteps.length]).toEqual([1, 1]);
  },
  LONG,
);

test(
  "killed after a message was posted: it is not posted again",
  async () => {
    world.script("Ada", (request) => (request.lastRole === "user" ? sendMessage("said once") : never()));
    const asked = world.say("Alice", "@Ada after a send", { in: world.channel("after-send") });
    await world.answer(asked);
    await world.until(() => requestsFor("after a send").length === 2, "the step after it");
    await world.crash();
    world.script("Ada", (request) => (request.lastRole === "user" ? sendMessage("said twice") : done()));
    await world.start();
    await world.quiet();
    expect(world.answers(asked).map((post) => post.text)).toEqual(["said once"]);
  },
  LONG,
);

test(
  "killed while Slack was taking the message: it is found there and not repeated",
  async () => {
    world.script("Ada", echo);
    const room = world.channel("in-flight");
    world.slack.fail("chat.postMessage", { acceptThen: "hang" }, { when: ({ args }) => args.channel === room.id });
    const asked = world.say("Alice", "@Ada in flight", { in: room });
    await world.answer(asked);
    await world.crash();
    await world.start();
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
  },
  LONG,
);

test("far from UTC nothing looks older or newer than it is", async () => {
  world.script("Ada", echo);
  const asked = world.say("Alice", "@Ada what time is it?", { in: world.channel("zone") });
  await world.answer(asked);
  await world.quiet();
  const [turn] = await world
    .database()
    .rows<{ age: number; attempts: number }>(
      `SELECT extract(epoch FROM now() - "startedAt")::float8 AS age, "attempts" FROM "Turn" ORDER BY "startedAt" DESC LIMIT 1`,
    );
  expect(turn?.attempts).toBe(0);
  expect(turn?.age).toBeLessThan(60);
});

test(`ten kills at random instants lose and double nothing (CRASH_SEED=${SEED} repeats them)`, async () => {
  const { wrong, stuckClaims, sent, once } = await runCrashRounds(world, { rounds: 10, seed: SEED });
  expect({ wrong, stuckClaims, once }).toEqual({ wrong: [], stuckClaims: 0, once: sent });
}, 480_000);
