/**
 * Buttons, choices, modals, commands and private notices, with the real Bolt client on the other side.
 * Each press is sent once and must be acknowledged in time.
 */
import type { App as BoltApp } from "@slack/bolt";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { connectBolt, stopBolt, webClient } from "./clients.ts";
import type { App, Channel, Slack, User } from "./slack/index.ts";
import { startSlack } from "./slack/index.ts";

const running: BoltApp[] = [];
let slack: Slack;
let alice: User;
let ada: App;
let general: Channel;

beforeAll(async () => {
  slack = await startSlack();
  alice = slack.addPerson("Alice");
  ada = slack.addApp({ name: "Ada" });
  general = slack.addChannel("general", [ada, alice]);
});
afterEach(() => stopBolt(slack, running.splice(0)));
afterAll(() => slack.close());

async function connect(app: App): Promise<BoltApp> {
  const client = await connectBolt(slack, app);
  running.push(client);
  return client;
}

test("a button opens a modal, once per press, and its values come back", async () => {
  const client = await connect(ada);
  const errors: string[] = [];
  const view = {
    type: "modal" as const,
    callback_id: "ask",
    title: { type: "plain_text" as const, text: "Token" },
    submit: { type: "plain_text" as const, text: "Save" },
    blocks: [
      {
        type: "input" as const,
        block_id: "token",
        label: { type: "plain_text" as const, text: "Token" },
        element: { type: "plain_text_input" as const, action_id: "value" },
      },
    ],
  };
  client.action("open", async ({ ack, body, client: web }) => {
    await ack();
    const trigger = "trigger_id" in body ? body.trigger_id : "";
    await web.views.open({ trigger_id: trigger, view });
    await web.views.open({ trigger_id: trigger, view }).catch((error: Error) => void errors.push(error.message));
  });
  const seen: unknown[] = [];
  client.view("ask", async ({ ack, view: submitted }) => {
    seen.push(submitted.state.values.token?.value?.value);
    if (seen.length === 1) await ack({ response_action: "errors", errors: { token: "too short" } });
    else await ack({ response_action: "clear" });
  });
  const button = {
    type: "button" as const,
    action_id: "open",
    text: { type: "plain_text" as const, text: "Give token" },
  };
  await webClient(slack, ada).chat.postMessage({
    channel: general.id,
    text: "Token?",
    blocks: [{ type: "actions", elements: [button] }],
  });
  const post = await slack.waitForPost((item) => item.controls.length === 1);
  const pressed = await slack.press(alice, post, "Give token");
  expect(pressed.acknowledged).toBe(true);
  expect((await slack.waitForModal(alice)).title).toBe("Token");
  expect((await slack.submit(alice, "abc")).errors).toEqual({ token: "too short" });
  expect((await slack.submit(alice, { Token: "abcdef" })).errors).toBeNull();
  expect(slack.modal(alice)).toBeNull();
  expect(seen).toEqual(["abc", "abcdef"]);
  await slack.waitUntil(() => errors.length === 1, "the second open");
  expect(errors[0]).toContain("exchanged_trigger_id");
});

test("choices travel with the state of all inputs, and a press nobody handles is not acknowledged", async () => {
  const quick = await startSlack({ ackTimeoutMs: 200 });
  const cy = quick.addApp({ name: "Cy" });
  const person = quick.addPerson("Dana");
  const room = quick.addChannel("room", [cy, person]);
  const client = await connectBolt(quick, cy);
  const states: unknown[] = [];
  client.action("pick", async ({ ack, body }) => {
    await ack();
    if (body.type === "block_actions")
      states.push(body.state?.values.q?.pick?.selected_options?.map((option) => option.value));
  });
  try {
    const options = ["a", "b", "c"].map((value) => ({
      value,
      text: { type: "plain_text" as const, text: `Option ${value}` },
    }));
    const web = webClient(quick, cy);
    const elements = [
      { type: "checkboxes" as const, action_id: "pick", options },
      { type: "button" as const, action_id: "unheard", text: { type: "plain_text" as const, text: "Nobody" } },
    ];
    await web.chat.postMessage({ channel: room.id, text: "?", blocks: [{ type: "actions", block_id: "q", elements }] });
    const post = await quick.waitForPost();
    await quick.press(person, post, "pick", { choose: ["Option a", "c"] });
    expect(states).toEqual([["a", "c"]]);
    expect((await quick.press(person, post, "Nobody")).acknowledged).toBe(false);
  } finally {
    await stopBolt(quick, [client]);
    await quick.close();
  }
});

test("slash commands, ephemeral notices and response URLs reach only the person", async () => {
  const client = await connect(ada);
  client.command("/parley", async ({ ack, respond, command }) => {
    await ack({ text: `working on ${command.text}`, response_type: "ephemeral" });
    await respond({ text: "and done", response_type: "ephemeral" });
  });
  expect((await slack.command(alice, ada, general, "/parley", "status")).acknowledged).toBe(true);
  await slack.waitUntil(() => slack.noticesFor(alice).length === 2, "two notices");
  expect(
    slack
      .noticesFor(alice)
      .map((notice) => notice.text)
      .sort(),
  ).toEqual(["and done", "working on status"]);
  await webClient(slack, ada).chat.postEphemeral({ channel: general.id, user: alice.id, text: "psst" });
  expect(slack.noticesFor(alice).at(-1)?.text).toBe("psst");
});

test("a trigger is dead after its time", async () => {
  const quick = await startSlack({ triggerMs: 20 });
  try {
    const cy = quick.addApp({ name: "Cy" });
    const dana = quick.addPerson("Dana");
    const room = quick.addChannel("room", [cy, dana]);
    const elements = [{ type: "button", action_id: "go", text: { type: "plain_text", text: "Go" } }];
    await webClient(quick, cy).apiCall("chat.postMessage", {
      channel: room.id,
      text: "?",
      blocks: [{ type: "actions", elements }],
    });
    const { triggerId, acknowledged } = await quick.press(dana, await quick.waitForPost(), "Go");
    expect(acknowledged).toBe(false);
    const pressedAt = Date.now();
    await quick.waitUntil(() => Date.now() - pressedAt > 20, "the trigger's end");
    const view = { type: "modal", title: { type: "plain_text", text: "Late" }, blocks: [] };
    const opened = webClient(quick, cy).apiCall("views.open", { trigger_id: triggerId, view });
    await expect(opened).rejects.toMatchObject({ data: { error: "expired_trigger_id" } });
  } finally {
    await quick.close();
  }
});

test("a person cannot press what is not on screen, nor submit an empty required field", async () => {
  const title = { type: "plain_text", text: "Ask" };
  const elements = [{ type: "button", action_id: "go", text: { type: "plain_text", text: "Go" } }];
  await webClient(slack, ada).apiCall("chat.postMessage", {
    channel: general.id,
    text: "?",
    blocks: [{ type: "actions", elements }],
  });
  const post = slack.posts(general).at(-1);
  if (!post) throw new Error("no post");
  expect(() => slack.press(alice, post, "Stop")).toThrow('on screen: button "Go"');
  const client = await connect(ada);
  client.action("go", async ({ ack }) => void (await ack()));
  const { triggerId } = await slack.press(alice, post, "Go");
  const input = {
    type: "input",
    label: { type: "plain_text", text: "Name" },
    element: { type: "plain_text_input", action_id: "v", max_length: 3 },
  };
  await webClient(slack, ada).apiCall("views.open", {
    trigger_id: triggerId,
    view: { type: "modal", title, submit: title, blocks: [input] },
  });
  await expect(slack.submit(alice, "")).rejects.toThrow("must be filled in");
  await expect(slack.submit(alice, "toolong")).rejects.toThrow("at most 3");
});
