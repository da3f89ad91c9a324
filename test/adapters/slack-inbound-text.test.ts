/** What people write in Slack, as clean text: names, places of mentions, what is code or quotation. */

import { expect, test } from "vitest";
import type { Fields } from "../../src/adapters/shared/fields.ts";
import { readText } from "../../src/adapters/slack/inbound-text.ts";

const NAMES: Record<string, string> = { U0ADA: "Ada", U0ALICE: "Alice", U0BOB: "Bob" };
const names = {
  user: (id: string) => NAMES[id],
  group: (id: string) => (id === "S1" ? { handle: "team", members: ["U0ADA", "U0BO"] } : undefined),
};
const rich = (...elements: Fields[]): Fields => ({
  blocks: [{ type: "rich_text", elements: [{ type: "rich_text_section", elements }] }],
});

test("mentions have names and exact places in the clean text", () => {
  const clean = readText({ text: "hey <@U0ADA> and <@U0BOB|bobby> &amp; <@U0NEW>" }, names);
  expect(clean.text).toBe("hey @Ada and @Bob & @U0NEW");
  expect(clean.mentions.map((m) => [m.platformId, clean.text.slice(m.start, m.end)])).toEqual([
    ["U0ADA", "@Ada"],
    ["U0BOB", "@Bob"],
    ["U0NEW", "@U0NEW"],
  ]);
});

test("entities are decoded exactly once", () => {
  expect(readText({ text: "&amp;lt;b&amp;gt; &lt;i&gt; a &amp;&amp; b" }, names).text).toBe("&lt;b&gt; <i> a && b");
});

test("blocks win over text: a name typed inside code is plain text", () => {
  const clean = readText(
    {
      text: "<@U0ADA> `<@U0BOB>`",
      ...rich(
        { type: "user", user_id: "U0ADA" },
        { type: "text", text: " " },
        { type: "text", text: "<@U0BOB>", style: { code: true } },
      ),
    },
    names,
  );
  expect(clean.text).toBe("@Ada `<@U0BOB>`");
  expect(clean.mentions.map((m) => m.platformId)).toEqual(["U0ADA"]);
  expect(clean.quoted.map((q) => clean.text.slice(q.start, q.end))).toEqual(["`<@U0BOB>`"]);
});

test("without blocks, code in the text mentions nobody either", () => {
  const clean = readText({ text: "run `&lt;@U0BOB&gt; <@U0ADA>` and ```\n@ada <@U0ADA>\n```" }, names);
  expect(clean.mentions).toEqual([]);
  expect(clean.quoted).toHaveLength(2);
});

test("code, quotations and links are marked, so that names in them address nobody", () => {
  const blocks = [
    {
      type: "rich_text",
      elements: [
        { type: "rich_text_quote", elements: [{ type: "text", text: "@ada said\nthis" }] },
        { type: "rich_text_preformatted", elements: [{ type: "text", text: "@ada()" }] },
        {
          type: "rich_text_section",
          elements: [
            { type: "link", url: "https://a.example/@ada", text: "the page" },
            { type: "text", text: " ok" },
          ],
        },
      ],
    },
  ];
  const clean = readText({ blocks }, names);
  expect(clean.text).toBe("> @ada said\n> this\n```\n@ada()\n```\n[the page](https://a.example/@ada) ok");
  const marked = clean.quoted.map((q) => clean.text.slice(q.start, q.end));
  expect(marked).toEqual(["> @ada said\n> this", "```\n@ada()\n```", "[the page](https://a.example/@ada)"]);
});

test("a quotation in the text field is marked as well", () => {
  const clean = readText({ text: "&gt; <@U0ADA> said\nno" }, names);
  expect(clean.text).toBe("> @Ada said\nno");
  expect(clean.quoted).toHaveLength(1);
});

test.each([
  ["<!channel> lunch", "@channel lunch"],
  ["<!here|here> lunch", "@here lunch"],
  ["<!everyone> lunch", "@everyone lunch"],
  ["@everyone lunch", "@everyone lunch"],
  ["@all lunch", "@all lunch"],
])("%s is a mass ping", (text, shown) => {
  expect(readText({ text }, names)).toMatchObject({ text: shown, everyone: true, mentions: [] });
});

test.each(["`@everyone`", "mail me@all.example", "<https://a.example/@everyone>"])("%s is none", (text) => {
  expect(readText({ text }, names).everyone).toBe(false);
});

test("a user group names its members", () => {
  const clean = readText(rich({ type: "usergroup", usergroup_id: "S1" }, { type: "text", text: " hi" }), names);
  expect(clean).toMatchObject({
    text: "@team hi",
    mentions: [{ platformId: "S1", start: 0, end: 5, members: ["U0ADA", "U0BO"] }],
  });
  expect(readText({ text: "<!subteam^S2|@ops> hi" }, names).text).toBe("@ops hi");
});

test("channels keep their ids, links their addresses, emoji their looks, lists their numbers", () => {
  expect(
    readText({ text: "see <#C2|ops>, <https://a.example/?a=1&amp;b=2|here>, <mailto:a@b.example|a@b.example>" }, names)
      .text,
  ).toBe("see <#C2|ops>, [here](https://a.example/?a=1&b=2), a@b.example");
  const list = {
    type: "rich_text_list",
    style: "ordered",
    indent: 1,
    elements: [
      { type: "rich_text_section", elements: [{ type: "text", text: "one" }] },
      {
        type: "rich_text_section",
        elements: [
          { type: "emoji", name: "tada", unicode: "1f389" },
          { type: "emoji", name: "ours" },
        ],
      },
    ],
  };
  expect(readText({ blocks: [{ type: "rich_text", elements: [list] }] }, names).text).toBe("  1. one\n  2. 🎉:ours:");
});

test("a pasted table and a shared message are read, a link preview is not", () => {
  const attachments = [
    {
      blocks: [
        {
          type: "table",
          rows: [
            [
              { type: "raw_text", text: "a" },
              { type: "raw_text", text: "b" },
            ],
            [
              { type: "rich_text", elements: [{ elements: [{ type: "text", text: "1" }] }] },
              { type: "raw_text", text: "2" },
            ],
          ],
        },
      ],
    },
    { is_share: true, author_name: "Bob", text: "ask @ada &amp; co" },
    { from_url: "https://a.example", title: "Preview", text: "of a page" },
  ];
  const clean = readText({ text: "look", attachments }, names);
  expect(clean.text).toBe("look\n| a | b |\n| 1 | 2 |\n> Bob:\n> ask @ada & co");
  expect(clean.quoted).toHaveLength(3);
});

test("a message of blocks only, or of nothing, does not fail", () => {
  expect(readText({}, names)).toEqual({ text: "", mentions: [], quoted: [], everyone: false });
  const cards = readText(
    { blocks: [{ type: "section", text: { type: "mrkdwn", text: "ask @ada" } }, { type: "divider" }] },
    names,
  );
  expect(cards.text).toBe("ask @ada");
  expect(cards.quoted).toEqual([{ start: 0, end: 8 }]);
});

test("a forwarded message brings its words, its author, its place and the names of its files, all quoted", () => {
  const forwarded = {
    is_share: true,
    author_name: "Bob",
    channel_name: "plans",
    from_url: "https://acme.slack.com/archives/C1/p1",
    message_blocks: [
      {
        message: {
          blocks: [
            {
              type: "rich_text",
              elements: [
                {
                  type: "rich_text_section",
                  elements: [
                    { type: "text", text: "ask @ada" },
                    { type: "emoji", name: "tada" },
                  ],
                },
              ],
            },
          ],
        },
      },
    ],
    files: [{ id: "F1", name: "plan.pdf" }],
  };
  const clean = readText({ text: "see this", attachments: [forwarded] }, names);
  expect(clean.text).toBe("see this\n> Bob in #plans:\n> ask @ada:tada:\n> [file: plan.pdf]");
  expect(clean.mentions).toEqual([]);
  expect(clean.quoted).toEqual([{ start: 9, end: clean.text.length }]);
});

test("another company's card is read by title, words and fields, without its buttons", () => {
  const note = {
    title: "Build 7 failed",
    text: "on <https://ci.example|main>",
    fields: [{ title: "Stage", value: "tests" }],
  };
  expect(readText({ text: "", attachments: [note] }, names).text).toBe(
    "Build 7 failed\non <https://ci.example|main>\nStage: tests",
  );
  const blocks = [
    { type: "header", text: { type: "plain_text", text: "Deploy" } },
    { type: "section", text: { type: "mrkdwn", text: "to *prod*" }, fields: [{ type: "mrkdwn", text: "by Bob" }] },
    { type: "actions", elements: [{ type: "button", text: { type: "plain_text", text: "Roll back" } }] },
  ];
  expect(readText({ blocks }, names).text).toBe("Deploy\nto *prod*\nby Bob");
});

test("a table in the message's own blocks is read once, beside its words", () => {
  const table = {
    type: "data_table",
    caption: "Costs",
    rows: [
      [
        { type: "raw_text", text: "a" },
        { type: "raw_text", text: "1" },
      ],
    ],
  };
  expect(readText({ text: "look", blocks: [table] }, names).text).toBe("look\nCosts\n| a | 1 |");
});
