/** Text in the playground: who is named in what a person typed, and Markdown that cannot do harm. */

import { expect, test } from "vitest";
import { createMarkdownRenderer } from "../../src/adapters/shared/markdown-html.ts";
import { findMentions, namesEveryone, quotedRanges } from "../../src/adapters/web/format.ts";

const NAMED = [
  { id: "ada", name: "Ada" },
  { id: "u1", name: "Ada Lovelace" },
  { id: "u2", name: "Zoë" },
];

const ids = (text: string) => findMentions(text, NAMED).map((mention) => mention.platformId);

test.each([
  ["@Ada hello", ["ada"]],
  ["hello @ada, and you?", ["ada"]],
  ["@Ada Lovelace wrote it", ["u1"]],
  ["(@Zoë)", ["u2"]],
  ["@Zoëlle", []],
  ["@Adam", []],
  ["mail ada@ada.org or x@Ada", []],
  ["`@Ada` and @Zoë", ["u2"]],
  ["```\n@Ada\n```\nfine", []],
  ["> @Ada said so\nyes", []],
  ["https://example.org/@Ada", []],
])("%j names %j", (text, expected) => {
  expect(ids(text)).toEqual(expected);
});

test("a mention's offsets cut the name out of the text", () => {
  const text = "hello @Ada Lovelace!";
  const [mention] = findMentions(text, NAMED);
  expect(text.slice(mention?.start, mention?.end)).toBe("@Ada Lovelace");
});

test("a mass ping counts outside code only", () => {
  expect(namesEveryone("@everyone come")).toBe(true);
  expect(namesEveryone("`@everyone` come")).toBe(false);
  expect(namesEveryone("@hereabouts")).toBe(false);
});

test("an unclosed fence is code to its end", () => {
  const text = "see\n```js\n@Ada";
  expect(quotedRanges(text)).toEqual([{ start: 4, end: text.length }]);
});

const render = createMarkdownRenderer();

test.each([
  ["<script>alert(1)</script>", /<script/],
  ["<img src=x onerror=alert(1)>", /<img/],
  ["[x](javascript:alert(1))", /href/],
  ["[x](data:text/html,hi)", /href/],
  ["![x](https://tracker.example/p.png)", /<img/],
  ['[x](https://a.example/"onmouseover="x)', /"onmouseover/],
])("%j becomes harmless", (text, forbidden) => {
  expect(render(text)).not.toMatch(forbidden);
});

test("links open elsewhere, without a way back", () => {
  expect(render("https://example.org")).toContain('target="_blank" rel="noopener noreferrer nofollow"');
});

test("a code block carries its language and a copy button", () => {
  const html = render("```ts\nconst a = 1 < 2;\n```");
  expect(html).toContain("<span>ts</span>");
  expect(html).toContain("data-copy");
  expect(html).toContain("1 &lt; 2");
});

test("aligned columns need no inline style", () => {
  const html = render("| a | b |\n|---|--:|\n| 1 | 2 |");
  expect(html).toContain('<td align="right">2</td>');
  expect(html).not.toContain("style=");
});
