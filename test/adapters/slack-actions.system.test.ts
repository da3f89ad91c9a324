/** Clicks, choices and forms in an emulated Slack: what people press and what `receive` hears. */

import { expect, test } from "vitest";
import { createSlackAdapter } from "../../src/adapters/slack/index.ts";
import type { AnswerEvent, BubbleContent, Widget } from "../../src/engine/index.ts";
import { bubble, deliver, retryCard, waitUntil } from "./deliveries.ts";
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

const widget = (labels: readonly string[], more: Partial<Widget> = {}): BubbleContent => ({
  type: "widget",
  widget: {
    prompt: "Which one?",
    options: labels.map((label, index) => ({ label, value: `value-${index}`, style: "default" })),
    allowCustom: false,
    dismissOnMoveOn: false,
    ...more,
  },
});
/** Shows a card in a thread and says where it is. */
async function show(w: SlackWorld, content: BubbleContent) {
  w.slack.say(w.alice, w.general, "a card please");
  const place = w.placeFor(await w.message("a card please"));
  const receipts = await deliver(w, bubble("e1", content, "card-1"), place);
  return { channel: w.general, ts: receipts.at(-1)?.nativeId ?? "" };
}
const answer = (w: SlackWorld) =>
  waitUntil(() => w.received.find((event): event is AnswerEvent => event.type === "answer"), "an answer");
const notice = (w: SlackWorld, words: string, person = w.alice) =>
  waitUntil(() => w.slack.noticesFor(person).find((one) => one.text.includes(words)), `the notice "${words}"`);

scene("a few short choices are buttons, and a press is the answer", async (w) => {
  const card = await show(w, widget(["Red", "Green", "Blue"]));
  expect(w.slack.read(card)?.controls.map((control) => control.label)).toEqual(["Red", "Green", "Blue"]);
  const pressed = await w.slack.press(w.alice, card, "Green");
  expect(pressed.acknowledged).toBe(true);
  expect(await answer(w)).toMatchObject({
    cardId: "card-1",
    choices: ["value-1"],
    from: { name: "Alice", kind: "member" },
    conversation: { kind: "thread" },
  });
});

const many = (count: number) => Array.from({ length: count }, (_, i) => `Option number ${i}`);
for (const [what, labels, kind] of [
  ["eight choices are radio buttons", many(8), "radio_buttons"],
  ["long labels are radio buttons", ["A label much too long for a button to show", "B"], "radio_buttons"],
  ["twenty-five choices are a menu", many(25), "static_select"],
] as const) {
  scene(`${what}, and a choice is the answer`, async (w) => {
    const card = await show(w, widget(labels));
    const [control] = w.slack.read(card)?.controls ?? [];
    expect(control?.type).toBe(kind);
    await w.slack.press(w.alice, card, 0, { choose: labels.at(-1) ?? "" });
    expect((await answer(w)).choices).toEqual([`value-${labels.length - 1}`]);
    expect(w.slack.refusals).toEqual([]);
  });
}

for (const count of [4, 25]) {
  scene(`several of ${count} choices are handed in together`, async (w) => {
    const card = await show(w, widget(many(count), { multiple: { min: 1, max: 3 } }));
    await w.slack.press(w.alice, card, 0, { choose: ["Option number 1", "Option number 3"] });
    await w.slack.settle(100);
    expect(w.received.some((event) => event.type === "answer")).toBe(false);
    expect((await w.slack.press(w.alice, card, "Submit")).acknowledged).toBe(true);
    expect((await answer(w)).choices).toEqual(["value-1", "value-3"]);
  });
}

scene("labels of 76 and 200 characters, emoji and descriptions are all reachable and readable", async (w) => {
  const labels = ["x".repeat(76), "y".repeat(200), "👩‍👩‍👧‍👦".repeat(12), "short"];
  const content = widget(labels);
  const card = await show(w, content);
  const post = w.slack.read(card);
  for (const label of labels) expect(post?.text).toContain(label);
  const options = post?.controls[0]?.options ?? [];
  expect(options).toHaveLength(4);
  await w.slack.press(w.alice, card, 0, { choose: options[1]?.label ?? "" });
  expect((await answer(w)).choices).toEqual(["value-1"]);
  expect(w.slack.refusals).toEqual([]);
});

scene("values too long for Slack come back whole, also after a restart", async (w) => {
  const options = [0, 1].map((i) => ({
    label: `Choice ${i}`,
    value: `${i}${"v".repeat(280)}`,
    style: "default" as const,
  }));
  const card = await show(w, widget([], { options }));
  await w.adapter.stop();
  const again = createSlackAdapter({ apiUrl: w.slack.apiUrl });
  await again.start(
    { botId: "ada", name: "Ada", role: "", settings: { botToken: w.ada.botToken, appToken: w.ada.appToken } },
    w.context,
  );
  try {
    await w.slack.waitForSocket(w.ada);
    await w.slack.press(w.alice, card, "Choice 1");
    expect((await answer(w)).choices).toEqual([options[1]?.value]);
  } finally {
    await again.stop();
  }
});

scene("what a model writes into a widget pings nobody, before and after the answer", async (w) => {
  const evil = "<!channel> <@U0BOB> @here";
  const content = widget([`One ${evil}`, "Two"], { prompt: evil, helpText: evil });
  const card = await show(w, content);
  const post = () => w.slack.read(card);
  expect(post()?.mentions).toEqual([]);
  const place = w.placeIn({ kind: "thread", channelId: w.general.id, threadId: post()?.threadTs ?? "" });
  await w.adapter.settle(bubble("e1", content, "card-1"), place, [{ nativeId: card.ts }], {
    cardId: "card-1",
    state: "answered",
    answer: { values: ["value-0"], labels: [`One ${evil}`] },
    byName: evil,
  });
  expect(post()?.mentions).toEqual([]);
  expect(post()?.controls).toEqual([]);
  expect(w.slack.calls("chat.update")[0]?.args).toMatchObject({ parse: "none", link_names: "false" });
});

scene("Other… opens a form whose words are the answer", async (w) => {
  const card = await show(w, widget(["Red"], { allowCustom: true }));
  await w.slack.press(w.alice, card, "Other…");
  await w.slack.waitForModal(w.alice);
  await w.slack.submit(w.alice, { Answer: "Purple, please" });
  expect(await answer(w)).toMatchObject({
    cardId: "card-1",
    choices: [],
    text: "Purple, please",
    conversation: { kind: "thread" },
  });
  expect(w.slack.modal(w.alice)).toBeNull();
});

scene("a form answer that is refused shows the reason at its field", async (w) => {
  const card = await show(w, widget(["Red"], { allowCustom: true }));
  await w.slack.press(w.alice, card, "Other…");
  await w.slack.waitForModal(w.alice);
  w.receiveWith(async () => ({ status: "refused", reason: "Please be brief." }));
  const result = await w.slack.submit(w.alice, { Answer: "Purple" });
  expect(JSON.stringify(result)).toContain("Please be brief.");
  expect(w.slack.modal(w.alice)).not.toBeNull();
});

scene("a click is acknowledged within a second while storing it hangs", async (w) => {
  const card = await show(w, widget(["Red"]));
  w.receiveWith(() => new Promise(() => undefined));
  const pressed = await w.slack.press(w.alice, card, "Red");
  expect(pressed.acknowledged).toBe(true);
  expect(pressed.ms).toBeLessThan(1000);
});

scene("a click that could not be stored is told to the person", async (w) => {
  const card = await show(w, widget(["Red"]));
  w.receiveWith(() => Promise.reject(new Error("away")));
  expect((await w.slack.press(w.alice, card, "Red")).acknowledged).toBe(true);
  await notice(w, "try again");
});

scene("somebody else's click is refused privately, and the card stays as it is", async (w) => {
  const card = await show(w, widget(["Red"]));
  w.receiveWith(async () => ({ status: "refused", reason: "This question is for Alice." }));
  await w.slack.press(w.bob, card, "Red");
  expect((await notice(w, "for Alice", w.bob)).threadTs).not.toBeNull();
  expect(w.slack.noticesFor(w.alice)).toEqual([]);
  expect(w.slack.read(card)?.controls).toHaveLength(1);
});

scene("a private notice takes the second way when the first is refused", async (w) => {
  const card = await show(w, widget(["Red"]));
  w.slack.fail("chat.postEphemeral", { error: "user_not_in_channel" });
  w.receiveWith(async () => ({ status: "refused", reason: "Not you." }));
  await w.slack.press(w.alice, card, "Red");
  await notice(w, "Not you.");
});

scene("every press of a button is its own event", async (w) => {
  const card = await show(w, widget(["Red", "Blue"]));
  await Promise.all([w.slack.press(w.alice, card, "Red"), w.slack.press(w.alice, card, "Blue")]);
  await waitUntil(() => w.received.filter((event) => event.type === "answer").length === 2, "both");
  expect(new Set(w.received.filter((event) => event.type === "answer").map((event) => event.dedupeKey)).size).toBe(2);
});

scene("a control nobody knows gets an explanation instead of silence", async (w) => {
  await w.slack.settle(50);
  const place = w.placeIn({ kind: "channel", channelId: w.general.id });
  const blocks = [
    {
      type: "actions",
      elements: [{ type: "button", text: { type: "plain_text", text: "Old" }, action_id: "someone-elses" }],
    },
  ];
  const receipt = await w.adapter.deliver(
    { id: "p1", index: 0, place, content: { kind: "message", text: "old", blocks }, progress: null, attempts: 0 },
    async () => undefined,
  );
  expect((await w.slack.press(w.alice, { channel: w.general, ts: receipt.nativeId }, "Old")).acknowledged).toBe(true);
  await notice(w, "Nothing was done");
  expect(w.received.filter((event) => event.type !== "message")).toEqual([]);
});

scene("a link button is acknowledged and means nothing more", async (w) => {
  const card = await show(w, { type: "cursor-agent", bcId: "bc_abc", url: "https://cursor.com/agents?id=bc_abc" });
  const [control] = w.slack.read(card)?.controls ?? [];
  expect(control?.url).toBe("https://cursor.com/agents?id=bc_abc");
  expect((await w.slack.press(w.alice, card, 0)).acknowledged).toBe(true);
  expect(w.slack.noticesFor(w.alice)).toEqual([]);
});

scene("Retry in a direct message names the direct conversation", async (w) => {
  w.slack.dm(w.alice, w.ada, "do it");
  const event = await w.message("do it");
  const [receipt] = await deliver(w, retryCard("e1", "card-9"), w.placeFor(event));
  await w.slack.press(w.alice, { channel: w.slack.dmChannel(w.alice, w.ada), ts: receipt?.nativeId ?? "" }, "Retry");
  expect(await answer(w)).toMatchObject({ cardId: "card-9", choices: ["retry"], conversation: { kind: "direct" } });
});
