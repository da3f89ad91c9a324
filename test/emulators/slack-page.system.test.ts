/**
 * The page of the emulated workspace, used as its script uses it: who I am, what I see, what I do.
 * It must show a person only what is theirs.
 */
import type { App as BoltApp } from "@slack/bolt";
import { afterAll, beforeAll, expect, test } from "vitest";
import { connectBolt, stopBolt, webClient } from "./clients.ts";
import type { App, Channel, Slack, User } from "./slack/index.ts";
import { startSlack } from "./slack/index.ts";

interface PageMessage {
  ts: string;
  thread: string | null;
  author: string;
  parts: { kind: string; text?: string; controls?: { index: number; label: string }[] }[];
}

interface PageState {
  people: { id: string; name: string }[];
  apps: { name: string; online: boolean }[];
  places: { id: string; name: string; messages: PageMessage[] }[];
  notices: { text: string }[];
  modal: { title: string } | null;
}

let slack: Slack;
let ada: App;
let alice: User;
let general: Channel;
let client: BoltApp;

beforeAll(async () => {
  slack = await startSlack();
  ada = slack.addApp({ name: "Ada" });
  alice = slack.addPerson("Alice");
  general = slack.addChannel("general", [ada, alice]);
  client = await connectBolt(slack, ada);
  client.event("app_mention", async ({ event, client: web }) => {
    const button = { type: "button" as const, action_id: "go", text: { type: "plain_text" as const, text: "Go" } };
    const blocks = [
      { type: "markdown" as const, text: `hello <@${event.user}>` },
      { type: "actions" as const, elements: [button] },
    ];
    await web.chat.postMessage({ channel: event.channel, thread_ts: event.ts, text: "hello", blocks });
  });
  client.action("go", async ({ ack, respond }) => {
    await ack();
    await respond({ text: "only for you", replace_original: false });
  });
});
afterAll(async () => {
  await stopBolt(slack, [client]);
  await slack.close();
});

async function look(person = alice.id): Promise<PageState> {
  return (await (await fetch(`${slack.url}page/state?person=${person}`)).json()) as PageState;
}

async function act(order: Record<string, unknown>): Promise<{ id?: string; problem?: string }> {
  const body = JSON.stringify({ person: alice.id, place: general.id, ...order });
  const response = await fetch(`${slack.url}page/act`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body,
  });
  return (await response.json()) as { id?: string; problem?: string };
}

test("the page, its style and its scripts are served", async () => {
  for (const path of ["", "page.css", "page.js", "parts.js"]) expect((await fetch(slack.url + path)).status).toBe(200);
});

test("a person writes with @Name, sees the answer in the thread, and presses its button", async () => {
  await act({ act: "say", text: "@Ada hi" });
  const post = await slack.waitForPost();
  const place = (await look()).places.find((item) => item.id === general.id);
  const answer = place?.messages.find((message) => message.author === "Ada");
  expect(answer).toMatchObject({
    thread: post.threadTs,
    parts: [{ text: "hello @Alice" }, { controls: [{ index: 0, label: "Go" }] }],
  });
  expect(await act({ act: "press", ts: answer?.ts, index: 0 })).toEqual({});
  await slack.waitUntil(() => slack.noticesFor(alice).length === 1, "the notice");
  expect((await look()).notices).toMatchObject([{ text: "only for you" }]);
});

test("direct messages are places too, and somebody new sees only what is theirs", async () => {
  await act({ act: "say", place: ada.appId, text: "a secret" });
  const { id } = await act({ act: "join", name: "Bob" });
  const seen = await look(id);
  expect(seen.people.map((person) => person.name)).toEqual(["Alice", "Bob"]);
  expect(JSON.stringify(seen)).not.toContain("a secret");
  expect(JSON.stringify(await look())).toContain("a secret");
  expect(seen.apps).toMatchObject([{ name: "Ada", online: true }]);
});

test("a foreign site cannot act: anything but JSON is refused", async () => {
  const response = await fetch(`${slack.url}page/act`, { method: "POST", body: "{}" });
  expect(response.status).toBe(415);
  expect((await act({ act: "say", person: ada.userId, text: "x" })).problem).toContain("who you are");
  expect((await act({ act: "press", ts: "1.000001", index: 0 })).problem).toContain("no message");
});

test("a modal is shown with its fields and closed again", async () => {
  const button = { type: "button", action_id: "go", text: { type: "plain_text", text: "Go" } };
  await webClient(slack, ada).apiCall("chat.postMessage", {
    channel: general.id,
    text: "?",
    blocks: [{ type: "actions", elements: [button] }],
  });
  const pressed = await slack.press(alice, slack.posts(general).at(-1) ?? { channel: general, ts: "" }, "Go");
  const title = { type: "plain_text", text: "Question" };
  const input = { type: "input", label: title, element: { type: "plain_text_input", action_id: "v" } };
  const view = { type: "modal", title, submit: title, blocks: [input] };
  await webClient(slack, ada).apiCall("views.open", { trigger_id: pressed.triggerId, view });
  expect((await look()).modal).toMatchObject({ title: "Question", inputs: [{ label: "Question" }] });
  await act({ act: "close" });
  expect((await look()).modal).toBeNull();
});
