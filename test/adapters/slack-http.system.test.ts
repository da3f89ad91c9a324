/** Slack over HTTP: signed requests are taken in, forged ones are not. */

import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import type { MessageEvent } from "../../src/engine/index.ts";
import { bubble, deliver, waitUntil } from "./deliveries.ts";
import { openSlackWorld, type SlackWorld, type SlackWorldOptions } from "./slack-world.ts";

const messages = (w: SlackWorld) => w.received.filter((event): event is MessageEvent => event.type === "message");

async function serving(w: SlackWorld, run: () => Promise<void>): Promise<void> {
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const request = new Request(`http://127.0.0.1${incoming.url}`, {
      method: "POST",
      headers: incoming.headers as Record<string, string>,
      body: Buffer.concat(chunks),
    });
    const bot = incoming.url?.split("/")[2] ?? "";
    const response = await w.route()?.handle(request, { bot });
    outgoing.writeHead(response?.status ?? 404, Object.fromEntries(response?.headers ?? []));
    outgoing.end(await response?.text());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  for (const app of w.bots) app.requestUrl = `http://127.0.0.1:${port}/slack/${app.name.toLowerCase()}/events`;
  try {
    await run();
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

const httpScene = (title: string, run: (w: SlackWorld) => Promise<void>, options: SlackWorldOptions = {}) =>
  test(title, async () => {
    const world = await openSlackWorld({ mode: "http", ...options });
    try {
      await serving(world, () => run(world));
    } finally {
      await world.close();
    }
  });

httpScene(
  "over HTTP each bot hears with its own secret, and no socket is opened",
  async (w) => {
    w.slack.say(w.alice, w.general, "hello both");
    await waitUntil(() => messages(w).length === 2, "both copies");
    expect(w.slack.deliveries.every((delivery) => delivery.lost)).toBe(false);
    expect(w.slack.calls("apps.connections.open")).toEqual([]);
    expect(w.adapter.health().map((one) => one.state)).toEqual(["connected", "connected"]);
  },
  { bots: ["Ada", "Bo"] },
);

httpScene("an event that could not be stored is refused and comes again", async (w) => {
  let failures = 1;
  w.receiveWith(async () => {
    failures -= 1;
    if (failures >= 0) throw new Error("the database is away");
    return { status: "accepted" };
  });
  w.slack.say(w.alice, w.general, "twice");
  await waitUntil(
    () => w.slack.deliveries.every((delivery) => delivery.acknowledgedAt !== null),
    "the acknowledgement",
  );
  expect(messages(w).map((event) => event.dedupeKey)).toEqual([messages(w)[0]?.dedupeKey, messages(w)[0]?.dedupeKey]);
});

httpScene("Slack's address check is answered", async (w) => {
  expect(await w.slack.verifyUrl(w.ada)).toBe(true);
});

httpScene("certificate checks are answered", async (w) => {
  const contentType = "application/x-www-form-urlencoded";
  expect((await w.slack.forge(w.ada, "ssl_check=1&token=x", { contentType })).status).toBe(200);
});

const EVENT = JSON.stringify({
  type: "event_callback",
  team_id: "T1",
  event: { type: "message", user: "U1", text: "forged", ts: "1.000001", channel: "C1", channel_type: "channel" },
});

for (const [what, how, status] of [
  ["a wrong secret", { secret: "not-the-secret" }, 401],
  ["no signature", { unsigned: true }, 401],
  ["a request of six minutes ago", { ageSeconds: 360 }, 401],
  ["a request from six minutes in the future", { ageSeconds: -360 }, 401],
] as const) {
  httpScene(`${what} is refused`, async (w) => {
    expect((await w.slack.forge(w.ada, EVENT, how)).status).toBe(status);
    expect(w.received).toEqual([]);
  });
}

httpScene(
  "one bot's secret does not open another bot's door",
  async (w) => {
    const [ada, bo] = w.bots;
    if (!ada || !bo) throw new Error("two bots are needed");
    expect((await w.slack.forge(ada, EVENT, { secret: bo.signingSecret })).status).toBe(401);
  },
  { bots: ["Ada", "Bo"] },
);

httpScene("an unknown bot is a 404, nonsense a 400, a huge body a 413", async (w) => {
  const url = w.ada.requestUrl ?? "";
  w.ada.requestUrl = url.replace("/ada/", "/nobody/");
  expect((await w.slack.forge(w.ada, EVENT)).status).toBe(404);
  w.ada.requestUrl = url;
  expect((await w.slack.forge(w.ada, "not json")).status).toBe(400);
  expect((await w.slack.forge(w.ada, "x".repeat(4 * 1024 * 1024 + 1))).status).toBe(413);
});

httpScene(
  "a form with a charset in its content type is read, and a click over HTTP is acknowledged at once",
  async (w) => {
    w.slack.say(w.alice, w.general, "card please");
    const event = await w.message("card please");
    const options = ["A", "B"].map((label) => ({ label, value: label, style: "default" as const }));
    const card = bubble(
      "e1",
      { type: "widget", widget: { prompt: "?", options, allowCustom: false, dismissOnMoveOn: false } },
      "c1",
    );
    const [receipt] = await deliver(w, card, w.placeFor(event));
    const pressed = await w.slack.press(w.alice, { channel: w.general, ts: receipt?.nativeId ?? "" }, "B");
    expect(pressed).toMatchObject({ acknowledged: true });
    await waitUntil(() => w.received.some((one) => one.type === "answer"), "the answer");
    const contentType = "application/x-www-form-urlencoded; charset=utf-8";
    const team = w.slack.team.id;
    const command = `command=%2Fparley-ada&team_id=${team}&channel_id=C1&user_id=U1&trigger_id=1.2.3&text=dance`;
    const answer = await w.slack.forge(w.ada, command, { contentType });
    expect(answer).toMatchObject({ status: 200, text: expect.stringContaining("/parley-ada stop") });
  },
);
