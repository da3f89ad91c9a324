/**
 * Several bots in one Slack channel (SPEC G): who speaks on a message, in which order, how often, and why it ends. Real product, real Slack libraries;
 * members are scripted models that answer as their test says.
 */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "vitest";
import { done, type LlmRequest, sendMessage, sendWidget } from "../emulators/llm/index.ts";
import type { Channel, Post } from "../emulators/slack/index.ts";
import { heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const NAMES = ["Ada", "Bo", "Cy"];
const hasSpoken = (request: LlmRequest) => request.calls.length > 0;
/** Says one thing once in its life, then passes. */
const once = (text: string) => (request: LlmRequest) => (hasSpoken(request) ? done() : sendMessage(text));
const never = () => new Promise<never>(() => undefined);

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: NAMES, people: ["Alice", "Bob"] });
}, START_MS);
afterAll(() => world.close());
afterEach(() => {
  for (const name of NAMES) world.script(name, once(`${name} is here`));
  world.llm.calm();
});

const quiet = () => world.quiet(40_000);
let rooms = 0;
const room = () => world.channel(`group-${++rooms}`);
const speakers = (to: Post) => world.answers(to).map((post) => post.author);
const texts = (to: Post) => world.answers(to).map((post) => post.text);
const all = () => {
  for (const name of NAMES) world.script(name, once(`${name} is here`));
};
const discussions = (channel: Channel) =>
  world
    .database()
    .rows<{ endReason: string | null; epoch: number }>(
      `SELECT "endReason", "epoch" FROM "Discussion" WHERE "channelId" LIKE $1 ORDER BY "createdAt"`,
      [`%${channel.id}`],
    );

describe("who speaks", () => {
  test("nobody is named: everybody once in configured order, then a silent round ends it", async () => {
    all();
    const channel = room();
    const asked = world.say("Alice", "good morning", { in: channel });
    await quiet();
    expect(speakers(asked)).toEqual(NAMES);
    expect(await discussions(channel)).toEqual([{ endReason: "passed", epoch: 1 }]);
  });

  test("the platform's mention, a typed handle, a user group and @everyone choose", async () => {
    all();
    const crew = world.slack.addUsergroup("crew", [world.bot("Ada"), world.bot("Cy")]);
    const shapes = [
      ["@Bo only you", ["Bo"]],
      ["​@bo only you, typed", ["Bo"]],
      [`${world.slack.mentionGroup(crew)} please`, ["Ada", "Cy"]],
      ["@everyone please", NAMES],
      ["<!channel> please", NAMES],
      ["@Bob can you look?", []],
      ["what would @Bob say?", []],
    ] as const;
    const said = shapes.map(([text, expected]) => ({ text, expected, post: world.say("Alice", text, { in: room() }) }));
    await quiet();
    expect(said.map(({ text, post }) => [text, speakers(post)])).toEqual(
      said.map(({ text, expected }) => [text, expected]),
    );
  });

  test("talkative members: ten messages, at most two a turn, everybody heard, and Continue goes on with who was to speak", async () => {
    let n = 0;
    for (const name of NAMES) world.script(name, () => sendMessage(`${name} ${++n}`));
    const channel = room();
    const asked = world.say("Alice", "discuss!", { in: channel });
    await quiet();
    expect(
      texts(asked)
        .slice(0, 10)
        .map((text) => text.split(" ")[0]?.[0])
        .join(""),
    ).toBe("AABBCCBBCC");
    const card = world.answers(asked)[10];
    expect(card?.text).toContain("Still to speak: Ada");
    expect(world.answers(asked)).toHaveLength(11);
    for (const name of NAMES)
      world.script(name, (request) =>
        request.lastRole === "user" && name === "Ada" ? sendMessage("Ada goes on") : done(),
      );
    if (card) await world.slack.press(world.person("Alice"), card, "Continue");
    await world.slack.waitUntil(() => texts(asked).includes("Ada goes on"), "Ada after Continue");
    await quiet();
  });

  test("a refusal reaches the member that wanted to say more, as text", async () => {
    world.script("Bo", (request) =>
      request.callsThisTurn.length < 3 ? sendMessage(`Bo ${request.callsThisTurn.length}`) : done(),
    );
    const asked = world.say("Alice", "@Bo say three things", { in: room() });
    await quiet();
    expect(world.answers(asked)).toHaveLength(2);
    expect(world.llm.requestsOf("bo").at(-1)?.lastToolResult).toContain("limit of 2 messages");
  });

  test("everybody passes: nothing is said, nobody is reminded", async () => {
    for (const name of NAMES) world.script(name, done);
    const before = world.llm.requests.length;
    const asked = world.say("Alice", "nothing to add?", { in: room() });
    await quiet();
    expect(world.answers(asked)).toEqual([]);
    expect(world.llm.requests.length - before).toBe(3);
  });

  test("a member that is named must answer, as in a direct message", async () => {
    world.script("Bo", done);
    const asked = world.say("Alice", "@Bo are you there?", { in: room() });
    await quiet();
    expect(texts(asked)).toEqual(["Here is what I have."]);
  });

  test("a member mentioned by a teammate goes before the others, one not chosen is added", async () => {
    world.script("Ada", once("what do you think, @Cy?"));
    world.script("Cy", once("I agree"));
    world.script("Bo", once("Bo too"));
    const everybody = world.say("Alice", "thoughts?", { in: room() });
    await quiet();
    expect(speakers(everybody)).toEqual(["Ada", "Cy", "Bo"]);
    const onlyAda = world.say("Alice", "@Ada thoughts?", { in: room() });
    await quiet();
    expect(speakers(onlyAda)).toEqual(["Ada", "Cy"]);
  });

  test("two members that mention each other for ever stop at the limit, with one notice", async () => {
    world.script("Ada", (request) => (request.lastRole === "user" ? sendMessage("your turn @Bo") : done()));
    world.script("Bo", (request) => (request.lastRole === "user" ? sendMessage("your turn @Ada") : done()));
    const asked = world.say("Alice", "@Ada begin", { in: room() });
    await quiet();
    const said = texts(asked).filter((text) => text.includes("your turn"));
    expect(said.length).toBeLessThanOrEqual(10);
    expect(said.length).toBeGreaterThan(3);
    expect(world.answers(asked).filter((post) => !post.text.includes("your turn"))).toHaveLength(1);
  });

  test("each sees what is new since it last spoke, once", async () => {
    for (const name of NAMES) world.script(name, once(`word of ${name}`));
    world.say("Alice", "tell me something", { in: room() });
    await quiet();
    const [first, again] = world.llm
      .requestsOf("cy")
      .filter((request) => request.lastRole === "user")
      .slice(-2);
    expect(first?.lastUserText).toContain("tell me something");
    expect(first?.lastUserText).toMatch(/word of Ada[\s\S]*word of Bo/);
    expect(again?.lastUserText).not.toContain("tell me something");
    expect(again?.lastUserText).toContain("Cy (cy) (you): word of Cy");
    expect(first?.system).toContain("Your teammates here: Ada, Bo.");
    expect(again?.system).toBe(first?.system);
  });
});

describe("copies and interruptions", () => {
  test("the copies of all bots are one message, in any order", async () => {
    all();
    for (const late of NAMES) {
      world.slack.disturb({ delayMs: 120 }, { app: world.bot(late) });
      const asked = world.say("Alice", "@Bo once please", { in: room() });
      await world.answer(asked);
      await quiet();
      expect(speakers(asked)).toEqual(["Bo"]);
    }
  });

  test("the same person again: the new choice replaces the old one, a member at work may say one more", async () => {
    all();
    const model = heldBack(sendMessage("finished my thought"));
    world.script("Ada", model.script);
    const channel = room();
    const asked = world.say("Alice", "everybody, please", { in: channel });
    await world.llm.waitForRequest((request) => request.raw.includes("everybody, please"), "ada");
    world.say("Alice", "@Cy no, only you", { in: channel, thread: asked });
    await world.slack.waitUntil(() => speakers(asked).includes("Cy"), "Cy");
    model.release();
    await quiet();
    expect([...speakers(asked)].sort()).toEqual(["Ada", "Cy"]);
    expect(await discussions(channel)).toEqual([{ endReason: "passed", epoch: 2 }]);
  });

  test("the same person again to the member at work: it reads both and answers once", async () => {
    all();
    const model = heldBack();
    world.script("Ada", (request) =>
      request.lastUserText.includes("in French") ? once("en français")(request) : model.script(request),
    );
    const channel = room();
    const asked = world.say("Alice", "@Ada translate", { in: channel });
    await world.llm.waitForRequest((request) => request.lastUserText.includes("translate"), "ada");
    world.say("Alice", "@Ada in French", { in: channel, thread: asked });
    await world.answer(asked);
    model.release();
    await quiet();
    expect(texts(asked)).toEqual(["en français"]);
  });

  test("another person: united with those not heard yet", async () => {
    all();
    const model = heldBack(sendMessage("Ada at last"));
    world.script("Ada", model.script);
    const channel = room();
    const asked = world.say("Alice", "all of you", { in: channel });
    await world.llm.waitForRequest((request) => request.raw.includes("all of you"), "ada");
    world.say("Bob", "@Bo and I ask you", { in: channel, thread: asked });
    await world.slack.waitUntil(() => world.slack.deliveries.every((item) => item.acknowledgedAt !== null), "acks");
    model.release();
    await quiet();
    expect([...new Set(speakers(asked))].sort()).toEqual(NAMES);
    expect((await discussions(channel)).map((one) => one.epoch)).toEqual([2]);
  });

  test("stop ends the discussion: nobody else speaks, until a person writes again", async () => {
    all();
    world.script("Ada", never);
    const channel = room();
    const asked = world.say("Alice", "everybody, think", { in: channel });
    await world.llm.waitForRequest((request) => request.raw.includes("everybody, think"), "ada");
    world.say("Alice", "!stop", { in: channel, thread: asked });
    await world.slack.waitUntil(() => texts(asked).includes("Stopped."), "the stop", 1500);
    await quiet();
    expect(texts(asked)).toEqual(["Stopped."]);
    expect(await discussions(channel)).toEqual([{ endReason: "stopped", epoch: 1 }]);
    all();
    const again = world.say("Alice", "stop the car, and tell me who is there", { in: channel, thread: asked });
    await quiet();
    expect(texts(again)).toEqual(NAMES.map((name) => `${name} is here`));
  });

  test("a direct message to a member during a round is answered, and the round goes on", async () => {
    all();
    const model = heldBack(sendMessage("Bo in the round"));
    world.script("Bo", (request) =>
      request.raw.includes("in private") ? once("in private then")(request) : model.script(request),
    );
    const asked = world.say("Alice", "round, please", { in: room() });
    await world.llm.waitForRequest((request) => request.raw.includes("round, please"), "bo");
    const direct = world.dm("Bob", "in private", { to: "Bo" });
    expect((await world.answer(direct, 8000)).text).toBe("in private then");
    model.release();
    await quiet();
    expect(speakers(asked)).toEqual(["Ada", "Bo", "Cy"]);
  });
});

describe("members in trouble", () => {
  test("one whose provider fails is named in one line; the others go on", async () => {
    all();
    world.script("Bo", () => ({ status: 400, message: "broken" }));
    const asked = world.say("Alice", "who is there?", { in: room() });
    await quiet();
    const lines = texts(asked);
    expect(lines.filter((text) => text.includes("Bo"))).toHaveLength(1);
    expect(lines.filter((text) => text.includes("is here"))).toEqual(["Ada is here", "Cy is here"]);
  });

  test("one that hangs is passed by; what it says later still counts", async () => {
    all();
    const model = heldBack(sendMessage("Ada after all"));
    world.script("Ada", model.script);
    const channel = room();
    const asked = world.say("Alice", "quickly, please", { in: channel });
    await world.llm.waitForRequest((request) => request.raw.includes("quickly, please"), "ada");
    await world.database().rows(`UPDATE "Discussion" SET "waitingSince" = "waitingSince" - interval '3 minutes'`);
    await world.slack.waitUntil(() => texts(asked).some((text) => text.startsWith("Ada is taking longer")), "the line");
    await world.slack.waitUntil(() => speakers(asked).includes("Bo"), "Bo");
    model.release();
    await world.slack.waitUntil(() => texts(asked).includes("Ada after all"), "Ada");
    await quiet();
  });

  test("a question ends only that member's turn, and its answer wakes only that member", async () => {
    world.script("Ada", (request) => {
      if (request.lastUserText.includes("widget_answer"))
        return request.lastRole === "user" ? sendMessage("red it is") : done();
      return hasSpoken(request) ? done() : sendWidget("Which colour?", ["red", "blue"]);
    });
    world.script("Bo", once("Bo is here"));
    world.script("Cy", once("Cy is here"));
    const asked = world.say("Alice", "choose a colour", { in: room() });
    await quiet();
    const [question] = world.answers(asked);
    expect(speakers(asked)).toEqual(["Ada", "Bo", "Cy"]);
    const before = world.llm.requests.length;
    if (question) await world.slack.press(world.person("Alice"), question, "red");
    await quiet();
    expect(texts(asked).at(-1)).toBe("red it is");
    expect(new Set(world.llm.requests.slice(before).map((request) => request.model))).toEqual(new Set(["ada"]));
  });
});
