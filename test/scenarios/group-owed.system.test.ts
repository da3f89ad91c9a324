/** Four members of a Slack channel: nobody who was called is forgotten (SPEC G4, G9), and nobody who has nothing to say makes a noise (SPEC G2). */
import { afterAll, beforeAll, expect, test } from "vitest";
import { done, type LlmRequest, sendMessage } from "../emulators/llm/index.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const NAMES = ["Ada", "Bo", "Cy", "Dee"];

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: NAMES, people: ["Alice"] });
}, START_MS);
afterAll(() => world.close());

const isAsked = (request: LlmRequest) => request.lastRole === "user";
const ended = async () =>
  world
    .database()
    .rows<{ reason: string; owed: string[] }>(
      `SELECT "endReason" AS reason, "state"->'owed' AS owed FROM "Discussion" ORDER BY "createdAt" DESC LIMIT 1`,
    );

test("the last speaker calls somebody who was not chosen: that member still speaks", async () => {
  for (const name of NAMES) world.script(name, (request) => (request.calls.length > 0 ? done() : sendMessage(name)));
  world.script("Cy", (request) => (request.calls.length > 0 ? done() : sendMessage("Cy; what does @Dee say?")));
  const asked = world.say("Alice", "@Bo @Cy your opinions", { in: world.channel("called") });
  await world.quiet(40_000);
  expect(world.answers(asked).map((post) => post.author)).toEqual(["Bo", "Cy", "Dee"]);
  expect(await ended()).toEqual([{ reason: "passed", owed: [] }]);
});

test("when the limit leaves no room for a member that was called, the end says who, and Continue starts there", async () => {
  let words = 0;
  const talks = (call: string) => (request: LlmRequest) =>
    isAsked(request) ? sendMessage(`word ${++words}${call}`) : done();

  for (const name of NAMES) world.script(name, talks(""));
  // One message each: the tenth is Dee's, in the third round after Cy, who is called by it again.
  world.script("Dee", talks(", and @Cy?"));
  const asked = world.say("Alice", "everybody, discuss", { in: world.channel("owed") });
  await world.quiet(60_000);
  const said = world.answers(asked);
  expect(said.filter((post) => post.text.startsWith("word"))).toHaveLength(10);
  const [notice] = said.filter((post) => !post.text.startsWith("word"));
  const [end] = await ended();
  expect(end?.reason).toBe("limit");
  expect(said.findLast((post) => post.text.startsWith("word"))?.author).toBe("Dee");
  expect(end?.owed).toEqual(["ada", "bo", "cy"]);
  expect(notice?.text).toContain("Still to speak: Ada, Bo and Cy");
  const spoke = new Set<string>();
  for (const name of NAMES)
    world.script(name, (request) => {
      if (!isAsked(request) || spoke.has(name)) return done();
      spoke.add(name);
      return sendMessage(`${name} at last`);
    });
  if (notice) await world.slack.press(world.person("Alice"), notice, "Continue");
  const atLast = () => world.answers(asked).filter((post) => post.text.endsWith("at last"));
  await world.until(() => atLast().some((post) => post.author === "Cy"), "the member that was called", 20_000);
  await world.quiet(60_000);
  expect(
    atLast()
      .map((post) => post.author)
      .slice(0, 3),
  ).toEqual(["Ada", "Bo", "Cy"]);
});

test("a plain reply in a thread is one discussion: who has something to say speaks, silence costs no post", async () => {
  for (const name of NAMES) world.script(name, (request) => (isAsked(request) ? sendMessage(`${name} here`) : done()));
  const asked = world.say("Alice", "@Ada hello", { in: world.channel("thread") });
  await world.quiet(40_000);
  for (const name of NAMES) world.script(name, done);
  world.script("Bo", (request) =>
    isAsked(request) && request.lastUserText.includes("who knows more?") ? sendMessage("Bo knows") : done(),
  );
  const reply = world.say("Alice", "and who knows more?", { in: asked.channel, thread: asked });
  await world.quiet(40_000);
  expect(world.answers(asked).map((post) => post.text)).toEqual(["Ada here", "Bo knows"]);
  expect(world.answers(reply).map((post) => post.author)).toEqual(["Bo"]);
  expect(await ended()).toEqual([{ reason: "passed", owed: [] }]);
});
