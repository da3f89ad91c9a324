/** A bot is mentioned in a channel or written to directly, and answers once, in the right place. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { think } from "../emulators/llm/index.ts";
import { echo } from "../support/scripts.ts";
import { startWorld, type World } from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: ["Ada"], people: ["Alice", "Bob"] });
});
afterAll(() => world.close());

test("a mention in a channel is answered once, in its thread", async () => {
  world.script("Ada", echo);
  const asked = world.say("Alice", "@Ada what is two and two?");
  const answer = await world.answer(asked);
  expect(answer.threadTs).toBe(asked.ts);
  expect(answer.text).toContain("what is two and two?");
  await world.quiet();
  expect(world.answers(asked)).toHaveLength(1);
});

test("a direct message is answered without a mention", async () => {
  world.script("Ada", echo);
  const asked = world.dm("Bob", "good morning");
  expect((await world.answer(asked)).text).toBe("You said: good morning");
  await world.quiet();
  expect(world.answers(asked)).toHaveLength(1);
});

test("a model that only thinks never leaks a word, and the person gets a notice with Retry", async () => {
  world.script("Ada", (request) => ({ ...think("a secret thought"), thinking: "deep", ignoreToolChoice: request.forced }));
  const asked = world.say("Alice", "@Ada say something");
  const notice = await world.answer(asked);
  expect(notice.controls.map((control) => control.label)).toEqual(["Retry"]);
  await world.quiet();
  expect(world.answers(asked)).toHaveLength(1);
  expect(JSON.stringify(world.slack.requests)).not.toContain("secret thought");
});

test("the two copies of a mention are one message, in both orders and at the same instant", async () => {
  world.script("Ada", echo);
  const asked = Array.from({ length: 40 }, (_one, at) =>
    world.say("Alice", `@Ada number ${at}`, { first: at % 2 === 0 ? "message" : "app_mention", gapMs: at % 4 < 2 ? 0 : 10 }),
  );
  for (const one of asked) await world.answer(one, 20_000);
  await world.quiet();
  expect(asked.map((one) => world.answers(one).length)).toEqual(asked.map(() => 1));
});
