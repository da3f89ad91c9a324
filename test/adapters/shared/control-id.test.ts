/** Ids of buttons and forms, written and read. */

import { expect, test } from "vitest";
import {
  CONTROL_VERBS,
  MAX_CONTROL_ID,
  readControlId,
  writeControlId,
} from "../../../src/adapters/shared/control-id.ts";

test("every kind of control is read back as it was written", () => {
  for (const verb of CONTROL_VERBS) {
    for (const ref of [
      { verb, cardId: "0190-abc_X" },
      { verb, cardId: "c", index: 24 },
    ]) {
      expect(readControlId(writeControlId(ref))).toEqual(ref);
    }
  }
});

test.each(["", "p1:pick", "p1:steal:c1", "w:pick:1", "p1:pick:c1:x", "p1:pick:c 1", "p2:pick:c1"])(
  "%j is not ours",
  (id) => {
    expect(readControlId(id)).toBeUndefined();
  },
);

test("ids fit the narrowest platform", () => {
  const cardId = "x".repeat(36);
  for (const verb of CONTROL_VERBS)
    expect(writeControlId({ verb, cardId, index: 999 }).length).toBeLessThanOrEqual(MAX_CONTROL_ID);
  expect(() => writeControlId({ verb: "pick", cardId: "x".repeat(100) })).toThrow(RangeError);
  expect(() => writeControlId({ verb: "pick", cardId: "a:b" })).toThrow(RangeError);
});
