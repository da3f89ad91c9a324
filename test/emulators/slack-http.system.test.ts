/**
 * HTTP delivery to the real Bolt HTTP receiver: signatures, retries, the URL check, interactions, forged requests.
 * A proper receiver must accept what the workspace sends and nothing else.
 */
import type { Server } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { App as BoltApp, HTTPReceiver, LogLevel } from "@slack/bolt";
import { afterEach, beforeEach, expect, test } from "vitest";
import { webClient } from "./clients.ts";
import type { App, Channel, Slack, User } from "./slack/index.ts";
import { startSlack } from "./slack/index.ts";

let slack: Slack;
let ada: App;
let alice: User;
let general: Channel;
let server: Server;
let client: BoltApp;
/** Answers to give before the receiver sees anything; empty = the receiver answers. */
let failures: number[];
let retryHeaders: string[];

beforeEach(async () => {
  slack = await startSlack({ ackTimeoutMs: 400, retryDelaysMs: [0, 30, 60] });
  ada = slack.addApp({ name: "Ada", mode: "http" });
  alice = slack.addPerson("Alice");
  general = slack.addChannel("general", [ada, alice]);
  failures = [];
  retryHeaders = [];
  const receiver = new HTTPReceiver({ signingSecret: ada.signingSecret, logLevel: LogLevel.ERROR });
  client = new BoltApp({
    token: ada.botToken,
    receiver,
    logLevel: LogLevel.ERROR,
    clientOptions: { slackApiUrl: slack.apiUrl },
  });
  server = createServer((request, response) => {
    retryHeaders.push(String(request.headers["x-slack-retry-num"] ?? "first"));
    const failure = failures.shift();
    if (failure !== undefined) response.writeHead(failure).end();
    else receiver.requestListener(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  ada.requestUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}/slack/events`;
});
afterEach(async () => {
  server.closeAllConnections();
  server.close();
  await slack.close();
});

test("the URL check is answered", async () => {
  expect(await slack.verifyUrl(ada)).toBe(true);
});

test("events arrive signed and are acknowledged", async () => {
  client.event("app_mention", async ({ say }) => void (await say("hello")));
  slack.say(alice, general, `${slack.mention(ada)} hi`);
  await slack.waitForPost((post) => post.text === "hello");
  await slack.waitUntil(
    () => slack.deliveries.slice(0, 2).every((record) => record.acknowledgedAt !== null),
    "acknowledgements",
  );
});

test("a failed delivery is retried with its number until it succeeds", async () => {
  failures = [500, 503];
  slack.say(alice, general, "hello");
  await slack.waitUntil(() => slack.deliveries[0]?.acknowledgedAt, "the acknowledgement");
  expect(retryHeaders).toEqual(["first", "1", "2"]);
});

test("after three retries the event is lost", async () => {
  failures = [500, 500, 500, 500];
  slack.say(alice, general, "hello");
  await slack.waitUntil(() => slack.deliveries[0]?.lost, "the end of the retries");
  expect(retryHeaders).toEqual(["first", "1", "2", "3"]);
});

test("an app that is down hears of it when it is back in time", async () => {
  const address = ada.requestUrl;
  ada.requestUrl = "http://127.0.0.1:9/slack/events";
  slack.say(alice, general, "hello");
  await slack.waitUntil(() => (slack.deliveries[0]?.sentAt.length ?? 0) > 1, "a failed attempt");
  ada.requestUrl = address;
  await slack.waitUntil(() => slack.deliveries[0]?.acknowledgedAt, "the acknowledgement");
});

test("presses and modals travel as forms and are answered in the response", async () => {
  client.action("go", async ({ ack, body, client: web }) => {
    await ack();
    const trigger = "trigger_id" in body ? body.trigger_id : "";
    const input = {
      type: "input" as const,
      block_id: "b",
      label: { type: "plain_text" as const, text: "Name" },
      element: { type: "plain_text_input" as const, action_id: "v" },
    };
    await web.views.open({
      trigger_id: trigger,
      view: {
        type: "modal",
        callback_id: "m",
        title: { type: "plain_text", text: "Hi" },
        submit: { type: "plain_text", text: "OK" },
        blocks: [input],
      },
    });
  });
  client.view("m", async ({ ack }) => void (await ack({ response_action: "errors", errors: { b: "no" } })));
  const button = { type: "button" as const, action_id: "go", text: { type: "plain_text" as const, text: "Go" } };
  await webClient(slack, ada).chat.postMessage({
    channel: general.id,
    text: "?",
    blocks: [{ type: "actions", elements: [button] }],
  });
  expect((await slack.press(alice, await slack.waitForPost(), "Go")).acknowledged).toBe(true);
  await slack.waitForModal(alice);
  expect((await slack.submit(alice, "x")).errors).toEqual({ b: "no" });
});

test("forged, old and unsigned requests are refused by a proper receiver", async () => {
  const body = JSON.stringify({ type: "event_callback", event: { type: "message" } });
  const statuses = [
    await slack.forge(ada, body, { secret: "wrong" }),
    await slack.forge(ada, body, { ageSeconds: 600 }),
    await slack.forge(ada, body, { unsigned: true }),
  ].map((reply) => reply.status);
  expect(statuses.every((status) => status >= 400 && status < 500)).toBe(true);
});
