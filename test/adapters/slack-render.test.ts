/** Deliveries as Block Kit: limits at the limit and one over, checked by the emulator's own rules. */

import { expect, test } from "vitest";
import { type MessageContent, renderDelivery, type SlackContent } from "../../src/adapters/slack/render.ts";
import type { BubbleContent, Delivery, FileRef, HostCard, WidgetOption } from "../../src/engine/index.ts";
import { checkBlocks } from "../emulators/slack/block-rules.ts";
import { bubble, linkCard } from "./deliveries.ts";

const file = (name: string): FileRef => ({ sha256: "0".repeat(64), ext: "png", name, mediaType: "image/png", size: 1 });
const only = (contents: readonly SlackContent[]): MessageContent => {
  const [content] = contents;
  if (contents.length !== 1 || content?.kind !== "message") throw new Error("not one message");
  return content;
};
const problems = (contents: readonly SlackContent[]) =>
  contents.flatMap((content) => (content.kind === "message" ? checkBlocks([...content.blocks], "message") : []));
const option = (label: string, more: Partial<WidgetOption> = {}): WidgetOption => ({
  label,
  value: label,
  style: "default",
  ...more,
});
const widget = (options: readonly WidgetOption[], more: object = {}): BubbleContent => ({
  type: "widget",
  widget: { prompt: "Which?", options, allowCustom: false, dismissOnMoveOn: false, ...more },
});
const controls = (content: MessageContent) => {
  const actions = content.blocks.find((block) => block.type === "actions");
  return (actions?.elements as { type: string; style?: string; options?: unknown[] }[] | undefined) ?? [];
};

test("a text is one markdown block with plain words for notifications", () => {
  expect(only(renderDelivery(bubble("e", { type: "text", content: "**Hi** <b>", images: [] })))).toEqual({
    kind: "message",
    text: "**Hi** &lt;b&gt;",
    blocks: [{ type: "markdown", text: "**Hi** &lt;b>" }],
  });
});

test("pictures follow the words in shares of ten, the whole text as a file comes last", () => {
  const images = Array.from({ length: 12 }, (_, i) => file(`${i}.png`));
  const contents = renderDelivery(bubble("e", { type: "text", content: "Look", images, document: file("all.md") }));
  expect(contents.map((content) => (content.kind === "files" ? content.files.length : "text"))).toEqual([
    "text",
    10,
    2,
    1,
  ]);
});

test("an attachment's description is its comment, and pings nobody", () => {
  expect(
    renderDelivery(bubble("e", { type: "attachment", file: { ...file("a.png"), alt: "<!here> look" } })),
  ).toMatchObject([{ kind: "files", comment: "&lt;!here&gt; look" }]);
});

test.each([
  ["one", [option("a")], ["button"]],
  [
    "five short",
    ["a", "b", "c", "d", "e"].map((label) => option(label)),
    ["button", "button", "button", "button", "button"],
  ],
  ["five of 30 characters", Array.from({ length: 5 }, (_, i) => option(`${i}`.repeat(30))), Array(5).fill("button")],
  ["one of 31 characters", [option("x".repeat(31))], ["radio_buttons"]],
  ["six", Array.from({ length: 6 }, (_, i) => option(`${i}`)), ["radio_buttons"]],
  ["two with descriptions", [option("a", { description: "d" }), option("b")], ["radio_buttons"]],
  ["ten", Array.from({ length: 10 }, (_, i) => option(`${i}`)), ["radio_buttons"]],
  ["eleven", Array.from({ length: 11 }, (_, i) => option(`${i}`)), ["static_select"]],
  ["twenty-five", Array.from({ length: 25 }, (_, i) => option(`${i}`)), ["static_select"]],
])("%s choice(s) as Slack takes them", (_what, options, kinds) => {
  const contents = renderDelivery(bubble("e", widget(options), "card-1"));
  expect(problems(contents)).toEqual([]);
  expect(controls(only(contents)).map((control) => control.type)).toEqual(kinds);
});

test.each([
  [10, "checkboxes"],
  [11, "multi_static_select"],
])("several of %i choices", (count, kind) => {
  const contents = renderDelivery(
    bubble(
      "e",
      widget(
        Array.from({ length: count }, (_, i) => option(`${i}`)),
        { multiple: { min: 0, max: 4 } },
      ),
      "card-1",
    ),
  );
  expect(problems(contents)).toEqual([]);
  expect(controls(only(contents)).map((control) => control.type)).toEqual([kind, "button"]);
});

test("emphasis of choices is kept on buttons", () => {
  const contents = renderDelivery(
    bubble("e", widget([option("Yes", { style: "primary" }), option("No", { style: "danger" })]), "card-1"),
  );
  expect(controls(only(contents)).map((control) => control.style)).toEqual(["primary", "danger"]);
});

test("the longest widget the model may make is accepted, with every option readable", () => {
  const options = Array.from({ length: 25 }, (_, i) =>
    option(`${i}`.padEnd(300, "L"), { value: `${i}`.padEnd(300, "V"), description: `${i}`.padEnd(300, "D") }),
  );
  const contents = renderDelivery(
    bubble(
      "e",
      widget(options, { prompt: "<".repeat(3000), helpText: "_".repeat(1000), allowCustom: true }),
      "x".repeat(36),
    ),
  );
  expect(problems(contents)).toEqual([]);
  const words = JSON.stringify(contents);
  for (const one of options) expect(words).toContain(one.label);
  const card = contents.find(
    (content): content is MessageContent => content.kind === "message" && content.isCard === true,
  );
  expect(card?.values?.list).toEqual(options.map((one) => one.value));
  expect(contents.at(-1)).toBe(card);
});

test("a widget nobody can answer by a control lists its choices", () => {
  const content = only(renderDelivery(bubble("e", widget([option("Red"), option("Blue")]))));
  expect(controls(content)).toEqual([]);
  expect(content.text).toContain("1. Red");
});

test("every card of the host has its controls, a notice has none", () => {
  const card = (kind: HostCard["kind"], labels: readonly string[]): Delivery => ({
    kind: "host-card",
    entryId: "e",
    botName: "Ada",
    ...(kind === "notice" ? {} : { cardId: "card-1" }),
    card: { kind, text: "Words <!here>", controls: labels.map((label) => ({ value: label, label, style: "default" })) },
  });
  for (const kind of ["retry", "continue", "handoff", "approval", "group", "connect"] as const) {
    const contents = renderDelivery(card(kind, ["One", "Two"]));
    expect(problems(contents)).toEqual([]);
    expect(controls(only(contents))).toHaveLength(2);
  }
  expect(controls(only(renderDelivery(card("notice", []))))).toEqual([]);
});

test.each([true, false])(
  "a secret request asks for a private way and warns against writing here (web form: %s)",
  (webForm) => {
    const contents = renderDelivery(
      bubble(
        "e",
        {
          type: "secret-request",
          secret: { label: "Key", description: "For invoices", connector: "acme", field: "key" },
          webForm,
        },
        "card-1",
      ),
    );
    expect(problems(contents)).toEqual([]);
    expect(only(contents).text).toContain("do not write it here");
    expect(JSON.stringify(only(contents).blocks)).toContain(webForm ? "secret-link" : "secret-form");
  },
);

test("a card with a page to open has a link button before its controls", () => {
  const [content] = renderDelivery(linkCard("e1", "c1"));
  const text = JSON.stringify(content);
  expect(text.indexOf("https://example.com/sign-in")).toBeGreaterThan(0);
  expect(text.indexOf("https://example.com/sign-in")).toBeLessThan(text.indexOf('"Done"'));
});
