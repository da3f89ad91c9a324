/** Long Markdown cut into pieces: where, and what is carried over. */

import fc from "fast-check";
import { expect, test } from "vitest";
import { firstPart, splitText } from "../../../src/adapters/shared/split-text.ts";

const atMost = (limit: number) => (piece: string) => piece.length <= limit;
const squeeze = (text: string) => text.replace(/\s+/g, "");

test("a text that fits stays one piece, untouched", () => {
  expect(splitText("  short\n\ntext ", atMost(100))).toEqual(["  short\n\ntext "]);
});

test("an empty text makes no piece", () => {
  expect(splitText(" \n ", atMost(10))).toEqual([]);
});

test("paragraphs are kept together where possible", () => {
  const pieces = splitText(`${"a".repeat(50)}\n\n${"b".repeat(50)}\n\n${"c".repeat(20)}`, atMost(80));
  expect(pieces).toEqual(["a".repeat(50), `${"b".repeat(50)}\n\n${"c".repeat(20)}`]);
});

test("without paragraphs the cut is after a sentence, then between words", () => {
  expect(splitText("First sentence here. Second one there.", atMost(24))).toEqual([
    "First sentence here.",
    "Second one there.",
  ]);
  expect(splitText("alpha beta gamma delta", atMost(12))).toEqual(["alpha beta", "gamma delta"]);
});

test("a code block is closed and opened again with its language", () => {
  const code = Array.from({ length: 12 }, (_, i) => `line number ${i}`).join("\n");
  const pieces = splitText(`Before\n\`\`\`ts\n${code}\n\`\`\`\nAfter`, atMost(90));
  expect(pieces.length).toBeGreaterThan(2);
  for (const piece of pieces) {
    expect(piece.length).toBeLessThanOrEqual(90);
    expect((piece.match(/^```/gm) ?? []).length % 2).toBe(0);
  }
  for (const piece of pieces.slice(1, -1)) expect(piece.startsWith("```ts\n")).toBe(true);
  for (let i = 0; i < 12; i += 1) expect(pieces.join("\n").split(`line number ${i}\n`).length - 1).toBe(1);
});

test("a fence of four backticks is continued with four", () => {
  const pieces = splitText(`\`\`\`\`md\n${"word word word\n".repeat(10)}\`\`\`\``, atMost(80));
  for (const piece of pieces) expect(piece).toMatch(/^````md\n[\s\S]*\n````$/);
});

test("a table's header is repeated in each piece", () => {
  const rows = Array.from({ length: 10 }, (_, i) => `| row ${i} | value ${i} |`).join("\n");
  const pieces = splitText(`| name | value |\n| --- | --- |\n${rows}`, atMost(120));
  expect(pieces.length).toBeGreaterThan(1);
  for (const piece of pieces) expect(piece.startsWith("| name | value |\n| --- | --- |\n")).toBe(true);
  expect(pieces.join("\n").match(/\| row \d \|/g)).toHaveLength(10);
});

test.each([
  ["a link", `${"x".repeat(20)}[the label](https://example.com/a/long/path)`],
  ["an address", `${"x".repeat(20)}(https://example.com/a/long/path)`],
  ["an entity", `${"x".repeat(37)}&amp;&lt;&quot;`],
  ["a token", `${"x".repeat(30)}<@U0123456789ABC>`],
])("%s is not cut in two", (_what, text) => {
  const atoms = text.match(/\[the label\]\([^)]*\)|https:\/\/[^)\s]*|&[a-z]+;|<@[^>]*>/g) ?? [];
  const pieces = splitText(text, atMost(40 + (text.length > 62 ? 20 : 0)));
  for (const atom of atoms) expect(pieces.some((piece) => piece.includes(atom))).toBe(true);
});

test("visible characters made of several code points stay whole", () => {
  const family = "👩‍👩‍👧‍👦";
  for (const limit of [12, 23, 30]) {
    for (const piece of splitText(family.repeat(20), atMost(limit))) expect(piece.replaceAll(family, "")).toBe("");
  }
  const flags = splitText("🇩🇪".repeat(40), atMost(33));
  for (const piece of flags) expect(piece.replaceAll("🇩🇪", "")).toBe("");
});

test("the beginning of a long text is cut the same way", () => {
  expect(firstPart("One. Two. Three.", 10)).toBe("One. Two.");
  expect(firstPart("short", 10)).toBe("short");
});

test("whatever is split, every piece fits, none is empty, and no visible character is lost or added", () => {
  const word = fc.string({
    unit: fc.constantFrom("a", "b", "ü", "😀", ".", "&", "<", "[", "]", "(", ")"),
    maxLength: 12,
  });
  const text = fc
    .array(fc.oneof(word, fc.constantFrom("\n", "\n\n", " ", "- ", "# ")), { maxLength: 150 })
    .map((parts) => parts.join(""));
  fc.assert(
    fc.property(text, fc.integer({ min: 20, max: 120 }), (source, limit) => {
      const pieces = splitText(source, atMost(limit));
      for (const piece of pieces) {
        expect(piece.length).toBeLessThanOrEqual(limit);
        expect(piece.trim()).not.toBe("");
      }
      expect(squeeze(pieces.join(""))).toBe(squeeze(source));
    }),
    { numRuns: 300 },
  );
});

/** A reading of fences of its own: a line of at least as many of the same signs and nothing else closes. */
function endsInFence(text: string): boolean {
  let open = "";
  for (const line of text.split("\n")) {
    const [, marker = "", info = ""] = /^(`{3,}|~{3,})(.*)$/.exec(line) ?? [];
    if (marker === "") continue;
    if (open === "") open = marker;
    else if (marker[0] === open[0] && marker.length >= open.length && info.trim() === "") open = "";
  }
  return open !== "";
}

test("a line of code that looks like a fence is still a place to cut: no line is cut that need not be", () => {
  const source = "> quote\n`span` text\n```js\n```js\n```js\nsome longer line of code here\n```";
  expect(splitText(source, atMost(70))).toEqual([
    "> quote\n`span` text\n```js\n```js\n```js\n```",
    "```js\nsome longer line of code here\n```",
  ]);
});

test("fences of any shape never leave a piece open", () => {
  const line = fc.constantFrom(
    "```",
    "```js",
    "~~~",
    "text",
    "some longer line of code here",
    "",
    "> quote",
    "`span` text",
  );
  fc.assert(
    fc.property(fc.array(line, { maxLength: 40 }), (lines) => {
      const source = lines.join("\n");
      const pieces = splitText(source, atMost(70));
      for (const [at, piece] of pieces.entries()) {
        expect(piece.length).toBeLessThanOrEqual(70);
        // A fence the author left open stays open at the very end.
        expect(endsInFence(piece), piece).toBe(at === pieces.length - 1 && endsInFence(source));
      }
      const words = (text: string) => text.match(/some longer line of code here/g)?.length ?? 0;
      expect(pieces.reduce((sum, piece) => sum + words(piece), 0)).toBe(words(source));
    }),
    { numRuns: 300 },
  );
});

test("a hundred thousand characters are split completely", () => {
  const pieces = splitText("Lorem ipsum dolor sit amet. ".repeat(3600), atMost(11_500));
  expect(pieces.length).toBeGreaterThan(8);
});
