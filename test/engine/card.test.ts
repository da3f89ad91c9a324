/** What counts as an answer to a card, by click and by typing, and from whom (SPEC C2–C4). */
import { describe, expect, test } from "vitest";
import {
  answerFromText,
  checkAnswer,
  choiceFromText,
  controlFromText,
  mayAnswer,
  secretWordFromText,
  type Widget,
} from "../../src/engine/card.ts";

function widgetOf(labels: readonly string[], more: Partial<Widget> = {}): Widget {
  return {
    prompt: "Which?",
    options: labels.map((label) => ({ label, value: `v-${label}`, style: "default" })),
    allowCustom: false,
    dismissOnMoveOn: false,
    ...more,
  };
}

const one = widgetOf(["Yes", "No"]);
const oneOrOwn = widgetOf(["Yes", "No"], { allowCustom: true });
const several = widgetOf(["Red", "Green", "Blue"], { multiple: { min: 2, max: 3 } });
const severalOrOwn = widgetOf(["Red", "Green", "Blue"], { multiple: { min: 2, max: 3 }, allowCustom: true });

describe("a clicked answer", () => {
  test.each<[string, Widget, string[], string | undefined, object]>([
    ["one choice", one, ["v-Yes"], undefined, { values: ["v-Yes"], labels: ["Yes"] }],
    ["the same choice twice", one, ["v-Yes", "v-Yes"], undefined, { values: ["v-Yes"], labels: ["Yes"] }],
    [
      "several, in the widget's order",
      several,
      ["v-Blue", "v-Red"],
      undefined,
      { values: ["v-Red", "v-Blue"], labels: ["Red", "Blue"] },
    ],
    [
      "as many as possible",
      several,
      ["v-Red", "v-Green", "v-Blue"],
      undefined,
      { values: ["v-Red", "v-Green", "v-Blue"] },
    ],
    ["own words", oneOrOwn, [], "  maybe ", { values: [], labels: [], custom: "maybe" }],
    ["own words instead of the choice", oneOrOwn, ["v-Yes"], "maybe", { values: [], labels: [], custom: "maybe" }],
    [
      "own words beside choices",
      severalOrOwn,
      ["v-Red"],
      "pink",
      { values: ["v-Red"], labels: ["Red"], custom: "pink" },
    ],
    ["own words alone where several are asked", severalOrOwn, [], "pink", { values: [], labels: [], custom: "pink" }],
    ["blank words", one, ["v-Yes"], "   ", { values: ["v-Yes"] }],
    [
      "nothing where nothing is needed",
      widgetOf(["A"], { multiple: { min: 0, max: 1 } }),
      [],
      undefined,
      { values: [], labels: [] },
    ],
    ["exactly 3,000 characters", oneOrOwn, [], "x".repeat(3000), { custom: "x".repeat(3000) }],
  ])("%s is taken", (_name, widget, choices, text, answer) => {
    expect(checkAnswer(widget, choices, text)).toMatchObject({ ok: true, answer });
  });

  test.each<[string, Widget, string[], string | undefined, RegExp]>([
    ["a label instead of a value", one, ["Yes"], undefined, /not one of the options/],
    ["an unknown value", one, ["v-Maybe"], undefined, /not one of the options/],
    ["a value that is special in JavaScript", one, ["__proto__"], undefined, /not one of the options/],
    ["a known and an unknown value", several, ["v-Red", "v-Green", "x"], undefined, /not one of the options/],
    ["none", one, [], undefined, /at least 1/],
    ["two where one is asked", one, ["v-Yes", "v-No"], undefined, /at most 1/],
    ["one too few", several, ["v-Red"], undefined, /at least 2/],
    ["all choices and own words, one too many", severalOrOwn, ["v-Red", "v-Green", "v-Blue"], "pink", /at most 3/],
    ["own words where they are not allowed", one, [], "maybe", /only the listed options/],
    ["an unknown value beside own words", severalOrOwn, ["x"], "pink", /not one of the options/],
    ["3,001 characters", oneOrOwn, [], "x".repeat(3001), /under 3000/],
  ])("%s is refused with a reason", (_name, widget, choices, text, reason) => {
    expect(checkAnswer(widget, choices, text)).toMatchObject({ ok: false, reason: expect.stringMatching(reason) });
  });
});

describe("a typed answer", () => {
  test.each([
    ["yes", "Yes"],
    ["  YES ", "Yes"],
    ["ＹＥＳ", "Yes"],
    ["see   you\n soon", "See you soon"],
    ["是的", "是的"],
    ["ｶﾀｶﾅ", "カタカナ"],
    ["예", "예"],
    ["café", "Cafe\u0301"],
    ["ΝΑΙ", "ναι"],
    ["да", "Да"],
    ["👍", "👍"],
    ["❤", "❤️"],
    ["👩‍👩‍👧", "👩‍👩‍👧"],
    ["yes 👍", "Yes 👍"],
    ["i", "I"],
  ])("%j names the choice %j", (typed, label) => {
    expect(answerFromText(widgetOf(["other", label]), typed)).toEqual({ values: [`v-${label}`], labels: [label] });
  });

  test.each(["yes please", "Yes.", "y", "no, yes", "👎", "👍🏽", "", "   ", "是", "Ye"])(
    "%j names no choice",
    (typed) => {
      expect(answerFromText(widgetOf(["Yes", "No", "👍", "是的"]), typed)).toBeUndefined();
    },
  );

  test("names a choice by its label before another one by its value", () => {
    const options = [
      { label: "1", value: "2", style: "default" as const },
      { label: "2", value: "1", style: "default" as const },
    ];
    expect(answerFromText(widgetOf([], { options }), "2")).toEqual({ values: ["1"], labels: ["2"] });
  });

  test("may name a choice by its value", () => {
    expect(answerFromText(one, "V-YES")).toEqual({ values: ["v-Yes"], labels: ["Yes"] });
  });

  test("in own words is taken where they are allowed, as typed", () => {
    expect(answerFromText(oneOrOwn, "  Maybe Later ")).toEqual({ values: [], labels: [], custom: "Maybe Later" });
    expect(answerFromText(oneOrOwn, "x".repeat(3001))).toBeUndefined();
    expect(answerFromText(oneOrOwn, " \n ")).toBeUndefined();
  });

  test("of one label is no answer where two are asked, but may be own words", () => {
    expect(answerFromText(several, "Red")).toBeUndefined();
    expect(answerFromText(severalOrOwn, "Red")).toEqual({ values: [], labels: [], custom: "Red" });
  });

  test("of one label answers where one of several is enough", () => {
    expect(answerFromText(widgetOf(["A", "B"], { multiple: { min: 0, max: 2 } }), "b")).toMatchObject({
      labels: ["B"],
    });
  });
});

describe("typed where options stand with numbers", () => {
  test.each<[string, Widget, string, readonly string[] | undefined]>([
    ["a number", one, "2", ["No"]],
    ["a number with its dot", one, " 1. ", ["Yes"]],
    ["a number that is none of them", one, "3", undefined],
    ["nought", one, "0", undefined],
    ["numbers where one is asked", one, "1, 2", undefined],
    ["numbers and labels mixed", several, "3, red", ["Red", "Blue"]],
    ["one line each", several, "Red\nGreen\n", ["Red", "Green"]],
    ["too few", several, "1", undefined],
    ["one that is unknown among them", several, "1, 2, 9", undefined],
  ])("%s", (_what, widget, text, labels) => {
    expect(choiceFromText(widget, text, true)?.labels).toEqual(labels);
  });

  test("a number that is itself a label names that one", () => {
    expect(choiceFromText(widgetOf(["2", "1"]), "2", true)?.labels).toEqual(["2"]);
  });

  test("elsewhere a number is an ordinary text", () => {
    expect(choiceFromText(one, "2")).toBeUndefined();
    expect(answerFromText(oneOrOwn, "2")).toMatchObject({ custom: "2" });
  });
});

describe("the words of other cards' controls", () => {
  const card = {
    kind: "handoff" as const,
    text: "Please sign in",
    controls: [
      { value: "done", label: "Done", style: "primary" as const },
      { value: "cannot", label: "Can't", style: "default" as const },
    ],
  };
  test.each([
    ["done", "done"],
    ["“Done”", "done"],
    ["can’t", "cannot"],
    ["done!", undefined],
    ["cannot", undefined],
    ["", undefined],
  ])("%j on a hand-off", (text, value) => {
    expect(controlFromText(card, text)?.value).toBe(value);
  });

  test.each([
    ["Enter it  privately", "enter"],
    ["decline", "decline"],
    ["s3cret-value", undefined],
  ])("%j on a secret-request", (text, word) => {
    expect(secretWordFromText(text)).toBe(word);
  });
});

describe("who may answer", () => {
  test.each([
    [[], "slack:T1:U1", true],
    [["slack:T1:U1"], "slack:T1:U1", true],
    [["slack:T1:U1", "slack:T1:U2"], "slack:T1:U2", true],
    [["slack:T1:U1"], "slack:T1:U2", false],
    [["slack:T1:U1"], "U1", false],
    [["slack:T1:U1"], "slack:T2:U1", false],
    [["slack:T1:U1"], "", false],
  ])("of %j: %s %s", (allowed, person, expected) => {
    expect(mayAnswer({ allowed }, person)).toBe(expected);
  });
});
