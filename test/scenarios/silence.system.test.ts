/** What a model does not send is never seen, and yet nobody is left without an answer: the ladder of reminders, Retry, failing providers. */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { done, type LlmRequest, sendMessage, think, together } from "../emulators/llm/index.ts";
import { echo, heard, steps } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const LEAK = "private-thought-7731";

describe("a model that does not speak", () => {
  let world: World;
  beforeAll(async () => {
    world = await startWorld({ bots: ["Ada"] });
  }, START_MS);
  afterAll(() => world.close());

  const silent = (request: LlmRequest) => ({ text: LEAK, thinking: LEAK, ignoreToolChoice: request.forced });

  test("is reminded, then made to use SendMessage, then the person gets one notice with Retry", async () => {
    world.script("Ada", silent);
    const asked = world.say("Alice", "@Ada say something", { in: world.channel("ladder") });
    const notice = await world.answer(asked);
    expect(notice.controls.map((control) => control.label)).toEqual(["Retry"]);
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
    const requests = world.llm.requests.filter((request) => request.raw.includes("say something"));
    expect(requests.map((request) => request.forced)).toEqual([false, false, true]);
    expect(JSON.stringify(world.slack.requests)).not.toContain(LEAK);
  });

  test("speaks after the reminder, and nobody sees that it took one", async () => {
    world.script("Ada", (request) => {
      if (request.lastUserText.includes("ended without a message")) return sendMessage("here I am");
      return request.lastRole === "user" ? think(LEAK) : done();
    });
    const asked = world.say("Alice", "@Ada are you shy?", { in: world.channel("reminded") });
    expect((await world.answer(asked)).text).toBe("here I am");
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
  });

  test("answers after Retry was pressed, also after a restart, and the card loses its button", async () => {
    world.script("Ada", silent);
    const asked = world.say("Alice", "@Ada try again later", { in: world.channel("again") });
    const card = await world.answer(asked);
    await world.restart();
    world.script("Ada", echo);
    expect((await world.slack.press(world.person("Alice"), card, "Retry")).acknowledged).toBe(true);
    await world.until(() => world.answers(asked).length === 2, "the second try");
    await world.until(() => world.slack.read(card)?.controls.length === 0, "a card without controls");
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(2);
  });

  test("a Retry of somebody else is refused in private, with the reason", async () => {
    world.script("Ada", silent);
    const asked = world.say("Alice", "@Ada mine alone", { in: world.channel("foreign-click") });
    const card = await world.answer(asked);
    const bob = world.person("Bob");
    expect((await world.slack.press(bob, card, "Retry")).acknowledged).toBe(true);
    await world.until(() => world.slack.noticesFor(bob).length > 0, "a private notice");
    expect(world.slack.read(card)?.controls).toHaveLength(1);
  });

  test("thinking and narration stay private beside messages, tools and refusals", async () => {
    world.script("Ada", (request) => ({
      ...steps(
        { calls: [{ name: "ReactToMessage", args: { message_address: "t1u", emoji: "eyes" } }] },
        { calls: [{ name: "SendMessage", args: { type: "text", content: "" } }] },
        { calls: [{ name: "NoSuchTool", args: {} }] },
        together(sendMessage("the answer"), sendMessage("and more")),
      )(request),
      text: LEAK,
      thinking: LEAK,
    }));
    const asked = world.say("Alice", "@Ada work aloud", { in: world.channel("narration") });
    await world.until(() => world.answers(asked).length === 2, "two messages");
    await world.quiet();
    expect(world.answers(asked).map((post) => post.text)).toEqual(["the answer", "and more"]);
    expect(JSON.stringify(world.slack.requests)).not.toContain(LEAK);
  });

  test("a broken SendMessage call is explained to the model with all its problems, and the mended one is posted", async () => {
    world.script("Ada", (request) => {
      if (request.lastRole === "user")
        return sendMessage("", { type: "text", url: "ftp://nowhere", widget: { prompt: "x" } });
      return request.toolResults.length === 1 ? sendMessage("mended") : done();
    });
    const asked = world.say("Alice", "@Ada send it wrong first", { in: world.channel("mended") });
    expect((await world.answer(asked)).text).toBe("mended");
    const [explained] = (
      await world.request((request) => request.toolResults.length === 1 && heard(request).includes("wrong first"))
    ).toolResults;
    for (const field of ["content", "url", "widget"]) expect(explained).toContain(field);
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
  });
});

describe("a provider that fails", () => {
  test(
    "is replaced by the fallback model, and its error is never shown",
    async () => {
      await using world = await startWorld({ settings: { fallbackModels: ["local/spare"] } });
      world.script("Ada", () => ({ status: 429, message: "quota-error-text", headers: { "retry-after": "60" } }));
      world.script("spare", echo);
      const asked = world.say("Alice", "@Ada who answers?");
      await world.answer(asked);
      await world.quiet();
      expect(world.answers(asked)).toHaveLength(1);
      expect(JSON.stringify(world.slack.requests)).not.toContain("quota-error-text");
    },
    START_MS,
  );

  test(
    "for good gives one plain notice with Retry, without its words",
    async () => {
      await using world = await startWorld();
      world.script("Ada", () => ({ status: 401, message: "bad key sk-123" }));
      const asked = world.say("Alice", "@Ada anybody home?");
      const notice = await world.answer(asked);
      expect(notice.controls.map((control) => control.label)).toEqual(["Retry"]);
      await world.quiet();
      expect(world.answers(asked)).toHaveLength(1);
      expect(JSON.stringify(world.slack.requests)).not.toContain("sk-123");
    },
    START_MS,
  );
});
