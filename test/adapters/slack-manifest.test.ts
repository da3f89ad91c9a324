/** The app manifest against Slack's rules, for odd names and both ways to reach a bot. */

import { expect, test } from "vitest";
import { COMMAND_WORDS, commandName, RESERVED_COMMANDS } from "../../src/adapters/slack/command-name.ts";
import {
  BOT_EVENTS,
  INSTALL_SCOPES,
  missingScopes,
  NEEDED_SCOPES,
  slackManifest,
} from "../../src/adapters/slack/manifest.ts";
import { setup } from "../../src/adapters/slack/setup.ts";
import { manifestProblems } from "./slack-manifest-rules.ts";

const role = "A very long description of duties. ".repeat(20);
const socket = (name: string, botId = "ada") => slackManifest({ name, role, mode: "socket", botId });
const http = (name: string, more: object = {}) =>
  slackManifest({ name, role: "x", mode: "http", botId: "ada", publicUrl: "https://parley.example", ...more });

test.each([
  ["an ordinary name", socket("Ada")],
  ["a name over the limit", socket("Ada Lovelace the First of Her Name Indeed")],
  ["emoji at the cut", socket(`${"x".repeat(34)}👩‍🚀`)],
  ["no Latin letter at all", socket("日本語", "bot-1")],
  ["the longest id", socket("Ada", "a".repeat(64))],
  ["HTTP", http("Ää")],
  ["HTTP with further workspaces", http("Ada", { isDistributed: true })],
])("Slack takes the manifest of %s", (_what, manifest) => {
  expect(manifestProblems(manifest)).toEqual([]);
});

test("the rules find what is wrong, so that their silence means something", () => {
  const good = socket("Ada");
  const oauth = { scopes: { bot: NEEDED_SCOPES.filter((scope) => scope !== "im:history") } };
  expect(manifestProblems({ ...good, oauth_config: oauth })).toEqual([
    "slash commands need the scope commands",
    "message.im needs im:history",
  ]);
  expect(manifestProblems({ ...good, display_information: { name: "x".repeat(36) } })).toHaveLength(1);
  expect(manifestProblems({ ...good, extra: 1 })).toEqual([".extra is not known"]);
});

test("everything the bot listens to and may do is asked for, and direct messages are on", () => {
  expect(socket("Ada")).toMatchObject({
    features: {
      app_home: { messages_tab_enabled: true, messages_tab_read_only_enabled: false },
      agent_view: {
        suggested_prompts: expect.arrayContaining([{ title: expect.any(String), message: expect.any(String) }]),
      },
    },
    oauth_config: { scopes: { bot: [...INSTALL_SCOPES] } },
    settings: {
      socket_mode_enabled: true,
      interactivity: { is_enabled: true },
      event_subscriptions: { bot_events: [...BOT_EVENTS] },
    },
  });
  expect(JSON.stringify(socket("Ada"))).not.toContain("request_url");
});

test("over HTTP events, interactions and the command come to one address, and the way back of an installation is named", () => {
  const manifest = JSON.stringify(http("Ada", { isDistributed: true }));
  expect(manifest.match(/https:\/\/parley\.example\/slack\/ada\/events/g)).toHaveLength(3);
  expect(manifest.match(/https:\/\/parley\.example\/slack\/ada\/oauth/g)).toHaveLength(1);
});

test("each bot has one command, which is never one of Slack's own", () => {
  expect(commandName("ada")).toBe("/parley-ada");
  expect(socket("Ada").features).toMatchObject({
    slash_commands: [{ command: "/parley-ada", usage_hint: COMMAND_WORDS.join(" | ") }],
  });
  const names = ["ada", "status", "who", "a".repeat(64), "x-"].map(commandName);
  for (const name of names) {
    expect(name.length).toBeLessThanOrEqual(32);
    expect(RESERVED_COMMANDS.has(name.slice(1))).toBe(false);
  }
});

test("missing permissions are found by name", () => {
  expect(missingScopes(NEEDED_SCOPES)).toEqual([]);
  expect(missingScopes(NEEDED_SCOPES.filter((scope) => scope !== "users:read"))).toEqual(["users:read"]);
});

test("the one-click link opens the manifest that is printed", () => {
  const { text, link } = setup.manifest({ botId: "ada", name: "Ada", role: "Researches.", mode: "socket" });
  const url = new URL(link);
  expect(url.origin + url.pathname).toBe("https://api.slack.com/apps");
  expect(url.searchParams.get("new_app")).toBe("1");
  expect(JSON.parse(url.searchParams.get("manifest_json") ?? "")).toEqual(JSON.parse(text));
  expect(manifestProblems(JSON.parse(text))).toEqual([]);
});
