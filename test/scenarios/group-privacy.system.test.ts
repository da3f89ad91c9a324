/**
 * Nothing private crosses into a room (SPEC G11, I6, A1): planted words of direct messages, of other channels, of conversations between bots, private
 * thinking and secrets are looked for in every request that a Group sets off, and in everything posted there.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, done, type LlmRequest, type Reply, type Script, sendMessage, together } from "../emulators/llm/index.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const NAMES = ["Ada", "Bo", "Cy", "Dee"];
const PRIVATE = {
  direct: "canary-direct",
  answer: "canary-answer",
  thought: "canary-thought",
  otherRoom: "canary-other-room",
  peerAsk: "canary-peer-ask",
  peerReply: "canary-peer-reply",
  deeDirect: "canary-dee-direct",
  secret: "canary-secret-value-1",
};
const GROUP = { thought: "canary-member-thought", ask: "canary-member-ask", refused: "canary-refused" };

let world: World;
beforeAll(async () => {
  world = await startWorld({ bots: NAMES, people: ["Alice", "Bob"] });
}, START_MS);
afterAll(() => world.close());

const fresh = (request: LlmRequest) => request.lastRole === "user";
const says =
  (words: string): Script =>
  (request) =>
    fresh(request) ? sendMessage(words) : done();
const ask = (target: string, message: string): Reply => call("SendToAgent", { target, message });
const withThought = (reply: Reply, text: string): Reply => ({ ...reply, text });

/** Everybody tells everybody's secrets in places where they belong. */
async function plant(): Promise<void> {
  world.script("Bo", says(PRIVATE.peerReply));
  world.script("Ada", (request) => {
    if (!fresh(request)) return done();
    if (request.lastUserText.includes(PRIVATE.peerReply)) return withThought(done(), PRIVATE.thought);
    if (!request.lastUserText.includes(PRIVATE.direct)) return sendMessage("noted");
    const both = together(sendMessage(PRIVATE.answer), ask("Bo", PRIVATE.peerAsk));
    return withThought(both, PRIVATE.thought);
  });
  world.script("Dee", says("noted"));
  world.dm("Alice", `between us: ${PRIVATE.direct} ${PRIVATE.secret}`, { to: "Ada" });
  world.dm("Bob", PRIVATE.deeDirect, { to: "Dee" });
  world.say("Alice", `@Ada only for this room: ${PRIVATE.otherRoom}`, {
    in: world.channel("elsewhere", ["Ada", "Alice"]),
  });
  await world.quiet(40_000);
  const planted = world.llm.requests.map((request) => request.raw).join();
  for (const word of Object.values(PRIVATE)) expect(planted).toContain(word);
}

test("a Group's requests and messages hold nothing that was private to a direct message, another room, teammates or a member's thoughts", async () => {
  await plant();
  const before = world.llm.requests.length;
  const room = world.channel("together", ["Ada", "Bo", "Cy", "Alice", "Bob"]);
  world.script("Ada", (request) => {
    if (fresh(request) && request.calls.length === 0)
      return withThought(together(sendMessage("public of Ada"), ask("Dee", GROUP.ask)), GROUP.thought);
    if (!fresh(request) && request.callsThisTurn.length === 2)
      return together(sendMessage("more of Ada"), sendMessage(GROUP.refused));
    return /your teammate\): done by Dee/.test(request.lastUserText) && fresh(request)
      ? sendMessage("Dee did it")
      : done();
  });
  world.script("Bo", (request) => (request.calls.length === 0 ? sendMessage("public of Bo") : done()));
  world.script("Cy", (request) => (request.calls.length === 0 ? sendMessage("public of Cy") : done()));
  world.script("Dee", says("done by Dee"));
  const asked = world.say("Bob", "everybody: what do you know?", { in: room });
  await world.until(() => world.answers(asked).some((post) => post.text === "Dee did it"), "Dee's answer", 20_000);
  await world.quiet(40_000);
  const requests = world.llm.requests.slice(before);
  const posted = world.slack
    .posts(room)
    .map((post) => post.text)
    .join("\n");
  for (const word of Object.values(PRIVATE)) {
    expect(
      requests.filter((request) => request.raw.includes(word)).map((request) => `${request.model}: ${word}`),
    ).toEqual([]);
    expect(posted).not.toContain(word);
  }
  const others = requests.filter((request) => request.model !== "ada");
  expect(new Set(others.map((request) => request.model))).toEqual(new Set(["bo", "cy", "dee"]));
  expect(
    others.filter((request) => request.raw.includes(GROUP.thought) || request.raw.includes(GROUP.refused)),
  ).toEqual([]);
  expect(posted).not.toMatch(/canary/);
  // The question is between Ada and Dee; the members hear only what Ada tells of it.
  expect(others.filter((request) => request.model !== "dee" && request.raw.includes(GROUP.ask))).toEqual([]);
  expect(others.some((request) => request.model === "cy" && request.raw.includes("public of Ada"))).toBe(true);
});

test("work for a room is bounded by the room: its mail carries the room's audience, and the teammate can answer nowhere else", async () => {
  const rows = await world.database().rows<{ audience: string; kind: string; from: string }>(
    `SELECT m."audience", c."kind", m."authorId" AS from FROM "Mail" m JOIN "Session" s ON s."id" = m."sessionId"
     JOIN "Conversation" c ON c."key" = s."conversationKey" JOIN "Entry" e ON e."id" = m."entryId"
     WHERE m."kind" = 'bot' AND (e."text" = $1 OR e."text" = 'done by Dee') ORDER BY m."seq"`,
    [GROUP.ask],
  );
  const room = expect.stringMatching(/^channel\(slack:/);
  expect(rows).toEqual([
    { audience: room, kind: "peer", from: "ada" },
    { audience: room, kind: "thread", from: "dee" },
  ]);
  world.script("Ada", (request) =>
    fresh(request) && request.calls.every((one) => one.args.message !== "again") ? ask("Dee", "again") : done(),
  );
  world.script("Dee", (request) => (fresh(request) ? sendMessage("astray", { channel: "elsewhere" }) : done()));
  const room2 = world.channel("bounded", ["Ada", "Bo", "Alice"]);
  world.say("Alice", "@Ada go", { in: room2 });
  const refused = await world.request(
    (request) => request.model === "dee" && request.lastRole === "tool" && request.raw.includes("astray"),
  );
  expect(refused.lastToolResult).toContain("you speak to Ada only");
  await world.quiet(40_000);
  expect(world.slack.posts().filter((post) => post.text === "astray")).toEqual([]);
});

test("a person's direct words do not come along when the same bot is asked by the same teammate for a room", async () => {
  const asks = world.llm.requestsOf("bo").filter((request) => request.raw.includes(PRIVATE.peerAsk));
  expect(asks.length).toBeGreaterThan(0);
  const before = world.llm.requests.length;
  world.script("Ada", (request) =>
    fresh(request) && !request.raw.includes("for the room") ? ask("Bo", "for the room") : done(),
  );
  world.script("Bo", says("for everybody"));
  world.say("Alice", "@Ada ask Bo", { in: world.channel("third", ["Ada", "Cy", "Alice"]) });
  await world.request((request) => request.model === "bo" && request.raw.includes("for the room"));
  await world.quiet(40_000);
  const raw = world.llm.requests
    .slice(before)
    .map((request) => request.raw)
    .join("\n");
  for (const word of Object.values(PRIVATE)) expect(raw).not.toContain(word);
});
