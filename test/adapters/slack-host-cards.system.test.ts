/** Hand-off and approval cards on an emulated Slack: shown with their controls, answered by the right value, frozen afterwards. */

import { expect, test } from "vitest";
import type { AnswerEvent, Delivery, HostCard } from "../../src/engine/index.ts";
import { bubble, deliver, pieces, waitUntil } from "./deliveries.ts";
import { openSlackWorld, type SlackWorld } from "./slack-world.ts";

function scene(title: string, run: (world: SlackWorld) => Promise<void>): void {
  test(title, async () => {
    const world = await openSlackWorld();
    try {
      await run(world);
    } finally {
      await world.close();
    }
  });
}

const CARDS: Readonly<Record<"handoff" | "approval", HostCard>> = {
  handoff: {
    kind: "handoff",
    text: "**Ada needs you to sign in:** open the page and sign in with <@U1>",
    controls: [
      { value: "done", label: "Done", style: "primary" },
      { value: "cannot", label: "Can't", style: "default" },
    ],
  },
  approval: {
    kind: "approval",
    text: "**Ada asks to run:**\n\n```\nrm -rf <!channel>\n```",
    controls: [
      { value: "approve", label: "Approve", style: "primary" },
      { value: "deny", label: "Deny", style: "danger" },
    ],
  },
};
const show = async (w: SlackWorld, card: HostCard) => {
  const root = w.slack.say(w.alice, w.general, "work");
  const place = w.placeIn({ kind: "thread", channelId: w.general.id, threadId: root.ts });
  const delivery: Delivery = { kind: "host-card", entryId: "e1", botName: "Ada", cardId: "c1", card };
  const receipts = await deliver(w, delivery, place);
  const located = { channel: w.general, ts: receipts[0]?.nativeId ?? "" };
  return { delivery, place, receipts, located };
};

test.each([
  ["handoff", "Done", "done", "✓ Done"],
  ["handoff", "Can't", "cannot", "✗ Can't"],
  ["approval", "Approve", "approve", "✓ Approve"],
  ["approval", "Deny", "deny", "✗ Deny"],
] as const)("a %s card answered %s gives the value %s and stays as %s", async (kind, label, value, shown) => {
  const w = await openSlackWorld();
  try {
    const { delivery, place, receipts, located } = await show(w, CARDS[kind]);
    expect(w.slack.read(located)?.threadTs).toBe(place.ref.threadId);
    const pressed = await w.slack.press(w.alice, located, label);
    expect(pressed.acknowledged).toBe(true);
    const answer = await waitUntil(
      () => w.received.find((one): one is AnswerEvent => one.type === "answer"),
      "an answer",
    );
    expect(answer).toMatchObject({ cardId: "c1", choices: [value], conversation: { kind: "thread" } });
    const outcome = {
      cardId: "c1",
      state: "answered",
      answer: { values: [value], labels: [label] },
      byName: "Alice",
    } as const;
    await w.adapter.settle(delivery, place, receipts, outcome);
    await w.adapter.settle(delivery, place, receipts, outcome);
    const settled = w.slack.read(located);
    expect(settled?.text).toContain(shown);
    expect(settled?.text).toContain("Alice");
    expect(settled?.controls).toEqual([]);
    expect(settled?.mentions ?? []).toEqual([]);
  } finally {
    await w.close();
  }
});

scene("a long instruction is split, the controls stand under its last piece, and nothing in it pings", async (w) => {
  const { located, receipts } = await show(w, { ...CARDS.handoff, text: `${"A long way to go. ".repeat(900)}<!here>` });
  expect(receipts.length).toBeGreaterThan(1);
  expect(w.slack.read(located)?.controls).toEqual([]);
  expect(w.slack.read({ ...located, ts: receipts.at(-1)?.nativeId ?? "" })?.controls).toHaveLength(2);
  expect(w.slack.refusals).toEqual([]);
});

scene("a cloud agent is a card with a button; where Slack takes no cards, words with a button", async (w) => {
  const place = w.placeIn({ kind: "channel", channelId: w.general.id });
  const agent = bubble("e2", { type: "cursor-agent", bcId: "bc_1", url: "https://cursor.com/agents?id=bc_1" });
  await deliver(w, agent, place);
  w.slack.fail("chat.postMessage", { error: "invalid_blocks" });
  const [piece] = pieces(w, { ...agent, entryId: "e3" }, place);
  if (!piece) throw new Error("nothing rendered");
  await w.adapter.deliver(piece, async () => undefined);
  const [first, second] = w.slack.posts(w.general);
  for (const post of [first, second]) {
    expect(post?.controls).toMatchObject([{ url: "https://cursor.com/agents?id=bc_1" }]);
    expect(post?.text).toContain("bc_1");
  }
  expect(w.slack.calls("chat.postMessage").map(({ args }) => (args.blocks as { type: string }[])[0]?.type)).toEqual([
    "card",
    "card",
    "markdown",
  ]);
});
