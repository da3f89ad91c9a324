/**
 * What Slack refuses must be refused here with the same code, through the real Web API client, and must change
 * nothing. Each row is the smallest call that breaks one rule.
 */
import { afterAll, beforeAll, expect, test } from "vitest";
import { webClient } from "./clients.ts";
import type { App, Channel, Slack, User } from "./slack/index.ts";
import { startSlack } from "./slack/index.ts";

type Json = Record<string, unknown>;

let slack: Slack;
let ada: App;
let bo: App;
let alice: User;
let places: Record<string, Channel>;
let rootTs = "";
let replyTs = "";
let foreignTs = "";

beforeAll(async () => {
  slack = await startSlack();
  ada = slack.addApp({ name: "Ada" });
  bo = slack.addApp({ name: "Bo" });
  alice = slack.addPerson("Alice");
  places = {
    general: slack.addChannel("general", [ada, bo, alice]),
    elsewhere: slack.addChannel("elsewhere", [alice]),
    secret: slack.addChannel("secret", [alice], { private: true }),
    old: slack.addChannel("old", [ada, alice], { archived: true }),
  };
  const web = webClient(slack, ada);
  rootTs = (await web.chat.postMessage({ channel: id("general"), text: "root" })).ts ?? "";
  replyTs = (await web.chat.postMessage({ channel: id("general"), text: "reply", thread_ts: rootTs })).ts ?? "";
  foreignTs = slack.say(alice, channel("general"), "mine").ts;
});
afterAll(() => slack.close());

function channel(name: string): Channel {
  const found = places[name];
  if (!found) throw new Error(`no channel ${name}`);
  return found;
}

function id(name: string): string {
  return channel(name).id;
}

/** Calls a method; returns the error code and the reasons, or "ok". */
async function refusal(method: string, args: Json): Promise<{ error: string; reasons: string }> {
  const form = Object.entries(args).map(([name, value]) => [
    name,
    typeof value === "string" ? value : JSON.stringify(value),
  ]);
  const response = await fetch(`${slack.apiUrl}${method}`, {
    method: "POST",
    headers: { authorization: `Bearer ${ada.botToken}` },
    body: new URLSearchParams(form as [string, string][]),
  });
  const answer = (await response.json()) as {
    ok: boolean;
    error?: string;
    errors?: unknown;
    response_metadata?: unknown;
  };
  return {
    error: answer.ok ? "ok" : (answer.error ?? ""),
    reasons: JSON.stringify([answer.errors, answer.response_metadata]),
  };
}

const plain = (text: string) => ({ type: "plain_text", text });
const section = (text: string) => ({ type: "section", text: { type: "mrkdwn", text } });
const markdown = (text: string) => ({ type: "markdown", text });

const MODAL = { type: "modal", title: plain("x"), blocks: [] };

test("a broken block is refused with its place, and nothing is posted", async () => {
  const before = slack.posts().length;
  const { error, reasons } = await refusal("chat.postMessage", {
    channel: id("general"),
    text: "x",
    blocks: [section("x".repeat(3001))],
  });
  expect(error).toBe("invalid_blocks");
  expect(reasons).toContain("json-pointer:/blocks/0/text/text");
  expect(slack.posts().length).toBe(before);
  expect((await refusal("blocks.validate", { blocks: [section("")] })).error).toBe("invalid_blocks");
  expect((await refusal("blocks.validate", { blocks: [section("x")] })).error).toBe("ok");
});

type Call = [label: string, method: string, args: () => Json, code: string];

const POST_ROWS: [label: string, args: () => Json, code: string][] = [
  ["empty text", () => ({ text: "" }), "no_text"],
  ["an empty thread", () => ({ text: "x", thread_ts: "" }), "invalid_thread_ts"],
  ["a thread with lost digits", () => ({ text: "x", thread_ts: "123.4" }), "invalid_thread_ts"],
  ["a thread that does not exist", () => ({ text: "x", thread_ts: "123.000456" }), "thread_not_found"],
  ["a reply's own timestamp as thread", () => ({ text: "x", thread_ts: replyTs }), "cannot_reply_to_message"],
  ["text of 40,001 characters", () => ({ text: "x".repeat(40_001) }), "msg_too_long"],
  [
    "blocks of 13,201 characters",
    () => ({ text: "x", blocks: [markdown("x".repeat(11_000)), section("x".repeat(2201))] }),
    "msg_blocks_too_long",
  ],
  ["blocks that are no list", () => ({ text: "x", blocks: "{oops" }), "invalid_blocks_format"],
  ["markdown_text beside text", () => ({ text: "x", markdown_text: "y" }), "markdown_text_conflict"],
  ["markdown_text beside blocks", () => ({ blocks: [section("x")], markdown_text: "y" }), "markdown_text_conflict"],
  ["metadata without a type", () => ({ text: "x", metadata: { event_payload: {} } }), "invalid_metadata_format"],
];

test.each(POST_ROWS)("a post with %s → %s", async (_label, args, code) => {
  const before = slack.posts().length;
  expect((await refusal("chat.postMessage", { channel: id("general"), ...args() })).error).toBe(code);
  expect(slack.posts().length).toBe(before);
});

const CALL_ROWS: Call[] = [
  ["no channel", "chat.postMessage", () => ({ text: "x" }), "invalid_arguments"],
  ["an unknown channel", "chat.postMessage", () => ({ channel: "C0UNKNOWN", text: "x" }), "channel_not_found"],
  ["a channel it is not in", "chat.postMessage", () => ({ channel: id("elsewhere"), text: "x" }), "not_in_channel"],
  [
    "a private channel it is not in",
    "chat.postMessage",
    () => ({ channel: id("secret"), text: "x" }),
    "channel_not_found",
  ],
  ["an archived channel", "chat.postMessage", () => ({ channel: id("old"), text: "x" }), "is_archived"],
  ["a bot's direct messages", "chat.postMessage", () => ({ channel: bo.userId, text: "x" }), "cannot_dm_bot"],
  ["no content", "chat.postMessage", () => ({ channel: id("general") }), "no_text"],
  [
    "metadata that is too large",
    "chat.postMessage",
    () => ({
      channel: id("general"),
      text: "x",
      metadata: { event_type: "t", event_payload: { id: "x".repeat(9000) } },
    }),
    "metadata_too_large",
  ],
  [
    "an edit of a person's message",
    "chat.update",
    () => ({ channel: id("general"), ts: foreignTs, text: "x" }),
    "cant_update_message",
  ],
  [
    "an edit of nothing",
    "chat.update",
    () => ({ channel: id("general"), ts: "1.000001", text: "x" }),
    "message_not_found",
  ],
  [
    "an edit of 4,001 characters",
    "chat.update",
    () => ({ channel: id("general"), ts: rootTs, text: "x".repeat(4001) }),
    "msg_too_long",
  ],
  ["an edit without content", "chat.update", () => ({ channel: id("general"), ts: rootTs }), "no_text"],
  [
    "a deletion of a person's message",
    "chat.delete",
    () => ({ channel: id("general"), ts: foreignTs }),
    "cant_delete_message",
  ],
  [
    "a notice for somebody outside",
    "chat.postEphemeral",
    () => ({ channel: id("general"), user: slack.addPerson("Eve").id, text: "x" }),
    "user_not_in_channel",
  ],
  ["a history it may not see", "conversations.history", () => ({ channel: id("elsewhere") }), "not_in_channel"],
  [
    "replies of nothing",
    "conversations.replies",
    () => ({ channel: id("general"), ts: "1.000001" }),
    "thread_not_found",
  ],
  ["an unknown person", "users.info", () => ({ user: "U0" }), "user_not_found"],
  [
    "a reaction that is no name",
    "reactions.add",
    () => ({ channel: id("general"), timestamp: rootTs, name: "👀" }),
    "invalid_name",
  ],
  [
    "removing a reaction that is not there",
    "reactions.remove",
    () => ({ channel: id("general"), timestamp: rootTs, name: "eyes" }),
    "no_reaction",
  ],
  [
    "a status without a thread",
    "assistant.threads.setStatus",
    () => ({ channel_id: id("general"), status: "x" }),
    "invalid_arguments",
  ],
  [
    "a session status that does not exist",
    "agents.sessions.setStatus",
    () => ({ channel_id: id("general"), status: "busy" }),
    "invalid_arguments",
  ],
  [
    "five suggested prompts",
    "assistant.threads.setSuggestedPrompts",
    () => ({
      channel_id: id("general"),
      thread_ts: rootTs,
      prompts: Array.from({ length: 5 }, () => ({ title: "t", message: "m" })),
    }),
    "invalid_arguments",
  ],
  ["an empty file", "files.getUploadURLExternal", () => ({ filename: "a.txt", length: 0 }), "missing_argument"],
  [
    "a file that was never uploaded",
    "files.completeUploadExternal",
    () => ({ files: [{ id: "F0" }], channel_id: id("general") }),
    "file_not_found",
  ],
  [
    "a person's id instead of a channel",
    "files.completeUploadExternal",
    () => ({ files: [{ id: "F0" }], channel_id: alice.id }),
    "file_not_found",
  ],
  ["a modal without a trigger", "views.open", () => ({ view: MODAL }), "invalid_arguments"],
  [
    "a modal with an invented trigger",
    "views.open",
    () => ({ trigger_id: "1.2.x", view: MODAL }),
    "invalid_trigger_id",
  ],
  [
    "a modal title of 25 characters",
    "views.open",
    () => ({ trigger_id: "1.2.x", view: { type: "modal", title: plain("x".repeat(25)), blocks: [] } }),
    "invalid_arguments",
  ],
  [
    "an input without submit",
    "views.open",
    () => ({
      trigger_id: "1.2.x",
      view: {
        type: "modal",
        title: plain("x"),
        blocks: [{ type: "input", label: plain("l"), element: { type: "plain_text_input" } }],
      },
    }),
    "invalid_arguments",
  ],
  ["a method that does not exist", "chat.shout", () => ({}), "unknown_method"],
  ["a socket with a bot token", "apps.connections.open", () => ({}), "not_allowed_token_type"],
];

test.each(CALL_ROWS)("%s → %s", async (_label, method, args, code) => {
  const before = slack.refusals.length;
  expect((await refusal(method, args())).error).toBe(code);
  expect(slack.refusals.length).toBe(before + 1);
  expect(slack.refusals.at(-1)).toMatchObject({ method, error: code, app: ada });
});

test("the client sees the reasons of a refusal", async () => {
  const error: unknown = await webClient(slack, ada)
    .chat.postMessage({ channel: id("general"), text: "x", blocks: [section("x".repeat(3001))] as never })
    .catch((reason: unknown) => reason);
  expect(error).toMatchObject({
    data: { error: "invalid_blocks", errors: ["must be less than 3001 characters [json-pointer:/blocks/0/text/text]"] },
  });
});
