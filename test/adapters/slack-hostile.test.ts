/** Payloads of any shape: nothing that Slack (or somebody who got hold of its socket) sends may throw where it would end the process. */

import { expect, test } from "vitest";
import type { Fields } from "../../src/adapters/shared/fields.ts";
import { toInbound } from "../../src/adapters/slack/inbound.ts";
import { kindOf, lookupsOf, type SlackEventKind } from "../../src/adapters/slack/inbound-kind.ts";
import { mentionedIds, readText } from "../../src/adapters/slack/inbound-text.ts";
import { readOrigin, readSecret, readTyped } from "../../src/adapters/slack/secret-form.ts";

const self = { installationId: "i1", workspaceId: "T1", appId: "A1", botUserId: "U0ADA", slackBotId: "B0ADA" };
const names = { user: () => undefined, group: () => undefined };
const knowledge = { names, channelName: () => undefined, person: () => undefined };
const KINDS: readonly SlackEventKind[] = ["message", "edit", "delete", "stop", "reaction", "membership", "ignored"];

/** Numbers that repeat for a seed, so that a failure can be repeated. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

const SEEDS: readonly Fields[] = [
  { type: "message", user: "U1", text: "<@U0ADA> <!here> `x`", ts: "1.000001", channel: "C1", channel_type: "channel" },
  { type: "app_mention", user: "U1", text: "hi", ts: "1.000001", channel: "C1", edited: { ts: "2.0" } },
  {
    type: "message",
    subtype: "message_changed",
    channel: "C1",
    message: { user: "U1", ts: "1.0", text: "a" },
    previous_message: { user: "U1", ts: "1.0", text: "b" },
  },
  { type: "message", subtype: "message_deleted", channel: "C1", deleted_ts: "1.0", previous_message: { user: "U1" } },
  { type: "reaction_added", user: "U1", reaction: "eyes", item: { type: "message", channel: "C1", ts: "1.0" } },
  { type: "agent_session_stopped", channel: "C1", thread_ts: "1.0", user: "U1" },
  { type: "member_joined_channel", user: "U1", channel: "C1", event_ts: "1.0" },
  {
    type: "message",
    user: "U1",
    ts: "1.0",
    channel: "C1",
    text: "t",
    files: [{ id: "F1", mode: "hosted", url_private: "https://x" }],
    blocks: [
      { type: "rich_text", elements: [{ type: "rich_text_section", elements: [{ type: "user", user_id: "U2" }] }] },
    ],
    attachments: [{ is_share: true, text: "x", blocks: [{ type: "table", rows: [[{ text: "a" }]] }], files: [{}] }],
  },
];
const ODD: readonly unknown[] = [
  null,
  undefined,
  0,
  -1,
  Number.NaN,
  "",
  "\u0000",
  "<@",
  "<!subteam^",
  "x".repeat(5000),
  "1e309.5",
  true,
  [],
  [[[]]],
  [null],
  {},
  { toString: null },
  { __proto__: null },
];

/** The value with parts of it replaced by odd ones. */
function mutate(value: unknown, next: () => number, depth = 0): unknown {
  if (next() < 0.15 || depth > 8) return ODD[Math.floor(next() * ODD.length)];
  if (Array.isArray(value)) return value.map((item) => mutate(item, next, depth + 1));
  if (typeof value === "object" && value !== null) {
    return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mutate(item, next, depth + 1)]));
  }
  return value;
}

const asEvent = (value: unknown): Fields => (typeof value === "object" && value !== null ? (value as Fields) : {});

test("thousands of broken events are read or ignored, never thrown at", () => {
  const next = random(20261130);
  for (let round = 0; round < 4000; round += 1) {
    const event = asEvent(mutate(SEEDS[round % SEEDS.length], next));
    const kind = kindOf(event, () => false);
    for (const one of round % 10 === 0 ? KINDS : [kind]) {
      expect(() => {
        lookupsOf(event, one);
        toInbound(event, one, self, knowledge);
      }, JSON.stringify(event)).not.toThrow();
    }
  }
});

test("broken forms are read as nothing typed, and their origin as unknown", () => {
  const next = random(7);
  const view = {
    callback_id: "p1:secret:c1",
    private_metadata: '{"c":"C1","m":"1.0"}',
    state: { values: { field: { value: { value: "secret" } } } },
  };
  for (let round = 0; round < 2000; round += 1) {
    const broken = asEvent(mutate(view, next));
    expect(() => [readOrigin(broken), readTyped(broken), readSecret(broken)]).not.toThrow();
  }
});

test("nesting a thousand levels deep neither throws nor takes long", () => {
  let element: Fields = { type: "text", text: "deep" };
  for (let depth = 0; depth < 1000; depth += 1) element = { type: "rich_text_section", elements: [element] };
  const message = {
    blocks: [
      { type: "section", elements: [element] },
      { type: "table", rows: [[element]] },
    ],
    attachments: [{ blocks: [element] }, { is_share: true, message_blocks: [{ message: { blocks: [element] } }] }],
  };
  const started = performance.now();
  expect(() => [readText(message, names), mentionedIds(message)]).not.toThrow();
  expect(performance.now() - started).toBeLessThan(1000);
});

test.each([
  ["open brackets", "<".repeat(40_000)],
  ["half tokens", "<@U".repeat(13_000)],
  ["backticks", "`".repeat(40_000)],
  ["quotation signs", "&gt;\n".repeat(8000)],
  ["at signs", "@all".repeat(10_000)],
  ["ampersands", "&amp;".repeat(8000)],
])("forty thousand characters of %s are read in well under a second", (_what, text) => {
  const started = performance.now();
  readText({ text }, names);
  expect(performance.now() - started).toBeLessThan(700);
});
