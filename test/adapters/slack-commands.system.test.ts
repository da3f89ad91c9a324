/** `/parley-<bot>` on an emulated Slack: the same as typed commands, privately answered when nothing can be done. */

import { expect, test } from "vitest";
import type { MessageEvent, StopEvent } from "../../src/engine/index.ts";
import { waitUntil } from "./deliveries.ts";
import { openSlackWorld, type SlackWorld, type SlackWorldOptions } from "./slack-world.ts";

function scene(title: string, run: (world: SlackWorld) => Promise<void>, options: SlackWorldOptions = {}): void {
  test(title, async () => {
    const world = await openSlackWorld(options);
    try {
      await run(world);
    } finally {
      await world.close();
    }
  });
}

const command = (w: SlackWorld, text: string, channel = w.general) =>
  w.slack.command(w.alice, w.ada, channel, "/parley-ada", text);
const messages = (w: SlackWorld) => w.received.filter((one): one is MessageEvent => one.type === "message");

test.each(["stop", "new", "status", "memory", "help", "group", "group  mention", "!status", "  STATUS  ", ""])(
  "/parley-ada %s is the typed command, said to this bot, once",
  async (typed) => {
    const w = await openSlackWorld();
    try {
      const result = await command(w, typed);
      expect(result).toMatchObject({ acknowledged: true, response: {} });
      const word = typed.trim().toLowerCase().replace("!", "").replace(/\s+/, " ") || "help";
      expect(messages(w)).toMatchObject([
        {
          text: `@Ada !${word}`,
          mentions: [{ platformId: w.ada.userId, start: 0, end: 4 }],
          conversation: { kind: "channel", channelId: w.general.id, channelName: "general" },
          from: { name: "Alice", kind: "member" },
          dedupeKey: expect.stringContaining(":command:"),
        },
      ]);
    } finally {
      await w.close();
    }
  },
);

scene("in direct messages it is about the direct conversation", async (w) => {
  await command(w, "status", w.slack.dmChannel(w.alice, w.ada));
  expect(messages(w)).toMatchObject([{ conversation: { kind: "direct" }, text: "@Ada !status" }]);
});

scene(
  "stop in a channel reaches the threads in which the bot is at work, because Slack has no commands there",
  async (w) => {
    const threads = ["one", "two"].map((words) => w.slack.say(w.bob, w.general, words));
    for (const { ts } of threads) {
      await w.adapter.showWorking?.(w.placeIn({ kind: "thread", channelId: w.general.id, threadId: ts }), true);
    }
    const result = await command(w, "stop");
    expect(result.response).toMatchObject({ response_type: "ephemeral", text: expect.stringContaining("2 threads") });
    const stops = w.received.filter((one): one is StopEvent => one.type === "stop");
    expect(stops.map((stop) => stop.conversation.threadId).sort()).toEqual(threads.map(({ ts }) => ts).sort());
    expect(new Set(stops.map((stop) => stop.dedupeKey)).size).toBe(2);
  },
);

scene(
  "what cannot be done is said privately: unknown words, refusals, nothing running, a conversation without the bot",
  async (w) => {
    expect((await command(w, "dance")).response.text).toContain("/parley-ada stop");
    w.receiveWith(() => Promise.resolve({ status: "refused", reason: "Guests are not served here." }));
    expect((await command(w, "status")).response.text).toBe("Guests are not served here.");
    w.receiveWith(() => Promise.resolve({ status: "ignored" }));
    expect((await command(w, "stop")).response.text).toBe("Nothing is running here.");
    w.received.length = 0;
    const elsewhere = w.slack.addChannel("elsewhere", [w.alice]);
    expect((await command(w, "status", elsewhere)).response.text).toContain("/invite @Ada");
    expect(w.received).toEqual([]);
  },
);

scene("a slow database does not make Slack give up: the answer comes afterwards, privately", async (w) => {
  w.receiveWith(async () => {
    await new Promise((resolve) => setTimeout(resolve, 2000));
    return { status: "refused", reason: "Too late for that." };
  });
  const result = await command(w, "status");
  expect(result.acknowledged).toBe(true);
  expect(result.ms).toBeLessThan(2000);
  await waitUntil(() => w.slack.noticesFor(w.alice).some((notice) => notice.text === "Too late for that."), "a notice");
});

scene(
  "a failing database is told, and a command of a person who cannot be looked up does not crash anything",
  async (w) => {
    w.receiveWith(() => Promise.reject(new Error("down")));
    expect((await command(w, "status")).response.text).toContain("could not be done");
    w.slack.fail("users.info", { status: 500 }, { times: 9 });
    const stranger = w.slack.addPerson("Sam");
    expect((await w.slack.command(stranger, w.ada, w.general, "/parley-ada", "status")).acknowledged).toBe(true);
  },
);
