/** Markdown as Discord shows it, and how long texts are cut. */

import { expect, test } from "vitest";
import { escapeWords, splitForDiscord, toDiscordMarkdown } from "../../src/adapters/discord/format.ts";
import { codePoints } from "../../src/adapters/discord/limits.ts";
import { convertTables, screenWidth } from "../../src/adapters/discord/tables.ts";
import type { PersonRef } from "../../src/engine/index.ts";

const shown = (markdown: string) => toDiscordMarkdown(markdown).text;
const alice: PersonRef = {
  id: "discord:@me:200000000000000001",
  platformId: "200000000000000001",
  name: "Alice",
  kind: "member",
};

test.each([
  ["deep headings become bold", "#### Deep **one**\ntext", "**Deep one**\ntext"],
  ["headings Discord knows stay", "# One\n## Two\n### Three", "# One\n## Two\n### Three"],
  ["a rule becomes an empty line", "a\n\n---\n\nb", "a\n\nb"],
  ["a picture becomes a link", "![a cat](https://x.example/c.png)", "[a cat](https://x.example/c.png)"],
  ["a link's title is left out", '[t](https://x.example "title")', "[t](https://x.example)"],
  ["double underscores mean bold", "__strong__ but snake__case__name", "**strong** but snake__case__name"],
  ["tasks become boxes", "- [ ] open\n- [x] done", "- ☐ open\n- ☑ done"],
  ["nested quotes become one", ">> deep", "> deep"],
  ["HTML tags are left out, breaks kept", "<b>a</b><br>b", "a\nb"],
  ["addresses without preview stay", "<https://x.example/?a=1&b=2>", "<https://x.example/?a=1&b=2>"],
  ["waves of tildes become backticks", "~~~py\nx = 1\n~~~", "```py\nx = 1\n```"],
  ["inner backticks cannot end a longer fence", "````md\n```\nx\n```\n````", "```md\n``\u200b`\nx\n``\u200b`\n```"],
  ["code stays as it is", "`__a__ ![x](y)`\n```\n#### no\n---\n```", "`__a__ ![x](y)`\n```\n#### no\n---\n```"],
  ["empty lines in code stay", "```\na\n\n\n\nb\n```", "```\na\n\n\n\nb\n```"],
  ["a text that is nothing but a rule stays", "---", "---"],
])("%s", (_title, markdown, expected) => {
  expect(shown(markdown)).toBe(expected);
});

test("reference links become links in place", () => {
  const pieces = splitForDiscord("See [the page][1] and [that].[x]\n\n[1]: https://x.example/a\n");
  expect(pieces.join("\n")).toContain("[the page](https://x.example/a)");
  expect(pieces.join("\n")).not.toContain("[1]:");
});

test("a table becomes an aligned code block", () => {
  const table = "| Name | Value |\n|---|---:|\n| a | 1 |\n| longer | **22** |";
  expect(shown(`before\n\n${table}\n\nafter`)).toBe(
    ["before", "", "```", "Name    Value", "──────  ─────", "a       1", "longer  22", "```", "", "after"].join("\n"),
  );
});

test("signs that take two columns are counted as two", () => {
  expect(screenWidth("日本")).toBe(4);
  expect(screenWidth("👨‍👩‍👧")).toBe(2);
  const lines = convertTables("| a | b |\n|-|-|\n| 日本 | x |\n| zz | y |").split("\n");
  expect(lines[3]).toBe("日本  x");
  expect(lines[4]).toBe("zz    y");
});

test("a wide table becomes a list that keeps every cell", () => {
  const wide = `| Name | Description |\n|---|---|\n| one | ${"word ".repeat(20).trim()} |\n| two | b\\|c |`;
  expect(shown(wide)).toBe(`- **one** · Description: ${"word ".repeat(20).trim()}\n- **two** · Description: b|c`);
});

test("a table in a fence stays as it is", () => {
  const fenced = "```\n| a | b |\n|---|---|\n| 1 | 2 |\n```";
  expect(shown(fenced)).toBe(fenced);
});

test("bars in a sentence make no table", () => {
  expect(shown("either a | b\nor c | d")).toBe("either a | b\nor c | d");
});

test("only the people the host allows become live mentions", () => {
  const { text, users } = toDiscordMarkdown("@Alice and @Bob, not `@Alice` or x@Alice.example", [alice]);
  expect(text).toBe(`<@${alice.platformId}> and @Bob, not \`@Alice\` or x@Alice.example`);
  expect(users).toEqual([alice.platformId]);
});

test("a name somebody chose is literal", () => {
  expect(escapeWords("**@everyone** <@1> `x`")).toBe("\\*\\*\\@everyone\\*\\* \\<\\@1> \\`x\\`".replace("1>", "1\\>"));
});

test.each([
  ["letters", "a", 6001],
  ["emoji", "😀", 6001],
  ["CJK", "漢", 6001],
])("a long text of %s is cut into pieces Discord takes, and nothing is lost", (_title, sign, count) => {
  const text = Array.from({ length: Math.ceil(count / 50) }, () => sign.repeat(50)).join(" ");
  const pieces = splitForDiscord(text);
  for (const piece of pieces) expect(codePoints(piece)).toBeLessThanOrEqual(2000);
  expect(pieces.join("").replace(/\s/g, "")).toBe(text.replace(/\s/g, ""));
  expect(pieces.join("")).not.toContain("\ufffd");
});

test("2,001 signs are two messages, 1,900 are one", () => {
  expect(splitForDiscord("x".repeat(2001))).toHaveLength(2);
  expect(splitForDiscord("x".repeat(1900))).toHaveLength(1);
});

test("a long code block keeps every line, byte for byte, in closed fences", () => {
  const code = Array.from({ length: 300 }, (_, i) =>
    i % 7 === 3 ? "" : `${"    ".repeat(i % 4)}value_${i} = compute(${i})  # note`,
  );
  const pieces = splitForDiscord(`Here:\n\n\`\`\`py\n${code.join("\n")}\n\`\`\`\n\nDone.`);
  expect(pieces.length).toBeGreaterThan(2);
  const inside: string[] = [];
  for (const piece of pieces) {
    const found = /```py\n([\s\S]*?)\n```/.exec(piece);
    if (found?.[1] !== undefined) inside.push(found[1]);
    expect(codePoints(piece)).toBeLessThanOrEqual(2000);
  }
  expect(inside.join("\n").split("\n")).toEqual(code);
});
