/** Handing over a secret in an emulated Slack: by link, by form, and nowhere else. */

import { expect, test } from "vitest";
import type { BubbleContent, SecretEvent } from "../../src/engine/index.ts";
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

const secret = (webForm: boolean): BubbleContent => ({
  type: "secret-request",
  secret: { label: "Key for Acme", connector: "acme", field: "key" },
  webForm,
});

/** Shows a card in a thread and says where it is. */
async function show(w: SlackWorld, content: BubbleContent) {
  w.slack.say(w.alice, w.general, "a card please");
  const place = w.placeFor(await w.message("a card please"));
  const receipts = await deliver(w, bubble("e1", content, "card-1"), place);
  return { channel: w.general, ts: receipts.at(-1)?.nativeId ?? "" };
}
const notice = (w: SlackWorld, words: string, person = w.alice) =>
  waitUntil(() => w.slack.noticesFor(person).find((one) => one.text.includes(words)), `the notice "${words}"`);

scene("with a web form, the button brings a one-time link that only this person sees", async (w) => {
  const card = await show(w, secret(true));
  w.receiveWith(async (event) =>
    event.type === "secret-link"
      ? { status: "accepted", link: "https://parley.example/s/abc" }
      : { status: "accepted" },
  );
  await w.slack.press(w.alice, card, "Enter it privately");
  const shown = await notice(w, "one-time link");
  expect(JSON.stringify(shown.blocks)).toContain("https://parley.example/s/abc");
  expect(JSON.stringify(w.slack.posts(w.general).map((post) => post.body))).not.toContain("/s/abc");
});

scene("without one, Slack's own form says that it cannot mask and hands the value over sealed", async (w) => {
  const card = await show(w, secret(false));
  await w.slack.press(w.alice, card, "Enter it privately");
  const modal = await w.slack.waitForModal(w.alice);
  expect(JSON.stringify(modal)).toContain("Slack shows what you type");
  await w.slack.submit(w.alice, { Secret: "hunter2-hunter2" });
  const event = await waitUntil(
    () => w.received.find((one): one is SecretEvent => one.type === "secret"),
    "the secret",
  );
  expect(event.value.reveal()).toBe("hunter2-hunter2");
  expect(JSON.stringify(w.received)).not.toContain("hunter2");
  expect(w.logs.join("\n")).not.toContain("hunter2");
  expect(JSON.stringify(w.slack.requests.map((request) => request.args))).not.toContain("hunter2");
  expect(w.slack.modal(w.alice)).toBeNull();
});

scene("a secret that could not be stored leaves no trace of its value", async (w) => {
  const card = await show(w, secret(false));
  await w.slack.press(w.alice, card, "Enter it privately");
  await w.slack.waitForModal(w.alice);
  w.receiveWith(() => Promise.reject(new Error("hunter2-hunter2 could not be sealed")));
  const result = await w.slack.submit(w.alice, { Secret: "hunter2-hunter2" });
  expect(JSON.stringify(result)).toContain("try again");
  expect(w.logs.join("\n")).not.toContain("hunter2");
});

scene("declining is one press", async (w) => {
  const card = await show(w, secret(true));
  await w.slack.press(w.alice, card, "Decline");
  await waitUntil(
    () => w.received.find((event) => event.type === "dismiss" && event.cardId === "card-1"),
    "the refusal",
  );
});

scene("the redrawn request says that it was received, and from whom, and nothing else", async (w) => {
  const card = await show(w, secret(true));
  const place = w.placeIn({ kind: "thread", channelId: w.general.id });
  await w.adapter.settle(bubble("e1", secret(true), "card-1"), place, [{ nativeId: card.ts }], {
    cardId: "card-1",
    state: "answered",
    byName: "Alice",
  });
  expect(w.slack.read(card)).toMatchObject({
    controls: [],
    text: expect.stringContaining("Secret received from Alice"),
  });
});

/** Everything there is after a secret was typed: requests, answers, notices, posts, stored notes, logs, metrics. */
async function everything(w: SlackWorld): Promise<string> {
  const notes = await w.context.kv.list({ prefix: "", limit: 1000 });
  const seen = w.slack.requests.map(({ method, args, answer }) => ({ method, args, answer }));
  return JSON.stringify([
    seen,
    w.slack.ephemerals.map((one) => [one.text, one.blocks]),
    w.slack.posts().map((post) => post.body),
    notes,
    w.logs,
    w.metrics,
    w.received,
  ]);
}

test.each<[string, (w: SlackWorld, canary: string) => void]>([
  ["is stored", () => undefined],
  ["is refused", (w) => w.receiveWith(() => Promise.resolve({ status: "refused", reason: "Only Alice may answer." }))],
  ["came a second time", (w) => w.receiveWith(() => Promise.resolve({ status: "duplicate" }))],
  [
    "cannot be stored, and the error repeats it",
    (w, canary) => w.receiveWith(() => Promise.reject(new Error(`no room for ${canary}`))),
  ],
  [
    "is stored too late for Slack",
    (w) =>
      w.receiveWith(async () => {
        await new Promise((resolve) => setTimeout(resolve, 2600));
        return { status: "refused", reason: "Too late." };
      }),
  ],
  ["comes from somebody who cannot be looked up", (w) => w.slack.fail("users.info", { status: 500 }, { times: 20 })],
])("a typed secret that %s is nowhere but in the sealed event", async (_what, prepare) => {
  const w = await openSlackWorld();
  try {
    const canary = `canary-${crypto.randomUUID()}`;
    const card = await show(w, secret(false));
    await w.slack.press(w.alice, card, "Enter it privately");
    await w.slack.waitForModal(w.alice);
    prepare(w, canary);
    const result = await w.slack.submit(w.alice, { Secret: canary });
    expect(result.acknowledged).toBe(true);
    await w.slack.settle(200);
    expect(await everything(w)).not.toContain(canary);
    expect(JSON.stringify(result)).not.toContain(canary);
  } finally {
    await w.close();
  }
});

scene("a form opened for one person and sent by another is theirs, and refused to them", async (w) => {
  const card = await show(w, secret(false));
  await w.slack.press(w.alice, card, "Enter it privately");
  await w.slack.waitForModal(w.alice);
  w.receiveWith(async (event) =>
    event.type === "secret" && event.from.name === "Bob"
      ? { status: "refused", reason: "Only the person asked can answer." }
      : { status: "accepted" },
  );
  const result = await w.slack.submit(w.alice, { Secret: "hunter2-hunter2" }, w.bob);
  expect(JSON.stringify(result)).toContain("Only the person asked");
  expect(w.received.find((one) => one.type === "secret")).toMatchObject({ from: { name: "Bob" } });
});

scene("a trigger that ran out is told, and pressing again opens the form", async (w) => {
  const card = await show(w, secret(false));
  w.slack.fail("views.open", { error: "expired_trigger_id" });
  await w.slack.press(w.alice, card, "Enter it privately");
  await notice(w, "press the button again");
  await w.slack.press(w.alice, card, "Enter it privately");
  await w.slack.waitForModal(w.alice);
});

scene("the form opens although the database hangs and the other client must wait", async (w) => {
  const card = await show(w, secret(false));
  w.receiveWith(() => new Promise(() => undefined));
  w.slack.fail("chat.postMessage", { rateLimit: 30 });
  const place = w.placeIn({ kind: "channel", channelId: w.general.id });
  await deliver(w, bubble("e2", { type: "text", content: "x", images: [] }), place).catch(() => undefined);
  const started = Date.now();
  await w.slack.press(w.alice, card, "Enter it privately");
  await w.slack.waitForModal(w.alice);
  expect(Date.now() - started).toBeLessThan(1000);
});
