/**
 * Members of a Group that give work to teammates outside it (SPEC A1, G3, T5): the answer is told whenever it comes, the discussion stays within its
 * limit, and a stop reaches all of it. Real product, real Slack libraries; members are scripted models.
 */
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { call, done, type LlmRequest, type Script, sendMessage, together } from "../emulators/llm/index.ts";
import type { Channel, Post } from "../emulators/slack/index.ts";
import { heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const GROUP = ["Ada", "Bo", "Cy"];
const NAMES = [...GROUP, "Dee", "Eve"];

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: NAMES, people: ["Alice", "Bob"] });
  for (const name of NAMES) world.script(name, done);
}, START_MS);
afterAll(() => world.close());
afterEach(() => {
  for (const name of NAMES) world.script(name, done);
  world.llm.calm();
});

let rooms = 0;
/** A channel in which only Ada, Bo and Cy are; Dee and Eve work elsewhere. */
const room = () => world.channel(`answers-${++rooms}`, [...GROUP, "Alice", "Bob"]);
const texts = (to: Post) => world.answers(to).map((post) => post.text);
const fresh = (request: LlmRequest) => request.lastRole === "user";
const isAsked = (request: LlmRequest) => fresh(request) && request.calls.length === 0;
const ask = (target: string, message: string) => call("SendToAgent", { target, message });
const never = () => new Promise<never>(() => undefined);
const discussionIn = async (channel: Channel) => {
  const [row] = await world
    .database()
    .rows<{ endReason: string | null; state: { total: number } }>(
      `SELECT "endReason", "state" FROM "Discussion" WHERE "channelId" LIKE $1 ORDER BY "createdAt" DESC`,
      [`%${channel.id}`],
    );
  return row;
};

/** Ada asks this teammate in her first turn, and tells what comes back. */
const asksAndTells =
  (...teammates: readonly string[]): Script =>
  (request) => {
    if (isAsked(request))
      return together(sendMessage("I ask around"), ...teammates.map((name) => ask(name, `question to ${name}`)));
    const answer = fresh(request) ? /your teammate\): (answer of \w+)/.exec(request.lastUserText)?.[1] : undefined;
    return answer ? sendMessage(`told: ${answer}`) : done();
  };
const answers =
  (name: string): Script =>
  (request) =>
    fresh(request) ? sendMessage(`answer of ${name}`) : done();
/** Talks whenever it may. */
const talks =
  (name: string): Script =>
  (request) =>
    sendMessage(`${name} talks ${request.calls.length}`);

test("an answer that comes in the middle of the discussion is told at once, beside the round", async () => {
  const bo = heldBack(sendMessage("Bo in the round"));
  world.script("Ada", asksAndTells("Dee"));
  world.script("Bo", (request) => (isAsked(request) ? bo.script(request) : done()));
  world.script("Dee", answers("Dee"));
  const channel = room();
  const asked = world.say("Alice", "please look into it", { in: channel });
  await world.until(() => texts(asked).includes("told: answer of Dee"), "Ada's answer while Bo thinks", 20_000);
  expect(texts(asked)).toEqual(["I ask around", "told: answer of Dee"]);
  expect(await discussionIn(channel)).toMatchObject({ endReason: null, state: { current: "bo", total: 2 } });
  bo.release();
  await world.quiet(40_000);
  expect(texts(asked)).toEqual(["I ask around", "told: answer of Dee", "Bo in the round"]);
});

test("two teammates argue, the one that asked summarises, and talkative members do not take her words away", async () => {
  const [dee, eve] = [heldBack(sendMessage("answer of Dee")), heldBack(sendMessage("answer of Eve"))];
  world.script("Ada", asksAndTells("Dee", "Eve"));
  world.script("Bo", talks("Bo"));
  world.script("Cy", talks("Cy"));
  world.script("Dee", dee.script);
  world.script("Eve", eve.script);
  const channel = room();
  const asked = world.say("Alice", "let Dee and Eve argue", { in: channel });
  const ended = async () => (await discussionIn(channel))?.endReason === "limit";
  await expect.poll(ended, { timeout: 20_000 }).toBe(true);
  expect(await discussionIn(channel)).toMatchObject({ state: { total: 8 } });
  eve.release();
  await world.until(() => texts(asked).includes("told: answer of Eve"), "the first answer", 20_000);
  dee.release();
  await world.until(() => texts(asked).includes("told: answer of Dee"), "the second answer", 20_000);
  await world.quiet(40_000);
  expect(await discussionIn(channel)).toMatchObject({ endReason: "limit", state: { total: 10, asked: {} } });
  expect(texts(asked).filter((text) => /talks|told|around/.test(text))).toHaveLength(10);
});

test("an answer in a newer discussion counts where it was asked for, not as a stray word of the newer one", async () => {
  const dee = heldBack(sendMessage("answer of Dee"));
  world.script("Ada", asksAndTells("Dee"));
  world.script("Dee", dee.script);
  const channel = room();
  const asked = world.say("Alice", "@Ada find out", { in: channel });
  await expect.poll(async () => (await discussionIn(channel))?.endReason, { timeout: 20_000 }).toBe("passed");
  const bo = heldBack(sendMessage("Bo speaks"));
  world.script("Bo", bo.script);
  world.say("Bob", "@Bo and you?", { in: channel, thread: asked });
  await world.until(() => world.llm.requestsOf("bo").length > 0, "Bo's turn");
  dee.release();
  await world.until(() => texts(asked).includes("told: answer of Dee"), "the answer", 20_000);
  expect(await discussionIn(channel)).toMatchObject({ endReason: null, state: { total: 0, current: "bo" } });
  bo.release();
  await world.quiet(40_000);
  expect(texts(asked).at(-1)).toBe("Bo speaks");
});

test("a message to the channel instead of the thread counts like any other", async () => {
  const channel = room();
  world.script("Bo", (request) =>
    request.callsThisTurn.length < 4
      ? sendMessage(
          `Bo ${request.callsThisTurn.length}`,
          request.callsThisTurn.length > 0 ? { channel: channel.id } : {},
        )
      : done(),
  );
  world.say("Alice", "@Bo go round the limit", { in: channel });
  await world.quiet(40_000);
  expect(world.slack.posts(channel).filter((post) => post.author === "Bo")).toHaveLength(2);
  expect(world.llm.requestsOf("bo").at(-1)?.lastToolResult).toContain("limit of 2 messages");
});

/** Ada has asked Dee, who hangs with a second question waiting; Bo hangs in the round. */
async function underWay(bo: Script = never): Promise<{ channel: Channel; asked: Post }> {
  world.script("Ada", (request) =>
    isAsked(request) ? together(sendMessage("I ask Dee"), ask("Dee", "first"), ask("Dee", "second")) : done(),
  );
  world.script("Bo", bo);
  world.script("Dee", never);
  const channel = room();
  const before = { bo: world.llm.requestsOf("bo").length, dee: world.llm.requestsOf("dee").length };
  const asked = world.say("Alice", "begin", { in: channel });
  await world.until(
    () => world.llm.requestsOf("bo").length > before.bo && world.llm.requestsOf("dee").length > before.dee,
    "Bo and Dee at work",
    20_000,
  );
  return { channel, asked };
}
const peerMail = () =>
  world
    .database()
    .rows<{ state: string }>(`SELECT "state" FROM "Mail" WHERE "kind" = 'bot' AND "state" IN ('due', 'taken')`);

test.each(["!stop", "@Ada stop"])(
  "%s stops the discussion, the teammate at work for it and what waits there, and says so once",
  async (words) => {
    const { channel, asked } = await underWay();
    world.say("Alice", words, { in: channel, thread: asked });
    await world.until(() => texts(asked).length > 1, "the stop", 5000);
    await world.quiet(20_000);
    expect(texts(asked)).toEqual(["I ask Dee", "Stopped."]);
    expect(await peerMail()).toEqual([]);
    expect(await discussionIn(channel)).toMatchObject({ endReason: "stopped", state: { asked: {} } });
  },
);

test("a stop when only teammates are still at work stops them, and says so once", async () => {
  const { channel, asked } = await underWay(done);
  await expect.poll(async () => (await discussionIn(channel))?.endReason, { timeout: 20_000 }).toBe("passed");
  const said = texts(asked).length;
  world.say("Alice", "!stop", { in: channel, thread: asked });
  await world.until(() => texts(asked).length > said, "the stop", 5000);
  await world.quiet(20_000);
  expect(texts(asked).slice(said)).toEqual(["Stopped: what was waiting has been dropped."]);
  expect(await peerMail()).toEqual([]);
});

test("a stop by somebody who took no part stops nothing", async () => {
  const { channel, asked } = await underWay();
  world.say("Bob", "!stop", { in: channel, thread: asked });
  await world.until(() => texts(asked).some((text) => text.includes("somebody else")), "the refusal", 5000);
  expect(await discussionIn(channel)).toMatchObject({ endReason: null });
  world.say("Alice", "!stop", { in: channel, thread: asked });
  await world.quiet(20_000);
  expect(texts(asked).filter((text) => text === "Stopped.")).toHaveLength(1);
});
