/** A secret value shows itself to nobody (SPEC C5). */
import { inspect } from "node:util";
import { expect, test } from "vitest";
import { adviseOnSecret, SecretValue } from "../../src/engine/secret-value.ts";

const CANARY = "canary-4711-value";
const secret = new SecretValue(CANARY);

test.each([
  ["a template", () => `${secret}`],
  ["String()", () => String(secret)],
  ["joining", () => [secret, "x"].join()],
  ["adding", () => `x${secret}`],
  ["JSON", () => JSON.stringify({ secret, list: [secret] })],
  ["console.log's inspector", () => inspect({ secret }, { depth: 9, showHidden: true })],
  ["an error message", () => inspect(new Error(`failed with ${secret}`, { cause: secret }))],
])("a secret printed by %s shows [secret]", (_name, print) => {
  expect(print()).toContain("[secret]");
  expect(print()).not.toContain(CANARY);
});

test("a secret has no property that holds it, and does not survive copying", () => {
  expect(Reflect.ownKeys(secret)).toEqual([]);
  expect({ ...secret }).toEqual({});
  expect(inspect(structuredClone(secret), { showHidden: true })).not.toContain(CANARY);
});

test("only revealing gives the value", () => {
  expect(secret.reveal()).toBe(CANARY);
});

test.each([
  ["1234567", /shorter than 8/],
  ["  123    ", /shorter than 8/],
  ["x".repeat(16_385), /longer than/],
  ["12345678\0", /cannot be typed/],
])("%j is refused with advice that does not quote it", (value, advice) => {
  expect(adviseOnSecret(new SecretValue(value))).toMatch(advice);
  expect(adviseOnSecret(new SecretValue(value))).not.toContain(value);
});

test("eight characters are enough", () => {
  expect(adviseOnSecret(new SecretValue("12345678"))).toBeNull();
});
