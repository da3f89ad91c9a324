/** Deliveries as Discord messages: what becomes what, and every size at its limit. */

import { expect, test } from "vitest";
import type { Component } from "../../src/adapters/discord/components.ts";
import { codePoints, utf8Bytes } from "../../src/adapters/discord/limits.ts";
import { type CardContent, renderDelivery, renderSettled } from "../../src/adapters/discord/render.ts";
import type { BubbleContent, Widget, WidgetOption } from "../../src/engine/index.ts";
import { bubble, linkCard, retryCard } from "./deliveries.ts";

const option = (label: string, more: Partial<WidgetOption> = {}): WidgetOption => ({
  label,
  value: label,
  style: "default",
  ...more,
});
const widget = (options: readonly WidgetOption[], more: Partial<Widget> = {}): BubbleContent => ({
  type: "widget",
  widget: { prompt: "Which?", options, allowCustom: false, dismissOnMoveOn: false, ...more },
});
const render = (content: BubbleContent, cardId = "c1") => renderDelivery(bubble("e1", content, cardId));

function all(components: unknown): Component[] {
  return (Array.isArray(components) ? (components as Component[]) : []).flatMap((item) => [
    item,
    ...all(item.components),
    ...all(item.accessory ? [item.accessory] : []),
  ]);
}

function card(content: BubbleContent): CardContent {
  const found = render(content).at(-1);
  if (found?.kind !== "card") throw new Error("no card");
  return found;
}

const textOf = (content: CardContent) =>
  all(content.components).flatMap((item) => (item.type === 10 ? [String(item.content)] : []));

test("few short choices are buttons with their style, in rows of five", () => {
  const options = Array.from({ length: 7 }, (_, index) =>
    option(`Choice ${index}`, { style: index === 0 ? "primary" : "danger" }),
  );
  const rows = all(card(widget(options, { allowCustom: true })).components).filter((item) => item.type === 1);
  expect(rows.map((row) => (row.components as Component[]).length)).toEqual([5, 3]);
  const [first, second] = all(rows);
  expect(first).toMatchObject({ type: 1 });
  expect(second).toMatchObject({ type: 2, style: 1, label: "Choice 0", custom_id: "p1:pick:c1:0" });
});

test("more, longer or described choices are a menu; what it cannot show is written out", () => {
  const long = option("😀".repeat(150), { description: "漢".repeat(150) });
  const shown = card(widget([long, option("Short")]));
  const menu = all(shown.components).find((item) => item.type === 3);
  const [first] = (menu?.options ?? []) as { label: string; value: string; description: string }[];
  expect(first?.label.length).toBeLessThanOrEqual(100);
  expect(first?.description.length).toBeLessThanOrEqual(100);
  expect(first?.value).toBe("#0");
  expect(textOf(shown).join("")).toContain(`1. ${"😀".repeat(150)} (${"漢".repeat(150)})`);
  expect(shown.values?.list).toEqual([long.value, "Short"]);
});

test("options with the same value can be told apart", () => {
  const menu = all(
    card(widget([option("A", { value: "x", description: "d" }), option("B", { value: "x" })])).components,
  ).find((item) => item.type === 3);
  expect(((menu?.options ?? []) as { value: string }[]).map((one) => one.value)).toEqual(["#0", "#1"]);
});

test.each([
  ["letters", "x"],
  ["CJK", "漢"],
  ["emoji", "😀"],
])("a card of %s stays within what Discord shows, also once it says how it ended", (_title, sign) => {
  for (const length of [1500, 2600, 2990]) {
    const delivery = bubble("e1", widget([option("Yes")], { prompt: sign.repeat(length / sign.length) }), "c1");
    const pieces = renderDelivery(delivery);
    const last = pieces.at(-1);
    if (last?.kind !== "card") throw new Error("no card");
    const answer = { values: [], labels: [], custom: sign.repeat(1500) };
    const settled = renderSettled(last, delivery, { cardId: "c1", state: "answered", answer, byName: sign.repeat(16) });
    for (const content of [last, settled]) {
      const text = textOf(content).join("");
      expect(codePoints(text)).toBeLessThanOrEqual(4000);
      expect(utf8Bytes(text)).toBeLessThanOrEqual(10_000);
    }
    for (const piece of pieces) if (piece.kind === "text") expect(codePoints(piece.content)).toBeLessThanOrEqual(2000);
  }
});

test("a settled card keeps its words, names the choice and who made it, and has no controls", () => {
  const delivery = bubble("e1", widget([option("Blue")]), "c1");
  const settled = renderSettled(card(widget([option("Blue")])), delivery, {
    cardId: "c1",
    state: "answered",
    answer: { values: ["Blue"], labels: ["Blue"] },
    byName: "**Mallory** <@1>",
  });
  expect(all(settled.components).some((item) => item.type === 2 || item.type === 3)).toBe(false);
  expect(textOf(settled)).toEqual(["Which?", "-# ✓ Blue (answered by \\*\\*Mallory\\*\\* \\<\\@1\\>)"]);
});

test("eleven pictures would be two galleries, and large ones are divided by size", () => {
  const file = (size: number) => ({ sha256: "0".repeat(64), ext: "png", name: "a.png", mediaType: "image/png", size });
  const kinds = (images: readonly ReturnType<typeof file>[]) =>
    renderDelivery(bubble("e1", { type: "text", content: "x", images })).map((piece) =>
      piece.kind === "gallery" ? piece.files.length : 0,
    );
  expect(kinds(Array.from({ length: 11 }, () => file(1)))).toEqual([0, 10, 1]);
  expect(kinds(Array.from({ length: 4 }, () => file(9 * 1024 * 1024)))).toEqual([0, 2, 2]);
});

test("a host card without a card id is a plain notice; with one it has its controls", () => {
  const { cardId: _cardId, ...notice } = retryCard("e1", "c1") as { cardId: string } & ReturnType<typeof retryCard>;
  expect(renderDelivery(notice as ReturnType<typeof retryCard>)).toMatchObject([
    { kind: "text", content: "That did not work." },
  ]);
  expect(renderDelivery(retryCard("e1", "c1"))).toMatchObject([{ kind: "card", values: { list: ["retry"] } }]);
});

test("a card with a page to open has a link button before its controls", () => {
  const [content] = renderDelivery(linkCard("e1", "c1"));
  const buttons = all(content?.kind === "card" ? content.components : []).filter((item) => item.type === 2);
  expect(buttons.map((button) => button.url ?? button.label)).toEqual(["https://example.com/sign-in", "Done"]);
});
