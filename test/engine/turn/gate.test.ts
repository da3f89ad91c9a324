/** What may still be said in a turn: repeats, limits, waiting for a person (SPEC M9, M13). */
import { describe, expect, test } from "vitest";
import type { Bubble } from "../../../src/engine/bubble.ts";
import type { Widget } from "../../../src/engine/card.ts";
import { afterSend, decideSend, fingerprint, MAX_REFUSED_IN_ROW, mustEnd } from "../../../src/engine/turn/gate.ts";
import { newProgress } from "../../../src/engine/turn/turn-run.ts";

const limits = { bubblesPerTurn: 25 };
const text = (content: string, more: Partial<Bubble> = {}): Bubble =>
  ({ type: "text", content, images: [], ...more }) as Bubble;
const file = (url: string, alt?: string): Bubble => ({ type: "attachment", file: { url, ...(alt ? { alt } : {}) } });
const options = (labels: readonly string[]): Widget["options"] =>
  labels.map((label) => ({ label, value: label, style: "default" }));
const widget = (prompt: string, labels = ["Yes", "No"], more: Partial<Widget> = {}): Bubble => ({
  type: "widget",
  widget: { prompt, options: options(labels), allowCustom: false, dismissOnMoveOn: false, ...more },
});

describe("two bubbles are the same", () => {
  test.each<[string, Bubble, Bubble]>([
    ["space around them", text("Hello there"), text("  Hello there\n\n")],
    ["space inside them", text("Hello there"), text("Hello \n\t there")],
    ["case", text("Hello THERE"), text("hello there")],
    ["width of characters", text("Hello 1"), text("Ｈｅｌｌｏ　１")],
    ["invisible characters", text("Hello"), text("He\u200bllo\ufeff")],
    ["composed accents", text("café"), text("cafe\u0301")],
    ["the message replied to", text("Done", { replyTo: "t1u" }), text("Done", { replyTo: "t2u" })],
    ["the description's case", file("https://a.example/x", "A Cat"), file("https://a.example/x", "a cat")],
    ["a question's space", widget("Go on?"), widget(" go  on? ", ["YES", "no"])],
  ])("whatever their %s", (_name, left, right) => {
    expect(fingerprint(left)).toBe(fingerprint(right));
  });
});

describe("two bubbles differ", () => {
  test.each<[string, Bubble, Bubble]>([
    ["words", text("Hello"), text("Hello!")],
    ["line breaks that are written out", text("a\\nb"), text("a b")],
    ["the channel", text("Hello"), text("Hello", { channel: "#general" })],
    ["an address's case", file("https://a.example/A.png"), file("https://a.example/a.png")],
    ["space in an address", file("file:///workspace/a b"), file("file:///workspace/a  b")],
    ["pictures", text("Look"), text("Look", { images: [{ url: "https://a.example/x.png" }] } as Partial<Bubble>)],
    ["type", text("bc-1"), { type: "cursor-agent", bcId: "bc-1" }],
    ["an id's case", { type: "cursor-agent", bcId: "bc-1" }, { type: "cursor-agent", bcId: "BC-1" }],
    ["choices", widget("Go on?"), widget("Go on?", ["Yes", "No", "Later"])],
    ["order of choices", widget("Go on?"), widget("Go on?", ["No", "Yes"])],
    ["own words allowed", widget("Go on?"), widget("Go on?", ["Yes", "No"], { allowCustom: true })],
    ["emoji", text("👍"), text("👎")],
    ["skin tone", text("👍"), text("👍🏽")],
  ])("by %s", (_name, left, right) => {
    expect(fingerprint(left)).not.toBe(fingerprint(right));
  });
});

describe("the gate", () => {
  const said = (...bubbles: Bubble[]) =>
    bubbles.reduce((progress, bubble) => afterSend(progress, fingerprint(bubble)), newProgress(1));

  test("lets a new bubble through and remembers it", () => {
    const decision = decideSend(said(text("one")), text("two"), limits);
    expect(decision).toEqual({ open: true, print: fingerprint(text("two")) });
  });

  test("refuses a repeat of any earlier bubble with what to do instead", () => {
    const decision = decideSend(said(text("one"), text("two")), text(" ONE "), limits);
    expect(decision).toMatchObject({
      open: false,
      repeated: true,
      text: expect.stringMatching(/already sent.*something new, or end your turn/i),
    });
  });

  test("is open up to the limit of bubbles and closed at it", () => {
    const many = (n: number) => said(...Array.from({ length: n }, (_, i) => text(`bubble ${i}`)));
    expect(decideSend(many(24), text("next"), limits).open).toBe(true);
    expect(mustEnd(many(24), limits)).toBe(false);
    expect(decideSend(many(25), text("next"), limits)).toMatchObject({
      open: false,
      repeated: false,
      text: expect.stringContaining("limit of 25"),
    });
    expect(mustEnd(many(25), limits)).toBe(true);
  });

  test("is closed while a person is asked", () => {
    const waiting = afterSend(newProgress(1), "print", "crd_1");
    expect(decideSend(waiting, text("next"), limits)).toMatchObject({
      open: false,
      repeated: false,
      text: expect.stringContaining("already waiting on the person"),
    });
    expect(mustEnd(waiting, limits)).toBe(true);
  });

  test("ends the turn at five refusals in a row, and a bubble that is said starts the count anew", () => {
    const refused = (n: number) => ({ ...newProgress(1), refusedInRow: n });
    expect(mustEnd(refused(MAX_REFUSED_IN_ROW - 1), limits)).toBe(false);
    expect(mustEnd(refused(MAX_REFUSED_IN_ROW), limits)).toBe(true);
    expect(afterSend(refused(4), "print").refusedInRow).toBe(0);
  });

  test("starts the silence counters anew with each bubble", () => {
    const busy = { ...newProgress(7), callsSinceSend: 9, workAfterSend: true, silentTries: 1, reminded: ["long-0"] };
    expect(afterSend(busy, "print")).toEqual({ ...newProgress(7), bubbles: 1, said: ["print"] });
  });
});
