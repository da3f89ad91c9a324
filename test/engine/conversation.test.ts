/** Keys and audiences of places: changing one of these orphans sessions or widens who may hear something (SPEC I4, R2). */
import { expect, test } from "vitest";
import { audienceOf, type ConversationRef, channelRowId, conversationKey } from "../../src/engine/conversation.ts";

const ref: ConversationRef = { platform: "slack", workspaceId: "T1", kind: "channel", channelId: "C1" };

test.each<[string, Partial<ConversationRef>, string]>([
  ["a channel", {}, "slack:T1:C1"],
  ["a thread", { kind: "thread", threadId: "100.1" }, "slack:T1:C1:100.1"],
  ["a direct message", { kind: "direct", channelId: "D1" }, "slack:T1:D1"],
  ["a direct message that names a thread", { kind: "direct", channelId: "D1", threadId: "100.1" }, "slack:T1:D1"],
  ["a channel message that names a thread", { threadId: "100.1" }, "slack:T1:C1"],
  ["a thread without an id", { kind: "thread", threadId: "" }, "slack:T1:C1"],
  ["a channel under another name", { channelName: "general" }, "slack:T1:C1"],
  ["the same channel id elsewhere", { workspaceId: "T2" }, "slack:T2:C1"],
])("the key of %s", (_name, more, key) => {
  expect(conversationKey({ ...ref, ...more })).toBe(key);
});

test("a thread belongs to its channel's row", () => {
  expect(channelRowId({ ...ref, kind: "thread", threadId: "100.1" } as ConversationRef)).toBe("slack:T1:C1");
});

test.each<[string, Partial<ConversationRef>, string | undefined, string]>([
  ["a direct message", { kind: "direct", channelId: "D1" }, "slack:T1:U1", "person(slack:T1:U1)"],
  ["a channel", {}, "slack:T1:U1", "channel(slack:T1:C1)"],
  ["a thread", { kind: "thread", threadId: "100.1" }, "slack:T1:U1", "channel(slack:T1:C1)"],
  ["a direct message of nobody known", { kind: "direct", channelId: "D1" }, undefined, "channel(slack:T1:D1)"],
])("the audience of %s", (_name, more, person, audience) => {
  expect(audienceOf({ ...ref, ...more }, person)).toBe(audience);
});
