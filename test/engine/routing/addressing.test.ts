/** Who is meant by a message: threads, mentions, other people, several bots (SPEC I2, I3). Handles in text have a table of their own. */
import { describe, expect, test } from "vitest";
import type { AddressingInput } from "../../../src/engine/routing/addressing.ts";
import { ada, ann, bo, whoWakes } from "./addressing-parts.ts";

const ADA = "<@U_ADA|Ada>";
const BO = "<@U_BO|Bo Diddley>";
const BOB = "<@U_BOB|Bob>";
const foreign = { ...ann, kind: "bot" as const };

type Place = Partial<Omit<AddressingInput, "event">> & { readonly event?: object };
const top: Place = {};
const newThread: Place = { inThread: true };
const ownThread: Place = { inThread: true, takingPart: ["ada"] };
const direct: Place = { direct: true };

describe("one bot in a channel", () => {
  /** Message, then who answers in: top level, a thread of others, a thread Ada takes part in; for strict, sticky and always. */
  const rows: readonly [string, string, object, Record<"strict" | "sticky" | "always", string>][] = [
    ["hears its mention", `${ADA} hello`, {}, { strict: "yes yes yes", sticky: "yes yes yes", always: "yes yes yes" }],
    [
      "hears its mention at the end",
      `what do you say ${ADA}?`,
      {},
      { strict: "yes yes yes", sticky: "yes yes yes", always: "yes yes yes" },
    ],
    [
      "hears a mention by its other id",
      "<@B_ADA|Ada> hello",
      {},
      { strict: "yes yes yes", sticky: "yes yes yes", always: "yes yes yes" },
    ],
    [
      "hears what the platform says is for it",
      "hello",
      { namesBot: true },
      { strict: "yes yes yes", sticky: "yes yes yes", always: "yes yes yes" },
    ],
    [
      "hears what answers a message of its own",
      "hello",
      { answersAccount: "U_ADA" },
      { strict: "yes yes yes", sticky: "yes yes yes", always: "yes yes yes" },
    ],
    [
      "leaves an answer to it that opens with somebody else",
      `${BOB} can you look?`,
      { answersAccount: "U_ADA" },
      { strict: "no no no", sticky: "no no no", always: "no no no" },
    ],
    [
      "stays in its thread unless strict",
      "and now?",
      {},
      { strict: "no no no", sticky: "no no yes", always: "yes yes yes" },
    ],
    [
      "leaves what opens with somebody else",
      `${BOB} can you look?`,
      {},
      { strict: "no no no", sticky: "no no no", always: "no no no" },
    ],
    [
      "leaves what opens with somebody else and names it later",
      `${BOB} ask ${ADA}`,
      {},
      { strict: "no no no", sticky: "no no no", always: "no no no" },
    ],
    [
      "leaves what opens with two others",
      `${BOB}, <@U_CY|Cy>: look`,
      {},
      { strict: "no no no", sticky: "no no no", always: "no no no" },
    ],
    [
      "leaves what names only people",
      `I think ${BOB} was right`,
      {},
      { strict: "no no no", sticky: "no no no", always: "no no no" },
    ],
    [
      "is one of those the message opens with",
      `${BOB} ${ADA} please`,
      {},
      { strict: "yes yes yes", sticky: "yes yes yes", always: "yes yes yes" },
    ],
    [
      "is one of those joined by and",
      `${BOB} and ${ADA}: please`,
      {},
      { strict: "yes yes yes", sticky: "yes yes yes", always: "yes yes yes" },
    ],
    [
      "is named before somebody else",
      `${ADA} tell ${BOB}`,
      {},
      { strict: "yes yes yes", sticky: "yes yes yes", always: "yes yes yes" },
    ],
    [
      "leaves a mass ping",
      "@everyone lunch",
      { everyone: true },
      { strict: "no no no", sticky: "no no no", always: "no no no" },
    ],
    [
      "hears its mention beside a mass ping",
      `@everyone ask ${ADA}`,
      { everyone: true },
      { strict: "yes yes yes", sticky: "yes yes yes", always: "yes yes yes" },
    ],
    [
      "leaves another bot's chatter",
      "and now?",
      { from: foreign },
      { strict: "no no no", sticky: "no no no", always: "no no no" },
    ],
    [
      "hears another bot's mention",
      `${ADA} hello`,
      { from: foreign },
      { strict: "yes yes yes", sticky: "yes yes yes", always: "yes yes yes" },
    ],
    [
      "hears a group it belongs to",
      "<@G_TEAM:U_X,U_ADA|team> look",
      {},
      { strict: "yes yes yes", sticky: "yes yes yes", always: "yes yes yes" },
    ],
    [
      "leaves a group it does not belong to",
      "<@G_TEAM:U_X|team> look",
      {},
      { strict: "no no no", sticky: "no no no", always: "no no no" },
    ],
    [
      "leaves a group nobody knows",
      "<@G_TEAM|team> look",
      {},
      { strict: "no no no", sticky: "no no no", always: "no no no" },
    ],
    [
      "leaves an empty message outside its thread",
      "",
      {},
      { strict: "no no no", sticky: "no no yes", always: "yes yes yes" },
    ],
  ];
  const cases = rows.flatMap(([name, text, event, expected]) =>
    (["strict", "sticky", "always"] as const).map((threads) => ({
      name,
      text,
      event,
      threads,
      expected: expected[threads],
    })),
  );
  test.each(cases)("$name ($threads)", ({ text, event, threads, expected }) => {
    const woken = [top, newThread, ownThread].map((place) => whoWakes(text, { ...place, threads, event }));
    expect(woken.map((bots) => (bots.length > 0 ? "yes" : "no")).join(" ")).toBe(expected);
    expect(woken.flat().every((botId) => botId === "ada")).toBe(true);
  });
});

test.each([`${BOB} look`, "hello", "@everyone lunch", ""])("a direct message %j is always answered", (text) => {
  expect(whoWakes(text, { ...direct, threads: "strict", event: { everyone: text.startsWith("@everyone") } })).toEqual([
    "ada",
  ]);
});

describe("quoted words", () => {
  const quotedAll = (text: string, until: number) => ({ event: { quoted: [{ start: 0, end: until }] }, ...{ text } });
  test("address nobody", () => {
    const { event } = quotedAll("", 10);
    expect(whoWakes(`${ADA} said: x`, { event })).toEqual([]);
    expect(whoWakes("> @Ada said\nI agree", { event: { quoted: [{ start: 0, end: 11 }] } })).toEqual([]);
  });

  test("of somebody else do not turn a thread's message away from the bot", () => {
    const text = `> ${BOB} said\nand you?`;
    expect(whoWakes(text, { ...ownThread, event: { quoted: [{ start: 0, end: 12 }] } })).toEqual(["ada"]);
  });

  test("do not hide the mention behind them", () => {
    expect(whoWakes(`\`code\` ${ADA} why?`, { event: { quoted: [{ start: 0, end: 6 }] } })).toEqual(["ada"]);
  });
});

describe("two bots in a channel", () => {
  const both = { bots: [ada, bo] };
  test.each<[string, string, Place, string[]]>([
    ["the second one is mentioned, the first one hears it", `${BO} look`, both, ["bo"]],
    ["the second one is mentioned in the first one's thread", `${BO} look`, { ...both, ...ownThread }, ["bo"]],
    ["both are mentioned", `${BO} and ${ADA} look`, both, ["bo", "ada"]],
    ["one is mentioned twice", `${ADA} ${ADA} look`, both, ["ada"]],
    ["a group of both is mentioned", "<@G_ALL:U_ADA,U_BO|all> look", both, ["ada", "bo"]],
    ["one by mention, one by handle", `${ADA} ask @bo`, both, ["ada", "bo"]],
    ["nobody is mentioned at top level", "look", { ...both, threads: "always" }, []],
    [
      "nobody is mentioned in the thread of both",
      "look",
      { ...both, inThread: true, takingPart: ["bo", "ada"] },
      ["bo", "ada"],
    ],
    ["nobody is mentioned, one has left", "look", { bots: [ada], inThread: true, takingPart: ["bo", "ada"] }, ["ada"]],
    ["nobody is mentioned, the only one has left", "look", { bots: [ada], inThread: true, takingPart: ["bo"] }, []],
    ["one that is not known here is mentioned", `${BO} look`, { bots: [ada], ...ownThread }, []],
    ["the message of one is answered", "look", { ...both, event: { answersAccount: "U_BO" } }, ["bo"]],
    [
      "the message of one is answered, the other is named",
      `${ADA} look`,
      { ...both, event: { answersAccount: "U_BO" } },
      ["ada"],
    ],
    ["a person's message is answered", "look", { ...both, event: { answersAccount: "U_BOB" } }, []],
    [
      "one is named by the platform, another in the text",
      `ask ${BO}`,
      { ...both, event: { namesBot: true } },
      ["bo", "ada"],
    ],
  ])("%s", (_name, text, more, woken) => {
    expect(whoWakes(text, more)).toEqual(woken);
  });
});
