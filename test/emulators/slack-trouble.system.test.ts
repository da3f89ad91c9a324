/**
 * Trouble on demand, seen through the real clients: failing requests, disturbed deliveries, broken connections.
 * Each kind of trouble must do exactly what it says, and nothing when it is used up.
 */
import type { App as BoltApp } from "@slack/bolt";
import { WebClient } from "@slack/web-api";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connectBolt, openSocket, webClient } from "./clients.ts";
import type { App, Channel, Fault, Slack, User } from "./slack/index.ts";
import { startSlack } from "./slack/index.ts";

const running: BoltApp[] = [];
let slack: Slack;
let ada: App;
let alice: User;
let general: Channel;

beforeEach(async () => {
  slack = await startSlack({ ackTimeoutMs: 150, retryDelaysMs: [0, 60, 120] });
  ada = slack.addApp({ name: "Ada" });
  alice = slack.addPerson("Alice");
  general = slack.addChannel("general", [ada, alice]);
});
afterEach(async () => {
  await Promise.all(running.splice(0).map((client) => client.stop()));
  await slack.close();
});

/** Connects a bot that notes every event it hears as `type retry`. */
async function listener(): Promise<string[]> {
  const client = await connectBolt(slack, ada);
  running.push(client);
  const heard: string[] = [];
  client.use(async ({ body, next }) => {
    heard.push(String((body as { event?: { type: string } }).event?.type));
    await next();
  });
  return heard;
}

function post(): Promise<unknown> {
  return webClient(slack, ada).chat.postMessage({ channel: general.id, text: "x" });
}

const NOTHING_DONE: [string, Fault, RegExp][] = [
  ["a rate limit", { rateLimit: 3 }, /rate|429|retry/i],
  ["HTTP 503", { status: 503 }, /503/],
  ["ok:false", { error: "ratelimited" }, /ratelimited/],
  ["a revoked token", { error: "token_revoked" }, /token_revoked/],
  ["a connection reset", { reset: true }, /fetch failed|socket|terminated/i],
];

test.each(NOTHING_DONE)("%s: the call fails and nothing was posted", async (_label, fault, reason) => {
  const client = new WebClient(ada.botToken, {
    slackApiUrl: slack.apiUrl,
    retryConfig: { retries: 0 },
    rejectRateLimitedCalls: true,
  });
  slack.fail("chat.postMessage", fault);
  await expect(client.chat.postMessage({ channel: general.id, text: "x" })).rejects.toThrow(reason);
  expect(slack.posts(general)).toEqual([]);
  expect(slack.refusals).toEqual([]);
  await post();
  expect(slack.posts(general).length).toBe(1);
});

test.each([
  ["accepted, then the connection drops", { acceptThen: "drop" }],
  ["accepted, then HTTP 500", { acceptThen: 500 }],
] as [string, Fault][])("%s: the call fails but the post is there", async (_label, fault) => {
  slack.fail("chat.postMessage", fault);
  await expect(post()).rejects.toThrow();
  expect(slack.posts(general).length).toBe(1);
});

test("accepted, then never answered: the client gives up, the post is there", async () => {
  slack.fail("chat.postMessage", { acceptThen: "hang" });
  const client = new WebClient(ada.botToken, { slackApiUrl: slack.apiUrl, retryConfig: { retries: 0 }, timeout: 100 });
  await expect(client.chat.postMessage({ channel: general.id, text: "x" })).rejects.toThrow();
  expect(slack.posts(general).length).toBe(1);
});

test("a fault hits as often as asked, only the app and the calls meant", async () => {
  const bo = slack.addApp({ name: "Bo" });
  slack.invite(general, bo);
  slack.fail(
    "chat.postMessage",
    { error: "fatal_error" },
    { times: 2, app: ada, when: (request) => request.args.text === "x" },
  );
  await expect(post()).rejects.toThrow("fatal_error");
  await webClient(slack, bo).chat.postMessage({ channel: general.id, text: "x" });
  await webClient(slack, ada).chat.postMessage({ channel: general.id, text: "other" });
  await expect(post()).rejects.toThrow("fatal_error");
  await post();
  expect(slack.posts(general).map((item) => item.text)).toEqual(["x", "other", "x"]);
});

test("an unacknowledged event comes again with its old event id and a retry number", async () => {
  const heard = await listener();
  slack.disturb({ ignoreAck: true });
  slack.say(alice, general, "hello");
  await slack.waitUntil(() => heard.length === 2, "the retry");
  await slack.waitUntil(() => slack.deliveries[0]?.acknowledgedAt, "the acknowledgement");
  expect(slack.deliveries.length).toBe(1);
  expect(slack.deliveries[0]?.sentAt.length).toBe(2);
});

test("deliveries can be doubled, dropped and delayed", async () => {
  const heard = await listener();
  slack.disturb({ duplicate: 1, event: "message" });
  slack.say(alice, general, "twice");
  await slack.waitUntil(() => heard.length === 2, "two copies");
  slack.disturb({ drop: true });
  slack.say(alice, general, "never");
  slack.disturb({ delayMs: 80 });
  const before = Date.now();
  slack.say(alice, general, "late");
  await slack.waitUntil(() => heard.length === 3, "the late one");
  expect(Date.now() - before).toBeGreaterThanOrEqual(75);
  await slack.waitUntil(
    () => slack.deliveries.every((record) => record.acknowledgedAt !== null),
    "all acknowledgements",
  );
});

test.each([
  ["message", 20, ["message", "app_mention"]],
  ["app_mention", 20, ["app_mention", "message"]],
  ["app_mention", 0, ["app_mention", "message"]],
] as ["message" | "app_mention", number, string[]][])("twins: %s first, %i ms apart", async (first, gapMs, order) => {
  const heard = await listener();
  slack.say(alice, general, `${slack.mention(ada)} hi`, { first, gapMs });
  await slack.waitUntil(() => heard.length === 2, "both copies");
  expect(heard).toEqual(order);
});

test("events said while nobody is connected arrive at the next connection", async () => {
  slack.say(alice, general, "anybody?");
  expect(slack.deliveries[0]?.sentAt).toEqual([]);
  const heard = await listener();
  await slack.waitUntil(() => heard.length === 1, "the event");
});

test("an event that waited too long is lost, but stays in the history", async () => {
  slack.workspace.timing.keepUndeliveredMs = -1;
  slack.say(alice, general, "too late");
  await listener();
  expect(slack.deliveries[0]).toMatchObject({ lost: true, acknowledgedAt: null });
  const history = await webClient(slack, ada).conversations.history({ channel: general.id });
  expect(history.messages?.map((message) => message.text)).toEqual(["too late"]);
});

test("a silent socket stays open but hears nothing; a new one hears what was missed", async () => {
  const deaf = await openSocket(slack, ada);
  slack.silence(ada);
  slack.say(alice, general, "into the void");
  const hearing = await openSocket(slack, ada);
  await slack.waitUntil(() => hearing.events.length === 1, "the retry on the new socket");
  expect(deaf.events).toEqual([]);
  expect(slack.sockets(ada)).toBe(2);
});

test("Bolt comes back after a refresh", async () => {
  const heard = await listener();
  slack.disconnect(ada, "refresh_requested", 20);
  await slack.waitUntil(() => slack.socketsOpened(ada) === 2 && slack.sockets(ada) === 1, "the new socket", 9000);
  slack.say(alice, general, "still there?");
  await slack.waitUntil(() => heard.length === 1, "the event");
});

test("each way to end a connection is announced by its reason and then done", async () => {
  for (const reason of ["warning", "refresh_requested", "link_disabled"] as const) {
    const { frames } = await openSocket(slack, ada);
    slack.disconnect(ada, reason, 5);
    await slack.waitUntil(() => slack.sockets(ada) === 0, "the end");
    expect(frames.map((frame) => frame.reason ?? frame.type)).toEqual(["hello", reason]);
  }
});

test("the eleventh socket of an app is one too many", async () => {
  for (let index = 0; index < 10; index += 1) await openSocket(slack, ada);
  const { frames } = await openSocket(slack, ada);
  await slack.waitUntil(() => frames.length === 1, "the refusal");
  expect(frames[0]).toMatchObject({ type: "disconnect", reason: "too_many_websockets" });
});

test("each event goes to one of several sockets", async () => {
  const sockets = [await openSocket(slack, ada), await openSocket(slack, ada)];
  for (let index = 0; index < 6; index += 1) slack.say(alice, general, `line ${index}`);
  await slack.waitUntil(() => sockets.reduce((sum, { events }) => sum + events.length, 0) === 6, "six events");
  expect(sockets.map(({ events }) => events.length)).toEqual([3, 3]);
});

test("a cut connection gives its unacknowledged event to the next one as a retry", async () => {
  slack.workspace.timing.retryDelaysMs.splice(0, 3, 60_000);
  slack.disturb({ ignoreAck: true });
  const first = await openSocket(slack, ada);
  slack.say(alice, general, "hello");
  await slack.waitUntil(() => first.events.length === 1, "the first attempt");
  expect(slack.cut(ada)).toBe(1);
  const second = await openSocket(slack, ada);
  await slack.waitUntil(() => second.events.length === 1, "the second attempt");
  expect(second.frames.at(-1)).toMatchObject({ retry_attempt: 1, type: "events_api" });
});

test("sockets can be refused although the address was given out", async () => {
  slack.refuseSockets(ada, true);
  await expect(openSocket(slack, ada)).rejects.toThrow("401");
  slack.refuseSockets(ada, false);
  await openSocket(slack, ada);
});

test("a frame that is no acknowledgement is recorded as a refusal", async () => {
  const { socket } = await openSocket(slack, ada);
  socket.send("hello?");
  await slack.waitUntil(() => slack.refusals.length === 1, "the refusal");
  expect(slack.refusals[0]).toMatchObject({ method: "socket", error: "invalid_frame" });
});

test("app_rate_limited has no inner event", () => {
  const record = slack.sendRateLimited(ada);
  expect(record).toMatchObject({
    eventType: "app_rate_limited",
    body: { type: "app_rate_limited", api_app_id: ada.appId },
  });
  expect(record.body.event).toBeUndefined();
});
