/**
 * How a channel becomes a Group and stops being one (SPEC G1), what people see of it, and that a discussion survives the death of the process (G12).
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { done, type LlmRequest, sendMessage } from "../emulators/llm/index.ts";
import type { Channel, Post } from "../emulators/slack/index.ts";
import { heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const LONG = 120_000;
const once = (text: string) => (request: LlmRequest) => (request.calls.length > 0 ? done() : sendMessage(text));
const speakers = (world: World, to: Post) => world.answers(to).map((post) => post.author);
const isCard = (post: Post) => post.text.includes("are a Group");

describe("members come and go", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ bots: ["Ada", "Bo", "Cy"], people: ["Alice", "Bob"] });
    for (const name of ["Ada", "Bo", "Cy"]) world.script(name, once(`${name} is here`));
  }, START_MS);
  afterAll(() => world.close());
  const cards = (channel: Channel) => world.slack.posts(channel).filter(isCard);
  const card = (channel: Channel, n = 1) =>
    world.slack.waitUntil(
      () => cards(channel)[n - 1],
      () => `card ${n} in ${channel.name}`,
      15_000,
    );

  test(
    "who was there at the start is told of once, by the first member",
    async () => {
      const post = await card(world.general);
      expect(post.author).toBe("Ada");
      expect(post.text).toContain("Ada, Bo and Cy are a Group");
      await world.restart();
      const asked = world.say("Alice", "still there?", { in: world.general });
      await world.quiet(40_000);
      expect(speakers(world, asked)).toEqual(["Ada", "Bo", "Cy"]);
      expect(cards(world.general)).toHaveLength(1);
    },
    LONG,
  );

  test(
    "a second bot joins: one card; the first alone had to be mentioned",
    async () => {
      const channel = world.channel("grows", ["Ada", "Alice"]);
      const alone = world.say("Alice", "anybody?", { in: channel });
      await world.quiet(40_000);
      expect(world.answers(alone)).toEqual([]);
      world.slack.invite(channel, world.bot("Bo"));
      expect((await card(channel)).text).toContain("Ada and Bo are a Group");
      const asked = world.say("Alice", "anybody now?", { in: channel });
      await world.quiet(40_000);
      expect(speakers(world, asked)).toEqual(["Ada", "Bo"]);
    },
    LONG,
  );

  test(
    "below two it ends, and begins anew with a new card",
    async () => {
      const channel = world.channel("shrinks", ["Ada", "Alice"]);
      world.slack.invite(channel, world.bot("Bo"));
      await card(channel);
      world.slack.expel(channel, world.bot("Bo"));
      await world.slack.waitUntil(() => world.slack.deliveries.every((item) => item.acknowledgedAt !== null), "acks");
      const asked = world.say("Alice", "hello?", { in: channel });
      await world.quiet(40_000);
      expect(world.answers(asked)).toEqual([]);
      world.slack.invite(channel, world.bot("Cy"));
      expect((await card(channel, 2)).text).toContain("Ada and Cy are a Group");
    },
    LONG,
  );

  test(
    "the card's control makes it listen only when mentioned; !group tells so and changes it back",
    async () => {
      const channel = world.channel("listens", ["Ada", "Bo", "Alice"]);
      world.say("Alice", "@Ada hello", { in: channel });
      await world.slack.press(world.person("Alice"), await card(channel), "Only when mentioned");
      await world.quiet(40_000);
      const unheard = world.say("Alice", "anybody?", { in: channel });
      const heard = world.say("Alice", "@Bo you?", { in: channel });
      const everyone = world.say("Alice", "@everyone then", { in: channel });
      await world.quiet(40_000);
      expect([unheard, heard, everyone].map((post) => speakers(world, post))).toEqual([[], ["Bo"], ["Ada", "Bo"]]);
      const asked = world.say("Alice", "!group", { in: channel });
      expect((await world.answer(asked)).text).toContain(
        "The Group answers only when one of them is mentioned. No discussion is going on",
      );
      world.say("Alice", "!group all", { in: channel });
      await world.quiet(40_000);
      const again = world.say("Alice", "anybody?", { in: channel });
      await world.quiet(40_000);
      expect(speakers(world, again)).toEqual(["Ada", "Bo"]);
    },
    LONG,
  );

  test(
    "switched off, bots answer only for themselves",
    async () => {
      const channel = world.channel("off", ["Ada", "Bo", "Alice"]);
      world.say("Alice", "!group off", { in: channel });
      await world.quiet(40_000);
      const asked = world.say("Alice", "anybody?", { in: channel });
      const named = world.say("Alice", "@Bo you?", { in: channel });
      await world.quiet(40_000);
      expect([speakers(world, asked), speakers(world, named)]).toEqual([[], ["Bo"]]);
    },
    LONG,
  );

  test(
    "switched off in mid-discussion: those that were still to speak say nothing, and a member at work neither",
    async () => {
      const channel = world.channel("off-at-work");
      const thinks = heldBack(sendMessage("Ada too late"));
      world.script("Ada", thinks.script);
      const asked = world.say("Alice", "all of you, begin", { in: channel });
      await world.llm.waitForRequest((request) => request.raw.includes("all of you, begin"), "ada");
      world.say("Alice", "!group off", { in: channel });
      await world.until(
        () => world.slack.posts(channel).find((post) => post.text.includes("not a Group")),
        "the answer",
      );
      thinks.release();
      await world.quiet(40_000);
      expect(speakers(world, asked)).toEqual([]);
      world.script("Ada", once("Ada is here"));
    },
    LONG,
  );

  test(
    "switched off after a limit: Continue begins nothing; switched on again, it does",
    async () => {
      const channel = world.channel("off-continue");
      const names = ["Ada", "Bo", "Cy"];
      let n = 0;
      for (const name of names) world.script(name, () => sendMessage(`${name} talks ${++n}`));
      const asked = world.say("Alice", "discuss", { in: channel });
      await world.quiet(40_000);
      const offer = world.answers(asked).find((post) => post.text.includes("Still to speak"));
      if (!offer) throw new Error("no card");
      world.say("Alice", "!group off", { in: channel });
      await world.quiet(40_000);
      const before = world.answers(asked).length;
      await world.slack.press(world.person("Alice"), offer, "Continue");
      await world.quiet(40_000);
      expect(world.answers(asked)).toHaveLength(before);
      world.say("Alice", "!group on", { in: channel });
      await world.quiet(40_000);
      for (const name of names) world.script(name, done);
      world.script("Ada", (one) => (one.callsThisTurn.length > 0 ? done() : sendMessage("Ada goes on")));
      await world.slack.press(world.person("Alice"), offer, "Continue");
      await world.until(() => world.answers(asked).find((post) => post.text === "Ada goes on"), "Ada");
      for (const name of names) world.script(name, once(`${name} is here`));
      await world.quiet(40_000);
    },
    LONG,
  );

  test(
    "a member that leaves in mid-round is not waited for",
    async () => {
      const channel = world.channel("leaves");
      world.script("Bo", () => new Promise<never>(() => undefined));
      const asked = world.say("Alice", "all three, please", { in: channel });
      await world.llm.waitForRequest((request) => request.raw.includes("all three, please"), "bo");
      world.slack.expel(channel, world.bot("Bo"));
      await world.slack.waitUntil(() => speakers(world, asked).includes("Cy"), "Cy", 20_000);
      world.say("Alice", "!stop", { in: channel, thread: asked });
      world.script("Bo", once("Bo is here"));
      await world.quiet(40_000);
    },
    LONG,
  );
});

test(
  "six members; a seventh is told why not and takes no part",
  async () => {
    const names = ["Ada", "Bo", "Cy", "Di", "Ed", "Fa", "Gus"];
    await using world = await startWorld({ bots: names, people: ["Alice"] });
    for (const name of names) world.script(name, () => sendMessage(`${name} says`));
    const channel = world.channel("crowd", [...names.slice(0, 6), "Alice"]);
    const asked = world.say("Alice", "everyone please", { in: channel });
    await world.slack.waitUntil(() => world.answers(asked).length >= 10, "ten messages", 40_000);
    await world.quiet(60_000);
    const said = world.answers(asked).filter((post) => post.text.includes("says"));
    expect(said).toHaveLength(10);
    expect([...new Set(said.map((post) => post.author))]).toEqual(names.slice(0, 6));
    world.slack.invite(channel, world.bot("Gus"));
    const why = await world.slack.waitForPost((post) => post.author === "Gus" && post.channel === channel, 15_000);
    expect(why.text).toContain("takes no part here: this Group has 6 members already");
    for (const name of names) world.script(name, done);
    const named = world.say("Alice", "@Gus and you?", { in: channel });
    expect((await world.answer(named)).text).toContain("takes no part");
    await world.quiet(40_000);
    expect(speakers(world, named)).toEqual(["Gus"]);
  },
  LONG,
);

test("killed in mid-round: nobody speaks twice, nobody is skipped", async () => {
  const names = ["Ada", "Bo", "Cy"];
  await using world = await startWorld({ bots: names, people: ["Alice"], process: "own" });
  for (const victim of names) {
    for (const name of names) world.script(name, once(`${name} is here`));
    world.script(victim, () => new Promise<never>(() => undefined));
    const asked = world.say("Alice", `everybody, but ${victim.toLowerCase()} is slow`, { in: world.general });
    await world.llm.waitForRequest(
      (request) => request.raw.includes(`but ${victim.toLowerCase()} is slow`),
      victim.toLowerCase(),
      30_000,
    );
    await world.crash();
    world.script(victim, once(`${victim} is here`));
    await world.start();
    await world.slack.waitUntil(() => world.answers(asked).length >= 3, "all three", 40_000);
    await world.quiet(40_000);
    expect(world.answers(asked).map((post) => post.text)).toEqual(names.map((name) => `${name} is here`));
  }
}, 240_000);
