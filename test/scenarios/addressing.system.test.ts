/** Who is meant: which messages wake a bot under each of the three thread settings, and which never do. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { answering, echo } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

/** Message shapes, and whether they wake the bot: [sticky, strict, always]. */
const SHAPES = {
  "a plain reply in its thread": { text: "and then?", inThread: true, wakes: [true, false, true] },
  "a reply that opens with somebody else's mention": {
    text: "@Bob can you look?",
    inThread: true,
    wakes: [false, false, false],
  },
  "a reply that names only people": { text: "what would @Bob say?", inThread: true, wakes: [false, false, false] },
  "a mention in its thread": { text: "@Ada and then?", inThread: true, wakes: [true, true, true] },
  "a mention after somebody else's": { text: "tell @Bob about it, @Ada", inThread: true, wakes: [true, true, true] },
  "a plain message in the channel": { text: "lunch?", inThread: false, wakes: [false, false, true] },
  "an announcement to everybody": {
    text: "<!channel> the office closes at four",
    inThread: false,
    wakes: [false, false, false],
  },
  "an announcement in its thread": { text: "<!here> please read", inThread: true, wakes: [false, false, false] },
  "its name inside code": { text: "run `@Ada deploy` yourself", inThread: false, wakes: [false, false, true] },
} as const;

describe.each(["sticky", "strict", "always"] as const)("threads: %s", (threads) => {
  test(
    "wakes the bot for exactly the messages that are meant for it",
    async () => {
      await using world = await startWorld({ settings: { threads } });
      world.script("Ada", echo);
      const column = ["sticky", "strict", "always"].indexOf(threads);
      const cases = Object.entries(SHAPES).map(([shape, { text, inThread, wakes }], at) => {
        const room = world.channel(`room-${at}`);
        return {
          shape,
          text,
          inThread,
          expected: wakes[column] ? 1 : 0,
          room,
          opened: world.say("Alice", "@Ada hello", { in: room }),
        };
      });
      for (const { opened } of cases) await world.answer(opened);
      await world.quiet();
      const said = cases.map((one) => {
        const { text, inThread, room, opened } = one;
        return { ...one, post: world.say("Alice", text, { in: room, ...(inThread ? { thread: opened } : {}) }) };
      });
      await world.quiet();
      const answered = said.map(({ shape, post }) => [shape, world.answers(post).length]);
      expect(Object.fromEntries(answered)).toEqual(Object.fromEntries(cases.map((one) => [one.shape, one.expected])));
    },
    START_MS,
  );
});

describe("several bots in one place", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ bots: ["Ada", "Bo"] });
  }, START_MS);
  afterAll(() => world.close());

  test("another company's bot in the bot's thread gets no answer, not even with a mention", async () => {
    const room = world.channel("foreign", ["Ada", "Alice"]);
    const asked = world.say("Alice", "@Ada hello", { in: room });
    await world.answer(asked);
    const said = ["I can help too", `${world.slack.mention(world.bot("Ada"))} can you help me?`].map((text) =>
      world.slack.sayAsForeignBot("Otherbot", room, text, { thread: asked }),
    );
    await world.quiet();
    expect(said.flatMap((post) => world.answers(post))).toEqual([]);
  });

  test("the one that is mentioned answers, and nobody else", async () => {
    const asked = world.say("Alice", "@Bo are you there?");
    await world.answer(asked);
    await world.quiet();
    expect(world.answers(asked).map((post) => post.author)).toEqual(["Bo"]);
  });

  test("a mention of the second one in a thread of the first wakes the second, whichever hears it first", async () => {
    for (const name of ["Ada", "Bo"])
      world.script(
        name,
        answering(() => "here"),
      );
    for (const first of ["Ada", "Bo"]) {
      const room = world.channel(`bound-${first}`);
      const bound = world.say("Alice", "@Ada are you there?", { in: room });
      await world.answer(bound);
      const late = world.bot(first === "Ada" ? "Bo" : "Ada");
      world.slack.disturb({ delayMs: 150 }, { app: late });
      const second = world.say("Alice", "@Bo what do you think?", { in: room, thread: bound });
      await world.answer(second);
      await world.quiet();
      expect(world.answers(second).map((post) => post.author)).toEqual(["Bo"]);
    }
  });
});
