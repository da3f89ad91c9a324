/**
 * Drives the Slack workspace with the real Bolt and Web API clients, over Socket Mode and over HTTP: what people do
 * reaches the apps, what apps do is seen by people.
 */
import type { App as BoltApp } from "@slack/bolt";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { connectBolt, openSocket, stopBolt, webClient } from "./clients.ts";
import type { App, Channel, Slack, User } from "./slack/index.ts";
import { startSlack } from "./slack/index.ts";

const running: BoltApp[] = [];
let slack: Slack;
let alice: User;
let ada: App;
let bo: App;
let general: Channel;

beforeAll(async () => {
  slack = await startSlack({ shareDelayMs: 30 });
  alice = slack.addPerson("Alice");
  ada = slack.addApp({ name: "Ada" });
  bo = slack.addApp({ name: "Bo" });
  general = slack.addChannel("general", [ada, bo, alice]);
});
afterEach(() => stopBolt(slack, running.splice(0)));
afterAll(() => slack.close());

async function connect(app: App): Promise<BoltApp> {
  const client = await connectBolt(slack, app);
  running.push(client);
  return client;
}

test("a mention reaches the named bot as two events and all other member bots as one", async () => {
  const heard: string[] = [];
  for (const app of [ada, bo]) {
    const client = await connect(app);
    client.event(
      "app_mention",
      async ({ body, event }) => void heard.push(`${app.name} app_mention ${body.event_id} ${event.ts}`),
    );
    client.event(
      "message",
      async ({ body, event }) => void heard.push(`${app.name} message ${body.event_id} ${event.ts}`),
    );
  }
  const asked = slack.say(alice, general, `${slack.mention(ada)} hello`);
  await slack.waitUntil(() => heard.length === 3, "three copies");
  expect(heard.map((line) => line.split(" ").slice(0, 2).join(" ")).sort()).toEqual([
    "Ada app_mention",
    "Ada message",
    "Bo message",
  ]);
  expect(new Set(heard.map((line) => line.split(" ")[2])).size).toBe(3);
  expect(new Set(heard.map((line) => line.split(" ")[3]))).toEqual(new Set([asked.ts]));
});

test("a bot's reply lands in the thread, is echoed to every member bot, and pings nobody", async () => {
  const client = await connect(ada);
  client.event("app_mention", async ({ event, client: web }) => {
    await web.chat.postMessage({
      channel: event.channel,
      thread_ts: event.ts,
      text: "fallback",
      blocks: [{ type: "markdown", text: "hello **you**" }],
    });
  });
  const asked = slack.say(alice, general, `${slack.mention(ada)} hi`);
  const post = await slack.waitForPost((item) => item.threadTs === asked.ts);
  expect(post).toMatchObject({ text: "hello **you**", author: "Ada", mentions: [], previews: false });
  const echoes = slack.deliveries
    .filter((record) => (record.body.event as { ts?: string }).ts === post.ts)
    .map((record) => record.app.name);
  expect(echoes.sort()).toEqual(["Ada", "Bo"]);
  expect(slack.timeline(general, { thread: asked }).map((item) => item.author)).toEqual(["Alice", "Ada"]);
});

test("a direct message has no app_mention copy and is answered in the same place", async () => {
  const client = await connect(ada);
  client.message(async ({ message, say }) => {
    if (message.channel_type === "im") await say("hello back");
  });
  slack.dm(alice, ada, `${slack.mention(ada)} hi`);
  await slack.waitForPost((post) => post.text === "hello back" && post.channel === slack.dmChannel(alice, ada));
  expect(
    slack.deliveries.filter(
      (record) =>
        record.eventType === "app_mention" && (record.body.event as { channel: string }).channel.startsWith("D"),
    ),
  ).toEqual([]);
});

test("edits, deletions, previews, reactions and membership are told", async () => {
  const client = await connect(ada);
  const heard: string[] = [];
  client.event("message", async ({ event }) => void heard.push(event.subtype ?? "message"));
  client.event("reaction_added", async ({ event }) => void heard.push(event.reaction));
  client.event("member_joined_channel", async ({ event }) => void heard.push(`joined ${event.user}`));
  const said = slack.say(alice, general, "see https://example.com/x");
  slack.edit(said, "see https://example.com/y");
  slack.unfurl(said);
  slack.react(alice, said, "eyes");
  slack.erase(said);
  const bob = slack.addPerson("Bob");
  slack.invite(general, bob, alice);
  await slack.waitUntil(
    () => heard.length === 6,
    () => heard.join(),
  );
  expect(heard).toEqual([
    "message",
    "message_changed",
    "message_changed",
    "eyes",
    "message_deleted",
    `joined ${bob.id}`,
  ]);
});

test("a file is uploaded in three steps, shared a little later, and readable only with the token", async () => {
  const web = webClient(slack, ada);
  const bytes = Buffer.from("hello file");
  const reserved = await web.files.getUploadURLExternal({
    filename: "notes.txt",
    length: bytes.length,
    alt_text: "my notes",
  });
  await fetch(reserved.upload_url ?? "", { method: "POST", body: bytes });
  const completed = await web.files.completeUploadExternal({
    files: [{ id: reserved.file_id ?? "", title: "Notes" }],
    channel_id: general.id,
    initial_comment: "look",
  });
  expect(completed.files?.[0]?.shares ?? {}).toEqual({});
  const post = await slack.waitForPost((item) => item.files.length === 1);
  expect(post).toMatchObject({
    text: "look",
    files: [{ name: "notes.txt", title: "Notes", alt: "my notes", type: "text/plain" }],
  });
  const info = await web.files.info({ file: reserved.file_id ?? "" });
  expect(info.file?.shares?.public?.[general.id]?.[0]?.ts).toBe(post.ts);
  const url = info.file?.url_private ?? "";
  const authorized = await fetch(url, { headers: { authorization: `Bearer ${ada.botToken}` } });
  expect(await authorized.text()).toBe("hello file");
  expect(await (await fetch(url)).text()).toContain("<!DOCTYPE html>");
});

test("a person's file arrives as file_share and in the app_mention copy without files", async () => {
  const said = slack.say(alice, general, `${slack.mention(ada)} read this`, {
    files: [{ name: "a.txt", bytes: "abc" }],
  });
  const copies = slack.deliveries.map(
    (record) => record.body.event as { type: string; ts?: string; subtype?: string; files?: unknown[] },
  );
  await slack.waitUntil(
    () =>
      slack.deliveries.some(
        (record) => record.eventType === "app_mention" && (record.body.event as { ts: string }).ts === said.ts,
      ),
    "the mention",
  );
  expect(copies.find((event) => event.ts === said.ts)).toMatchObject({
    type: "message",
    subtype: "file_share",
    files: [{ name: "a.txt" }],
  });
  const twin = slack.deliveries
    .map((record) => record.body.event as { type: string; ts?: string; files?: unknown[] })
    .find((event) => event.type === "app_mention" && event.ts === said.ts);
  expect(twin?.files).toBeUndefined();
});

test("history and replies page, hide metadata unless asked for, and keep replies out of the channel", async () => {
  const web = webClient(slack, ada);
  const room = slack.addChannel("paged", [ada, alice]);
  const root = await web.chat.postMessage({
    channel: room.id,
    text: "root",
    metadata: { event_type: "parley_piece", event_payload: { id: "p1" } },
  });
  for (const text of ["r1", "r2", "r3"]) await web.chat.postMessage({ channel: room.id, text, thread_ts: root.ts });
  slack.say(alice, room, "top");
  const history = await web.conversations.history({ channel: room.id, include_all_metadata: true });
  expect(history.messages?.map((message) => message.text)).toEqual(["top", "root"]);
  expect(history.messages?.[1]?.metadata?.event_payload).toEqual({ id: "p1" });
  const first = await web.conversations.replies({ channel: room.id, ts: root.ts ?? "", limit: 2 });
  const second = await web.conversations.replies({
    channel: room.id,
    ts: root.ts ?? "",
    limit: 2,
    cursor: first.response_metadata?.next_cursor,
  });
  expect([...(first.messages ?? []), ...(second.messages ?? [])].map((message) => message.text)).toEqual([
    "root",
    "r1",
    "r2",
    "r3",
  ]);
  expect(first.messages?.[0]?.metadata).toBeUndefined();
  const newer = await web.conversations.history({ channel: room.id, oldest: root.ts });
  expect(newer.messages?.map((message) => message.text)).toEqual(["top"]);
});

test("a status shows under the thread until the bot posts there", async () => {
  const web = webClient(slack, ada);
  const asked = slack.say(alice, general, "anything");
  await web.assistant.threads.setStatus({ channel_id: general.id, thread_ts: asked.ts, status: "is thinking…" });
  expect(slack.status(ada, asked)).toBe("is thinking…");
  await web.chat.postMessage({ channel: general.id, thread_ts: asked.ts, text: "answer" });
  expect(slack.status(ada, asked)).toBe("");
});

test("auth.test names the granted scopes", async () => {
  const result = await webClient(slack, ada).auth.test();
  expect(result).toMatchObject({ user_id: ada.userId, bot_id: ada.botId, team_id: slack.team.id });
  expect(result.response_metadata?.scopes).toContain("chat:write");
});

test("stop, home and revoked tokens are told to the one app", async () => {
  const cy = slack.addApp({ name: "Cy" });
  const { events, socket } = await openSocket(slack, cy);
  const asked = slack.dm(alice, cy, "start something long");
  slack.pressStop(alice, cy, asked);
  slack.openHome(alice, cy);
  slack.revokeTokens(cy);
  await slack.waitUntil(() => events.length === 4, "four events");
  expect(events).toEqual(["message", "agent_session_stopped", "app_home_opened", "tokens_revoked"]);
  await expect(webClient(slack, cy).auth.test()).rejects.toThrow("token_revoked");
  socket.close();
});

test("a persona and a foreign bot look the way Slack shows them", async () => {
  await webClient(slack, ada).chat.postMessage({
    channel: general.id,
    text: "as Ann",
    username: "Ann",
    icon_emoji: ":cat:",
  });
  const persona = slack.posts(general).at(-1);
  expect(persona?.author).toBe("Ann");
  expect(persona?.body).toMatchObject({ subtype: "bot_message", username: "Ann", bot_id: ada.botId });
  expect(persona?.body.user).toBeUndefined();
  const foreign = slack.sayAsForeignBot("Robo", general, `${slack.mention(ada)} beep`);
  expect(foreign).toMatchObject({ author: "Robo", app: null });
  expect(foreign.body.bot_id).toMatch(/^B/);
  expect(foreign.body.subtype).toBeUndefined();
});

test("an app hears only what its scopes and subscriptions allow", async () => {
  const narrow = slack.addApp({ name: "Narrow", events: ["app_mention", "message.im"] });
  const blind = slack.addApp({ name: "Blind", scopes: ["chat:write"] });
  const room = slack.addChannel("narrow", [narrow, blind, alice]);
  slack.say(alice, room, `${slack.mention(narrow)} and ${slack.mention(blind)}`, { gapMs: 0 });
  slack.dm(alice, narrow, "hi");
  const heard = (app: App) => slack.deliveries.filter((record) => record.app === app).map((record) => record.eventType);
  expect(heard(narrow)).toEqual(["app_mention", "message"]);
  expect(heard(blind)).toEqual([]);
});
