/** SendMessage calls as models write them: what becomes a bubble, and how everything wrong is named at once (SPEC M3, M4). */
import { describe, expect, test } from "vitest";
import { BUBBLE_TYPES, type BubbleType } from "../../src/engine/bubble.ts";
import { toBubble } from "../../src/engine/bubble-check.ts";

const GOOD: Readonly<Record<BubbleType, Readonly<Record<string, unknown>>>> = {
  text: { type: "text", content: "hello" },
  attachment: { type: "attachment", url: "https://example.com/a.pdf" },
  widget: { type: "widget", widget: { prompt: "Which?", options: [{ label: "A" }] } },
  "cursor-agent": { type: "cursor-agent", bcId: "bc-1_x" },
  "secret-request": { type: "secret-request", secret: { label: "Key", connector: "mail", field: "apiKey" } },
};

/** A filled-in field of each type. */
const FIELDS: readonly { readonly field: string; readonly owner: BubbleType; readonly value: unknown }[] = [
  { field: "content", owner: "text", value: "words" },
  { field: "images", owner: "text", value: [{ url: "https://example.com/a.png" }] },
  { field: "url", owner: "attachment", value: "https://example.com/a.pdf" },
  { field: "alt", owner: "attachment", value: "a file" },
  { field: "widget", owner: "widget", value: { prompt: "Which?", options: ["A"] } },
  { field: "bcId", owner: "cursor-agent", value: "bc-1" },
  { field: "secret", owner: "secret-request", value: { label: "Key", connector: "mail", field: "apiKey" } },
];

function problemsOf(input: unknown): readonly string[] {
  const check = toBubble(input);
  return check.ok ? [] : check.problems;
}

function textOf(input: unknown): string {
  const check = toBubble(input);
  return check.ok ? "" : check.text;
}

describe("a correct call", () => {
  test.each(BUBBLE_TYPES)("of type %s becomes a bubble of that type", (type) => {
    expect(toBubble(GOOD[type])).toMatchObject({ ok: true, bubble: { type } });
  });

  test.each(BUBBLE_TYPES)("of type %s may leave every other field empty", (type) => {
    const empties = FIELDS.flatMap(({ field }) => (field in GOOD[type] ? [] : [field]));
    for (const nothing of [null, undefined, "", [], {}, "  "]) {
      const filled = Object.fromEntries(empties.map((field) => [field, nothing]));
      expect(problemsOf({ ...filled, reply_to: null, channel: "", ...GOOD[type] })).toEqual([]);
    }
  });

  test("keeps reply address and channel, without space around them", () => {
    expect(toBubble({ ...GOOD.text, reply_to: " t3u ", channel: " #general " })).toEqual({
      ok: true,
      bubble: { type: "text", content: "hello", images: [], replyTo: "t3u", channel: "#general" },
    });
  });

  test("takes pictures with and without a description, also as plain addresses", () => {
    const images = [
      { url: "https://a.example/1.png", alt: "one" },
      { url: "file:///workspace/2.png" },
      "https://a.example/3.png",
    ];
    expect(toBubble({ ...GOOD.text, images })).toMatchObject({
      bubble: {
        images: [
          { url: "https://a.example/1.png", alt: "one" },
          { url: "file:///workspace/2.png" },
          { url: "https://a.example/3.png" },
        ],
      },
    });
  });

  test("leaves the words exactly as they are", () => {
    const content = "  line\n\n```js\nx\n```\u200d 👩‍👩‍👧 ";
    expect(toBubble({ type: "text", content })).toMatchObject({ bubble: { content } });
  });
});

describe("a field of another type", () => {
  const cases = BUBBLE_TYPES.flatMap((type) =>
    FIELDS.filter(({ owner }) => owner !== type).map((item) => ({ type, ...item })),
  );
  test.each(cases)("$field in a $type is a problem that names its owner $owner", ({ type, field, owner, value }) => {
    const text = textOf({ ...GOOD[type], [field]: value });
    expect(problemsOf({ ...GOOD[type], [field]: value })).toEqual([
      `${field} belongs to type "${owner}", not to "${type}".`,
    ]);
    expect(text).toContain("separate calls, one per type");
    expect(text).toContain(`{"type":"${owner}"`);
    expect(text).toContain(`{"type":"${type}"`);
  });

  test("counts when it is false, 0 or an object with something in it", () => {
    expect(problemsOf({ ...GOOD.text, bcId: 0 })).toHaveLength(1);
    expect(problemsOf({ ...GOOD.text, widget: { allowCustom: false } })).toHaveLength(1);
    expect(problemsOf({ ...GOOD.text, url: false })).toHaveLength(1);
  });

  test("channel works for text and attachment only", () => {
    expect(problemsOf({ ...GOOD.attachment, channel: "#general" })).toEqual([]);
    for (const type of ["widget", "cursor-agent", "secret-request"] as const) {
      expect(problemsOf({ ...GOOD[type], channel: "#general" })).toEqual([
        expect.stringContaining("channel works only"),
      ]);
    }
  });
});

describe("a wrong call", () => {
  test("is refused with all problems in one text, split by type", () => {
    const text = textOf({
      type: "text",
      content: "",
      url: "https://example.com/a.pdf",
      bcId: "bc",
      widget: { prompt: "p", options: [{ label: "x" }] },
      reply_to: 5,
    });
    for (const word of ["content is missing", "url belongs", "bcId belongs", "widget belongs", "reply_to must be"]) {
      expect(text).toContain(word);
    }
    expect(text).toContain("Nothing was sent");
    expect(text.match(/^- \{"type":/gm)).toHaveLength(4);
  });

  test.each([
    [{ type: "poll", content: "x" }, '"poll"'],
    [{ type: "TEXT", content: "x" }, '"TEXT"'],
    [{ type: "constructor" }, '"constructor"'],
    [{ type: "__proto__" }, '"__proto__"'],
    [{ type: 5 }, "type 5"],
    [{ type: { text: 1 } }, "type {…}"],
    [{ type: ["text"] }, "type […]"],
    [{ content: "x" }, "type is missing"],
    [{ type: null }, "type is missing"],
    [{}, "type is missing"],
  ])("with an unknown type names the types: %j", (input, seen) => {
    expect(textOf(input)).toContain(seen);
    expect(textOf(input)).toContain("text, attachment, widget, cursor-agent, secret-request");
  });

  test("without any usable field shows one example of each type, not a list to send", () => {
    const text = textOf({ type: "poll" });
    expect(text).toContain("Send one of these:");
    expect(text.match(/^- \{"type":/gm)).toHaveLength(5);
  });

  test.each([[null], [undefined], ["hello"], [5], [true], [[]], [[GOOD.text]]])(
    "that is no object is refused: %j",
    (input) => {
      expect(problemsOf(input)).toEqual(["SendMessage takes one JSON object."]);
    },
  );

  test("with unknown fields names them", () => {
    expect(problemsOf({ ...GOOD.text, text: "hi", blocks: [1] })).toEqual(["SendMessage has no field text, blocks."]);
  });

  test.each(['{"type":"text","content":"x","__proto__":{"a":1}}', '{"type":"text","content":"x","constructor":"y"}'])(
    "with a field that is special in JavaScript is refused like any other: %s",
    (json) => {
      expect(problemsOf(JSON.parse(json))).toEqual([expect.stringContaining("SendMessage has no field")]);
    },
  );

  test("cannot smuggle fields in through the prototype", () => {
    expect(problemsOf(JSON.parse('{"__proto__":{"type":"text","content":"x"}}'))).toEqual([
      expect.stringContaining("type is missing"),
    ]);
    expect(({} as { content?: string }).content).toBeUndefined();
  });

  test.each([
    [{ type: "text" }, ["content is missing."]],
    [{ type: "text", content: "   " }, ["content is missing."]],
    [{ type: "text", content: "\u200b\u2060 \ufeff\n" }, ["content has nothing in it that can be seen."]],
    [{ type: "text", content: "\ufe0f\u{e0100}\u200d" }, ["content has nothing in it that can be seen."]],
    [{ type: "text", content: "\u3164\u00ad\u2800" }, ["content has nothing in it that can be seen."]],
    [{ type: "text", content: 5 }, ["content must be a string."]],
    [{ type: "text", content: "x", images: "a.png" }, ["images must be a list."]],
    [{ type: "text", content: "x", images: [null] }, ["images[0] is missing.", "images[0].url is missing."]],
    [{ type: "attachment" }, ["url is missing."]],
    [{ type: "attachment", url: "https://a.example/x", alt: 7 }, ["alt must be a string."]],
    [{ type: "cursor-agent" }, ["bcId is missing."]],
    [{ type: "cursor-agent", bcId: "a b" }, ["bcId may hold only letters, digits, - and _."]],
    [{ type: "cursor-agent", bcId: "../x" }, ["bcId may hold only letters, digits, - and _."]],
    [
      { type: "secret-request", secret: "key" },
      [
        "secret must be an object.",
        "secret.label is missing.",
        "secret.connector is missing.",
        "secret.field is missing.",
      ],
    ],
    [{ type: "secret-request", secret: { label: "L", connector: "c" } }, ["secret.field is missing."]],
    [
      { type: "secret-request", secret: { label: "L", connector: "c", field: "f", value: "s" } },
      ["secret has no field value; its fields are label, description, connector, field."],
    ],
  ])("names each missing or wrong field: %j", (input, problems) => {
    expect([...problemsOf(input)].sort()).toEqual([...problems].sort());
  });
});

describe("an address", () => {
  test.each([
    "ftp://example.com/a",
    "http://example.com/a",
    "javascript:alert(1)",
    "data:text/plain,x",
    "/etc/passwd",
    "example.com/a",
    "//example.com/a",
    "https:/example.com",
    "https:example.com",
    "blob:https://a.example/x",
  ])("with another scheme than https or file is refused: %s", (url) => {
    expect(problemsOf({ type: "attachment", url })).toEqual([expect.stringMatching(/^url must begin with https:\/\//)]);
  });

  test.each([
    "https://",
    "https://a b/c",
    "https://a.example:99999/x",
    "https://[::1",
    "https://a.example/\u0000.png",
    "file:///w/a\u0000.png",
    "https://a.example/x\ny",
  ])("that is incomplete or has control characters is refused: %j", (url) => {
    expect(problemsOf({ type: "attachment", url })).toEqual([expect.stringContaining("url is not a complete address")]);
  });

  test.each([
    "https://a.example",
    "HTTPS://A.EXAMPLE/X",
    "https://a.example/ü/日本?q=ä b#c",
    "file:///workspace/my file.txt",
    "FILE:///workspace/a",
  ])("of the right form is left to the resolver: %s", (url) =>
    expect(toBubble({ type: "attachment", url })).toMatchObject({ bubble: { file: { url } } }),
  );

  test("that is wrong in several pictures is named for each", () => {
    const images = [{ url: "http://a.example/1" }, { url: "https://a.example/2" }, { url: "" }];
    expect(problemsOf({ type: "text", content: "x", images })).toEqual([
      expect.stringContaining("images[0].url must begin"),
      "images[2].url is missing.",
    ]);
  });
});

test.each(["❤\ufe0f", "👨\u200d👩\u200d👧", "\u200b.", "नमस्\u200dते"])(
  "%j has something to be seen and is sent as it is",
  (content) => {
    expect(toBubble({ type: "text", content })).toMatchObject({ ok: true, bubble: { content } });
  },
);
