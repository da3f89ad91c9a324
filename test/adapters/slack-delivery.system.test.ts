/** Posting to an emulated Slack that fails in every way it can: one message each, in its place, or a reason. */

import { expect, test } from "vitest";
import type { MessageEvent } from "../../src/engine/index.ts";
import { bubble, deliver, pieces, retryCard } from "./deliveries.ts";
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

scene("posts carry the piece's id and neither previews nor name linking", async (w) => {
  const [piece] = pieces(w, text("hello <!channel>"), w.placeFor(await hear(w, "hi")));
  if (!piece) throw new Error("nothing rendered");
  await w.adapter.deliver(piece, async () => undefined);
  const [post] = w.slack.posts(w.general);
  expect(post).toMatchObject({
    previews: false,
    mentions: [],
    metadata: { event_type: "parley_piece", event_payload: { id: piece.id } },
  });
  const { args } = w.slack.calls("chat.postMessage")[0] ?? {};
  expect(args).toMatchObject({ parse: "none", link_names: "false" });
});

scene("a long text arrives as ordered messages of one thread", async (w) => {
  const place = w.placeFor(await hear(w, "tell me everything"));
  const paragraphs = Array.from({ length: 120 }, (_, i) => `Paragraph ${i}: ${"lorem ".repeat(40)}`).join("\n\n");
  await deliver(w, text(paragraphs), place);
  const posts = w.slack.posts(w.general);
  expect(posts.length).toBeGreaterThan(1);
  const numbers = [
    ...posts
      .map((post) => post.text)
      .join("\n")
      .matchAll(/Paragraph (\d+):/g),
  ].map((match) => Number(match[1]));
  expect(numbers).toEqual(Array.from({ length: 120 }, (_, i) => i));
  expect(w.slack.refusals).toEqual([]);
});

for (const [what, fault] of [
  ["a cut connection", { acceptThen: "drop" }],
  ["a 503 after acceptance", { acceptThen: 503 }],
  ["a broken gateway", { acceptThen: 502 }],
] as const) {
  scene(`${what} leaves one message and one request`, async (w) => {
    const place = w.placeFor(await hear(w, "hi"));
    const [piece] = pieces(w, text("once"), place);
    if (!piece) throw new Error("nothing rendered");
    w.slack.fail("chat.postMessage", fault);
    await expect(w.adapter.deliver(piece, async () => undefined)).rejects.toMatchObject({ problem: "unknown" });
    expect(w.slack.calls("chat.postMessage")).toHaveLength(1);
    const found = await w.adapter.find({ ...piece, attempts: 1, attemptedAt: new Date() });
    expect(found?.nativeId).toBe(w.slack.posts(w.general)[0]?.ts);
  });
}

scene("a lost post at the channel's own level is found there", async (w) => {
  const [piece] = pieces(w, text("here"), w.placeIn({ kind: "channel", channelId: w.general.id }));
  if (!piece) throw new Error("nothing rendered");
  w.slack.fail("chat.postMessage", { acceptThen: "drop" });
  await expect(w.adapter.deliver(piece, async () => undefined)).rejects.toMatchObject({ problem: "unknown" });
  expect((await w.adapter.find({ ...piece, attempts: 1 }))?.nativeId).toBe(w.slack.posts(w.general)[0]?.ts);
});

scene("being asked to wait says how long, and holds the channel for everybody", async (w) => {
  const place = w.placeFor(await hear(w, "hi"));
  w.slack.fail("chat.postMessage", { rateLimit: 30 });
  await expect(deliver(w, text("later"), place)).rejects.toMatchObject({ problem: "wait", waitMs: 30_000 });
  await expect(deliver(w, text("also later", "e2"), place)).rejects.toMatchObject({ problem: "wait" });
  expect(w.slack.calls("chat.postMessage")).toHaveLength(1);
});

scene("'rate limited' inside a successful answer counts as waiting too", async (w) => {
  const place = w.placeFor(await hear(w, "hi"));
  w.slack.fail("chat.postMessage", { error: "ratelimited" });
  await expect(deliver(w, text("later"), place)).rejects.toMatchObject({ problem: "wait" });
});

scene("a rate limit on posts does not delay the form of a click", async (w) => {
  const place = w.placeFor(await hear(w, "hi"));
  const [receipt] = await deliver(
    w,
    bubble(
      "e1",
      { type: "secret-request", secret: { label: "Key", connector: "acme", field: "key" }, webForm: false },
      "c1",
    ),
    place,
  );
  w.slack.fail("chat.postMessage", { rateLimit: 30 });
  await expect(deliver(w, text("later", "e2"), place)).rejects.toMatchObject({ problem: "wait" });
  const pressed = await w.slack.press(
    w.alice,
    { channel: w.general, ts: receipt?.nativeId ?? "" },
    "Enter it privately",
  );
  expect(pressed).toMatchObject({ acknowledged: true });
  expect(pressed.ms).toBeLessThan(1000);
  await w.slack.waitForModal(w.alice, 1500);
});

scene("refused blocks are sent once more as words, in the same thread", async (w) => {
  const event = await hear(w, "hi");
  w.slack.fail("chat.postMessage", { error: "invalid_blocks" });
  await deliver(w, retryCard("e1", "c1"), w.placeFor(event));
  const [post] = w.slack.posts(w.general);
  expect(post).toMatchObject({ threadTs: event.platformId, blocks: [] });
  expect(post?.text).toContain("did not work");
  expect(post?.text).toContain("Retry");
});

scene("a message refused in both forms is a readable content error", async (w) => {
  const place = w.placeFor(await hear(w, "hi"));
  w.slack.fail("chat.postMessage", { error: "msg_too_long" }, { times: 2 });
  await expect(deliver(w, text("too much"), place)).rejects.toMatchObject({
    problem: "content",
    message: expect.stringContaining("msg_too_long"),
  });
  expect(w.slack.calls("chat.postMessage")).toHaveLength(2);
});

for (const [error, problem, words] of [
  ["is_archived", "place", "archived"],
  ["not_in_channel", "place", "Invite"],
  ["restricted_action_thread_only_channel", "place", "does not let"],
  ["token_revoked", "bot", "Install the app again"],
  ["internal_error", "unknown", "may have arrived"],
  ["<!DOCTYPE html><p>proxy</p>", "unknown", "may have arrived"],
] as const) {
  scene(`Slack's ${error.slice(0, 20)} is understood`, async (w) => {
    const place = w.placeFor(await hear(w, "hi"));
    w.slack.fail("chat.postMessage", { error });
    await expect(deliver(w, text("x"), place)).rejects.toMatchObject({
      problem,
      message: expect.stringContaining(words),
    });
    expect(w.slack.calls("chat.postMessage")).toHaveLength(1);
  });
}

scene(
  "a revoked token marks this bot only, the other goes on, and a working call mends it",
  async (w) => {
    const [ada, bo] = w.bots;
    const event = await hear(w, "hi");
    w.slack.revoke(ada as never);
    await expect(
      deliver(w, text("x"), w.placeFor({ ...event, installationId: w.installation(ada) })),
    ).rejects.toMatchObject({ problem: "bot" });
    await deliver(w, text("still here", "e2"), w.placeFor({ ...event, installationId: w.installation(bo) }));
    expect(w.adapter.health().map((one) => one.state)).toEqual(["failed", "connected"]);
    w.slack.revoke(ada as never, null);
    await deliver(w, text("back again", "e3"), w.placeFor({ ...event, installationId: w.installation(ada) }));
    expect(w.adapter.health().map((one) => one.state)).toEqual(["connected", "connected"]);
  },
  { bots: ["Ada", "Bo"] },
);

scene("an edit asked to wait is repeated until the newest words are shown", async (w) => {
  const place = w.placeFor(await hear(w, "hi"));
  const card = retryCard("e1", "c1");
  const receipts = await deliver(w, card, place);
  w.slack.fail("chat.update", { error: "ratelimited" });
  w.slack.fail("chat.update", { acceptThen: "drop" });
  await w.adapter.settle(card, place, receipts, {
    cardId: "c1",
    state: "answered",
    answer: { values: ["retry"], labels: ["Retry"] },
    byName: "Alice",
  });
  const [post] = w.slack.posts(w.general);
  expect(post?.controls).toEqual([]);
  expect(post?.text).toContain("Retry (answered by Alice)");
});

scene("redrawing a card that was deleted is no failure", async (w) => {
  const place = w.placeFor(await hear(w, "hi"));
  const card = retryCard("e1", "c1");
  const receipts = await deliver(w, card, place);
  w.slack.erase({ channel: w.general, ts: receipts[0]?.nativeId ?? "" });
  await w.adapter.settle(card, place, receipts, { cardId: "c1", state: "expired" });
});
