/** The same thing told twice, late, or changed afterwards: one message of a person is worked on once. */
import { afterAll, beforeAll, expect, test } from "vitest";
import type { DeliveryRecord, Post } from "../emulators/slack/index.ts";
import { lostDelivery } from "../support/events.ts";
import { echo, heard, heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: ["Ada"], people: ["Alice", "Bob"] });
}, START_MS);
afterAll(() => world.close());

/** How often the model was asked with these words as the newest ones at the start of a turn. */
const turnsFor = (words: string) =>
  world.llm.requests.filter((request) => request.lastRole === "user" && heard(request).includes(words)).length;

/** True for a delivery of this very message. */
const isOf = ({ body }: DeliveryRecord, post: Post) => (body.event as { ts?: string } | undefined)?.ts === post.ts;

test("a retry of something never seen is worked on, a further retry is not", async () => {
  world.script("Ada", echo);
  const { slack } = world;
  const asked = world.say("Alice", "@Ada only heard as a retry", { in: world.channel("retry"), only: [] });
  const lost = lostDelivery(slack, world.bot(), asked);
  slack.redeliver(lost, 1);
  await world.answer(asked);
  slack.redeliver(lost, 2);
  await world.quiet();
  expect(world.answers(asked)).toHaveLength(1);
});

test("an event that comes again because its acknowledgement was lost is worked on once", async () => {
  world.script("Ada", echo);
  world.slack.disturb({ ignoreAck: true }, { times: 2 });
  const asked = world.say("Alice", "@Ada acknowledged in vain", { in: world.channel("ack-lost") });
  await world.answer(asked);
  const copies = world.slack.deliveries.filter((item) => isOf(item, asked));
  await world.until(() => copies.every((item) => item.sentAt.length === 2), "the retries");
  await world.quiet();
  expect(world.answers(asked)).toHaveLength(1);
});

test("copies of one event at the same instant are one message", async () => {
  world.script("Ada", echo);
  world.slack.disturb({ duplicate: 4 }, { times: 2 });
  const asked = world.say("Alice", "@Ada five copies", { in: world.channel("copies"), gapMs: 0 });
  await world.answer(asked);
  await world.quiet();
  expect([world.answers(asked).length, turnsFor("five copies")]).toEqual([1, 1]);
});

test("an answered message that comes again an hour later, after a restart, stays answered", async () => {
  world.script("Ada", echo);
  const asked = world.say("Alice", "@Ada before the restart", { in: world.channel("replay") });
  await world.answer(asked);
  await world.quiet();
  const heardThen = world.slack.deliveries.filter((item) => isOf(item, asked));
  await world.database().rows(`UPDATE "InboundMark" SET "receivedAt" = "receivedAt" - interval '1 hour'`);
  await world.restart();
  for (const record of heardThen) world.slack.redeliver(record, 1);
  await world.quiet();
  expect([world.answers(asked).length, turnsFor("before the restart")]).toEqual([1, 1]);
});

test("what is said while the product is down is answered when it is up again", async () => {
  world.script("Ada", echo);
  await world.stop();
  const asked = world.say("Bob", "@Ada are you up?", { in: world.channel("down") });
  const direct = world.dm("Bob", "or here?");
  await world.start();
  await Promise.all([world.answer(asked), world.answer(direct)]);
  await world.quiet();
  expect([world.answers(asked).length, world.answers(direct).length]).toEqual([1, 1]);
});

test("a link preview and an edit of an answered message start nothing", async () => {
  world.script("Ada", echo);
  const asked = world.say("Alice", "@Ada see https://example.com/", { in: world.channel("edits") });
  await world.answer(asked);
  await world.quiet();
  const before = world.llm.requests.length;
  world.slack.unfurl(asked);
  world.slack.edit(asked, `${world.slack.mention(world.bot())} see https://example.com/ please`);
  await world.quiet();
  expect([world.answers(asked).length, world.llm.requests.length]).toEqual([1, before]);
});

test("a waiting message that is edited is read as it stands then; a deleted one is not read at all", async () => {
  const model = heldBack();
  world.script("Ada", (request) => (heard(request).includes("long work") ? model.script(request) : echo(request)));
  const room = world.channel("amended");
  const busy = world.say("Alice", "@Ada long work", { in: room });
  await world.request((request) => heard(request).includes("long work"));
  const edited = world.say("Bob", "@Ada frst draft", { in: room });
  const deleted = world.say("Bob", "@Ada never mind this", { in: room });
  await world.acknowledged();
  world.slack.edit(edited, `${world.slack.mention(world.bot())} final wording`);
  world.slack.erase(deleted);
  await world.acknowledged();
  model.release();
  expect((await world.answer(edited)).text).toContain("final wording");
  await world.answer(busy);
  await world.quiet();
  expect([turnsFor("frst draft"), turnsFor("never mind this")]).toEqual([0, 0]);
});

test(
  "a restart in the middle of a turn: the message is answered once, afterwards",
  async () => {
    world.script("Ada", () => new Promise<never>(() => undefined));
    const asked = world.say("Alice", "@Ada restarted meanwhile", { in: world.channel("mid-turn") });
    await world.request((request) => heard(request).includes("restarted meanwhile"));
    const stopped = world.stop();
    world.script("Ada", echo);
    await stopped;
    await world.start();
    await world.answer(asked);
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
  },
  START_MS,
);
