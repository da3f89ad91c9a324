/** One Slack app, three bots (SPEC I1 `personas`): each answers when it is called, shows its own name, and in a Group they behave as separate apps do. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, done, type LlmRequest, sendMessage } from "../emulators/llm/index.ts";
import type { Post } from "../emulators/slack/index.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const LONG = 120_000;
const once = (text: string) => (request: LlmRequest) => (request.callsThisTurn.length > 0 ? done() : sendMessage(text));

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: ["Ada"], personas: { Bo: "Ada", Cy: "Ada" }, people: ["Alice"] });
  for (const name of ["Ada", "Bo", "Cy"]) world.script(name, once(`this is ${name}`));
}, START_MS);
afterAll(() => world.close());
const said = (to: Post) => world.answers(to).map((post) => [post.author, post.text]);

test(
  "a persona answers when the app is mentioned and it is called",
  async () => {
    const asked = world.say("Alice", "@Ada Bo, are you there?");
    await world.quiet(40_000);
    expect(said(asked)).toEqual([["Bo", "this is Bo"]]);
    const posts = world.slack.calls("chat.postMessage").filter(({ args }) => args.username === "Bo");
    expect(posts.map(({ args }) => args.icon_emoji)).toContain(":owl:");
  },
  LONG,
);

test(
  "the mention alone is for the app's own bot",
  async () => {
    const asked = world.say("Alice", "@Ada are you there?");
    await world.quiet(40_000);
    expect(said(asked)).toEqual([["Ada", "this is Ada"]]);
  },
  LONG,
);

test(
  "in a Group of personas everybody is heard, in order, under their own names, and reads what the others said",
  async () => {
    for (const name of ["Ada", "Bo", "Cy"])
      world.script(name, (request) => (request.calls.length > 0 ? done() : sendMessage(`this is ${name}`)));
    const asked = world.say("Alice", "what do you all think?");
    await world.quiet(60_000);
    expect(said(asked)).toEqual([
      ["Ada", "this is Ada"],
      ["Bo", "this is Bo"],
      ["Cy", "this is Cy"],
    ]);
    // Slack sends an app none of its own posts: what the others said comes from our own record.
    const [cy] = world.llm.requestsOf("cy").filter((request) => request.raw.includes("what do you all think?"));
    expect(cy?.lastUserText).toMatch(/Ada \(ada\)[^\n]*: this is Ada[\s\S]*Bo \(bo\)[^\n]*: this is Bo/);
  },
  LONG,
);

test(
  "in direct messages a persona is called by name, and the app's own bot answers the rest",
  async () => {
    const plain = world.dm("Alice", "hello");
    await world.quiet(40_000);
    expect(said(plain)).toEqual([["Ada", "this is Ada"]]);
    const called = world.dm("Alice", "Cy, hello");
    await world.quiet(40_000);
    expect(said(called)).toEqual([["Cy", "this is Cy"]]);
  },
  LONG,
);

test(
  "a question of a persona is answered on its card and goes on with that persona",
  async () => {
    world.script("Bo", (request) => {
      if (request.callsThisTurn.length > 0) return done();
      if (request.lastUserText.includes("Red")) return sendMessage("red it is");
      const options = ["Red", "Blue"].map((label) => ({ label }));
      return call("SendMessage", { type: "widget", widget: { prompt: "Which?", options } });
    });
    const asked = world.say("Alice", "@Ada Bo, ask me");
    const card = await world.answer(asked);
    expect(card.author).toBe("Bo");
    await world.slack.press(world.person("Alice"), card, "Red");
    await world.until(
      () => world.answers(asked).find((post) => post.text === "red it is"),
      "Bo's second message",
      20_000,
    );
    expect(world.answers(asked).at(-1)?.author).toBe("Bo");
  },
  LONG,
);

test.each([
  ["@Ada yes", "Ada"],
  ["@Ada Bo, yes", "Bo"],
  ["@bo yes", "Bo"],
  ["Bo: Yes", "Bo"],
])(
  "with questions of the app's own bot and of a persona open, %j answers the one of %s",
  async (words, name) => {
    const asking = (own: string) => (request: LlmRequest) => {
      const isAnswer = request.lastUserText.includes("widget_answer");
      if (isAnswer) return request.lastRole === "user" ? sendMessage(`${own} thanks`) : done();
      return request.calls.length > 0 ? done() : call("SendMessage", { type: "widget", widget: shallI });
    };
    const shallI = { prompt: "Shall I?", options: [{ label: "yes" }, { label: "no" }] };
    for (const own of ["Ada", "Bo"]) world.script(own, asking(own));
    world.script("Cy", () => done());
    const channel = world.channel(`typed-${name}-${words.length}`.toLowerCase());
    const asked = world.say("Alice", "choose, all of you", { in: channel });
    await world.quiet(40_000);
    world.say("Alice", words, { in: channel, thread: asked });
    await world.quiet(40_000);
    expect(
      world
        .answers(asked)
        .filter((post) => post.text.endsWith("thanks"))
        .map((post) => post.text),
    ).toEqual([`${name} thanks`]);
  },
  LONG,
);

test("the health names each persona with its app's state", async () => {
  const ready = (await (await fetch(`${world.url()}/readyz`)).json()) as { bots: unknown };
  expect(JSON.stringify(ready)).toMatch(/"bo"/);
});
