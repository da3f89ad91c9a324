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
