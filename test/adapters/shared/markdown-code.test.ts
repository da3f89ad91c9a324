/** Where the code is in a Markdown text. */

import { expect, test } from "vitest";
import { codeRanges, mapCode, openFence } from "../../../src/adapters/shared/markdown-code.ts";

const codeOf = (text: string) => codeRanges(text).map((range) => text.slice(range.start, range.end));

test.each([
  ["a `span` here", ["`span`"]],
  ["``a ` b`` and `c`", ["``a ` b``", "`c`"]],
  ["one ` tick only", []],
  ["`a\n\nb` is no span", []],
  ["an escaped \\` tick ` here", []],
  ["x\n```js\ncode\n```\ny", ["```js\ncode\n```"]],
  ["~~~\n```\n~~~\nz", ["~~~\n```\n~~~"]],
  ["````\n```\n````", ["````\n```\n````"]],
  ["```\nnever closed", ["```\nnever closed"]],
  ["``` not`a fence", []],
  ["> ```\n> quoted\n> ```", ["> ```\n> quoted\n> ```"]],
  ["- item\n  ```\n  in a list\n  ```", ["  ```\n  in a list\n  ```"]],
])("finds the code in %j", (text, code) => {
  expect(codeOf(text)).toEqual(code);
});

test("an open fence is known with its marker and language", () => {
  expect(openFence("a\n```ts title\nb")).toEqual({ marker: "```", info: "ts title" });
  expect(openFence("a\n```ts\nb\n```")).toBeUndefined();
});

test("code and the rest can be treated differently without losing anything", () => {
  const text = "a `b` c\n```\nd\n```\ne";
  expect(
    mapCode(
      text,
      (part) => part,
      (part) => part,
    ),
  ).toBe(text);
  expect(
    mapCode(
      text,
      (part) => part.toUpperCase(),
      (part) => part,
    ),
  ).toBe("A `b` C\n```\nd\n```\nE");
});
