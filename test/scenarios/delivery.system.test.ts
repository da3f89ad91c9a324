/** What was said is seen once, whole and in its place, whatever Slack does to the requests; nothing a model writes pings anybody. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, done, sendMessage, sendWidget } from "../emulators/llm/index.ts";
import type { Channel, Fault } from "../emulators/slack/index.ts";
import { echo, heard, steps } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: ["Ada"], people: ["Alice", "Bob"] });
  mkdirSync(join(world.folder, "data", "workspace"), { recursive: true });
}, START_MS);
afterAll(() => world.close());

const failIn = (room: Channel, method: string, fault: Fault, times = 1) =>
  world.slack.fail(method, fault, {
    times,
    when: ({ args }) => args.channel === room.id || args.channel_id === room.id,
  });

test.each<[string, Fault]>([
  ["accepted, then the connection is cut", { acceptThen: "drop" }],
  ["accepted, then answered with a server error", { acceptThen: 500 }],
  ["refused with a server error", { status: 503 }],
  ["cut before anything was done", { reset: true }],
  ["told to slow down", { rateLimit: 1 }],
  ["told to slow down inside an ordinary answer", { error: "ratelimited" }],
])("a post that is %s is visible once", async (what, fault) => {
  world.script("Ada", echo);
  const room = world.channel(`post-${what.replaceAll(/\W+/g, "-").slice(0, 60)}`);
  failIn(room, "chat.postMessage", fault);
  const asked = world.say("Alice", "@Ada hello", { in: room });
  await world.answer(asked);
  await world.quiet();
  expect(world.answers(asked)).toHaveLength(1);
});

test("a post that Slack never answers: the model hears that it is on its way, and it is visible once", async () => {
  world.script("Ada", echo);
  const [lost, taken] = [world.channel("hang-lost"), world.channel("hang-taken")];
  failIn(lost, "chat.postMessage", { hang: true });
  failIn(taken, "chat.postMessage", { acceptThen: "hang" });
  const asked = [lost, taken].map((room) => world.say("Alice", `@Ada hanging in ${room.name}`, { in: room }));
  const told = await world.request((request) => request.lastRole === "tool" && heard(request).includes("hang-lost"));
  expect(told.lastToolResult).toMatch(/^accepted: .*do not send it again/s);
  for (const one of asked) await world.answer(one, 30_000);
  await world.quiet(30_000);
  expect(asked.map((one) => world.answers(one).length)).toEqual([1, 1]);
  expect(world.logs.some((line) => line.includes("piece not sent"))).toBe(true);
}, 60_000);

test("the redraw of a card survives an edit that is told to slow down", async () => {
  world.script("Ada", (request) =>
    request.lastRole === "user" && !heard(request).includes("widget_answer")
      ? sendWidget("Tea or coffee?", ["Tea", "Coffee"])
      : done(),
  );
  const room = world.channel("redraw");
  const asked = world.say("Alice", "@Ada ask me", { in: room });
  const card = await world.answer(asked);
  failIn(room, "chat.update", { error: "ratelimited" }, 2);
  await world.slack.press(world.person("Alice"), card, "Tea");
  await world.until(() => world.slack.read(card)?.controls.length === 0, "a redrawn card", 15_000);
  expect(world.slack.read(card)?.text).toContain("Tea");
});

test.each([
  ["3,001 characters in one paragraph", "a".repeat(3001), 1],
  ["13,000 characters", Array.from({ length: 130 }, (_one, at) => `${at}`.padEnd(99, "x")).join("\n"), 2],
  ["60 headings", Array.from({ length: 60 }, (_one, at) => `# Heading ${at}\n\ntext ${at}`).join("\n\n"), 2],
])("a text of %s arrives whole and in order, and Slack refuses nothing", async (what, text, atLeast) => {
  world.script("Ada", steps(sendMessage(text)));
  const refusals = world.slack.refusals.length;
  const asked = world.say("Alice", "@Ada write", {
    in: world.channel(`long-${what.slice(0, 10).replaceAll(/\W/g, "-")}`),
  });
  await world.answer(asked);
  await world.quiet();
  const posts = world.answers(asked);
  expect(posts.length).toBeGreaterThanOrEqual(atLeast);
  const words = (value: string) => value.replaceAll(/[#\s]+/g, "");
  expect(words(posts.map((post) => post.text).join(""))).toBe(words(text));
  expect(world.slack.refusals.slice(refusals)).toEqual([]);
});

test("a question of almost 3,000 characters is asked whole, with its buttons", async () => {
  const question = `${"why ".repeat(740)}?`;
  world.script("Ada", steps(sendWidget(question, ["Yes", "No"])));
  const refusals = world.slack.refusals.length;
  const asked = world.say("Alice", "@Ada ask at length", { in: world.channel("long-question") });
  await world.answer(asked);
  await world.quiet();
  const posts = world.answers(asked);
  expect(
    posts
      .map((post) => post.text)
      .join(" ")
      .match(/why/g),
  ).toHaveLength(740);
  expect(posts.at(-1)?.controls.map((control) => control.label)).toEqual(["Yes", "No"]);
  expect(world.slack.refusals.slice(refusals)).toEqual([]);
});

test("when Slack refuses the blocks, the words arrive in the same thread", async () => {
  world.script("Ada", steps(sendMessage("**plain** words")));
  const room = world.channel("refused-blocks");
  failIn(room, "chat.postMessage", { error: "invalid_blocks" });
  const asked = world.say("Alice", "@Ada say it plainly", { in: room });
  const answer = await world.answer(asked);
  expect([answer.threadTs, answer.text]).toEqual([asked.ts, "**plain** words"]);
});

test("when an upload fails, what replaces it stays in the thread", async () => {
  writeFileSync(join(world.folder, "data", "workspace", "report.txt"), "numbers");
  world.script("Ada", (request) => {
    if (request.lastRole === "user")
      return call("SendMessage", { type: "attachment", url: "file:///workspace/report.txt" });
    return request.callsThisTurn.length === 1 ? sendMessage("the report could not be uploaded") : done();
  });
  const room = world.channel("upload-fails");
  world.slack.fail("upload", { status: 500 }, { times: 3 });
  const asked = world.say("Alice", "@Ada the report please", { in: room });
  await world.answer(asked, 20_000);
  await world.quiet(30_000);
  world.slack.calm();
  expect(world.slack.posts(room, { topLevel: true })).toEqual([]);
}, 60_000);

test("a model that repeats mass mentions, group mentions and names pings nobody", async () => {
  const group = world.slack.addUsergroup("everyone-here", [world.person("Bob")]);
  const bob = world.slack.mention(world.person("Bob"));
  const traps = `<!channel> <!here> <!everyone> @channel @here @everyone ${bob} <!subteam^${group.id}> \`<!channel>\` &lt;!here&gt; [x](<!channel>) <https://a.example/?x=1&y=2>`;
  world.script("Ada", steps(sendMessage(traps), sendMessage(`\`\`\`\n${traps}\n\`\`\``)));
  const asked = world.say("Alice", "@Ada repeat that", { in: world.channel("traps") });
  await world.until(() => world.answers(asked).length === 2, "both messages");
  await world.quiet();
  expect(world.answers(asked).flatMap((post) => post.mentions)).toEqual([]);
});
