/** Connections to an emulated Slack that misbehaves: refreshes, cuts, silence, revoked tokens. */

import { afterAll, beforeAll, expect, test } from "vitest";
import { bubble, deliver, waitUntil } from "./deliveries.ts";
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

const state = (w: SlackWorld, index = 0) => w.adapter.health()[index]?.state;
const twoLanes = (w: SlackWorld) => waitUntil(() => w.slack.sockets(w.ada) === 2, "two lanes");

scene("a bot holds two connections", async (w) => {
  await twoLanes(w);
  expect(state(w)).toBe("connected");
  expect(w.slack.calls("apps.connections.open")).toHaveLength(2);
});

scene("a refresh of all connections never leaves the bot deaf: clicks in the middle of it are answered", async (w) => {
  await twoLanes(w);
  w.slack.say(w.alice, w.general, "card please");
  const event = await w.message("card please");
  const card = bubble(
    "e1",
    {
      type: "widget",
      widget: {
        prompt: "?",
        options: ["A", "B"].map((label) => ({ label, value: label, style: "default" as const })),
        allowCustom: false,
        dismissOnMoveOn: false,
      },
    },
    "c1",
  );
  const [receipt] = await deliver(w, card, w.placeFor(event));
  const click = async () =>
    (await w.slack.press(w.alice, { channel: w.general, ts: receipt?.nativeId ?? "" }, "A")).acknowledged;
  const old = new Set(w.slack.workspace.lines.get(w.ada)?.links);
  w.slack.disconnect(w.ada, "refresh_requested", 200);
  expect(await click()).toBe(true);
  await waitUntil(() => {
    const links = w.slack.workspace.lines.get(w.ada)?.links ?? [];
    expect(links.length).toBeGreaterThan(0);
    return links.length === 2 && links.every((link) => !old.has(link));
  }, "fresh connections only");
  expect(await click()).toBe(true);
  expect(state(w)).toBe("connected");
});

scene("twenty refreshes leak no socket and raise no alarm", async (w) => {
  await twoLanes(w);
  for (let i = 0; i < 20; i += 1) {
    const before = w.slack.socketsOpened(w.ada);
    w.slack.disconnect(w.ada, "refresh_requested", 10);
    await waitUntil(() => w.slack.socketsOpened(w.ada) >= before + 2, "both lanes to be renewed");
    await waitUntil(() => w.slack.sockets(w.ada) === 2, "the old connections to be closed");
  }
  w.slack.say(w.alice, w.general, "still there?");
  await w.message("still there?");
  expect(w.metrics).not.toContain("parley_slack_surplus_sockets_total");
});

scene("cut connections come back, and what was said meanwhile is heard once stored", async (w) => {
  await twoLanes(w);
  expect(w.slack.cut(w.ada)).toBe(2);
  w.slack.say(w.alice, w.general, "during the cut");
  await w.message("during the cut");
  await twoLanes(w);
  expect(state(w)).toBe("connected");
});

scene(
  "an app token revoked at reconnect stops that bot only, says what to do, and the bot returns with its token",
  async (w) => {
    const [ada, bo] = w.bots;
    if (!ada || !bo) throw new Error("two bots are needed");
    w.slack.revoke(ada, "invalid_auth");
    w.slack.cut(ada);
    await waitUntil(() => state(w) === "failed", "the failure");
    expect(w.adapter.health()[0]?.remedy).toContain("xapp-");
    w.slack.say(w.alice, w.general, "bo, are you there?");
    await w.message("bo, are you there?");
    expect(state(w, 1)).toBe("connected");
    w.slack.revoke(ada, null);
    await waitUntil(() => state(w) === "connected", "the return");
  },
  { bots: ["Ada", "Bo"] },
);

scene(
  "a wrong bot token is a failure with a remedy, not an exception, and others start",
  async (w) => {
    const [ada, bo] = w.bots;
    if (!ada || !bo) throw new Error("two bots are needed");
    await w.startBot(ada, { botToken: "xoxb-wrong", appToken: ada.appToken });
    await w.startBot(bo);
    expect(w.adapter.health()).toMatchObject([
      { botId: "ada", state: "failed", remedy: expect.stringContaining("bot token") },
      { botId: "bo", state: "connected" },
    ]);
  },
  { bots: ["Ada", "Bo"], start: false },
);

scene(
  "a bot without app token or signing secret says which are missing",
  async (w) => {
    await w.startBot(w.ada, { botToken: w.ada.botToken });
    expect(w.adapter.health()).toMatchObject([{ state: "failed", remedy: expect.stringContaining("appToken") }]);
  },
  { start: false },
);

scene(
  "missing permissions are named",
  async (w) => {
    expect(w.adapter.health()).toMatchObject([{ state: "connected", remedy: expect.stringContaining("users:read") }]);
  },
  {
    scopes: [
      "app_mentions:read",
      "chat:write",
      "channels:history",
      "channels:read",
      "groups:read",
      "groups:history",
      "im:history",
    ],
  },
);

scene("'events were dropped' is acknowledged and recorded, and does no harm", async (w) => {
  const delivery = w.slack.sendRateLimited(w.ada);
  await waitUntil(() => delivery.acknowledgedAt !== null, "the acknowledgement");
  expect(w.metrics).toContain("parley_slack_events_dropped_by_slack_total");
  w.slack.say(w.alice, w.general, "and on");
  await w.message("and on");
});

scene(
  "a connection that stays open but hears nothing is replaced",
  async (w) => {
    await twoLanes(w);
    w.slack.silence(w.ada);
    w.slack.say(w.alice, w.general, "into the void");
    await w.message("into the void");
    expect(w.metrics).toContain("parley_slack_silent_sockets_total");
  },
  { supervision: { silenceMs: 300, checkMs: 50 }, slack: { ackTimeoutMs: 300 } },
);

scene(
  "a lane that misses what the other one gets is replaced before the silence is long",
  async (w) => {
    await twoLanes(w);
    const [deaf] = w.slack.workspace.lines.get(w.ada)?.links ?? [];
    if (!deaf) throw new Error("no connection");
    deaf.silent = true;
    for (let i = 0; i < 8; i += 1) w.slack.say(w.alice, w.general, `message ${i}`);
    await waitUntil(() => w.slack.socketsOpened(w.ada) > 2, "the replacement");
    for (let i = 0; i < 8; i += 1) await w.message(`message ${i}`);
  },
  { supervision: { skippedPayloads: 3, checkMs: 20 }, slack: { ackTimeoutMs: 300 } },
);

scene("refused upgrades are tried again with pauses, not in a tight loop", async (w) => {
  await twoLanes(w);
  w.slack.refuseSockets(w.ada, true);
  w.slack.cut(w.ada);
  const before = w.slack.calls("apps.connections.open").length;
  await waitUntil(() => w.slack.calls("apps.connections.open").length > before + 3, "several tries");
  expect(state(w)).toBe("reconnecting");
  w.slack.refuseSockets(w.ada, false);
  await waitUntil(() => state(w) === "connected", "the return");
  expect(w.slack.calls("apps.connections.open").length - before).toBeLessThan(60);
});

scene("Socket Mode switched off is named", async (w) => {
  await twoLanes(w);
  w.slack.refuseSockets(w.ada, true);
  w.slack.disconnect(w.ada, "link_disabled");
  await waitUntil(() => w.adapter.health()[0]?.remedy?.includes("Socket Mode"), "the remedy");
});

scene("a removed app is a failure with a remedy", async (w) => {
  w.slack.revokeTokens(w.ada);
  await waitUntil(() => state(w) === "failed", "the failure");
  expect(w.adapter.health()[0]?.remedy).toContain("Install it again");
});

scene("health knows when the last event came", async (w) => {
  expect(w.adapter.health()[0]?.lastEventAt).toBeUndefined();
  w.slack.say(w.alice, w.general, "tick");
  await w.message("tick");
  expect(w.adapter.health()[0]?.lastEventAt).toBeInstanceOf(Date);
});

scene("stopping closes everything within two seconds and stays silent", async (w) => {
  await twoLanes(w);
  const started = Date.now();
  await w.adapter.stop();
  expect(Date.now() - started).toBeLessThan(2000);
  await waitUntil(() => w.slack.sockets(w.ada) === 0, "all sockets closed");
});
