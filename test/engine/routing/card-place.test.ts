/** Who may answer a member's question though it was asked before they wrote (SPEC C2): only what is asked of everybody, never what a call or a secret waits for. */
import { expect, test } from "vitest";
import type { Card } from "../../../src/engine/card.ts";
import { hasJoined } from "../../../src/engine/routing/card-place.ts";
import type { RouterParts } from "../../../src/engine/routing/router-parts.ts";

const widget = { prompt: "Which?", options: [{ label: "A", value: "a" }], allowCustom: false, dismissOnMoveOn: false };
const joined = { store: { hasJoined: async () => true } } as unknown as Pick<RouterParts, "store">;
const card = (spec: unknown, more: object = { turnId: "t" }) => ({ spec, ...more }) as unknown as Card;

test.each([
  ["a question of a member", card({ kind: "widget", widget }), true],
  ["what a running call asks for another system", card({ kind: "widget", widget, askedByCall: true }), false],
  ["a secret-request", card({ kind: "secret", secret: {} }), false],
  ["an approval", card({ kind: "host", host: {} }), false],
  ["a question of no turn", card({ kind: "widget", widget }, {}), false],
])("%s", async (_what, asked, expected) => {
  expect(await hasJoined(joined, asked, "bob")).toBe(expected);
});
