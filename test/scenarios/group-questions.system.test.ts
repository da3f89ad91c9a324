/**
 * Members of a Group that ask people with a card (SPEC C, G3, G4, G8): what a member says on the answer still belongs to the Group, whether something goes
 * on there or not. Real product, real Slack libraries; members are scripted models.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { done, type Script, sendMessage, sendWidget } from "../emulators/llm/index.ts";
import type { Channel, Post } from "../emulators/slack/index.ts";
import { heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const NAMES = ["Ada", "Bo", "Cy"];

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: NAMES, people: ["Alice", "Bob"] });
}, START_MS);
afterAll(() => world?.close());
afterEach(() => {
  for (const name of NAMES) world.script(name, done);
  world.llm.calm();
});

const quiet = () => world.quiet(40_000);
let rooms = 0;
const room = () => world.channel(`questions-${++rooms}`);
const said = (to: Post) => world.answers(to).map((post) => `${post.author}: ${post.text}`);
const once =
  (text: string): Script =>
  (request) =>
    request.calls.length > 0 ? done() : sendMessage(text);
/** Asks for a colour once, and does `then` in the turn that reads the answer. */
const asking =
  (then: Script): Script =>
  (request) => {
    if (request.lastUserText.includes("widget_answer")) return then(request);
    return request.calls.length > 0 ? done() : sendWidget("Which colour?", ["red", "blue"]);
  };
const handsOver = asking((request) => (request.lastRole === "user" ? sendMessage("red it is. @Bo go on") : done()));
const discussions = (channel: Channel) =>
  world
    .database()
    .rows<{ endReason: string | null; total: number }>(
      `SELECT "endReason", ("state"->>'total')::int AS "total" FROM "Discussion" WHERE "channelId" LIKE $1 ORDER BY "createdAt"`,
      [`%${channel.id}`],
    );

test("a talkative member says at most two messages on the answer", async () => {
  world.script(
    "Ada",
    asking((request) => sendMessage(`Ada ${request.callsThisTurn.length}`)),
  );
  const channel = room();
  const asked = world.say("Alice", "@Ada choose", { in: channel });
  const card = await world.answer(asked);
  await quiet();
  await world.slack.press(world.person("Alice"), card, "red");
  await quiet();
  expect(said(asked).slice(1)).toEqual(["Ada: Ada 0", "Ada: Ada 1"]);
  expect((await discussions(channel)).map((one) => one.total)).toEqual([1, 2]);
});

test("it hands over to a teammate on the answer: the teammate speaks, and nobody else is woken", async () => {
  world.script("Ada", handsOver);
  world.script("Bo", once("Bo goes on"));
  const asked = world.say("Alice", "@Ada begin", { in: room() });
  const card = await world.answer(asked);
  await quiet();
  const before = world.llm.requestsOf("cy").length;
  await world.slack.press(world.person("Alice"), card, "red");
  await quiet();
  expect(said(asked).slice(1)).toEqual(["Ada: red it is. @Bo go on", "Bo: Bo goes on"]);
  expect(world.llm.requestsOf("cy").length).toBe(before);
});

test("the answer is typed: the same", async () => {
  world.script("Ada", handsOver);
  world.script("Bo", once("Bo goes on"));
  const channel = room();
  const asked = world.say("Alice", "@Ada begin", { in: channel });
  await world.answer(asked);
  await quiet();
  world.say("Alice", "red", { in: channel, thread: asked });
  await quiet();
  expect(said(asked).slice(-2)).toEqual(["Ada: red it is. @Bo go on", "Bo: Bo goes on"]);
});

test("answered while the round goes on: told beside it, and whom it calls has its turn when the round is over", async () => {
  world.script("Ada", handsOver);
  const thinks = heldBack();
  world.script("Cy", async (request) => {
    await thinks.script(request);
    return once("Cy at last")(request);
  });
  world.script("Bo", once("Bo goes on"));
  const channel = room();
  const asked = world.say("Alice", "@Ada @Cy begin", { in: channel });
  const card = await world.answer(asked);
  await world.llm.waitForRequest((request) => request.raw.includes("begin"), "cy");
  await world.slack.press(world.person("Alice"), card, "red");
  await world.until(() => said(asked).includes("Ada: red it is. @Bo go on"), "Ada");
  expect(said(asked).some((text) => text.startsWith("Cy"))).toBe(false);
  thinks.release();
  await quiet();
  expect(said(asked).slice(1)).toEqual(["Ada: red it is. @Bo go on", "Cy: Cy at last", "Bo: Bo goes on"]);
  expect(await discussions(channel)).toEqual([{ endReason: "passed", total: 4 }]);
});

test("a stop while the answer is being told silences it", async () => {
  const thinks = heldBack(sendMessage("too late"));
  world.script("Ada", asking(thinks.script));
  const channel = room();
  const asked = world.say("Alice", "@Ada begin", { in: channel });
  const card = await world.answer(asked);
  await quiet();
  await world.slack.press(world.person("Alice"), card, "red");
  await world.llm.waitForRequest((request) => request.lastUserText.includes("widget_answer"), "ada");
  world.say("Alice", "!stop", { in: channel, thread: asked });
  await world.until(() => said(asked).find((text) => text.includes("Stopped.")), "the stop");
  thinks.release();
  await quiet();
  expect(said(asked).some((text) => text.includes("too late"))).toBe(false);
  expect((await discussions(channel)).map((one) => one.endReason)).toEqual(["passed", "stopped"]);
});

test("who answers takes part: may stop what goes on, though another person began it", async () => {
  world.script("Ada", asking(once("red then")));
  const channel = room();
  const asked = world.say("Alice", "@Ada begin", { in: channel });
  const card = await world.answer(asked);
  await quiet();
  const [ada, cy] = [heldBack(sendMessage("too late")), heldBack(sendMessage("too late"))];
  world.script("Ada", ada.script);
  world.script("Cy", cy.script);
  world.say("Bob", "@Cy carry on", { in: channel, thread: asked });
  await world.llm.waitForRequest((request) => request.raw.includes("carry on"), "cy");
  await world.slack.press(world.person("Alice"), card, "red");
  await world.llm.waitForRequest((request) => request.lastUserText.includes("widget_answer"), "ada");
  world.say("Alice", "!stop", { in: channel, thread: asked });
  await world.until(() => said(asked).find((text) => text.includes("Stopped.")), "the stop");
  for (const thinks of [ada, cy]) thinks.release();
  await quiet();
  expect(said(asked).some((text) => text.includes("too late"))).toBe(false);
  expect((await discussions(channel)).map((one) => one.endReason)).toEqual(["passed", "stopped"]);
});
