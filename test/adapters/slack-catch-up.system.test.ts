/** What was said while the bot was away for longer than Slack keeps trying. */

import { expect, test } from "vitest";
import { createSlackAdapter } from "../../src/adapters/slack/index.ts";
import type { MessageEvent } from "../../src/engine/index.ts";
import { bubble, deliver, waitUntil } from "./deliveries.ts";
import { openSlackWorld, type SlackWorld } from "./slack-world.ts";

const FAST = { afterMs: 1, lookBackMs: 60_000, saveMs: 20, pauseMs: 1 };

/** Hears something, goes away, lets `meanwhile` happen unheard, comes back. */
async function absence(
  meanwhile: (w: SlackWorld) => void,
  check: (w: SlackWorld, heard: () => readonly MessageEvent[]) => Promise<void>,
  catchUp = FAST,
): Promise<void> {
  const w = await openSlackWorld({ catchUp });
  const start = {
    botId: "ada",
    name: "Ada",
    role: "",
    settings: { botToken: w.ada.botToken, appToken: w.ada.appToken },
  };
  const again = createSlackAdapter({ apiUrl: w.slack.apiUrl, catchUp });
  try {
    w.slack.say(w.alice, w.general, "before");
    const before = await w.message("before");
    await deliver(w, bubble("e1", { type: "text", content: "an answer", images: [] }), w.placeFor(before));
    await w.adapter.stop();
    await waitUntil(() => w.slack.sockets(w.ada) === 0, "the bot to be gone");
    w.slack.disturb({ drop: true }, { times: 1000 });
    meanwhile(w);
    await w.slack.settle(50);
    w.slack.calm();
    const known = w.received.length;
    await again.start(start, w.context);
    await check(w, () => w.received.slice(known).filter((event) => event.type === "message"));
  } finally {
    await again.stop();
    await w.close();
  }
}

test("messages, direct messages and thread replies of the absence are heard, with the keys they would have had", async () => {
  await absence(
    (w) => {
      const [root] = w.slack.timeline(w.general);
      w.slack.say(w.alice, w.general, `${w.slack.mention(w.ada)} in the channel`);
      if (root) w.slack.say(w.bob, w.general, "in the thread", { thread: root });
      w.slack.dm(w.bob, w.ada, "in private");
    },
    async (w, heard) => {
      for (const words of ["in the channel", "in the thread", "in private"]) {
        await waitUntil(() => heard().some((event) => event.text.includes(words)), words);
      }
      const mention = heard().find((event) => event.text.includes("in the channel"));
      expect(mention).toMatchObject({ namesBot: true, from: { name: "Alice", kind: "member" } });
      expect(mention?.dedupeKey).toBe(`slack:${w.slack.team.id}:${w.general.id}:${mention?.platformId}`);
      expect(heard().find((event) => event.text === "in the thread")?.conversation.kind).toBe("thread");
      expect(heard().find((event) => event.text === "in private")?.conversation.kind).toBe("direct");
      expect(heard().some((event) => event.text.includes("an answer"))).toBe(false);
    },
  );
});

test("after a short absence nothing is read: Slack delivers by itself", async () => {
  await absence(
    () => undefined,
    async (w) => {
      await w.slack.settle(100);
      expect(w.slack.calls("conversations.history")).toEqual([]);
    },
    { ...FAST, afterMs: 60_000 },
  );
});
