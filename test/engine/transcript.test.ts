/** Addresses of entries (SPEC M8). */
import { expect, test } from "vitest";
import { bubbleAddress, fileAddress, isAddress, personAddress } from "../../src/engine/transcript.ts";

test("addresses are written as people and bots speak", () => {
  expect(personAddress(3)).toBe("t3u");
  expect(fileAddress(personAddress(3), 2)).toBe("t3ua2");
  expect(bubbleAddress(3, 2)).toBe("t3s2");
  expect(bubbleAddress(3, 2, "a")).toBe("t3a2");
  expect(bubbleAddress(0, 1)).toBe("tbs1");
  expect(bubbleAddress(0, 1, "a")).toBe("tba1");
});

test.each(["t1u", "t10u", "t1s1", "t12s34", "t1a1", "tbs1", "tba2"])("%s is an address of an entry", (text) => {
  expect(isAddress(text)).toBe(true);
});

test.each([
  "",
  "t",
  "tu",
  "t1",
  "t1ua1",
  "T1u",
  " t1u",
  "t1u ",
  "t1u\n",
  "t1u\u0000",
  "t-1u",
  "t1.5u",
  "t1s",
  "tbs",
  "t１u",
  "[t1u]",
  "t1s1; drop",
])("%j is none", (text) => expect(isAddress(text)).toBe(false));
