/** Bots that write to each other: queued at once, the answer later in the asking conversation, loops that end visibly, work that survives. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, done, type LlmRequest, type Script, sendMessage, together } from "../emulators/llm/index.ts";
import { heard } from "../support/scripts.ts";
import { startWorld, type World } from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: ["Ada", "Bo", "Cy"], settings: { access: { admins: [] } } });
});
afterAll(() => world?.close());

const ask = (target: string, message: string, more: object = {}) => call("SendToAgent", { target, message, ...more });
const fresh = (request: LlmRequest) => request.lastRole === "user";
const texts = () => world.slack.posts().map((post) => post.text);

/** Answers every message of a teammate with these words. */
const answersWith = (words: (question: string) => string): Script => {
  return (request) => (fresh(request) ? sendMessage(words(heard(request))) : done());
};

test("work goes to a teammate, the answer comes back and wakes the asking conversation, and both transcripts have it", async () => {
  world.script("Ada", (request) => {
    if (!fresh(request)) return request.lastToolResult?.startsWith("queued") ? sendMessage("I asked Bo.") : done();
    return /the code is/.test(heard(request)) ? sendMessage("Bo says: 42") : ask("bo", "What is the code?");
  });
  world.script(
    "Bo",
    answersWith(() => "the code is 42"),
  );
  const asked = world.dm("Alice", "please find the code", { to: "Ada" });
  await world.slack.waitUntil(
    () => world.answers(asked).some((post) => post.text.includes("42")),
    "the result",
    20_000,
  );
  await world.quiet(30_000);
  expect(world.answers(asked).map((post) => post.text)).toEqual(["I asked Bo.", "Bo says: 42"]);
  const rows = await world
    .database()
    .rows<{ address: string; name: string; key: string }>(
      `SELECT "address", "authorName" AS name, "conversationKey" AS key FROM "Entry" WHERE "kind" = 'peer' ORDER BY "at", "address"`,
    );
  const told = (name: string, own: boolean) =>
    rows.filter((row) => row.name === name && row.key.startsWith("peer:") === own).map((row) => row.address);
  expect([told("Ada", false), told("Ada", true), told("Bo", true), told("Bo", false)]).toEqual([
    ["t1a1"],
    ["tba1"],
    ["tba2"],
    ["t1a2"],
  ]);
  const request = world.llm.requestsOf("ada").find((one) => one.lastUserText.includes("the code is 42"));
  expect(request?.lastUserText).toContain("[t1a2] Bo (bo) (bot, your teammate): the code is 42");
  expect(request?.system).toContain("- Bo (bo): Bo helps the team of this test.");
  expect(texts().filter((text) => text.includes("the code is"))).toEqual([]);
});

test("two teammates work at the same time and their answers, in any order, are put together", async () => {
  const got = new Set<string>();
  world.script("Ada", (request) => {
    const words = heard(request);
    if (!fresh(request)) return done();
    const reply = /argue-(yes|no)/.exec(words)?.[1];
    if (!reply)
      return together(sendMessage("I ask both."), ask("bo", "Argue for tabs."), ask("Cy", "Argue for spaces."));
    got.add(reply);
    return got.size === 2 ? sendMessage(`Both have argued: ${[...got].sort().join(" and ")}`) : done();
  });
  world.script(
    "Bo",
    answersWith(() => "argue-yes"),
  );
  world.script(
    "Cy",
    answersWith(() => "argue-no"),
  );
  const asked = world.say("Alice", "@Ada let Bo and Cy argue, then summarise");
  await world.slack.waitUntil(() => world.answers(asked).length === 2, "the summary", 20_000);
  await world.quiet(30_000);
  expect(world.answers(asked).map((post) => post.text)).toEqual(["I ask both.", "Both have argued: no and yes"]);
});

test.each([
  ["a name nobody has", "bob", /no teammate called "bob".*Nearest: Bo \(bo\)/],
  ["itself", "Ada", /that is you/],
])("a message to %s is refused in words", async (_name, target, expected) => {
  world.script("Ada", (request) => {
    if (fresh(request)) return ask(target, "hello");
    return request.callsThisTurn.length === 1 ? sendMessage(`Told: ${request.lastToolResult}`) : done();
  });
  const asked = world.dm("Bob", `write to ${target}`, { to: "Ada" });
  expect((await world.answer(asked, 20_000)).text).toMatch(expected);
  await world.quiet(30_000);
});

test("a bot that gets a question card as its answer is told that only people can answer one", async () => {
  world.script("Ada", (request) => {
    if (!fresh(request)) return done();
    return heard(request).includes("plain words")
      ? sendMessage("got it")
      : together(sendMessage("asking"), ask("Bo", "choose"));
  });
  world.script("Bo", (request) => {
    if (fresh(request))
      return call("SendMessage", { type: "widget", widget: { prompt: "?", options: [{ label: "A" }] } });
    return request.lastToolResult?.includes("needs a person") ? sendMessage("plain words then") : done();
  });
  const asked = world.dm("Bob", "ask Bo to choose", { to: "Ada" });
  await world.slack.waitUntil(() => world.answers(asked).at(-1)?.text === "got it", "the answer", 20_000);
  await world.quiet(30_000);
});

test("a teammate whose model fails is reported to the one that asked, not to the people", async () => {
  world.script("Ada", (request) => {
    if (!fresh(request)) return done();
    return /cannot/.test(request.lastUserText)
      ? sendMessage("Bo is not available")
      : together(sendMessage("asking"), ask("Bo", "work"));
  });
  world.script("Bo", () => ({ status: 401, message: "no" }));
  const asked = world.dm("Bob", "let Bo work", { to: "Ada" });
  await world.slack.waitUntil(() => world.answers(asked).at(-1)?.text === "Bo is not available", "the report", 20_000);
  await world.quiet(30_000);
});

test("two bots that answer each other for ever rest, with one notice where the person wrote", async () => {
  let balls = 0;
  const bounce =
    (to: string): Script =>
    (request) =>
      fresh(request) ? ask(to, `ball ${++balls}`) : done();
  world.script("Ada", (request) => {
    if (fresh(request)) return ask("bo", `ball ${++balls}`);
    return balls === 1 ? sendMessage("playing") : done();
  });
  world.script("Bo", bounce("ada"));
  const asked = world.dm("Alice", "play with Bo", { to: "Ada" });
  await world.slack.waitUntil(
    () => world.answers(asked).some((post) => post.text.includes("paused")),
    "the notice",
    20_000,
  );
  await world.quiet(30_000);
  expect(balls).toBeGreaterThan(10);
  expect(balls).toBeLessThanOrEqual(26);
  expect(world.answers(asked).filter((post) => post.text.includes("Ada and Bo kept writing"))).toHaveLength(1);
  expect(world.slack.posts().filter((post) => post.text.includes("ball"))).toEqual([]);
});

test("an answer whose news the bot only thinks, and does not say, gets it one reminder, and the people hear it", async () => {
  let silent = 0;
  world.script("Ada", (request) => {
    if (!fresh(request)) return done();
    if (request.lastUserText.includes("your text was shown to nobody")) return sendMessage("The port is 8443.");
    if (heard(request).includes("port is")) {
      silent += 1;
      return { text: "Bo found it: the port is 8443." };
    }
    return together(sendMessage("asking Bo"), ask("bo", "Which port?"));
  });
  world.script(
    "Bo",
    answersWith(() => "the port is 8443"),
  );
  const asked = world.dm("Bob", "find the port, please", { to: "Ada" });
  await world.until(() => world.answers(asked).length === 2, "the news", 20_000);
  await world.quiet(30_000);
  expect(world.answers(asked).map((post) => post.text)).toEqual(["asking Bo", "The port is 8443."]);
  expect(silent).toBe(1);
});

test("a bot that keeps an answer to itself on purpose is not pressed", async () => {
  world.script("Ada", (request) => {
    if (!fresh(request) || heard(request).includes("nothing new")) return done();
    return together(sendMessage("asking Bo"), ask("bo", "Any news?"));
  });
  world.script(
    "Bo",
    answersWith(() => "nothing new"),
  );
  const asked = world.dm("Bob", "tell me only if there are news", { to: "Ada" });
  await world.request((request) => request.model === "ada" && heard(request).includes("nothing new"), 20_000);
  await world.quiet(30_000);
  expect(world.answers(asked).map((post) => post.text)).toEqual(["asking Bo"]);
  expect(world.llm.requestsOf("ada").filter((request) => heard(request).includes("nothing new"))).toHaveLength(1);
});

test("when the model fails just as an answer comes, the people are told, and Retry brings the answer", async () => {
  let broken = true;
  world.script("Ada", (request) => {
    if (!fresh(request)) return done();
    if (!request.raw.includes("the door is green")) return together(sendMessage("asking Bo"), ask("bo", "The door?"));
    return broken ? { status: 401, message: "no" } : sendMessage("Bo says: green");
  });
  world.script(
    "Bo",
    answersWith(() => "the door is green"),
  );
  const asked = world.dm("Bob", "which colour has the door?", { to: "Ada" });
  const notice = await world.until(
    () => world.answers(asked).find((post) => post.text.includes("cannot think right now")),
    "the notice",
    20_000,
  );
  broken = false;
  await world.slack.press(world.person("Bob"), notice, "Retry");
  await world.until(() => world.answers(asked).at(-1)?.text === "Bo says: green", "the answer", 20_000);
  await world.quiet(30_000);
});
