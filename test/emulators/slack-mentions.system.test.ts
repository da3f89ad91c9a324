/**
 * Who a post would notify, read as Slack reads it. Tests of the product rely on this to prove that nobody is pinged.
 * A rule missing here would let a ping slip through there.
 */
import { WebClient } from "@slack/web-api";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { App, Channel, Slack } from "./slack/index.ts";
import { startSlack } from "./slack/index.ts";

type Json = Record<string, unknown>;

let slack: Slack;
let ada: App;
let general: Channel;

beforeAll(async () => {
  slack = await startSlack();
  ada = slack.addApp({ name: "Ada" });
  general = slack.addChannel("general", [ada]);
});
afterAll(() => slack.close());

function call(method: string, args: Json) {
  return new WebClient(ada.botToken, { slackApiUrl: slack.apiUrl }).apiCall(method, { channel: general.id, ...args });
}

const plain = (text: string) => ({ type: "plain_text", text });
const markdown = (text: string) => ({ type: "markdown", text });
const button = (text: string) => ({ type: "button", text: plain(text), action_id: "a" });
const actions = (...elements: unknown[]) => ({ type: "actions", elements });

const MENTION_ROWS: [string, Json, string[]][] = [
  [
    "tokens in text",
    { text: "<!channel> <!here|here> <@U0ALICE> <!subteam^S1|@team>" },
    ["channel", "here", "U0ALICE", "S1"],
  ],
  ["escaped tokens are dead", { text: "&lt;!channel&gt; &lt;@U0ALICE&gt;" }, []],
  [
    "tokens in a markdown block",
    { text: "x", blocks: [markdown("hello <!everyone> and <@W0BOB>")] },
    ["everyone", "W0BOB"],
  ],
  [
    "tokens in code are live all the same",
    { text: "x", blocks: [markdown("`<!here>`\n```\n<@U0ALICE>\n```")] },
    ["here", "U0ALICE"],
  ],
  ["a word joiner inside the token kills it", { text: "x", blocks: [markdown("`<\u2060!here>`")] }, []],
  [
    "plain text objects never ping",
    { text: "x", blocks: [{ type: "header", text: plain("<!here>") }, actions(button("<!channel>"))] },
    [],
  ],
  [
    "explicit elements of rich text ping",
    {
      text: "x",
      blocks: [
        {
          type: "rich_text",
          elements: [
            {
              type: "rich_text_section",
              elements: [
                { type: "user", user_id: "U0ALICE" },
                { type: "text", text: "<!here>" },
              ],
            },
          ],
        },
      ],
    },
    ["U0ALICE"],
  ],
  ["attachments count", { text: "x", attachments: [{ text: "<!here>" }] }, ["here"]],
  ["bare words do not ping", { text: "@channel @here @everyone" }, []],
  ["bare words ping with link_names", { text: "@channel please", link_names: true }, ["channel"]],
];

test.each(MENTION_ROWS)("live mentions: %s", async (_label, args, expected) => {
  await call("chat.postMessage", args);
  expect(
    slack
      .posts(general)
      .at(-1)
      ?.mentions.map((mention) => mention.target),
  ).toEqual(expected);
});

test("an edit without parse and link_names reads bare words as mentions", async () => {
  await call("chat.postMessage", { text: "x" });
  const ts = slack.posts(general).at(-1)?.ts ?? "";
  const place = { channel: general, ts };
  await call("chat.update", { ts, text: "@channel" });
  expect(slack.read(place)?.mentions.length).toBe(1);
  await call("chat.update", { ts, text: "@channel", parse: "none", link_names: false });
  expect(slack.read(place)?.mentions.length).toBe(0);
});

test("a link is previewed unless both switches are off", async () => {
  await call("chat.postMessage", { text: "see https://example.com" });
  expect(slack.posts(general).at(-1)?.previews).toBe(true);
  await call("chat.postMessage", { text: "see https://example.com", unfurl_links: false, unfurl_media: false });
  expect(slack.posts(general).at(-1)?.previews).toBe(false);
});
