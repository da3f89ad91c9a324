/** Personas (SPEC I1, I3): bots that share an app are called in words, and the app's mention alone means its own bot. */

import { expect, test } from "vitest";
import type { BotHandle } from "../../../src/engine/index.ts";
import { addressedBots, findAddressed } from "../../../src/engine/routing/addressing.ts";
import { readCommand } from "../../../src/engine/routing/commands.ts";

const app: BotHandle = { botId: "ada", name: "Ada", platformIds: ["U_APP"] };
const bo: BotHandle = { botId: "bo", name: "Bo Diddley", platformIds: ["U_APP"], isPersona: true };
const zoe: BotHandle = { botId: "zoe", name: "Zoë", platformIds: ["U_APP"], isPersona: true };
const bots = [app, bo, zoe];

const question = (text: string, more: { direct?: boolean; takingPart?: readonly string[] } = {}) => {
  const at = text.indexOf("@APP");
  const mentions = at < 0 ? [] : [{ platformId: "U_APP", start: at, end: at + 4 }];
  const from = {
    id: "alice",
    platform: "slack",
    workspaceId: "T1",
    platformId: "U_ALICE",
    name: "Alice",
    kind: "person",
  };
  return {
    event: {
      text,
      mentions,
      quoted: [],
      everyone: false,
      namesBot: at >= 0,
      from: { ...from, kind: "member" as const },
    },
    ...{ direct: more.direct ?? false, inThread: false, receiver: app, bots },
    ...{ takingPart: more.takingPart ?? [], threads: "sticky" as const },
  };
};

test.each([
  ["@APP what is new?", ["ada"]],
  ["@APP Bo, what is new?", ["bo"]],
  ["@APP bo diddley: what is new?", ["bo"]],
  ["@APP, Zoë, and you?", ["zoe"]],
  ["@APP @Bo what is new?", ["bo"]],
  ["Zoë, have a look", ["zoe"]],
  ["zoë: have a look", ["zoe"]],
  ["@Zoë and @Bo, have a look", ["zoe", "bo"]],
  ["Bo", ["bo"]],
  ["@APP Bo was wrong about it", ["ada"]],
  ["Bo was wrong about it", []],
  ["Ask Bo, he knows", []],
  ["Bobby, have a look", []],
  ["Ada, have a look", []],
])("in a channel %j wakes %j", (text, expected) => {
  expect(addressedBots(question(text))).toEqual(expected);
});

test.each([
  ["hello", [], "ada"],
  ["Bo, hello", [], "bo"],
  ["@Zoë hello", [], "zoe"],
  ["and then?", ["bo"], "bo"],
  ["and then?", ["bo", "ada"], "ada"],
  ["Zoë, and then?", ["bo"], "zoe"],
])("in a direct conversation %j after %j goes to %s", (text, takingPart, expected) => {
  expect(addressedBots(question(text, { direct: true, takingPart }))).toEqual([expected]);
});

test("in a Group the app's mention names its own bot only, and a persona by its name", () => {
  expect(findAddressed(question("@APP go on")).named).toEqual(["ada"]);
  expect(findAddressed(question("Bo, go on")).named).toEqual(["bo"]);
});

test.each([
  ["@APP stop", "ada"],
  ["@APP Bo stop", "bo"],
  ["@APP Zoë, !stop", "zoe"],
  ["@Bo stop", "bo"],
])("%j stops %s", (text, botId) => {
  expect(readCommand(question(text).event, bots)).toEqual({ command: "stop", botId });
});
