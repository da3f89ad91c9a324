/** Fields of a server's question, as people are asked and as servers hear it. */
import { expect, test } from "vitest";
import { type AskedField, checkValue, toWidget } from "../../../src/tools/mcp/elicited-fields.ts";

const field = (schema: AskedField["schema"], isRequired = true): AskedField => ({
  ...{ name: "it", schema, isRequired },
  intro: "The connector asks.",
});
const typed = (custom: string) => ({ values: [], labels: [], custom });
const picked = (...values: string[]) => ({ values, labels: values });

test.each<[string, AskedField["schema"], string, unknown]>([
  ["a number below its least", { type: "number", minimum: 2 }, "1", { ok: false }],
  ["a number with a comma", { type: "number", maximum: 9 }, "2,5", { ok: true, value: 2.5 }],
  ["a broken whole number", { type: "integer" }, "2.5", { ok: false }],
  ["no number", { type: "integer" }, "many", { ok: false }],
  ["a short text", { type: "string", minLength: 3 }, "ab", { ok: false }],
  ["a bad address", { type: "string", format: "email" }, "me", { ok: false }],
  ["a date", { type: "string", format: "date" }, "2026-12-31", { ok: true, value: "2026-12-31" }],
])("%s is checked", (_what, schema, words, expected) => {
  expect(checkValue(field(schema), typed(words))).toMatchObject(expected as object);
});

test("of more choices than a card holds the others can be typed, and nothing else", () => {
  const schema = { type: "string", enum: Array.from({ length: 40 }, (_, i) => `city ${i}`) };
  const widget = toWidget(field(schema), "");
  expect(widget.options.length).toBeLessThanOrEqual(25);
  expect(widget.allowCustom).toBe(true);
  expect(checkValue(field(schema), typed("City 35"))).toEqual({ ok: true, value: "city 35" });
  expect(checkValue(field(schema), typed("Atlantis"))).toMatchObject({ ok: false });
  expect(checkValue(field(schema), picked("c3"))).toEqual({ ok: true, value: "city 3" });
});

test("a list has as many values as the server allows", () => {
  const schema = { type: "array", minItems: 1, maxItems: 2, items: { enum: ["a", "b", "c"] } };
  expect(checkValue(field(schema), picked("c0", "c2"))).toEqual({ ok: true, value: ["a", "c"] });
  expect(checkValue(field(schema), picked("c0", "c1", "c2"))).toMatchObject({ ok: false });
  expect(checkValue(field(schema), picked())).toMatchObject({ ok: false });
});

test("a default and a field nobody must fill can be left to the server", () => {
  expect(toWidget(field({ type: "string", default: "x" }), "").options.map(({ label }) => label)).toEqual([
    "Use x",
    "Decline",
  ]);
  expect(checkValue(field({ type: "string" }, false), picked("skip"))).toEqual({ ok: true, value: undefined });
});
