/** Storms on an emulated Slack: rate limits, renewals under load, trouble in each step of an upload, garbage on the wire. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { DeliveryError, type MessageEvent, type Piece, type Place } from "../../src/engine/index.ts";
import type { Fault } from "../emulators/slack/index.ts";
import { bubble, deliver, pieces, waitUntil } from "./deliveries.ts";
import { openSlackWorld, type SlackWorld, type SlackWorldOptions } from "./slack-world.ts";

const unhandled: unknown[] = [];
const note = (error: unknown) => void unhandled.push(error);
beforeAll(() => void process.on("unhandledRejection", note));
afterAll(() => void process.off("unhandledRejection", note));

function scene(title: string, run: (world: SlackWorld) => Promise<void>, options: SlackWorldOptions = {}): void {
  test(title, async () => {
    const world = await openSlackWorld(options);
    try {
      await run(world);
      expect(unhandled.splice(0)).toEqual([]);
    } finally {
      await world.close();
    }
  });
}

const text = (content: string, entryId: string) => bubble(entryId, { type: "text", content, images: [] });
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What the outbox does with a piece: wait as asked, look before repeating, keep the adapter's note. */
async function send(w: SlackWorld, piece: Piece, adapter = w.adapter): Promise<number> {
  let progress: unknown = piece.progress;
  let unknown = false;
  for (let attempts = 0; attempts < 12; attempts += 1) {
    const current = { ...piece, attempts, progress, attemptedAt: new Date() };
    try {
      if (unknown && (await adapter.find(current))) return attempts;
      await adapter.deliver(current, async (next) => {
        progress = JSON.parse(JSON.stringify(next));
      });
      return attempts + 1;
    } catch (error) {
      if (!(error instanceof DeliveryError) || (error.problem !== "wait" && error.problem !== "unknown")) throw error;
      unknown ||= error.problem === "unknown";
      await sleep(Math.min(error.waitMs, 1100));
    }
  }
  throw new Error("never delivered");
}

scene(
  "a storm of rate limits loses and doubles nothing, keeps each bot's order, and holds the channel for everybody",
  async (w) => {
    w.slack.fail("chat.postMessage", { rateLimit: 1 }, { times: 4 });
    const places = w.bots.map((app) => w.placeIn({ kind: "channel", channelId: w.general.id }, app));
    const sendAll = async (place: Place, bot: number) => {
      for (let i = 0; i < 4; i += 1) {
        const [piece] = pieces(w, text(`bot ${bot} says ${i}`, `e-${bot}-${i}`), place);
        if (piece) await send(w, piece);
      }
    };
    await Promise.all(places.map(sendAll));
    const said = w.slack.posts(w.general).map((post) => post.text);
    for (const bot of [0, 1]) {
      expect(said.filter((words) => words.startsWith(`bot ${bot}`))).toEqual(
        [0, 1, 2, 3].map((i) => `bot ${bot} says ${i}`),
      );
    }
    const times = w.slack.calls("chat.postMessage").map((request) => request.at);
    const limited = w.slack.calls("chat.postMessage").filter((request) => request.answer?.ok === false);
    expect(limited.length).toBe(4);
    // After the last refusal nobody tried again before the second was over, whichever bot was refused.
    const last = Math.max(...limited.map((request) => request.at));
    expect(times.filter((at) => at > last + 50 && at < last + 900)).toEqual([]);
  },
  { bots: ["Ada", "Bo"] },
);

scene("a hundred redraws do not hold up the answer that comes after them", async (w) => {
  const place = w.placeIn({ kind: "channel", channelId: w.general.id });
  const option = (label: string) => ({ label, value: label, style: "default" as const });
  const widget = { prompt: "?", options: [option("A"), option("B")], allowCustom: false, dismissOnMoveOn: false };
  const card = bubble("e1", { type: "widget", widget }, "c1");
  const receipts = await deliver(w, card, place);
  const outcome = { cardId: "c1", state: "answered", answer: { values: ["A"], labels: ["A"] } } as const;
  const redraws = Array.from({ length: 100 }, () =>
    w.adapter.settle(card, place, receipts, outcome).catch(() => undefined),
  );
  const started = Date.now();
  const [piece] = pieces(w, text("the answer", "e2"), place);
  if (piece) await send(w, piece);
  expect(Date.now() - started).toBeLessThan(2500);
  expect(w.slack.calls("chat.update").length).toBeLessThan(15);
  await w.slack.close();
  await Promise.race([Promise.all(redraws), sleep(200)]);
});

scene("renewals of all connections under load: every message is heard, clicks are acknowledged", async (w) => {
  await waitUntil(() => w.slack.sockets(w.ada) === 2, "two lanes");
  const said: string[] = [];
  for (let i = 0; i < 60; i += 1) {
    if (i % 15 === 5) w.slack.disconnect(w.ada, "refresh_requested", 100);
    if (i === 33) w.slack.cut(w.ada);
    said.push(`message ${i}.`);
    w.slack.say(w.alice, w.general, `message ${i}.`);
    await sleep(20);
  }
  const heard = () =>
    new Set(w.received.filter((one): one is MessageEvent => one.type === "message").map((one) => one.text));
  await waitUntil(() => said.every((words) => heard().has(words)), "every message", 15_000);
  expect(w.metrics).not.toContain("parley_slack_surplus_sockets_total");
});

const STEPS: readonly (readonly [string, string, Fault])[] = [
  ["asking for an address is cut off", "files.getUploadURLExternal", { reset: true }],
  ["asking for an address is refused with 503", "files.getUploadURLExternal", { status: 503 }],
  ["asking for an address is rate limited", "files.getUploadURLExternal", { rateLimit: 1 }],
  ["the bytes are cut off", "upload", { reset: true }],
  ["the bytes arrive but the answer is lost", "upload", { acceptThen: "drop" }],
  ["the bytes are refused with 500", "upload", { status: 500 }],
  ["the share is cut off before", "files.completeUploadExternal", { reset: true }],
  ["the share happens but the answer is lost", "files.completeUploadExternal", { acceptThen: "drop" }],
  ["the share happens but is answered 500", "files.completeUploadExternal", { acceptThen: 500 }],
  ["the share is rate limited", "files.completeUploadExternal", { rateLimit: 1 }],
  ["nobody can say where the share is", "files.info", { status: 500 }],
];

test.each(STEPS)(
  "an upload during which %s is there once, in its thread, also when the process was replaced",
  async (_what, method, fault) => {
    const w = await openSlackWorld();
    try {
      const root = w.slack.say(w.alice, w.general, "files please");
      const place = w.placeIn({ kind: "thread", channelId: w.general.id, threadId: root.ts });
      const images = [w.file("one.png", "image/png", "first"), w.file("two.png", "image/png", "second")];
      const [, share] = pieces(w, bubble("e1", { type: "text", content: "Look", images }), place);
      if (!share) throw new Error("nothing to share");
      w.slack.fail(method, fault);
      let progress: unknown = null;
      const save = async (next: unknown) => {
        progress = JSON.parse(JSON.stringify(next));
      };
      const first = await w.adapter.deliver(share, save).then(
        () => true,
        () => false,
      );
      const next = await w.restarted();
      await next.start(
        { botId: "ada", name: "Ada", role: "Tester", settings: { botToken: w.ada.botToken, appToken: w.ada.appToken } },
        w.context,
      );
      const again = { ...share, attempts: 1, attemptedAt: new Date(), progress };
      if (!first && !(await next.find(again))) await send(w, again, next);
      await w.slack.settle(300);
      const posts = w.slack.posts(w.general);
      expect(posts.map((post) => [post.threadTs, post.files.map((file) => file.name)])).toEqual([
        [root.ts, ["one.png", "two.png"]],
      ]);
    } finally {
      await w.close();
    }
  },
);

scene("a share that succeeded and never shows up counts as sent, and is not repeated", async (w) => {
  w.slack.loseShares(1);
  const place = w.placeIn({ kind: "channel", channelId: w.general.id });
  const [piece] = pieces(w, bubble("e1", { type: "attachment", file: w.file("a.txt", "text/plain", "x") }), place);
  if (!piece) throw new Error("nothing rendered");
  const receipt = await w.adapter.deliver(piece, async () => undefined);
  expect(receipt.nativeId).toMatch(/^file:/);
  expect(w.slack.calls("files.completeUploadExternal")).toHaveLength(1);
});

scene("garbage on the wire is acknowledged or dropped; the bot goes on", async (w) => {
  await waitUntil(() => w.slack.sockets(w.ada) === 2, "two lanes");
  const links = () => w.slack.workspace.lines.get(w.ada)?.links ?? [];
  const frames = [
    "",
    "{",
    "null",
    "[]",
    '"text"',
    '{"type":"events_api"}',
    '{"type":"events_api","envelope_id":7,"payload":null}',
    '{"type":"events_api","envelope_id":"e1","payload":"text"}',
    '{"type":"interactive","envelope_id":"e2","payload":{"type":"block_actions","actions":"no","user":[],"channel":7}}',
    '{"type":"interactive","envelope_id":"e3","payload":{"type":"view_submission","view":{"callback_id":"p1:secret:c1","private_metadata":"{"}}}',
    '{"type":"interactive","envelope_id":"e4","payload":{"type":"tomorrow"}}',
    '{"type":"slash_commands","envelope_id":"e5","payload":{"command":{},"text":[]}}',
    `{"type":"events_api","envelope_id":"e6","payload":{"type":"event_callback","event":${"[".repeat(500)}${"]".repeat(500)}}}`,
    '{"type":"disconnect"}',
  ];
  for (const frame of frames) for (const { socket } of links()) socket.send(frame);
  for (const { socket } of links()) socket.send(Buffer.from([0, 255, 1]));
  await w.slack.settle(150);
  w.slack.say(w.alice, w.general, "still there?");
  await w.message("still there?");
  expect(w.adapter.health()).toMatchObject([{ state: "connected" }]);
});
