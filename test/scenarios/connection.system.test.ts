/** Connections that break, flap, go deaf or are refused: messages still arrive and are answered once, and one bot's trouble is its own. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { echo, heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: ["Ada", "Bo"], people: ["Alice"], slack: { retryDelaysMs: [0, 2000, 4000] } });
  for (const bot of ["Ada", "Bo"]) world.script(bot, echo);
}, START_MS);
afterAll(() => world.close());

test("connections that flap lose and double nothing and none is left over", async () => {
  const { slack } = world;
  const ada = world.bot("Ada");
  const asked = [];
  for (let flap = 0; flap < 6; flap += 1) {
    const opened = slack.socketsOpened(ada);
    if (flap % 2 === 0) slack.disconnect(ada, "refresh_requested", 50);
    else slack.cut(ada);
    asked.push(world.say("Alice", `@Ada flap ${flap}`, { in: world.channel(`flap-${flap}`) }));
    await world.until(() => slack.socketsOpened(ada) > opened && slack.sockets(ada) > 0, "a new connection", 40_000);
  }
  for (const one of asked) await world.answer(one, 20_000);
  await world.quiet();
  expect(asked.map((one) => world.answers(one).length)).toEqual(asked.map(() => 1));
  await world.until(() => slack.sockets(ada) <= 2, "no surplus connections", 15_000);
}, 120_000);

test("when one of its connections goes deaf, everything is still answered, and the deaf one is replaced", async () => {
  const { slack } = world;
  const bo = world.bot("Bo");
  const before = slack.socketsOpened(bo);
  slack.workspace.timing.ackTimeoutMs = 700;
  const [deaf] = slack.workspace.lines.get(bo)?.links ?? [];
  if (deaf) deaf.silent = true;
  const asked = Array.from({ length: 12 }, (_one, at) =>
    world.say("Alice", `@Bo can you hear ${at}?`, { in: world.channel(`deaf-${at}`) }),
  );
  for (const one of asked) await world.answer(one, 20_000);
  await world.quiet();
  expect(asked.map((one) => world.answers(one).length)).toEqual(asked.map(() => 1));
  await world.until(() => slack.socketsOpened(bo) > before, "a replacement", 20_000);
  slack.workspace.timing.ackTimeoutMs = 3000;
}, 60_000);

test(
  "a click is acknowledged in time while every bot is busy and the queue is long",
  async () => {
    const { slack } = world;
    world.script("Ada", (request) => ({ text: "silent", ignoreToolChoice: request.forced }));
    const card = await world.answer(world.dm("Alice", "be silent"));
    const model = heldBack();
    world.script("Bo", model.script);
    for (let n = 0; n < 30; n += 1) world.say("Alice", `@Bo load ${n}`, { in: world.channel(`load-${n}`) });
    world.script("Ada", echo);
    expect((await slack.press(world.person("Alice"), card, "Retry")).acknowledged).toBe(true);
    world.script("Bo", echo);
    model.release();
    await world.until(() => world.answers(card).length === 1, "the second try", 60_000);
  },
  START_MS,
);

test(
  "a bot whose token is revoked says so in its health, and the other one goes on",
  async () => {
    await using other = await startWorld({ bots: ["Ada", "Bo"], people: ["Alice"] });
    for (const bot of ["Ada", "Bo"]) other.script(bot, echo);
    other.slack.revokeTokens(other.bot("Bo"));
    await other.stop();
    await other.start();
    const asked = other.say("Alice", "@Ada still there?");
    await other.answer(asked);
    const ready = (await (await fetch(`${other.url()}/readyz`)).json()) as {
      bots: { botId: string; platform: string; state: string; remedy?: string }[];
    };
    const bo = ready.bots.find((bot) => bot.botId === "bo" && bot.platform === "slack");
    expect(bo?.state).toBe("failed");
    expect(bo?.remedy).toMatch(/token/i);
  },
  START_MS,
);

test(
  "over HTTP a mention is answered once, and an event with a wrong signature is not heard",
  async () => {
    await using web = await startWorld({ mode: "http" });
    web.script("Ada", echo);
    const asked = web.say("Alice", "@Ada over http");
    await web.answer(asked);
    const forged = await web.slack.forge(web.bot(), JSON.stringify({ type: "event_callback" }), { secret: "wrong" });
    expect(forged.status).toBe(401);
    await web.quiet();
    expect(web.answers(asked)).toHaveLength(1);
  },
  START_MS,
);
