/** One message of somebody in charge to all bots at once (SPEC A3): each acts on it once, and what they answer comes back to one place. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { done, type LlmRequest, sendMessage } from "../emulators/llm/index.ts";
import { heard } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: ["Ada", "Bo", "Cy"] });
  // Ids of people exist only when the workspace does.
  const file = join(world.folder, "parley.yaml");
  const settings = JSON.parse(readFileSync(file, "utf8")) as object;
  await world.stop();
  writeFileSync(file, JSON.stringify({ ...settings, access: { admins: [world.person("Alice").id] } }));
  await world.start();
}, START_MS);
afterAll(() => world.close());

const fresh = (request: LlmRequest) => request.lastRole === "user";
const fromTeammate = (request: LlmRequest) => /your teammate\): (.*)/.exec(request.lastUserText)?.[1];

test("an administrator's broadcast reaches every bot once, in the bots' lane, and the answers come back by way of one", async () => {
  world.script("Ada", (request) => {
    if (!fresh(request)) return done();
    const answer = fromTeammate(request);
    return sendMessage(answer ? `passed on: ${answer}` : "Ada has read it");
  });
  world.script("Bo", (request) => (fresh(request) ? sendMessage("Bo is ready") : done()));
  world.script("Cy", done);
  const asked = world.dm("Alice", "!broadcast Freeze on Friday.\nSay so if that is a problem.", { to: "Ada" });
  await world.until(
    () => world.answers(asked).some((post) => post.text.includes("Bo is ready")),
    "Bo's answer",
    20_000,
  );
  await world.quiet(30_000);
  expect(
    world
      .answers(asked)
      .map((post) => post.text)
      .sort(),
  ).toEqual([
    "Ada has read it",
    "Sent to Bo and Cy. What they answer comes back here by way of Ada.",
    "passed on: Bo is ready",
  ]);
  for (const bot of ["bo", "cy"]) {
    const asks = world.llm.requestsOf(bot).filter(fresh);
    expect(asks).toHaveLength(1);
    expect(heard(asks[0] as LlmRequest)).toBe("Freeze on Friday.\nSay so if that is a problem.");
    expect(asks[0]?.lastUserText).toContain("to all of you at once");
    expect(asks[0]?.lastUserText).toContain(`Alice (slack:`);
  }
  const ada = world.llm.requestsOf("ada").find((request) => heard(request).includes("Freeze"));
  expect(ada?.lastUserText).toContain("Bo, Cy have it too");
  const mail = await world
    .database()
    .rows<{ kind: string; audience: string }>(
      `SELECT "kind", "audience" FROM "Mail" WHERE "body"->>'isBroadcast' = 'true' AND "body"->>'direction' = 'ask'`,
    );
  expect(mail).toEqual([0, 1].map(() => ({ kind: "bot", audience: expect.stringMatching(/^person\(slack:/) })));
});

test.each([
  ["somebody else", "Bob", "!broadcast down tools", /Only administrators/],
  ["an administrator without a text", "Alice", "!broadcast", /after `!broadcast`/],
  ["an administrator with too much text", "Alice", `!broadcast ${"x".repeat(8001)}`, /8001 characters/],
])("a broadcast by %s reaches nobody and says why", async (_who, name, text, expected) => {
  const before = world.llm.requests.length;
  const asked = world.dm(name, text, { to: "Ada" });
  expect((await world.answer(asked)).text).toMatch(expected);
  await world.quiet(30_000);
  expect(world.llm.requests).toHaveLength(before);
});

test("a broadcast in a channel is sent to a direct message, and everyday words with it in them are no command", async () => {
  world.script("Ada", (request) => (fresh(request) ? sendMessage("just words") : done()));
  const channel = world.channel("alone", ["Ada", "Alice"]);
  const asked = world.say("Alice", "@Ada !broadcast hello", { in: channel });
  expect((await world.answer(asked)).text).toContain("direct message");
  const plain = world.dm("Alice", "please !broadcast nothing", { to: "Ada" });
  expect((await world.answer(plain)).text).toBe("just words");
  await world.quiet(30_000);
});
