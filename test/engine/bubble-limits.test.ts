/** Widgets and limits of SendMessage: at the limit and one over, and input nobody would write by hand (SPEC M3, M4). */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { MAX_CONTENT, MAX_IMAGES, MAX_LABEL, MAX_OPTIONS, MAX_PROMPT } from "../../src/engine/bubble.ts";
import { toBubble } from "../../src/engine/bubble-check.ts";

function problemsOf(input: unknown): readonly string[] {
  const check = toBubble(input);
  return check.ok ? [] : check.problems;
}

const widget = (more: object) => ({ type: "widget", widget: { prompt: "Which?", options: ["A", "B", "C"], ...more } });
const widgetOf = (more: object) => {
  const check = toBubble(widget(more));
  return check.ok && check.bubble.type === "widget" ? check.bubble.widget : check;
};
const many = (n: number) => Array.from({ length: n }, (_, i) => ({ label: `choice ${i}` }));

describe("a widget", () => {
  test("fills in what was left out", () => {
    expect(widgetOf({ options: ["Yes", { label: " No ", value: "n", style: "danger", description: "stop" }] })).toEqual(
      {
        prompt: "Which?",
        options: [
          { label: "Yes", value: "Yes", style: "default" },
          { label: "No", value: "n", style: "danger", description: "stop" },
        ],
        allowCustom: false,
        dismissOnMoveOn: false,
      },
    );
  });

  test.each([
    ["an empty object", {}, { min: 1, max: 3 }],
    ["empty limits", { min: null, max: "" }, { min: 1, max: 3 }],
    ["a lower limit", { min: 2 }, { min: 2, max: 3 }],
    ["none to all", { min: 0, max: 3 }, { min: 0, max: 3 }],
  ])("with %s takes several choices", (_name, multiple, expected) => {
    expect(widgetOf({ multiple })).toMatchObject({ multiple: expected });
  });

  test.each([[null], [undefined], [""]])("with multiple %j takes one choice", (multiple) => {
    expect(widgetOf({ multiple })).not.toHaveProperty("multiple");
  });

  test.each([
    [{ min: -1 }],
    [{ max: 0 }],
    [{ min: 3, max: 2 }],
    [{ max: 4 }],
    [{ min: 1.5 }],
    [{ max: "two" }],
    [{ min: Number.NaN }],
    [true],
    [2],
    [[1, 2]],
    [{ maximum: 2 }],
  ])("with impossible limits %j is refused", (multiple) => {
    expect(problemsOf(widget({ multiple }))).toEqual([expect.stringContaining("widget.multiple")]);
  });

  test.each([
    [{ allowCustom: "true" }, "widget.allowCustom must be true or false."],
    [{ dismissOnMoveOn: 1 }, "widget.dismissOnMoveOn must be true or false."],
    [
      { allow_custom: true },
      "widget has no field allow_custom; its fields are prompt, helpText, options, multiple, allowCustom, dismissOnMoveOn.",
    ],
    [{ options: [{ label: "A", style: "red" }] }, "widget.options[0].style must be default, primary or danger."],
    [
      { options: [{ label: "A", id: "1" }] },
      "widget.options[0] has no field id; its fields are label, value, description, style.",
    ],
    [{ options: [{ label: "A", value: 1 }] }, "widget.options[0].value must be a string."],
    [{ options: [{}] }, "widget.options[0].label is missing."],
    [{ options: [""] }, "widget.options[0].label is missing."],
    [{ options: { A: 1 } }, "widget.options must be a list."],
    [{ options: [] }, "widget.options is missing; give 1 to 25 choices."],
    [{ options: null, multiple: {} }, "widget.options is missing; give 1 to 25 choices."],
    [{ prompt: " " }, "widget.prompt is missing."],
  ])("with %j says what is wrong", (more, problem) => {
    expect(problemsOf(widget(more))).toEqual([problem]);
  });

  test("with equal labels or values names each of them once", () => {
    const options = ["A", "A", "A", { label: "B", value: "x" }, { label: "C", value: "x" }, "D ", "D"];
    expect(problemsOf(widget({ options }))).toEqual([
      'widget.options has the label "A" twice; each must differ.',
      'widget.options has the label "D" twice; each must differ.',
      'widget.options has the value "A" twice; each must differ.',
      'widget.options has the value "x" twice; each must differ.',
      'widget.options has the value "D" twice; each must differ.',
    ]);
  });

  test("may use labels that are special in JavaScript", () => {
    expect(problemsOf(widget({ options: ["__proto__", "constructor", "toString"] }))).toEqual([]);
  });
});

describe("a limit", () => {
  const secret = (more: object) => ({
    type: "secret-request",
    secret: { label: "L", connector: "c", field: "f", ...more },
  });
  const text = (more: object) => ({ type: "text", content: "x", ...more });
  const image = (n: number) => Array.from({ length: n }, (_, i) => ({ url: `https://a.example/${i}` }));
  test.each<[string, number, (n: number) => object]>([
    ["content", MAX_CONTENT, (n) => text({ content: "x".repeat(n) })],
    ["images", MAX_IMAGES, (n) => text({ images: image(n) })],
    ["images[0].alt", 1000, (n) => text({ images: [{ url: "https://a.example", alt: "x".repeat(n) }] })],
    ["reply_to", 200, (n) => text({ reply_to: "x".repeat(n) })],
    ["channel", 200, (n) => text({ channel: "x".repeat(n) })],
    ["url", 3000, (n) => ({ type: "attachment", url: "https://a.example/".padEnd(n, "x") })],
    ["bcId", 200, (n) => ({ type: "cursor-agent", bcId: "x".repeat(n) })],
    ["secret.label", 150, (n) => secret({ label: "x".repeat(n) })],
    ["secret.description", 1000, (n) => secret({ description: "x".repeat(n) })],
    ["secret.connector", 100, (n) => secret({ connector: "x".repeat(n) })],
    ["secret.field", 100, (n) => secret({ field: "x".repeat(n) })],
    ["widget.prompt", MAX_PROMPT, (n) => widget({ prompt: "x".repeat(n) })],
    ["widget.helpText", 1000, (n) => widget({ helpText: "x".repeat(n) })],
    ["widget.options", MAX_OPTIONS, (n) => widget({ options: many(n) })],
    ["widget.options[0].label", MAX_LABEL, (n) => widget({ options: [{ label: "x".repeat(n), value: "v" }] })],
    ["widget.options[0].value", MAX_LABEL, (n) => widget({ options: [{ label: "l", value: "x".repeat(n) }] })],
    [
      "widget.options[0].description",
      MAX_LABEL,
      (n) => widget({ options: [{ label: "l", description: "x".repeat(n) }] }),
    ],
  ])("of %s holds exactly: %i fits, one more does not", (name, limit, make) => {
    expect(problemsOf(make(limit))).toEqual([]);
    const [problem, ...others] = problemsOf(make(limit + 1));
    expect(others).toEqual([]);
    expect(problem).toContain(name);
    expect(problem).toContain(String(limit));
  });
});

describe("input nobody would write by hand", () => {
  const nested = (depth: number) => JSON.parse(`${'{"a":'.repeat(depth)}"x"${"}".repeat(depth)}`);
  test.each<[string, unknown]>([
    ["very deep nesting", { type: "text", content: "x", widget: nested(20_000) }],
    ["an endless type", { type: "x".repeat(1_000_000) }],
    ["an endless address", { type: "attachment", url: `x${"y".repeat(1_000_000)}` }],
    ["an endless channel", { type: "text", content: "x", channel: "#".repeat(1_000_000) }],
    ["very many fields", Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`field${i}`, "x"]))],
    [
      "very many fields beside a type",
      { type: "text", ...Object.fromEntries(Array.from({ length: 20_000 }, (_, i) => [`f${i}`, 1])) },
    ],
    ["very many choices", widget({ options: Array.from({ length: 20_000 }, () => ({ style: "x" })) })],
    ["very many pictures", { type: "text", content: "x", images: Array.from({ length: 20_000 }, () => 5) }],
    ["very long field names", { type: "text", content: "x", ["n".repeat(1_000_000)]: 1 }],
    ["equal choices that are very long", widget({ options: ["y".repeat(100_000), "y".repeat(100_000)] })],
  ])("gets a short answer: %s", (_name, input) => {
    const check = toBubble(input);
    expect(check.ok).toBe(false);
    expect(check.ok ? "" : check.text.length).toBeLessThan(10_000);
  });

  test.each(["#a\u0000b", "#a\nb", "t3u\u0000"])(
    "in an address or channel is refused before it reaches a database: %j",
    (line) => {
      expect(problemsOf({ type: "text", content: "x", channel: line })).toEqual([expect.stringContaining("one line")]);
      expect(problemsOf({ type: "text", content: "x", reply_to: line })).toEqual([expect.stringContaining("one line")]);
    },
  );

  test("never throws, and never sends when something is named wrong", () => {
    const keys = [
      "type",
      "content",
      "images",
      "url",
      "alt",
      "widget",
      "bcId",
      "secret",
      "reply_to",
      "channel",
      "other",
    ];
    const type = fc.constantFrom("text", "attachment", "widget", "cursor-agent", "secret-request", "poll", null, 3);
    const input = fc.tuple(type, fc.dictionary(fc.constantFrom(...keys), fc.jsonValue({ maxDepth: 3 })));
    fc.assert(
      fc.property(input, ([kind, fields]) => {
        const check = toBubble({ ...fields, type: kind });
        if (check.ok) return check.bubble.type === kind;
        return check.problems.length > 0 && check.problems.every((problem) => check.text.includes(problem));
      }),
      { numRuns: 300 },
    );
  });
});
