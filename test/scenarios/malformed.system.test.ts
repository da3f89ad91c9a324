/** What Slack or a model should never send, sent all the same: it is answered once, and the bot goes on. */

import { expect, test } from "vitest";
import { call, done, sendMessage } from "../emulators/llm/index.ts";
import { echo } from "../support/scripts.ts";
import { START_MS, startWorld } from "../support/world.ts";

const ODD = [
  null,
  7,
  "text",
  [],
  {},
  { type: null },
  { type: 7 },
  { type: "message" },
  { type: "message", user: "U1", text: "no place" },
  { type: "message", user: "U1", channel: null, text: "null place", ts: null },
  { type: "message", subtype: "message_changed", channel: "C1", message: null, previous_message: null },
  { type: "message", subtype: "message_deleted", channel: "C1", previous_message: null },
  { type: "message", user: "U1", channel: "C1", ts: "100.000100", text: null, blocks: null, files: null },
  { type: "message", user: "U1", channel: "C1", ts: "99999999999999999999.000100", text: "late" },
  { type: "app_mention", user: null, channel: "C1", ts: "1.1" },
  { type: "reaction_added", user: "U1", reaction: null, item: null },
  { type: "reaction_added", user: "U1" },
  { type: "member_joined_channel", user: null, channel: null },
  { type: "channel_created" },
  { type: "tokens_revoked", tokens: null },
  { type: "agent_session_stopped", channel: "C1", user: "U1" },
];

test(
  "a malformed event is acknowledged the first time, and what a person says afterwards is answered",
  async () => {
    await using world = await startWorld({});
    world.script("Ada", echo);
    const ada = world.bot();
    const [line] = world.slack.workspace.lines.get(ada)?.links ?? [];
    if (!line) throw new Error("Ada is not connected");
    const acknowledged = new Set<string>();
    for (const { socket } of world.slack.workspace.lines.get(ada)?.links ?? []) {
      socket.on("message", (data) => {
        const id = /"envelope_id":"(odd-\d+)"/.exec(String(data))?.[1];
        if (id) acknowledged.add(id);
      });
    }
    const authorizations = [{ team_id: ada.team.id, user_id: "U0", is_bot: true, enterprise_id: null }];
    const bodies = [
      ...ODD.map((event) => ({
        type: "event_callback",
        team_id: ada.team.id,
        api_app_id: ada.appId,
        authorizations,
        event,
      })),
      { type: "event_callback", team_id: ada.team.id, authorizations: [null], event: { type: "message" } },
      { type: "event_callback", team_id: null, authorizations: null, event: { type: "message" } },
    ];
    for (const [at, payload] of bodies.entries())
      line.socket.send(JSON.stringify({ type: "events_api", envelope_id: `odd-${at}`, payload }));
    await world.until(() => acknowledged.size === bodies.length, "every acknowledgement").catch(() => undefined);
    expect(bodies.filter((_body, at) => !acknowledged.has(`odd-${at}`))).toEqual([]);
    expect(world.logs.some((one) => one.includes("slack payload was malformed"))).toBe(true);
    expect((await world.answer(world.say("Alice", "@Ada still there?"))).text).toContain("still there?");
  },
  START_MS,
);

test(
  "a message with NUL and half characters is taken in and answered",
  async () => {
    await using world = await startWorld({});
    world.script("Ada", echo);
    const asked = world.say("Alice", "@Ada what \u0000 is \ud800 this");
    expect((await world.answer(asked)).text).toContain("what");
  },
  START_MS,
);

const DEEP = 20_000;
test.each([
  ["SendMessage, in a field", "SendMessage", `{"type":"text","content":${"[".repeat(DEEP)}${"]".repeat(DEEP)}}`],
  ["SendMessage, as a whole", "SendMessage", `${"[".repeat(DEEP)}${"]".repeat(DEEP)}`],
  ["another tool", "ReactToMessage", `{"message_address":${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}}`],
  ["a tool that does not exist", "Nothing", `${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`],
])(
  "arguments nested 20,000 deep are an error to the model, which then answers: %s",
  async (_what, tool, args) => {
    await using world = await startWorld({});
    world.script("Ada", (request) => {
      if (request.lastRole === "user") return call(tool, args as never);
      return request.callsThisTurn.length === 1 ? sendMessage(`it said: ${request.lastToolResult}`) : done();
    });
    const asked = world.say("Alice", "@Ada try");
    const { text } = await world.answer(asked);
    expect(text).toMatch(/it said: .*(nested|no tool called)/s);
    await world.quiet();
    expect(world.logs.some((line) => line.includes("model failed"))).toBe(false);
  },
  START_MS,
);
