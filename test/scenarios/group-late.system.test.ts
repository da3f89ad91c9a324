/**
 * Members of a Group that need longer than others wait (SPEC G7, G8, M12): the person that asked still gets their answer, within the limits. Real product,
 * real Slack libraries; members are scripted models that work until the test lets them answer.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { call, done, type LlmRequest, type Script, sendMessage } from "../emulators/llm/index.ts";
import type { Channel, Post } from "../emulators/slack/index.ts";
import { heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const NAMES = ["Ada", "Bo", "Cy"];

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: NAMES, people: ["Alice", "Bob"] });
  for (const name of NAMES) world.script(name, once(`${name} is here`));
}, START_MS);
afterAll(() => world?.close());
afterEach(() => {
  for (const name of NAMES) world.script(name, once(`${name} is here`));
  world.llm.calm();
});

function once(text: string): Script {
  return (request) => (request.calls.length > 0 ? done() : sendMessage(text));
}
const quiet = () => world.quiet(40_000);
let rooms = 0;
const room = () => world.channel(`late-${++rooms}`);
const said = (to: Post) => world.answers(to).map((post) => `${post.author}: ${post.text}`);
const heard = (words: string, model: string) => world.llm.waitForRequest((one) => one.raw.includes(words), model);
/** Whoever has the turn has shown nothing for longer than others wait; resolves when people are told. */
async function patienceEnds(asked: Post): Promise<void> {
  await world
    .database()
    .rows(`UPDATE "Discussion" SET "waitingSince" = "waitingSince" - interval '3 minutes' WHERE "endReason" IS NULL`);
  await world.until(() => said(asked).find((text) => text.includes("taking longer")), "the line that it takes longer");
}
const discussions = (channel: Channel) =>
  world
    .database()
    .rows<{ endReason: string | null; total: number }>(
      `SELECT "endReason", ("state"->>'total')::int AS "total" FROM "Discussion" WHERE "channelId" LIKE $1`,
      [`%${channel.id}`],
    );
/** A discussion is open in which nobody has the turn. */
const openWithoutTurn = async (channel: Channel) => {
  const sql = `SELECT FROM "Discussion" WHERE "channelId" LIKE $1 AND "endReason" IS NULL AND "current" IS NULL`;
  return (await world.database().rows(sql, [`%${channel.id}`])).length > 0;
};
/** Says the first, works until it is released, then says the second. */
function workingBetween(first: string, second: string) {
  let release: () => void = () => undefined;
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const script = async (request: LlmRequest) => {
    if (request.calls.length === 0) return sendMessage(first);
    if (request.calls.length === 1) return call("search_teammates", { query: "anybody" });
    await released;
    return request.calls.length === 2 ? sendMessage(second) : done();
  };
  const isAtWork = (words: string) => world.llm.requestsOf("ada").filter((one) => one.raw.includes(words)).length > 2;
  return { script, isAtWork, release: () => release() };
}

test("the only one that was asked shows nothing for two minutes: its answer still comes", async () => {
  const work = heldBack(sendMessage("the long work is done"));
  world.script("Ada", work.script);
  const channel = room();
  const asked = world.say("Alice", "@Ada the long work please", { in: channel });
  await heard("the long work please", "ada");
  await patienceEnds(asked);
  expect(said(asked)).toEqual(["Ada: Ada is taking longer than expected."]);
  work.release();
  await quiet();
  expect(said(asked).at(-1)).toBe("Ada: the long work is done");
  expect(await discussions(channel)).toEqual([{ endReason: "passed", total: 1 }]);
});

test("it says that it is on it, works on for minutes, and tells the result", async () => {
  const work = workingBetween("on it", "here is the result");
  world.script("Ada", work.script);
  const asked = world.say("Alice", "@Ada work on this", { in: room() });
  await world.until(() => work.isAtWork("work on this"), "work");
  await patienceEnds(asked);
  work.release();
  await quiet();
  expect(said(asked)).toContain("Ada: here is the result");
});

test("teammates it called talk as much as they may meanwhile: its result is still told, as the tenth message", async () => {
  const work = workingBetween("on it, @Bo and @Cy begin", "here is the result");
  world.script("Ada", work.script);
  let n = 0;
  for (const name of ["Bo", "Cy"]) world.script(name, () => sendMessage(`${name} talks ${++n}`));
  const channel = room();
  const asked = world.say("Alice", "@Ada lead this", { in: channel });
  await world.until(() => work.isAtWork("lead this"), "work");
  await patienceEnds(asked);
  await world.until(() => said(asked).filter((text) => text.includes("talks")).length === 8, "eight messages");
  work.release();
  await quiet();
  expect(said(asked)).toContain("Ada: here is the result");
  expect(await discussions(channel)).toEqual([{ endReason: "limit", total: 10 }]);
});

test("the last of three is late while the others have nothing to add", async () => {
  const work = heldBack(sendMessage("Cy at last"));
  world.script("Cy", work.script);
  const channel = room();
  const asked = world.say("Alice", "all of you, slowly", { in: channel });
  await heard("all of you, slowly", "cy");
  await patienceEnds(asked);
  // Both pass in the second round, after which nobody is left to wait for but Cy.
  await expect.poll(() => openWithoutTurn(channel), { timeout: 20_000 }).toBe(true);
  work.release();
  await quiet();
  expect(said(asked)).toContain("Cy: Cy at last");
  expect(await discussions(channel)).toEqual([{ endReason: "passed", total: 3 }]);
});

test("the person writes to it again while it is late: one answer, after both messages were read", async () => {
  const work = heldBack(sendMessage("too early"));
  const answer = once("both are done");
  world.script("Ada", (one) => (one.lastUserText.includes("and the second") ? answer(one) : work.script(one)));
  const channel = room();
  const asked = world.say("Alice", "@Ada translate slowly", { in: channel });
  await heard("translate slowly", "ada");
  await patienceEnds(asked);
  world.say("Alice", "@Ada and the second", { in: channel, thread: asked });
  await world.until(() => said(asked).includes("Ada: both are done"), "the answer");
  work.release();
  await quiet();
  expect(said(asked)).not.toContain("Ada: too early");
});

test("two newer messages choose others: both members at work may say one more", async () => {
  const [ada, bo] = [heldBack(sendMessage("Ada thought")), heldBack(sendMessage("Bo thought"))];
  world.script("Ada", ada.script);
  world.script("Bo", bo.script);
  const channel = room();
  const asked = world.say("Alice", "@Ada think first", { in: channel });
  await heard("think first", "ada");
  world.say("Alice", "@Bo think second", { in: channel, thread: asked });
  await heard("think second", "bo");
  world.say("Alice", "@Cy third", { in: channel, thread: asked });
  await world.until(() => said(asked).find((text) => text.startsWith("Cy")), "Cy");
  ada.release();
  bo.release();
  await quiet();
  expect([...said(asked)].sort()).toEqual(["Ada: Ada thought", "Bo: Bo thought", "Cy: Cy is here"]);
  expect((await discussions(channel)).map((one) => one.endReason)).toEqual(["passed"]);
});
