/** Bots that share one Slack app: each post carries its own name and picture, and none is lost for them. */

import { expect, test } from "vitest";
import { overrideOf } from "../../src/adapters/slack/persona.ts";
import type { Persona } from "../../src/engine/index.ts";
import { bubble, deliver } from "./deliveries.ts";
import { openSlackWorld, type SlackWorld } from "./slack-world.ts";

async function withPersona(persona: Persona, scopes: string[] | undefined, run: (w: SlackWorld) => Promise<void>) {
  const w = await openSlackWorld({ start: false, ...(scopes ? { scopes } : {}) });
  try {
    const identify = w.context.identify;
    const context = {
      ...w.context,
      identify: async (...args: Parameters<typeof identify>) => ({ ...(await identify(...args)), persona }),
    };
    const settings = { botToken: w.ada.botToken, appToken: w.ada.appToken };
    await w.adapter.start({ botId: "ann", name: "Ann", role: "Tester", settings }, context);
    await run(w);
  } finally {
    await w.close();
  }
}
const say = (w: SlackWorld) =>
  deliver(
    w,
    bubble("e1", { type: "text", content: "hello", images: [] }),
    w.placeIn({ kind: "channel", channelId: w.general.id }),
  );

test("a post carries the persona's name and picture", async () => {
  await withPersona({ name: "Ann", icon: ":owl:" }, undefined, async (w) => {
    await say(w);
    expect(w.slack.calls("chat.postMessage").map(({ args }) => [args.username, args.icon_emoji])).toEqual([
      ["Ann", ":owl:"],
    ]);
  });
});

test("without the permission the post is made once, as the app", async () => {
  const scopes = ["app_mentions:read", "channels:history", "channels:read", "chat:write", "users:read"];
  await withPersona({ name: "Ann" }, scopes, async (w) => {
    w.slack.fail("chat.postMessage", { error: "missing_scope" }, { when: ({ args }) => args.username !== undefined });
    await say(w);
    expect(w.slack.posts(w.general)).toHaveLength(1);
    expect(w.slack.calls("chat.postMessage").map(({ args }) => args.username)).toEqual(["Ann", undefined]);
  });
});

test("an outcome nobody knows is not taken for a missing permission: nothing is posted twice", async () => {
  await withPersona({ name: "Ann" }, undefined, async (w) => {
    w.slack.fail("chat.postMessage", { acceptThen: "drop" });
    await expect(say(w)).rejects.toMatchObject({ problem: "unknown" });
    expect(w.slack.posts(w.general)).toHaveLength(1);
  });
});

test("a persona's echo is recognised as our own", async () => {
  await withPersona({ name: "Ann" }, undefined, async (w) => {
    await say(w);
    await w.slack.settle(150);
    expect(w.received).toEqual([]);
  });
});

test.each([
  [{ name: "Ann" }, { username: "Ann" }],
  [
    { name: "Ann", icon: "https://a.example/i.png" },
    { username: "Ann", icon_url: "https://a.example/i.png" },
  ],
  [{ name: "Ann", icon: "http://a.example/i.png" }, { username: "Ann" }],
  [{ name: "x".repeat(90) }, { username: "x".repeat(80) }],
])("%o becomes %o", (persona, override) => {
  expect(overrideOf(persona)).toEqual(override);
});
