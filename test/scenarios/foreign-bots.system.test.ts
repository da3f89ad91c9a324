/** Bots of others, where the settings let them be heard (SPEC I7): with a mention or without, and never for ever. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Post } from "../emulators/slack/index.ts";
import { answering } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const LONG = 120_000;
const said = (world: World, to: Post) => world.answers(to).map((post) => post.text);

describe("heard when they name one of ours", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ settings: { access: { bots: "mentions" } } });
    world.script(
      "Ada",
      answering(() => "hello, machine"),
    );
  }, START_MS);
  afterAll(() => world.close());
  const says = (text: string) => world.slack.sayAsForeignBot("Otherbot", world.general, text);
  const mention = () => world.slack.mention(world.bot("Ada"));

  test("a mention is answered, anything else is not", async () => {
    const [plain, named] = [says("hello?"), says(`${mention()} hello?`)];
    await world.quiet(40_000);
    expect([plain, named].map((post) => said(world, post))).toEqual([[], ["hello, machine"]]);
  });

  test("a command of another bot does nothing", async () => {
    const stopped = says(`${mention()} stop`);
    await world.quiet(40_000);
    expect(said(world, stopped)).toEqual(["hello, machine"]);
  });

  test(
    "twenty in a minute are answered, more are not",
    async () => {
      const asked: Post[] = [];
      for (let n = 0; n < 24; n += 1) {
        asked.push(says(`${mention()} number ${n}`));
        await world.acknowledged();
      }
      await world.quiet(60_000);
      const answered = asked.map((post) => said(world, post).length);
      // Two were heard before.
      expect(answered).toEqual([...Array(18).fill(1), ...Array(6).fill(0)]);
    },
    LONG,
  );
});

test(
  "heard like people: inside a thread without a mention too, until nobody but bots has spoken for too long",
  async () => {
    await using world = await startWorld({ settings: { access: { bots: "all" } } });
    world.script(
      "Ada",
      answering(() => "I hear you"),
    );
    const asked = world.say("Alice", "@Ada talk to each other");
    await world.answer(asked);
    let heard = 0;
    for (let n = 0; n < 30; n += 1) {
      // Several bots, so that the budget of a pair is not what ends it.
      world.slack.sayAsForeignBot(`Bot ${n % 3}`, world.general, `and ${n}?`, { thread: asked });
      await world.quiet(40_000);
      heard = world.answers(asked).filter((post) => post.text === "I hear you").length - 1;
    }
    expect(heard).toBe(24);
    const person = world.say("Alice", "go on", { thread: asked });
    await world.quiet(40_000);
    world.slack.sayAsForeignBot("Bot 0", world.general, "thanks", { thread: asked });
    await world.quiet(40_000);
    expect(person).toBeDefined();
    expect(world.answers(asked).filter((post) => post.text === "I hear you")).toHaveLength(1 + 24 + 2);
  },
  LONG,
);
