/** The real Slack client libraries against an emulated Slack: who is heard, as whom, and where answers go. */

import { expect, test } from "vitest";
import type { MessageEvent } from "../../src/engine/index.ts";
import { bubble, deliver, waitUntil } from "./deliveries.ts";
import { openSlackWorld, type SlackWorld, type SlackWorldOptions } from "./slack-world.ts";

function scene(title: string, run: (world: SlackWorld) => Promise<void>, options: SlackWorldOptions = {}): void {
  test(title, async () => {
    const world = await openSlackWorld(options);
    try {
      await run(world);
    } finally {
      await world.close();
    }
  });
}

const text = (content: string, entryId = "e1") => bubble(entryId, { type: "text", content, images: [] });
const hear = async (w: SlackWorld, words: string): Promise<MessageEvent> => {
  w.slack.say(w.alice, w.general, `${w.slack.mention(w.ada)} ${words}`);
  return w.message(words);
};
const messages = (w: SlackWorld) => w.received.filter((event): event is MessageEvent => event.type === "message");

scene(
  "each bot signs in once and calls Slack with its own token only",
  async (w) => {
    const event = await hear(w, "hello");
    const [ada, bo, cy] = w.bots;
    for (const [index, app] of w.bots.entries()) {
      const place = { ...w.placeFor(event), installationId: w.installation(app) };
      await deliver(w, text(`from ${app.name}`, `e${index}`), place);
      expect(w.slack.calls("auth.test", app)).toHaveLength(1);
    }
    expect(w.slack.posts(w.general).map((post) => [post.app, post.text])).toEqual([
      [ada, "from Ada"],
      [bo, "from Bo"],
      [cy, "from Cy"],
    ]);
    for (const request of w.slack.requests) {
      const owner = w.bots.find((app) => app === request.app);
      const expected = request.method === "apps.connections.open" ? owner?.appToken : owner?.botToken;
      expect(request.token).toBe(expected);
    }
  },
  { bots: ["Ada", "Bo", "Cy"] },
);

for (const first of ["message", "app_mention"] as const) {
  scene(`both copies of a mention arrive under one key and as named (${first} first)`, async (w) => {
    w.slack.say(w.alice, w.general, `${w.slack.mention(w.ada)} twice`, { first, gapMs: 0 });
    await waitUntil(() => messages(w).length === 2, "both copies");
    const [one, two] = messages(w);
    expect(one?.dedupeKey).toBe(two?.dedupeKey);
    expect(messages(w).every((event) => event.namesBot)).toBe(true);
    expect(one?.text).toBe("@Ada twice");
    expect(one?.mentions).toMatchObject([{ platformId: w.ada.userId, start: 0, end: 4 }]);
  });
}

scene(
  "one message heard by three bots has one key",
  async (w) => {
    w.slack.say(w.alice, w.general, "hello all");
    await waitUntil(() => messages(w).length === 3, "three copies");
    expect(new Set(messages(w).map((event) => event.dedupeKey)).size).toBe(1);
    expect(new Set(messages(w).map((event) => event.installationId)).size).toBe(3);
  },
  { bots: ["Ada", "Bo", "Cy"] },
);

scene(
  "a bot hears neither itself nor the other bots of this process, not even when they name it",
  async (w) => {
    const event = await hear(w, "start");
    await waitUntil(() => messages(w).length === 3, "both bots' copies");
    const [ada, bo] = w.bots;
    const place = { ...w.placeFor(event), installationId: w.installation(ada) };
    const ask = {
      ...text("@Bo what do you think?"),
      mentionable: [{ id: "x", platformId: bo?.userId ?? "", name: "Bo", kind: "bot" as const }],
    };
    await deliver(w, ask as ReturnType<typeof text>, place);
    await waitUntil(
      () => w.slack.deliveries.every((delivery) => delivery.acknowledgedAt !== null),
      "all acknowledgements",
    );
    expect(w.slack.posts(w.general)[0]?.mentions).toMatchObject([{ target: bo?.userId }]);
    expect(messages(w)).toHaveLength(3);
  },
  { bots: ["Ada", "Bo"] },
);

scene("guests and people of other companies are known as such", async (w) => {
  const { slack } = w;
  slack.say(slack.addPerson("Gus", { guest: true }), w.general, "from a guest");
  slack.say(slack.addPerson("Eve", { external: true }), w.general, "from outside");
  slack.sayAsForeignBot("Deploys", w.general, "from a machine");
  expect((await w.message("from a guest")).from).toMatchObject({ name: "Gus", kind: "guest" });
  expect((await w.message("from outside")).from.kind).toBe("external");
  expect((await w.message("from a machine")).from).toMatchObject({ name: "Deploys", kind: "bot" });
});

scene("a person is looked up once, not for every message", async (w) => {
  for (const words of ["one", "two", "three"]) await hear(w, words);
  expect(w.slack.calls("users.info").filter((call) => call.args.user === w.alice.id)).toHaveLength(1);
});

scene("a person who cannot be looked up just now is not let in: the event comes again", async (w) => {
  w.slack.fail("users.info", { status: 503 }, { times: 3, when: (request) => request.args.user === w.alice.id });
  w.slack.say(w.alice, w.general, "who am I");
  expect((await w.message("who am I")).from).toMatchObject({ name: "Alice", kind: "member" });
  expect(w.slack.deliveries.some((delivery) => delivery.sentAt.length > 1)).toBe(true);
});

scene(
  "somebody Slack never tells about is taken in with the least authority instead of being lost",
  async (w) => {
    w.slack.fail("users.info", { status: 503 }, { times: 50 });
    w.slack.say(w.alice, w.general, "nobody knows me");
    expect((await w.message("nobody knows me")).from.kind).toBe("guest");
  },
  { slack: { retryDelaysMs: [0, 50, 50], ackTimeoutMs: 1500 } },
);

scene("a user group that holds bots brings its members", async (w) => {
  const team = w.slack.addUsergroup("team", [w.ada, w.alice]);
  w.slack.say(w.alice, w.general, `${w.slack.mentionGroup(team)} please`);
  expect((await w.message("please")).mentions).toMatchObject([
    { platformId: team.id, members: [w.ada.userId, w.alice.id] },
  ]);
});

scene("the channel's name comes along", async (w) => {
  expect((await hear(w, "where am I")).conversation.channelName).toBe("general");
});

scene(
  "a first delivery that only arrives as a retry is heard",
  async (w) => {
    w.slack.disturb({ ignoreAck: true, event: "message" });
    w.slack.say(w.alice, w.general, "retried");
    await waitUntil(() => messages(w).filter((event) => event.text === "retried").length >= 2, "the retry");
    expect(new Set(messages(w).map((event) => event.dedupeKey)).size).toBe(1);
  },
  { slack: { ackTimeoutMs: 200 } },
);

scene("an edit of a mention is an edit, a link preview is nothing", async (w) => {
  const asked = w.slack.say(w.alice, w.general, `${w.slack.mention(w.ada)} see https://example.com/`);
  await waitUntil(() => messages(w).length === 2, "the mention");
  w.slack.unfurl(asked);
  w.slack.edit(asked, `${w.slack.mention(w.ada)} see this instead`);
  await waitUntil(() => w.received.filter((event) => event.type === "edit").length === 2, "the edit, in both reports");
  await waitUntil(
    () => w.slack.deliveries.every((delivery) => delivery.acknowledgedAt !== null),
    "all acknowledgements",
  );
  expect(messages(w)).toHaveLength(2);
  const edits = w.received.filter((event) => event.type === "edit");
  expect(new Set(edits.map((event) => event.dedupeKey)).size).toBe(1);
  expect(edits[0]).toMatchObject({ platformId: asked.ts, text: "@Ada see this instead" });
});

scene("erasing, joining, leaving and stopping arrive as what they are", async (w) => {
  const { slack } = w;
  const asked = slack.say(w.alice, w.general, "soon gone");
  await w.message("soon gone");
  slack.erase(asked);
  await waitUntil(() => w.received.length === 2, "the erasing");
  const cy = slack.addPerson("Cy");
  slack.invite(w.general, cy);
  await waitUntil(() => w.received.length === 3, "the joining");
  slack.expel(w.general, cy);
  await waitUntil(() => w.received.length === 4, "three more events");
  expect(w.received.slice(1)).toMatchObject([
    { type: "delete", platformId: asked.ts },
    { type: "membership", change: "joined", platformId: cy.id },
    { type: "membership", change: "left", platformId: cy.id },
  ]);
});

scene("a channel question is answered in its thread, a reply at the thread's root", async (w) => {
  const event = await hear(w, "question");
  await deliver(w, text("first"), w.placeFor(event));
  const root = { channel: w.general, ts: event.platformId };
  w.slack.say(w.alice, w.general, "follow-up", { thread: root });
  const reply = await w.message("follow-up");
  expect(reply.conversation).toMatchObject({ kind: "thread", threadId: event.platformId });
  await deliver(w, text("second", "e2"), w.placeFor(reply));
  expect(w.slack.posts(w.general).map((post) => [post.text, post.threadTs])).toEqual([
    ["first", event.platformId],
    ["second", event.platformId],
  ]);
});

scene("a direct message is answered below itself, a reply in its thread at the root", async (w) => {
  const { slack } = w;
  const top = slack.dm(w.alice, w.ada, "top level");
  await deliver(w, text("one"), w.placeFor(await w.message("top level")));
  slack.dm(w.alice, w.ada, "inside", { thread: top });
  const inside = await w.message("inside");
  expect(inside.conversation).toMatchObject({ kind: "direct", channelId: top.channel.id });
  await deliver(w, text("two", "e2"), w.placeFor(inside));
  expect(slack.posts(top.channel).map((post) => post.threadTs)).toEqual([top.ts, top.ts]);
});

scene("a direct answer whose thread is gone still reaches the person", async (w) => {
  const top = w.slack.dm(w.alice, w.ada, "short lived");
  const place = w.placeFor(await w.message("short lived"));
  w.slack.erase(top);
  await deliver(w, text("answer"), place);
  expect(w.slack.posts(top.channel)).toMatchObject([{ text: "answer", threadTs: null }]);
});

scene("an answer whose channel thread is gone does not drift into the channel", async (w) => {
  const event = await hear(w, "short lived");
  w.slack.erase({ channel: w.general, ts: event.platformId });
  await expect(deliver(w, text("answer"), w.placeFor(event))).rejects.toMatchObject({ problem: "place" });
  expect(w.slack.posts(w.general)).toEqual([]);
});

scene("answers in the channel itself name no thread at all", async (w) => {
  await deliver(w, text("plainly"), w.placeIn({ kind: "channel", channelId: w.general.id }));
  expect(w.slack.calls("chat.postMessage")[0]?.args).not.toHaveProperty("thread_ts");
});
