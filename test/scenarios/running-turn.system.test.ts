/** While a bot works: stop, commands, further messages of the same person and of others, what the gate refuses. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { call, done, type LlmRequest, sendMessage, sendWidget, together } from "../emulators/llm/index.ts";
import type { Post } from "../emulators/slack/index.ts";
import { echo, heard, heldBack, steps } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const never = () => new Promise<never>(() => undefined);

describe("one bot", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ bots: ["Ada"], people: ["Alice", "Bob"] });
  }, START_MS);
  afterAll(() => world.close());

  const requestFor = (words: string) => world.request((request) => heard(request).includes(words));
  const say = (by: string, text: string, thread: Post) => world.say(by, text, { in: thread.channel, thread });

  test("stop cuts a model call within a second and says so", async () => {
    world.script("Ada", never);
    const asked = world.say("Alice", "@Ada think for ever", { in: world.channel("stop-model") });
    const request = await requestFor("think for ever");
    const stopped = say("Alice", "@Ada stop", asked);
    await world.until(() => request.outcome === "cut by the client", "the call cut", 1000);
    expect((await world.answer(stopped)).text).toBe("Stopped.");
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
  });

  test("stop cuts a tool that hangs", async () => {
    world.script("Ada", steps(call("ReactToMessage", { message_address: "t1u", emoji: "eyes" })));
    world.slack.fail("reactions.add", { hang: true });
    const asked = world.say("Alice", "@Ada react for ever", { in: world.channel("stop-tool") });
    await world.until(
      () => world.slack.calls("reactions.add").some((item) => item.args.timestamp === asked.ts),
      "the tool",
    );
    const stopped = say("Alice", "!stop", asked);
    expect((await world.answer(stopped, 5000)).text).toBe("Stopped.");
    await world.quiet();
  });

  test("everyday sentences with stop in them stop nothing", async () => {
    const model = heldBack();
    world.script("Ada", model.script);
    const asked = world.say("Alice", "@Ada count sheep", { in: world.channel("sentences") });
    await requestFor("count sheep");
    for (const words of ["stop the car", "please don't stop", "halt", "Stopp mal kurz", "arrête ça", "para ya"])
      say("Alice", words, asked);
    await world.acknowledged();
    model.release();
    await world.answer(asked);
    await world.quiet();
    expect(world.answers(asked).map((post) => post.text)).not.toContain("Stopped.");
  });

  test("commands while it is busy are answered at once and disturb nothing, in a thread and after a mention", async () => {
    const model = heldBack();
    world.script("Ada", model.script);
    const asked = world.say("Alice", "@Ada be busy", { in: world.channel("commands") });
    const request = await requestFor("be busy");
    expect((await world.answer(say("Alice", "!status", asked))).text).toBe("Ada is working here.");
    expect((await world.answer(say("Alice", "@Ada !help", asked))).text).toContain("!stop");
    expect(request.outcome).toBe("open");
    model.release();
    await world.until(() => world.answers(asked).some((post) => post.text === "done waiting"), "the answer");
    expect(world.llm.requests.some((item) => item.raw.includes("!status"))).toBe(false);
  });

  test("a second message of the same person joins the running turn: one turn reads both", async () => {
    const model = heldBack();
    world.script("Ada", (request) =>
      heard(request).includes("and in French") ? echo(request) : model.script(request),
    );
    const asked = world.say("Alice", "@Ada translate hello", { in: world.channel("steer") });
    const first = await requestFor("translate hello");
    say("Alice", "and in French please", asked);
    expect((await world.answer(asked)).text).toContain("and in French please");
    expect(first.outcome).toBe("cut by the client");
    model.release();
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
    expect((await requestFor("and in French")).raw).toContain("translate hello");
  });

  test("another person's message waits and gets its own answer", async () => {
    const model = heldBack(sendMessage("for Alice"));
    world.script("Ada", (request) => (heard(request).includes("Bob wants") ? echo(request) : model.script(request)));
    const asked = world.say("Alice", "@Ada first in line", { in: world.channel("other-person") });
    const first = await requestFor("first in line");
    const second = say("Bob", "Bob wants something else", asked);
    await world.acknowledged();
    expect(first.outcome).toBe("open");
    model.release();
    await world.until(() => world.answers(asked).length === 2, "two answers");
    expect(world.answers(asked).map((post) => post.text)).toEqual(["for Alice", "You said: Bob wants something else"]);
    expect(world.answers(second)).toHaveLength(2);
    await world.quiet();
  });

  test("an edit of the message being worked on reaches the model as a note", async () => {
    const model = heldBack();
    world.script("Ada", (request) =>
      request.lastUserText.includes("was edited") ? sendMessage("edited, I see") : model.script(request),
    );
    const asked = world.say("Alice", "@Ada work on thsi", { in: world.channel("edited") });
    await requestFor("work on thsi");
    world.slack.edit(asked, `${world.slack.mention(world.bot())} work on this instead`);
    expect((await world.answer(asked)).text).toBe("edited, I see");
    model.release();
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
  });

  test("after a card the turn is over: what the model sends after it is refused and not shown", async () => {
    let refused: string | undefined;
    world.script("Ada", (request: LlmRequest) => {
      if (request.lastRole === "user" && !heard(request).includes("widget_answer"))
        return together(sendWidget("Which way?", ["Left", "Right"]), sendMessage("one more thing"));
      refused = request.toolResults.at(-1);
      return request.lastRole === "user" ? sendMessage("thank you") : done();
    });
    const asked = world.say("Alice", "@Ada ask me", { in: world.channel("card") });
    const card = await world.answer(asked);
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
    await world.slack.press(world.person("Alice"), card, "Left");
    await world.until(() => world.answers(asked).length === 2, "the answer to the choice");
    expect(refused).toContain("already waiting on the person");
    const { raw } = await world.request((request) => heard(request).includes("widget_answer"));
    expect(raw).toContain("Left");
    await world.quiet();
  });

  test("the same message again in one turn is refused, and five refusals end the turn", async () => {
    world.script("Ada", () => sendMessage("Again and AGAIN"));
    const asked = world.say("Alice", "@Ada repeat yourself", { in: world.channel("repeat") });
    await world.answer(asked);
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
    const requests = world.llm.requests.filter((request) => request.raw.includes("repeat yourself"));
    expect(requests).toHaveLength(6);
    expect(requests.at(-1)?.lastToolResult).toContain("already sent this message");
  });

  test(
    "a turn that goes on for ever ends at its limit of steps, and the person is told",
    async () => {
      await using short = await startWorld({ settings: { limits: { maxSteps: 4 } } });
      short.script("Ada", (request) => call("ReactToMessage", { message_address: "t1u", emoji: `${request.index}` }));
      const asked = short.say("Alice", "@Ada never finish");
      await short.until(() => short.answers(asked).some((post) => post.text.includes("4 steps")), "the notice");
      await short.quiet();
      expect(short.llm.requests).toHaveLength(4);
    },
    START_MS,
  );

  test("a full mailbox is told to the person who meets it, once", async () => {
    world.script("Ada", never);
    const first = world.dm("Alice", "message 0");
    await requestFor("message 0");
    for (let n = 1; n <= 53; n += 1) world.dm("Alice", `message ${n}`);
    const notice = await world.answer(first, 20_000);
    expect(notice.text).toContain("too many messages waiting");
    await world.acknowledged();
    world.script("Ada", echo);
    world.dm("Alice", "!stop");
    await world.quiet();
    expect(world.answers(first).filter((post) => post.text.includes("too many messages"))).toHaveLength(1);
  });
});

describe("lanes", () => {
  test(
    "a second person is answered while the first one's turn hangs",
    async () => {
      await using world = await startWorld({ settings: { limits: { waitSeconds: 1 } } });
      world.script("Ada", (request) => (heard(request).includes("hang") ? never() : echo(request)));
      world.dm("Alice", "hang");
      await world.request((request) => heard(request).includes("hang"));
      const asked = world.dm("Bob", "quick one");
      expect((await world.answer(asked)).text).toBe("You said: quick one");
      world.dm("Alice", "!stop");
      await world.quiet();
    },
    START_MS,
  );

  test(
    "with one lane everything is serial, and the waiting message is answered after the first",
    async () => {
      await using world = await startWorld({ settings: { limits: { waitSeconds: 0 } }, botSettings: { lanes: 1 } });
      const model = heldBack();
      world.script("Ada", (request) => (heard(request).includes("slow") ? model.script(request) : echo(request)));
      const slow = world.dm("Alice", "slow");
      await world.request((request) => heard(request).includes("slow"));
      const asked = world.dm("Bob", "patient one");
      await world.acknowledged();
      model.release();
      const [first, second] = await Promise.all([world.answer(slow), world.answer(asked)]);
      expect(Number(first.ts)).toBeLessThan(Number(second.ts));
      await world.quiet();
    },
    START_MS,
  );
});
