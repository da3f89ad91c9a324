/** What Slack sends, and what becomes of it: a table of payloads. */

import { expect, test } from "vitest";
import type { Fields } from "../../src/adapters/shared/fields.ts";
import { type SlackIdentity, toInbound } from "../../src/adapters/slack/inbound.ts";
import { kindOf, lookupsOf } from "../../src/adapters/slack/inbound-kind.ts";
import type { EditEvent, InboundEvent, MessageEvent } from "../../src/engine/index.ts";

const self: SlackIdentity = {
  installationId: "i1",
  workspaceId: "T1",
  appId: "A1",
  botUserId: "U0ADA",
  slackBotId: "B0ADA",
};
const OURS = new Set(["U0ADA", "B0ADA", "A1", "U0BO", "B0BO", "A2"]);
const isOurs = (ids: { user?: string | undefined; bot?: string | undefined; app?: string | undefined }) =>
  [ids.user, ids.bot, ids.app].some((id) => id !== undefined && OURS.has(id));
const NAMES: Record<string, string> = { U0ADA: "Ada", U0ALICE: "Alice", U0BOB: "Bob" };
const names = {
  user: (id: string) => NAMES[id],
  group: (id: string) => (id === "S1" ? { handle: "team", members: ["U0ADA", "U0BO"] } : undefined),
};
const knowledge = {
  names,
  channelName: (id: string) => (id === "C1" ? "general" : undefined),
  person: (id: string) => (NAMES[id] ? { name: NAMES[id], kind: "member" as const } : undefined),
};

const read = (event: Fields): InboundEvent | undefined => toInbound(event, kindOf(event, isOurs), self, knowledge);
const message = (fields: Fields = {}): Fields => ({
  type: "message",
  user: "U0ALICE",
  text: "<@U0ADA> hi",
  ts: "100.000100",
  channel: "C1",
  channel_type: "channel",
  ...fields,
});
const mention = (fields: Fields = {}): Fields => {
  const { channel_type: _none, ...rest } = message({ type: "app_mention", ...fields });
  return rest;
};
const heard = (event: Fields): MessageEvent => {
  const found = read(event);
  if (found?.type !== "message") throw new Error(`not a message: ${JSON.stringify(found)}`);
  return found;
};
test("a mention and its twin have one key, whichever comes first, and both say that the bot is named", () => {
  const [first, second] = [heard(message()), heard(mention({ event_ts: "100.000100" }))];
  expect(first.dedupeKey).toBe("slack:T1:C1:100.000100");
  expect(second.dedupeKey).toBe(first.dedupeKey);
  expect([first.namesBot, second.namesBot]).toEqual([true, true]);
});

test("the copy that another bot gets has the same key and does not name that bot", () => {
  const other = { ...self, installationId: "i2", botUserId: "U0BO", slackBotId: "B0BO", appId: "A2" };
  const copy = toInbound(message(), "message", other, knowledge);
  expect(copy).toMatchObject({ dedupeKey: "slack:T1:C1:100.000100", installationId: "i2", namesBot: false });
});

test("times are never read as numbers: ids that differ in the last digit stay different", () => {
  const [one, two] = [heard(message({ ts: "1700000000.000001" })), heard(message({ ts: "1700000000.000010" }))];
  expect([one.platformId, two.platformId]).toEqual(["1700000000.000001", "1700000000.000010"]);
});

test.each([
  ["a top-level channel message opens its own thread", message(), { kind: "channel", opensThread: "100.000100" }],
  [
    "a root that already has replies is not inside its own thread",
    message({ thread_ts: "100.000100" }),
    { kind: "channel", opensThread: "100.000100" },
  ],
  [
    "a reply belongs to the root's thread, never to the reply's own ts",
    message({ ts: "200.000000", thread_ts: "100.000100" }),
    { kind: "thread", threadId: "100.000100" },
  ],
  [
    "a reply also shown in the channel still belongs to its thread",
    message({ subtype: "thread_broadcast", ts: "200.0", thread_ts: "100.000100" }),
    { kind: "thread", threadId: "100.000100" },
  ],
  [
    "D… is direct whatever the channel type says",
    message({ channel: "D1", channel_type: "channel" }),
    { kind: "direct", opensThread: "100.000100" },
  ],
  [
    "a direct message in a thread is answered at its root",
    message({ channel: "D1", channel_type: "im", ts: "200.0", thread_ts: "100.000100" }),
    { kind: "direct", opensThread: "100.000100" },
  ],
  [
    "a group direct message is a channel with several people",
    message({ channel: "G1", channel_type: "mpim" }),
    { kind: "channel", opensThread: "100.000100" },
  ],
])("%s", (_name, event, expected) => {
  const { conversation, opensThread } = heard(event);
  expect({ kind: conversation.kind, threadId: conversation.threadId, opensThread }).toEqual({
    threadId: undefined,
    opensThread: undefined,
    ...expected,
  });
});

test("an empty thread id is no thread", () => {
  expect(heard(message({ thread_ts: "" })).conversation.kind).toBe("channel");
});

test.each(["file_share", "thread_broadcast", "me_message", undefined])("subtype %s is somebody speaking", (subtype) => {
  expect(read(message({ subtype }))?.type).toBe("message");
});

test.each([
  "channel_join",
  "channel_leave",
  "channel_topic",
  "channel_name",
  "pinned_item",
  "message_replied",
  "bot_add",
  "reminder_add",
  "huddle_thread",
])("subtype %s is housekeeping", (subtype) => {
  expect(read(message({ subtype }))).toBeUndefined();
});

test.each([
  ["hidden", message({ hidden: true })],
  ["from Slack itself", message({ user: "USLACK" })],
  ["without an author", message({ user: undefined })],
  ["without a channel", message({ channel: undefined })],
  ["without a ts", message({ ts: undefined })],
  ["our own, by user id", message({ user: "U0ADA" })],
  ["our own, by bot id", message({ user: undefined, bot_id: "B0ADA" })],
  ["our own, by app id", message({ user: "U0OTHER", bot_id: "B9", app_id: "A1" })],
  ["another bot of ours", message({ user: "U0BO", bot_id: "B0BO", app_id: "A2" })],
  ["our own persona", message({ subtype: "bot_message", user: undefined, bot_id: "B0ADA", username: "Ann" })],
  ["another bot of ours that names this one", mention({ user: "U0BO", bot_id: "B0BO" })],
  ["a reaction", { type: "reaction_added", user: "U0ALICE", item: { channel: "C1", ts: "1.1" } }],
  ["an opened home", { type: "app_home_opened", user: "U0ALICE", channel: "D1" }],
  ["an empty object", {}],
])("an event that is %s is ignored", (_what, event) => {
  expect(read(event)).toBeUndefined();
});

test("another company's bot is heard as a bot, under its own name", () => {
  expect(
    heard(message({ user: "U0FOREIGN", bot_id: "B9", app_id: "A9", bot_profile: { name: "Deploys" } })).from,
  ).toEqual({
    id: "slack:T1:U0FOREIGN",
    platformId: "U0FOREIGN",
    name: "Deploys",
    kind: "bot",
  });
  expect(
    heard(message({ subtype: "bot_message", user: undefined, bot_id: "B9", username: "Hook" })).from,
  ).toMatchObject({ platformId: "B9", name: "Hook", kind: "bot" });
});

test("somebody who cannot be looked up has the least authority", () => {
  expect(heard(message({ user: "U0NEW" })).from).toMatchObject({ name: "U0NEW", kind: "guest" });
});

test("an author whose home is another workspace is external", () => {
  expect(heard(message({ user_team: "T2" })).from.kind).toBe("external");
  expect(heard(message({ source_team: "T2" })).from.kind).toBe("external");
  expect(heard(message({ user_team: "T1" })).from.kind).toBe("member");
});

test("only people are looked up, bots bring their names", () => {
  const lookups = lookupsOf(message({ text: "<@U0BOB> <!subteam^S1>" }), "message");
  expect(lookups).toEqual({ author: "U0ALICE", channelId: "C1", mentioned: ["U0BOB"], groups: ["S1"] });
  expect(lookupsOf(message({ bot_id: "B9" }), "message").author).toBeUndefined();
});

const changed = (before: Fields, after: Fields): Fields => ({
  type: "message",
  subtype: "message_changed",
  hidden: true,
  channel: "C1",
  channel_type: "channel",
  ts: "300.000000",
  event_ts: "300.000000",
  message: { type: "message", user: "U0ALICE", ts: "100.000100", text: "<@U0ADA> hi", ...after },
  previous_message: { type: "message", user: "U0ALICE", ts: "100.000100", text: "<@U0ADA> hi", ...before },
});

test("a link preview is no edit", () => {
  expect(read(changed({}, { attachments: [{ from_url: "https://a.example", title: "A" }] }))).toBeUndefined();
});

test("a thread counter is no edit", () => {
  expect(read(changed({}, { reply_count: 3, thread_ts: "100.000100" }))).toBeUndefined();
});

test.each([
  ["bot id", { bot_id: "B0ADA" }],
  ["another bot of ours", { bot_id: "B0BO" }],
  ["user id", { user: "U0ADA" }],
])("our own redraw is no edit (%s)", (_how, author) => {
  expect(read(changed(author, { ...author, text: "new words" }))).toBeUndefined();
});

test("a real edit is one event, from whichever of Slack's two reports it comes", () => {
  const edited = { user: "U0ALICE", ts: "300.000000" };
  const one = read(changed({}, { text: "<@U0ADA> hello", edited })) as EditEvent;
  const two = read(mention({ text: "<@U0ADA> hello", edited, event_ts: "300.000001" })) as EditEvent;
  expect(one).toMatchObject({
    type: "edit",
    platformId: "100.000100",
    text: "@Ada hello",
    dedupeKey: "slack:T1:C1:100.000100:edit:300.000000",
  });
  expect(two).toMatchObject({ type: "edit", dedupeKey: one.dedupeKey });
});

test("an edit in a thread names the thread", () => {
  expect(read(changed({ thread_ts: "50.0" }, { thread_ts: "50.0", text: "other" }))?.conversation).toMatchObject({
    kind: "thread",
    threadId: "50.0",
  });
});

test("a deletion names the deleted message, also when replies keep its place", () => {
  const erased = {
    type: "message",
    subtype: "message_deleted",
    hidden: true,
    channel: "C1",
    ts: "400.0",
    deleted_ts: "100.000100",
    previous_message: { user: "U0ALICE", ts: "100.000100", text: "hi" },
  };
  expect(read(erased)).toMatchObject({ type: "delete", platformId: "100.000100" });
  expect(
    read(changed({}, { subtype: "tombstone", user: "USLACKBOT", text: "This message was deleted." })),
  ).toMatchObject({ type: "delete", platformId: "100.000100" });
  expect(read({ ...erased, previous_message: { user: "U0ADA", bot_id: "B0ADA", ts: "100.000100" } })).toBeUndefined();
});

test("the stop control stops the thread it was pressed in", () => {
  const stop = {
    type: "agent_session_stopped",
    channel: "C1",
    thread_ts: "100.000100",
    user: "U0ALICE",
    event_ts: "500.0",
  };
  expect(read(stop)).toMatchObject({
    type: "stop",
    conversation: { kind: "thread", threadId: "100.000100" },
    from: { name: "Alice" },
  });
  expect(read({ ...stop, channel: "D1" })).toMatchObject({ type: "stop", conversation: { kind: "direct" } });
});

test("joining and leaving are the same happening in every bot's copy", () => {
  const join = { type: "member_joined_channel", user: "U0BO", channel: "C1", channel_type: "C", event_ts: "600.0" };
  expect(read(join)).toMatchObject({
    type: "membership",
    change: "joined",
    platformId: "U0BO",
    dedupeKey: "slack:T1:C1:joined:U0BO:600.0",
  });
  expect(read({ ...join, type: "member_left_channel" })).toMatchObject({ change: "left" });
});

test("files come along, also with a mention, and deleted ones do not", () => {
  const files = [
    {
      id: "F1",
      name: "a.png",
      mimetype: "image/png",
      size: 5,
      url_private: "https://f.example/a",
      url_private_download: "https://f.example/a/d",
    },
    { id: "F2", mode: "file_access", file_access: "check_file_info", created: 0 },
    { id: "F3", mode: "tombstone" },
  ];
  expect(heard(message({ subtype: "file_share", files })).files).toEqual([
    { platformFileId: "F1", name: "a.png", mediaType: "image/png", size: 5, url: "https://f.example/a/d" },
    { platformFileId: "F2", name: "F2" },
  ]);
});
