/**
 * Whom members of a Group call in (SPEC G1, G4, I3): whoever they mention and who is here, not those they quote and not those that have left. Real product,
 * real Slack libraries; members are scripted models.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { done, type Script, sendMessage } from "../emulators/llm/index.ts";
import type { Post } from "../emulators/slack/index.ts";
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
const room = () => world.channel(`calls-${++rooms}`);
const speakers = (to: Post) => world.answers(to).map((post) => post.author);
const isMember = async (channelId: string, name: string) => {
  const [row] = await world
    .database()
    .rows<{ members: string[] }>(`SELECT "members" FROM "Channel" WHERE "id" LIKE $1`, [`%${channelId}`]);
  return row?.members.includes(name.toLowerCase()) ?? false;
};
const talking = (name: string): Script => {
  let n = 0;
  return () => sendMessage(`${name} talks ${++n}`);
};

test("a teammate in a quoted line is not called, one below it is", async () => {
  world.script("Ada", once("> @Cy said that tabs are better\nI agree. @Bo and you?"));
  const asked = world.say("Alice", "@Ada summarise", { in: room() });
  await quiet();
  expect(speakers(asked)).toEqual(["Ada", "Bo"]);
});

test("a bot that left during the discussion, and was not even chosen, is not called in", async () => {
  const thinks = heldBack(sendMessage("ask @Cy please"));
  world.script("Ada", thinks.script);
  const channel = room();
  const asked = world.say("Alice", "@Ada @Bo begin", { in: channel });
  await world.llm.waitForRequest((request) => request.raw.includes("begin"), "ada");
  world.slack.expel(channel, world.bot("Cy"));
  await world.acknowledged();
  await expect.poll(() => isMember(channel.id, "Cy"), { timeout: 10_000 }).toBe(false);
  const before = world.llm.requestsOf("cy").length;
  thinks.release();
  await quiet();
  expect(speakers(asked)).toContain("Bo");
  expect(world.llm.requestsOf("cy").length).toBe(before);
});

test("Continue after the one that was still to speak has left goes on without it", async () => {
  for (const name of NAMES) world.script(name, talking(name));
  const channel = room();
  const asked = world.say("Alice", "discuss", { in: channel });
  await quiet();
  const card = world.answers(asked).find((post) => post.text.includes("Still to speak"));
  const [, owed = ""] = /Still to speak: (\w+)/.exec(card?.text ?? "") ?? [];
  if (!card) throw new Error("no card");
  world.slack.expel(channel, world.bot(owed));
  await world.acknowledged();
  await expect.poll(() => isMember(channel.id, owed), { timeout: 10_000 }).toBe(false);
  for (const name of NAMES)
    world.script(name, (one) => (one.callsThisTurn.length > 0 ? done() : sendMessage(`${name} after it`)));
  const before = world.llm.requestsOf(owed.toLowerCase()).length;
  await world.slack.press(world.person("Alice"), card, "Continue");
  await quiet();
  const after = world.answers(asked).filter((post) => post.text.includes("after it"));
  expect([...new Set(after.map((post) => post.author))].sort()).toEqual(NAMES.filter((name) => name !== owed));
  expect(world.llm.requestsOf(owed.toLowerCase()).length).toBe(before);
});
