/** A bot is mentioned in a channel or written to directly, and answers once, in the right place. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { answering, echo, heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: ["Ada"], people: ["Alice", "Bob"] });
}, START_MS);
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

test("two lines of one person's direct messages belong to one conversation", async () => {
  world.script(
    "Ada",
    answering((_words, request) => (request.raw.includes("blue") ? "it was blue" : "noted")),
  );
  const first = world.dm("Alice", "remember: blue");
  await world.answer(first);
  const second = world.dm("Alice", "which colour was it?");
  expect((await world.answer(second)).text).toBe("it was blue");
});

test("the two copies of a mention are one message, in both orders, at the same instant and apart", async () => {
  world.script("Ada", echo);
  const rooms = Array.from({ length: 5 }, (_one, at) => world.channel(`twins-${at}`));
  const asked = rooms.flatMap((room, at) =>
    [0, 1, 2, 3].map((kind) =>
      world.say("Alice", `@Ada number ${at}-${kind}`, {
        in: room,
        first: kind % 2 === 0 ? "message" : "app_mention",
        gapMs: kind < 2 ? 0 : 10,
      }),
    ),
  );
  for (const one of asked) await world.answer(one, 20_000);
  await world.quiet();
  expect(asked.map((one) => world.answers(one).length)).toEqual(asked.map(() => 1));
});

test("events are acknowledged within a second while the model thinks", async () => {
  const model = heldBack();
  world.script("Ada", model.script);
  const before = world.slack.deliveries.length;
  const asked = world.say("Alice", "@Ada take your time", { in: world.channel("slow") });
  await world.request((request) => request.raw.includes("take your time"));
  await world.until(
    () => world.slack.deliveries.slice(before).every((item) => item.acknowledgedAt !== null),
    "acknowledgements",
    1000,
  );
  for (const { acknowledgedAt, sentAt } of world.slack.deliveries.slice(before)) {
    expect((acknowledgedAt ?? Number.POSITIVE_INFINITY) - (sentAt[0] ?? 0)).toBeLessThan(1000);
  }
  model.release();
  await world.answer(asked);
  await world.quiet();
  expect(world.answers(asked)).toHaveLength(1);
});

test("one mention makes one piece of mail, for the thread and not also for the channel", async () => {
  world.script("Ada", echo);
  const asked = world.say("Alice", "@Ada once only please", { in: world.channel("one-item") });
  await world.answer(asked);
  await world.quiet();
  const mail = await world
    .database()
    .rows(`SELECT m."id" FROM "Mail" m JOIN "Entry" e ON e."id" = m."entryId" WHERE e."platformId" = $1`, [asked.ts]);
  expect(mail).toHaveLength(1);
});

test("while it works a bot shows that it does, and stops showing it afterwards", async () => {
  const model = heldBack();
  world.script("Ada", model.script);
  const asked = world.say("Alice", "@Ada look busy", { in: world.channel("status") });
  await world.until(() => world.slack.status(world.bot(), asked) !== "", "a status");
  model.release();
  await world.answer(asked);
  await world.until(() => world.slack.status(world.bot(), asked) === "", "no status");
});
