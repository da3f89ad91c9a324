/** What people may do in a Group beside writing: answer each other's questions (SPEC C2), and stop from the channel what goes on in a thread (SPEC T5). */
import { afterAll, beforeAll, expect, test } from "vitest";
import { done, type LlmRequest, sendMessage, sendWidget } from "../emulators/llm/index.ts";
import type { Post } from "../emulators/slack/index.ts";
import { heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const NAMES = ["Ada", "Bo", "Cy"];
const hasSpoken = (request: LlmRequest) => request.calls.length > 0;
let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: NAMES, people: ["Alice", "Bob"] });
  for (const name of NAMES)
    world.script(name, (request) => (hasSpoken(request) ? done() : sendMessage(`${name} is here`)));
}, START_MS);
afterAll(() => world?.close());
const quiet = () => world.quiet(40_000);
const said = (to: Post) => world.answers(to).map((post) => `${post.author}: ${post.text}`);

test("somebody who takes part after a question was posted may answer it; somebody who does not may not", async () => {
  world.script("Ada", (request) => {
    const isAnswer = request.lastUserText.includes("widget_answer");
    if (isAnswer) return request.lastRole === "user" ? sendMessage("red it is") : done();
    return hasSpoken(request) ? done() : sendWidget("Which colour?", ["red", "blue"]);
  });
  const channel = world.channel("joined");
  const asked = world.say("Alice", "@Ada choose", { in: channel });
  const question = await world.answer(asked);
  await quiet();
  await world.slack.press(world.person("Bob"), question, "blue");
  await quiet();
  expect(said(asked).at(-1)).toContain("Which colour?");
  world.say("Bob", "@Bo and you?", { in: channel, thread: asked });
  await quiet();
  await world.slack.press(world.person("Bob"), question, "red");
  await quiet();
  expect(said(asked)).toContain("Ada: red it is");
});

test("!stop in the channel ends the discussion in its thread and says so; where nothing goes on it is nobody's business", async () => {
  const model = heldBack(sendMessage("never said"));
  world.script("Ada", model.script);
  const channel = world.channel("stopped");
  const idle = world.say("Alice", "!stop", { in: channel });
  await quiet();
  expect(world.answers(idle)).toEqual([]);
  const asked = world.say("Alice", "what do you all think?", { in: channel });
  await world.llm.waitForRequest((request) => request.raw.includes("what do you all think"), "ada");
  const stop = world.say("Alice", "!stop", { in: channel });
  expect((await world.answer(stop)).text).toBe("Stopped the discussion in a thread here.");
  model.release();
  await quiet();
  expect(said(asked)).toEqual(["Ada: Stopped."]);
});

test("!new while a discussion goes on leaves every member's conversation as it is", async () => {
  for (const name of ["Ada", "Cy"])
    world.script(name, (request) => (hasSpoken(request) ? done() : sendMessage(`${name} is here`)));
  const model = heldBack(sendMessage("Bo speaks"));
  world.script("Bo", model.script);
  const channel = world.channel("anew");
  const asked = world.say("Alice", "begin, all of you", { in: channel });
  await world.llm.waitForRequest((request) => request.raw.includes("begin, all of you"), "bo");
  world.say("Alice", "!new", { in: channel, thread: asked });
  await world.until(() => said(asked).find((text) => text.includes("left as it is")), "the refusal");
  world.script("Bo", () => done());
  model.release();
  await quiet();
  expect(said(asked).filter((text) => text === "Ada: Ada is here")).toHaveLength(1);
});
