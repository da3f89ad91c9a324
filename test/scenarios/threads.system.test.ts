/** Conversations keep to themselves: threads, direct messages and what was said in them before the bot was there. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { eventOf } from "../support/events.ts";
import { answering, contextIn, echo, heard, heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: ["Ada"], people: ["Alice", "Bob"] });
}, START_MS);
afterAll(() => world.close());

/** The newest request in which these words are the newest ones. */
async function requestFor(words: string) {
  await world.request((request) => heard(request).includes(words));
  const found = world.llm.requests.findLast((request) => heard(request).includes(words));
  if (!found) throw new Error(`no request for ${words}`);
  return found;
}

const timesIn = (text: string, part: string) => text.split(part).length - 1;

test("a plain reply in a thread the bot takes part in is answered there", async () => {
  world.script("Ada", echo);
  const asked = world.say("Alice", "@Ada hello", { in: world.channel("follow-up") });
  await world.answer(asked);
  const more = world.say("Alice", "and then?", { in: asked.channel, thread: asked });
  expect((await world.answer(more)).threadTs).toBe(asked.ts);
  await world.quiet();
  expect(world.answers(more)).toHaveLength(1);
});

test("two threads of one channel do not know of each other", async () => {
  world.script("Ada", echo);
  const room = world.channel("two-threads");
  const first = world.say("Alice", "@Ada my number is 171717", { in: room });
  const second = world.say("Alice", "@Ada what is my number?", { in: room });
  await Promise.all([world.answer(first), world.answer(second)]);
  expect((await requestFor("what is my number?")).raw).not.toContain("171717");
});

test("mentioned inside an existing thread, the bot knows what was said there, once", async () => {
  world.script("Ada", echo);
  const room = world.channel("existing");
  const root = world.say("Bob", "the budget is 4711 euro", { in: room });
  world.say("Alice", "that is tight", { in: room, thread: root });
  const asked = world.say("Alice", "@Ada what is the budget?", { in: room, thread: root });
  await world.answer(asked);
  const context = contextIn((await requestFor("what is the budget?")).lastUserText);
  expect(context).toContain("4711");
  expect(context).toContain("that is tight");
  for (const words of ["really?", "sure?", "how sure?"]) {
    await world.answer(world.say("Alice", words, { in: room, thread: root }));
  }
  expect(timesIn((await requestFor("how sure?")).raw, "4711")).toBe(1);
});

test("what people said among themselves between two mentions is told once", async () => {
  world.script("Ada", echo);
  const room = world.channel("in-between");
  const asked = world.say("Alice", "@Ada first", { in: room });
  await world.answer(asked);
  world.say("Bob", "@Alice the door code is 9090", { in: room, thread: asked });
  world.say("Alice", "@Bob thanks", { in: room, thread: asked });
  await world.quiet();
  await world.answer(world.say("Alice", "@Ada second", { in: room, thread: asked }));
  expect(contextIn((await requestFor("second")).lastUserText)).toContain("9090");
  await world.answer(world.say("Alice", "@Ada third", { in: room, thread: asked }));
  expect(timesIn((await requestFor("third")).raw, "9090")).toBe(1);
});

test("after a restart a direct conversation goes on in the same session, with what was said before", async () => {
  world.script(
    "Ada",
    answering((_words, request) => (request.raw.includes("harbour") ? "harbour" : "noted")),
  );
  const first = world.dm("Alice", "the password of the day is harbour");
  await world.answer(first);
  const sessions = await world.database().count("Session");
  await world.restart();
  const reply = world.dm("Alice", "what was it?", { thread: first });
  expect((await world.answer(reply)).text).toBe("harbour");
  expect(await world.database().count("Session")).toBe(sessions);
});

test("after a restart a thread goes on in the same session", async () => {
  world.script(
    "Ada",
    answering((_words, request) => (request.raw.includes("lantern") ? "lantern" : "noted")),
  );
  const asked = world.say("Bob", "@Ada the word is lantern", { in: world.channel("restarted") });
  await world.answer(asked);
  await world.restart();
  const more = world.say("Bob", "the word?", { in: asked.channel, thread: asked });
  expect((await world.answer(more)).text).toBe("lantern");
});

test("a direct message that Slack labels as a channel is treated as direct", async () => {
  world.script("Ada", echo);
  const asked = world.dm("Bob", "mislabelled hello", { only: [] });
  world.slack.sendEvent(world.bot(), { ...eventOf(asked), channel_type: "channel" });
  expect((await world.answer(asked)).text).toBe("You said: mislabelled hello");
});

test("an empty thread id means no thread", async () => {
  world.script("Ada", echo);
  const asked = world.dm("Alice", "no thread here", { only: [] });
  world.slack.sendEvent(world.bot(), { ...eventOf(asked), thread_ts: "" });
  await world.answer(asked);
  await world.quiet();
  expect(world.slack.refusals.filter((refusal) => refusal.error === "invalid_thread_ts")).toEqual([]);
});

test("what waits while the bot is busy in one thread is answered in its own, without words of the other", async () => {
  const model = heldBack();
  world.script("Ada", (request) => (heard(request).includes("long job") ? model.script(request) : echo(request)));
  const room = world.channel("own-route");
  const busy = world.say("Alice", "@Ada long job 5555", { in: room });
  await requestFor("long job");
  const other = world.say("Bob", "@Ada short question", { in: room });
  model.release();
  const answer = await world.answer(other);
  expect(answer.threadTs).toBe(other.ts);
  expect((await requestFor("short question")).raw).not.toContain("5555");
  await world.quiet();
  expect([world.answers(busy).length, world.answers(other).length]).toEqual([1, 1]);
});

test(
  "with a waiting window, lines of one thread become one turn, and two threads stay two",
  async () => {
    await using patient = await startWorld({ settings: { limits: { debounceMs: 400 } } });
    patient.script("Ada", echo);
    const first = patient.say("Alice", "@Ada thread one", { in: patient.general });
    const second = patient.say("Alice", "@Ada thread two", { in: patient.general });
    patient.say("Alice", "@Ada and one more line", { in: patient.general, thread: first });
    await Promise.all([patient.answer(first), patient.answer(second)]);
    await patient.quiet();
    expect(patient.answers(first).map((post) => post.text)).toEqual([
      "You said: @Ada thread one\n\n@Ada and one more line",
    ]);
    expect(patient.answers(second).map((post) => post.text)).toEqual(["You said: @Ada thread two"]);
    expect(await patient.database().count("Turn")).toBe(2);
  },
  START_MS,
);
