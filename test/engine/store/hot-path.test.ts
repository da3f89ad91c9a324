/** JSON on its way into the database. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { toJson } from "../../../src/engine/store/hot-path.ts";

test("whatever is well-formed text survives unchanged", () => {
  const text = fc.string({ unit: "grapheme" }).filter((value) => !value.includes("\0"));
  fc.assert(
    fc.property(fc.dictionary(text, text), (value) => {
      expect(JSON.parse(toJson(value))).toEqual(value);
    }),
  );
});

test.each([
  ["NUL", "a\0b", "a\ufffdb"],
  ["half of a pair", "a\ud83d", "a\ufffd"],
  ["the other half", "\ude00b", "\ufffdb"],
  ["a whole pair", "\u{1f600}", "\u{1f600}"],
  ["an escape that somebody typed", "\\u0000 \\ud83d", "\\u0000 \\ud83d"],
])("%s is written so that the database takes it", (_name, given, stored) => {
  expect(JSON.parse(toJson({ [given]: [given] }))).toEqual({ [stored]: [stored] });
});

test("nothing at all is null, and times are in UTC", () => {
  expect(toJson(undefined)).toBe("null");
  expect(toJson(new Date("2026-01-01T01:00:00+01:00"))).toBe('"2026-01-01T00:00:00.000Z"');
});
