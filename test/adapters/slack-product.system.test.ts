/** Slack's own ways through the whole product: uploads, the slash command, reactions, hand-offs, the greeting, further workspaces. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, done, type LlmRequest, sendMessage } from "../emulators/llm/index.ts";
import { makePng } from "../support/png.ts";
import { answering, echo, heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: ["Ada", "Bo"], people: ["Alice", "Bob"] });
}, START_MS);
afterAll(() => world.close());

/** What the model was shown of the newest input. */
const shown = answering((words) => words.slice(-900));

test("a file beside a mention is fetched and described to the model, whichever copy comes first", async () => {
  world.script("Ada", shown);
  for (const first of ["message", "app_mention"] as const) {
    const files = [{ name: `plan-${first}.txt`, bytes: "the plan", type: "text/plain" }];
    const asked = world.say("Alice", `@Ada read ${first}`, { files, first });
    const { text } = await world.answer(asked);
    expect(text).toContain(`attached file: plan-${first}.txt (text/plain`);
    expect(text).not.toContain("still being fetched");
    await world.quiet();
    expect(world.answers(asked)).toHaveLength(1);
  }
});

test("a picture reaches a model that sees", async () => {
  world.script("Ada", echo);
  const picture = Buffer.from(makePng(4, 4, () => [200, 10, 10]));
  const asked = world.dm("Alice", "what is this?", { files: [{ name: "red.png", bytes: picture, type: "image/png" }] });
  await world.answer(asked);
  const request = await world.request((one: LlmRequest) => one.raw.includes("what is this?"));
  expect(request.raw).toContain("data:image/png;base64,");
});

test("a file that Slack only shows its sign-in page for is said to be missing, with the permission to add", async () => {
  world.script("Ada", shown);
  const page = { status: 200, body: "<!DOCTYPE html><title>Sign in</title>", type: "text/html" };
  world.slack.fail("download", page, { times: 8 });
  const asked = world.say("Bob", "@Ada and this?", {
    files: [{ name: "secret.pdf", bytes: "%PDF-1.4", type: "application/pdf" }],
  });
  expect((await world.answer(asked)).text).toMatch(/could not be fetched.*files:read/);
  world.slack.calm();
});

test("a reaction wakes nobody and is seen with the next message", async () => {
  world.script("Ada", shown);
  const asked = world.say("Alice", "@Ada say something");
  const answer = await world.answer(asked);
  await world.quiet();
  const before = world.llm.requests.length;
  world.slack.react(world.person("Alice"), answer, "tada");
  await world.quiet();
  expect(world.llm.requests.length).toBe(before);
  world.say("Alice", "@Ada and now?", { thread: asked });
  const next = await world.request((one) => one.lastUserText.includes("and now?"));
  expect(next.lastUserText).toContain(":tada:");
});

test("the slash command stops what the bot does in a thread of the channel", async () => {
  const model = heldBack();
  world.script("Ada", model.script);
  const room = world.channel("commands");
  const asked = world.say("Alice", "@Ada take your time", { in: room });
  await world.until(() => world.slack.status(world.bot("Ada"), asked) !== "", "a working bot");
  const result = await world.slack.command(world.person("Alice"), world.bot("Ada"), room, "/parley-ada", "stop");
  expect(result.response.text).toContain("a thread here");
  await world.until(() => world.slack.status(world.bot("Ada"), asked) === "", "a stopped bot");
  model.release();
  await world.quiet();
  expect(
    world
      .answers(asked)
      .map((post) => post.text)
      .join(),
  ).not.toContain("done waiting");
});

test("status by the slash command is answered in the conversation, once", async () => {
  const direct = world.slack.dmChannel(world.person("Bob"), world.bot("Ada"));
  const before = world.slack.posts(direct).length;
  expect(
    await world.slack.command(world.person("Bob"), world.bot("Ada"), direct, "/parley-ada", "status"),
  ).toMatchObject({
    acknowledged: true,
  });
  await world.until(() => world.slack.posts(direct).length > before, "an answer");
  await world.quiet();
  expect(world.slack.posts(direct)).toHaveLength(before + 1);
});

test("a hand-off is a card in the thread; Done wakes the bot with the outcome", async () => {
  world.script("Bo", (request) => {
    if (
      request.raw.includes("done") &&
      request.raw.includes("sign in at the door") &&
      request.lastRole === "user" &&
      /done/i.test(request.lastUserText)
    )
      return sendMessage("thank you for signing in");
    if (request.lastRole === "user")
      return call("request_human", { instruction: "sign in at the door", reason: "auth" });
    return done();
  });
  const asked = world.say("Alice", "@Bo open the door");
  const card = await world.answer(asked);
  expect(card.text).toContain("sign in at the door");
  expect(card.controls.map((control) => control.label)).toEqual(["Done", "Can't"]);
  await world.slack.press(world.person("Alice"), card, "Done");
  await world.until(() => world.answers(asked).some((post) => post.text.includes("thank you")), "the bot again");
  await world.quiet();
  expect(world.slack.read(card)).toMatchObject({ controls: [] });
});

test(
  "the first opening of a bot's direct messages is greeted once, also across a restart",
  async () => {
    world.slack.openHome(world.person("Bob"), world.bot("Bo"));
    const direct = world.slack.dmChannel(world.person("Bob"), world.bot("Bo"));
    await world.until(() => world.slack.posts(direct).length === 1, "a greeting");
    await world.restart();
    world.slack.openHome(world.person("Bob"), world.bot("Bo"));
    await world.quiet();
    expect(world.slack.posts(direct)).toHaveLength(1);
  },
  START_MS,
);

test(
  "Add to Slack: a second workspace with the same channel id is served with its own token, also after a restart",
  async () => {
    const ada = world.bot("Ada");
    const file = join(world.folder, "parley.yaml");
    const settings = JSON.parse(readFileSync(file, "utf8")) as { bots: { slack: object }[] };
    const [first] = settings.bots;
    Object.assign(first?.slack ?? {}, { clientId: ada.clientId, clientSecret: ada.clientSecret });
    writeFileSync(file, JSON.stringify(settings));
    await world.restart();
    world.script("Ada", echo);
    const team = world.slack.addTeam("Beta");
    const begun = await fetch(new URL("/slack/ada/install", world.url()), { redirect: "manual" });
    const back = world.slack.consent(begun.headers.get("location") ?? "", team);
    const added = await fetch(back);
    expect([added.status, await added.text()]).toEqual([200, expect.stringContaining("added to Beta")]);
    const app = world.slack.workspace.apps.at(-1);
    if (!app) throw new Error("not installed");
    const gina = world.slack.addPerson("Gina", { team });
    const twin = world.slack.addChannel("general", [app, gina], { team, id: world.general.id });
    const hears = async (words: string) => {
      world.slack.say(gina, twin, `${world.slack.mention(app)} ${words}`);
      await world.until(() => world.slack.posts(twin).some((post) => post.text.includes(words)), "an answer in Beta");
    };
    await hears("hello from beta");
    const here = world.say("Alice", "@Ada hello from here");
    await world.answer(here);
    expect(
      world.slack
        .posts(world.general)
        .map((post) => post.text)
        .join(),
    ).not.toContain("beta");
    await world.restart();
    await hears("after the restart");
    const posts = world.slack.calls("chat.postMessage", app);
    expect(posts.length).toBeGreaterThan(1);
    expect(world.logs.join("\n")).not.toContain(app.botToken);
  },
  START_MS,
);
