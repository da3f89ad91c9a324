/**
 * The block rules as a table: each row is the smallest message that breaks one rule, with the place a client is told.
 * What is accepted exactly at a limit stands below.
 */
import { expect, test } from "vitest";
import { checkBlocks } from "./slack/block-rules.ts";

type Json = Record<string, unknown>;

const plain = (text: string) => ({ type: "plain_text", text });
const section = (text: string) => ({ type: "section", text: { type: "mrkdwn", text } });
const markdown = (text: string) => ({ type: "markdown", text });
const button = (text: string, more: Json = {}) => ({ type: "button", text: plain(text), action_id: "a", ...more });
const actions = (...elements: unknown[]) => ({ type: "actions", elements });
const options = (count: number) =>
  Array.from({ length: count }, (_item, index) => ({ text: plain(`o${index}`), value: `v${index}` }));
const rows = (cells: unknown[]) => ({ type: "table", rows: [cells] });

const BLOCK_ROWS: [string, unknown[], string][] = [
  ["51 blocks", Array.from({ length: 51 }, () => ({ type: "divider" })), "json-pointer:/blocks]"],
  ["an unknown block", [{ type: "hologram" }], "/blocks/0/type"],
  [
    "an input's own element in actions",
    [actions({ type: "plain_text_input", action_id: "x" })],
    "/blocks/0/elements/0/type",
  ],
  ["a section of 3,001 characters", [section("x".repeat(3001))], "/blocks/0/text/text"],
  ["a section without text", [{ type: "section" }], "/blocks/0"],
  ["an empty text", [section("")], "/blocks/0/text/text"],
  ["an unknown field", [{ ...section("x"), colour: "red" }], "/blocks/0/colour"],
  ["11 fields", [{ type: "section", fields: Array.from({ length: 11 }, () => plain("x")) }], "/blocks/0/fields"],
  ["a button text of 76 characters", [actions(button("x".repeat(76)))], "/blocks/0/elements/0/text/text"],
  [
    "a formatted button text",
    [actions({ ...button("x"), text: { type: "mrkdwn", text: "x" } })],
    "/blocks/0/elements/0/text/type",
  ],
  [
    "a button value of 2,001 characters",
    [actions(button("x", { value: "x".repeat(2001) }))],
    "/blocks/0/elements/0/value",
  ],
  ["a button style that does not exist", [actions(button("x", { style: "default" }))], "/blocks/0/elements/0/style"],
  ["the same action id twice in a block", [actions(button("x"), button("y"))], "/blocks/0/elements/1/action_id"],
  [
    "the same block id twice",
    [
      { ...section("x"), block_id: "b" },
      { ...section("y"), block_id: "b" },
    ],
    "/blocks/1/block_id",
  ],
  ["an action id of 256 characters", [actions(button("x", { action_id: "x".repeat(256) }))], "/action_id"],
  [
    "26 elements",
    [actions(...Array.from({ length: 26 }, (_item, index) => button("x", { action_id: `a${index}` })))],
    "/blocks/0/elements",
  ],
  ["no elements", [actions()], "/blocks/0/elements"],
  [
    "11 checkboxes",
    [actions({ type: "checkboxes", action_id: "x", options: options(11) })],
    "/blocks/0/elements/0/options",
  ],
  [
    "101 options",
    [actions({ type: "static_select", action_id: "x", options: options(101) })],
    "/blocks/0/elements/0/options",
  ],
  [
    "an option of 76 characters",
    [actions({ type: "static_select", action_id: "x", options: [{ text: plain("x".repeat(76)), value: "v" }] })],
    "/options/0/text/text",
  ],
  [
    "the same option twice",
    [actions({ type: "static_select", action_id: "x", options: [...options(1), ...options(1)] })],
    "unique",
  ],
  [
    "an initial option that is not offered",
    [
      actions({
        type: "static_select",
        action_id: "x",
        options: options(1),
        initial_option: { text: plain("z"), value: "z" },
      }),
    ],
    "initial_option",
  ],
  ["a header of 151 characters", [{ type: "header", text: plain("x".repeat(151)) }], "/blocks/0/text/text"],
  ["a formatted header", [{ type: "header", text: { type: "mrkdwn", text: "x" } }], "/blocks/0/text/type"],
  ["an image without alt text", [{ type: "image", image_url: "https://example.com/a.png" }], "/blocks/0/alt_text"],
  [
    "an image Slack cannot reach",
    [{ type: "image", image_url: "http://127.0.0.1/a.png", alt_text: "x" }],
    "downloading image failed",
  ],
  [
    "11 context elements",
    [{ type: "context", elements: Array.from({ length: 11 }, () => plain("x")) }],
    "/blocks/0/elements",
  ],
  ["markdown of 12,001 characters", [markdown("x".repeat(12_001))], "/blocks/0/text"],
  [
    "markdown blocks of 12,001 characters together",
    [markdown("x".repeat(6000)), markdown("x".repeat(6001))],
    "12000 characters in all",
  ],
  [
    "60 short headings in one block",
    [markdown(Array.from({ length: 60 }, (_item, index) => `# h${index}`).join("\n"))],
    "after expanding markdown",
  ],
  [
    "60 paragraphs in one block",
    [markdown(Array.from({ length: 60 }, () => "x").join("\n\n"))],
    "after expanding markdown",
  ],
  ["an empty table cell", [rows([{ type: "raw_text", text: "" }])], "/blocks/0/rows/0/0"],
  [
    "a table of 21 columns",
    [rows(Array.from({ length: 21 }, () => ({ type: "raw_text", text: "x" })))],
    "/blocks/0/rows/0",
  ],
  [
    "table cells of 10,001 characters",
    [
      rows([
        { type: "raw_text", text: "x".repeat(5000) },
        { type: "raw_text", text: "x".repeat(5001) },
      ]),
    ],
    "10000 characters",
  ],
  [
    "a card body of 201 characters",
    [{ type: "card", body: { type: "mrkdwn", text: "x".repeat(201) } }],
    "/blocks/0/body/text",
  ],
  [
    "four card buttons",
    [
      {
        type: "card",
        title: plain("x"),
        actions: [1, 2, 3, 4].map((index) => button("x", { action_id: `a${index}` })),
      },
    ],
    "/blocks/0/actions",
  ],
];

test.each(BLOCK_ROWS)("refused: %s", (_label, blocks, reason) => {
  const problems = checkBlocks(blocks).map((problem) => `${problem.message} [json-pointer:${problem.pointer}]`);
  expect(problems.join("\n")).toContain(reason);
});

const ACCEPTED_ROWS: [string, unknown[]][] = [
  ["50 dividers", Array.from({ length: 50 }, () => ({ type: "divider" }))],
  ["a section of 3,000 characters", [section("x".repeat(3000))]],
  ["a button text of 75 characters", [actions(button("x".repeat(75)))]],
  ["markdown of 12,000 characters", [markdown("x".repeat(12_000))]],
  ["the same action id in two blocks", [actions(button("x")), actions(button("y"))]],
  ["45 paragraphs", [markdown(Array.from({ length: 45 }, () => "x").join("\n\n"))]],
];

test.each(ACCEPTED_ROWS)("accepted at the limit: %s", (_label, blocks) => {
  expect(checkBlocks(blocks)).toEqual([]);
});
