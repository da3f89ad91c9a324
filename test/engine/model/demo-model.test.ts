/** Conversations with the demo model, as a person has them in the playground. */

import { expect, test } from "vitest";
import { toBubble } from "../../../src/engine/bubble-check.ts";
import { createSystemClock } from "../../../src/engine/clock.ts";
import { createDemoModel } from "../../../src/engine/model/demo-model.ts";
import type { ModelMessage, ModelRequest } from "../../../src/engine/model/model.ts";

type Args = Readonly<Record<string, unknown>>;

const FILES = {
  images: ["a", "b", "c"].map((name) => ({ url: `file:///workspace/${name}.png`, alt: `Picture ${name}` })),
  document: { url: "file:///workspace/notes.md", alt: "Notes" },
};
const SYSTEM =
  "You are Ada, a teammate who lives in this team's chat.\n\nYour duties: Research teammate. Finds sources.";
const GUIDANCE = "\n<system_reminder>\nShow widgets and images with SendMessage. hello\n</system_reminder>";
const TOOLS = [{ name: "SendMessage", description: "", schema: {} }];
const never = new AbortController().signal;

/** A session: `ask` and `hear` play one turn with a host that delivers everything (or refuses what `refuse` names) and returns what was sent per step. */
function session(options: { refuse?: (args: Args) => string | undefined } = {}) {
  const model = createDemoModel({ files: FILES, clock: createSystemClock() });
  const messages: ModelMessage[] = [];
  let count = 0;
  const step = (more: Partial<ModelRequest> = {}) =>
    model.step({ system: SYSTEM, messages, tools: TOOLS, ...more }, never);
  const ask = (words: string) => {
    count += 1;
    return hear(`[t${count}u] Alice (web:local:alice): ${words}${GUIDANCE}`);
  };
  const hear = async (text: string): Promise<Args[][]> => {
    messages.push({ role: "user", text });
    const steps: Args[][] = [];
    for (;;) {
      const reply = await step();
      if (!reply.ok) throw new Error(reply.text);
      if (reply.calls.length === 0) return steps;
      if (steps.length > 20) throw new Error("the demo does not come to an end");
      steps.push(reply.calls.map((call) => call.args as Args));
      messages.push({ role: "assistant", text: reply.text, calls: reply.calls });
      const results = reply.calls.map((call) => {
        const refusal = options.refuse?.(call.args as Args);
        return { callId: call.id, name: call.name, text: refusal ?? "delivered as t1s1", ok: refusal === undefined };
      });
      messages.push({ role: "tool", results });
    }
  };
  return { ask, hear, messages, step };
}

const said = (steps: readonly (readonly Args[])[]) =>
  steps
    .flat()
    .map((args) => String(args.content ?? ""))
    .join("\n");
const types = (steps: readonly (readonly Args[])[]) => steps.flat().map((args) => args.type);

for (const hello of [
  "hello",
  "Hi!",
  "hey Ada",
  "@Ada hello",
  "Hallo",
  "Guten Tag",
  "bonjour",
  "¡Hola!",
  "привет",
  "こんにちは",
  "你好",
  "help",
  "what can you do?",
]) {
  test(`"${hello}" is answered with who this is, that it is a demo, and what to ask`, async () => {
    const words = said(await session().ask(hello));
    expect(words).toContain("Hello Alice! I am **Ada** (Research teammate)");
    expect(words).toContain("no real language model");
    expect(words).toContain("show widget");
  });
}

test("the second greeting is shorter and still says demo", async () => {
  const { ask } = session();
  const first = await ask("hello");
  const second = await ask("hello");
  expect(second.length).toBeLessThan(first.length);
  expect(said(second)).toContain("demo");
});

for (const question of ["are you real?", "Who are you?", "which model are you", "Are you an AI?"]) {
  test(`"${question}" is answered plainly`, async () => {
    expect(said(await session().ask(question))).toContain("without a real language model");
  });
}

const SHOWN: readonly (readonly [string, readonly string[]])[] = [
  ["show text", ["text"]],
  ["Show me a table", ["text"]],
  ["show images", ["text"]],
  ["please show pictures", ["text"]],
  ["show file", ["text", "attachment"]],
  ["can you send an attachment?", ["text", "attachment"]],
  ["show widget", ["widget"]],
  ["show choice", ["widget"]],
  ["buttons", ["widget"]],
  ["show multiple", ["widget"]],
  ["show custom", ["widget"]],
  ["show cursor", ["text", "cursor-agent"]],
  ["show secret", ["text", "secret-request"]],
  ["show progress", ["text", "text", "text"]],
  ["show long text", ["text"]],
  ["show everything", ["text", "text", "text", "text", "attachment", "text", "cursor-agent", "widget"]],
  ["show all types", ["text", "text", "text", "text", "attachment", "text", "cursor-agent", "widget"]],
];
for (const [words, expected] of SHOWN) {
  test(`"${words}" sends ${expected.join(", ")}, one bubble per step and all of them valid`, async () => {
    const steps = await session().ask(words);
    expect(types(steps)).toEqual(expected);
    expect(steps.every((step) => step.length === 1)).toBe(true);
    for (const args of steps.flat()) expect(toBubble(args)).toMatchObject({ ok: true });
  });
}

test("pictures are three or more, each with a description", async () => {
  const [args] = (await session().ask("show images")).flat();
  expect(args?.images).toEqual(FILES.images);
});

test("the text shows headings, a table and code", async () => {
  expect(said(await session().ask("show text"))).toMatch(/## .*[\s\S]*\|---[\s\S]*```ts/);
});

test("multiple and custom are what they say", async () => {
  const multiple = (await session().ask("show multiple")).flat()[0]?.widget;
  const custom = (await session().ask("show custom")).flat()[0]?.widget;
  expect([multiple, custom]).toMatchObject([{ multiple: { min: 1, max: 3 } }, { allowCustom: true }]);
});

const answer = (prompt: string, values: string[], custom?: string) =>
  JSON.stringify({ widget_answer: { prompt, values, ...(custom ? { custom } : {}), by: "Alice" } });

test("a widget's answer, chosen or typed, is thanked for by name", async () => {
  const { ask } = session();
  await ask("show widget");
  expect(said(await ask(answer("What would you like to drink?", ["tea"])))).toContain("You chose **tea**");
  expect(said(await ask(answer("Favourite?", [], "ultra violet")))).toContain("ultra violet");
});

test("the tour goes on with the secret request after its widget is answered", async () => {
  const { ask } = session();
  const tour = await ask("show everything");
  const widget = tour.flat().at(-1)?.widget as { prompt: string } | undefined;
  expect(types(await ask(answer(widget?.prompt ?? "", ["Text"])))).toEqual(["text", "text", "secret-request"]);
});

for (const [note, words] of [
  [
    'The person has given the secret "Demo key". It is in the vault for connector demo, field key; you will not see its value.',
    "in the vault",
  ],
  ['The person declined to give the secret "Demo key". Go on without it.', "nothing was stored"],
] as const) {
  test(`a host note about a secret is answered: ${words}`, async () => {
    const { ask, hear } = session();
    await ask("show secret");
    expect(said(await hear(`<system_reminder>\n${note}\n</system_reminder>${GUIDANCE}`))).toContain(words);
  });
}

test("another try answers the same words again", async () => {
  const { hear, messages } = session();
  messages.push({ role: "user", text: `[t1u] Alice (web:local:alice): show widget${GUIDANCE}` });
  const note = "Alice asked for another try at the message that has not been answered yet.";
  expect(types(await hear(`<system_reminder>\n${note}\n</system_reminder>`))).toEqual(["widget"]);
});

test("a reply is understood like any message", async () => {
  const { hear } = session();
  expect(types(await hear("[t2u] Alice (web:local:alice) (in reply to t1s1): show widget"))).toEqual(["widget"]);
});

test("what was said before to others is not answered", async () => {
  const context =
    "<context_before>\nSaid here before:\n[t1u] Bob (web:local:bob): show images\n[t1s1] Ada (ada) (you): here\n</context_before>";
  const { hear } = session();
  expect(said(await hear(`${context}\n\n[t2u] Alice (web:local:alice): hello${GUIDANCE}`))).toContain("Hello Alice!");
});

test("a file is acknowledged by its name", async () => {
  const { hear } = session();
  const words = said(
    await hear("[t1u] Alice (web:local:alice): \n[t1ua1] attached file: budget.xlsx (application/x, 3 kB)"),
  );
  expect(words).toContain("I received budget.xlsx");
});

test("words over several lines stay together", async () => {
  const { hear } = session();
  expect(said(await hear("[t1u] Alice (web:local:alice): first line\nsecond: line\nhttps://example.com"))).toContain(
    "first line second: line https://example.com",
  );
});

test("what I told you comes back, without greetings, commands, reminders or answers", async () => {
  const { ask } = session();
  for (const words of [
    "hello",
    "My cat is called Mia",
    "show widget",
    answer("x", ["tea"]),
    "I live in Oslo",
    "thanks",
  ])
    await ask(words);
  const words = said(await ask("What did I tell you?"));
  expect(words).toContain("- My cat is called Mia\n- I live in Oslo");
  expect(words).not.toMatch(/show widget|widget_answer|hello|SendMessage/);
});

test("nothing told is said to be nothing", async () => {
  expect(said(await session().ask("what do you know about me?"))).toContain("not told me anything yet");
});

test("what another person said is not repeated as mine", async () => {
  const { ask, messages } = session();
  messages.push({ role: "user", text: "[t0u] Bob (web:local:bob): my password hint is blue" });
  expect(said(await ask("what did I tell you"))).not.toContain("blue");
});

test("anything else is read back honestly", async () => {
  const words = said(await session().ask("Please plan our offsite in May"));
  expect(words).toContain("“Please plan our offsite in May”");
  expect(words).toContain("without a real language model");
});

test("a sentence that merely mentions a file is not a request to show one", async () => {
  expect(said(await session().ask("I lost the file with our budget yesterday"))).toContain("I read:");
});

test("a picture from the person is acknowledged", async () => {
  const { messages, step } = session();
  const image = { sha256: "0", ext: "png", name: "cat.png", mediaType: "image/png", size: 1 };
  messages.push({ role: "user", text: "[t1u] Alice (web:local:alice): ", images: [image] });
  const reply = await step();
  expect(reply.ok && JSON.stringify(reply.calls)).toContain("cat.png");
});

test("when a card is waiting, the demo stops", async () => {
  const { ask } = session({ refuse: () => "Not delivered: you are already waiting on the person." });
  expect(types(await ask("show progress"))).toEqual(["text"]);
});

test("another refusal is told once, in the host's words", async () => {
  const { ask } = session({
    refuse: (args) => (args.type === "attachment" ? "file:// is outside the workspace" : undefined),
  });
  const steps = await ask("show file");
  expect(types(steps)).toEqual(["text", "attachment", "text"]);
  expect(said(steps)).toContain("outside the workspace");
});

test("if everything is refused, the demo gives up instead of repeating itself", async () => {
  const { ask } = session({ refuse: () => "no" });
  expect((await ask("hello")).length).toBeLessThanOrEqual(2);
});

test("a reminder alone wakes nothing new, a forced call says something", async () => {
  const { messages, step } = session();
  messages.push({ role: "user", text: "<system_reminder>You have not answered.</system_reminder>" });
  expect(await step()).toMatchObject({ ok: true, calls: [] });
  expect(await step({ forceTool: "SendMessage" })).toMatchObject({ calls: [{ name: "SendMessage" }] });
});

test("without SendMessage there is nothing to say", async () => {
  const { messages, step } = session();
  messages.push({ role: "user", text: "Summarise: hello" });
  expect(await step({ tools: [] })).toMatchObject({ ok: true, calls: [], text: "" });
});

test("words without any address tag are understood too", async () => {
  const { messages, step } = session();
  messages.push({ role: "user", text: "show widget" });
  const reply = await step();
  expect(reply.ok && reply.calls[0]?.args).toMatchObject({ type: "widget" });
});

test("a stop ends the pause between bubbles", async () => {
  const model = createDemoModel({ files: FILES, clock: createSystemClock(), paceMs: 60_000 });
  const messages: ModelMessage[] = [
    { role: "user", text: "show progress" },
    { role: "assistant", text: "", calls: [{ id: "1", name: "SendMessage", args: {} }] },
    { role: "tool", results: [{ callId: "1", name: "SendMessage", text: "delivered", ok: true }] },
  ];
  const stop = new AbortController();
  const step = model.step({ system: SYSTEM, messages, tools: TOOLS }, stop.signal);
  stop.abort();
  expect(await step).toMatchObject({ ok: false, problem: "aborted" });
});
