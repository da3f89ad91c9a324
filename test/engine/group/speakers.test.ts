/** Who speaks on a person's message in a Group (SPEC G2, I3): every way to name somebody, and every way not to. */
import { expect, test } from "vitest";
import { selectSpeakers } from "../../../src/engine/group/speakers.ts";
import type { Mention } from "../../../src/engine/inbound-event.ts";
import { findAddressed } from "../../../src/engine/routing/addressing.ts";

const BOTS = [
  { botId: "ada", name: "Ada Lovelace", platformIds: ["U1"] },
  { botId: "bo", name: "Bo", platformIds: ["U2"] },
  { botId: "zoe", name: "Zoë", platformIds: ["U3"] },
  { botId: "ada2", name: "Ada Byron", platformIds: ["U4"] },
];
const MEMBERS = BOTS.map((bot) => bot.botId);

interface Shape {
  readonly text: string;
  readonly mentions?: readonly Mention[];
  readonly quoted?: readonly { readonly start: number; readonly end: number }[];
  readonly everyone?: boolean;
  readonly activation?: "all" | "mention";
  readonly speaks: readonly string[];
}

const at = (platformId: string, start: number, end: number, members?: readonly string[]): Mention => ({
  platformId,
  start,
  end,
  ...(members ? { members } : {}),
});

const SHAPES: Readonly<Record<string, Shape>> = {
  "nobody is named": { text: "good morning", speaks: MEMBERS },
  "nobody is named, and the Group listens only when mentioned": { text: "hi", activation: "mention", speaks: [] },
  "one by the platform's mention": { text: "@Bo only you", mentions: [at("U2", 0, 3)], speaks: ["bo"] },
  "two, in configured order whatever the order of naming": {
    text: "@Zoë and @Bo",
    mentions: [at("U3", 0, 4), at("U2", 9, 12)],
    speaks: ["bo", "zoe"],
  },
  "one by typed handle": { text: "@bo what now?", speaks: ["bo"] },
  "a handle with letters beyond ASCII": { text: "I ask @zoë.", speaks: ["zoe"] },
  "a full name of two words": { text: "@Ada Byron please", speaks: ["ada2"] },
  "a full name written as one word": { text: "@adalovelace please", speaks: ["ada"] },
  "a first name two members share names neither": { text: "@Ada please", speaks: MEMBERS },
  "a user group stands for its members": {
    text: "@crew please",
    mentions: [at("S1", 0, 5, ["U1", "U3", "U9"])],
    speaks: ["ada", "zoe"],
  },
  "@everyone, typed": { text: "@everyone please", activation: "mention", speaks: MEMBERS },
  "@ALL, typed": { text: "what do you think, @ALL?", activation: "mention", speaks: MEMBERS },
  "a longer word that begins like it": { text: "the @all-hands is at ten", activation: "mention", speaks: [] },
  "@everyone inside code": {
    text: "say `@everyone`",
    quoted: [{ start: 4, end: 15 }],
    activation: "mention",
    speaks: [],
  },
  "@allen is not @all": { text: "@allen please", activation: "mention", speaks: [] },
  "a mass ping of the platform": { text: "@channel lunch", everyone: true, activation: "mention", speaks: MEMBERS },
  "opens with a person": { text: "@Bob can you look?", mentions: [at("U9", 0, 4)], speaks: [] },
  "opens with a person and names a member later": {
    text: "@Bob can you ask @Bo?",
    mentions: [at("U9", 0, 4), at("U2", 17, 20)],
    speaks: [],
  },
  "opens with a person and a member in one breath": {
    text: "@Bob @Bo hello",
    mentions: [at("U9", 0, 4), at("U2", 5, 8)],
    speaks: ["bo"],
  },
  "names only people": { text: "what would @Bob say?", mentions: [at("U9", 11, 15)], speaks: [] },
  "a name in an address": { text: "mail bo@bo.example", speaks: MEMBERS },
  "a name in a link names nobody": { text: "https://x.example/@bo", speaks: MEMBERS },
};

test.each(Object.entries(SHAPES))("%s", (_shape, { text, mentions = [], quoted = [], everyone = false, ...rest }) => {
  const [receiver] = BOTS;
  if (!receiver) throw new Error("no bots");
  const event = {
    text,
    mentions,
    quoted,
    everyone,
    namesBot: false,
    from: { id: "p", platformId: "U8", name: "Alice", kind: "member" as const },
  };
  const input = {
    event,
    direct: false,
    inThread: false,
    receiver,
    bots: BOTS,
    takingPart: [],
    threads: "sticky" as const,
  };
  const { selected } = selectSpeakers(MEMBERS, rest.activation ?? "all", findAddressed(input));
  expect(selected).toEqual(rest.speaks);
});

test("a bot that is named but takes no part wakes nobody else", () => {
  const found = { named: ["gus"], everyone: false, opensWithPeople: false, namesPeople: false };
  expect(selectSpeakers(MEMBERS, "all", found)).toEqual({ selected: [], named: [] });
});

test("those named owe an answer, those asked with everybody do not", () => {
  const found = { named: ["bo"], everyone: true, opensWithPeople: false, namesPeople: false };
  expect(selectSpeakers(MEMBERS, "all", found)).toEqual({ selected: MEMBERS, named: ["bo"] });
});
