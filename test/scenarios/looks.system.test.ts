/** Cards on Slack can be written out in words (SPEC M14), and nothing but the looks changes. */

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { call, done, type LlmRequest, type Script, sendMessage, sendWidget } from "../emulators/llm/index.ts";
import type { Post } from "../emulators/slack/index.ts";
import { echo, heard } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const IN_WORDS = { slack: { cards: false } };

/** Asks for a colour, then for a sign of life, and thanks for each. */
const asking: Script = (request) => {
  if (request.lastRole !== "user") return done();
  const words = heard(request);
  if (words.includes("widget_answer")) return sendMessage("thanks for blue");
  if (request.lastUserText.includes("says it is done")) return sendMessage("going on");
  if (words.includes("help")) return call("request_human", { instruction: "sign in", reason: "auth" });
  return sendWidget("Which colour?", [{ label: "Blue", value: "color-blue" }, "Red"]);
};

/** A whole conversation, answered by typing. */
async function converse(w: World): Promise<Post[]> {
  w.script("Ada", asking);
  const asked = w.say("Alice", "@Ada ask me");
  const card = await w.until(
    () => w.answers(asked).find((post) => post.text.includes("Which colour?")),
    "the question",
  );
  w.say("Alice", "Blue", { thread: asked });
  await w.until(() => w.answers(asked).find((post) => post.text === "thanks for blue"), "the thanks");
  await w.quiet();
  w.say("Alice", "help me then", { thread: asked });
  const help = await w.until(() => w.answers(asked).find((post) => post.text.includes("sign in")), "the hand-off");
  w.say("Alice", "done", { thread: asked });
  await w.until(() => w.answers(asked).find((post) => post.text === "going on"), "the end");
  await w.quiet();
  return [card, help];
}

/** Everything the transcript holds, without what is random. */
async function transcript(w: World): Promise<unknown> {
  const rows = await w
    .database()
    .rows(`select "seq", "kind", "authorKind", "text", "body", "address", "files" from "Entry" order by "seq"`);
  const text = JSON.stringify(rows)
    .replaceAll(/\b[a-z]{3}_[A-Za-z0-9]{8,}/g, "ID")
    .replaceAll(/\d{10}\.\d{6}/g, "TS")
    .replaceAll(/slack:T\w+:U\w+|(?<=")U[A-Z0-9]{10}(?=")/g, "ID");
  return JSON.parse(text);
}

/** Writes another answer to the question of cards into the settings; the next start reads it. */
function setCards(w: World, cards: boolean): void {
  const file = join(w.folder, "parley.yaml");
  const settings = JSON.parse(readFileSync(file, "utf8"));
  writeFileSync(file, JSON.stringify({ ...settings, slack: { ...settings.slack, cards } }));
}

const toolsOf = (request: LlmRequest) => JSON.stringify(JSON.parse(request.raw).tools);

test(
  "with cards on or off the same conversation gives the same transcript, and the model is offered the same tools",
  async () => {
    const told: { transcript: unknown; tools: string[]; controls: number[] }[] = [];
    for (const settings of [{}, IN_WORDS]) {
      await using w = await startWorld({ settings });
      const cards = await converse(w);
      const controls = cards.map((post) => w.slack.read(post)?.controls.length ?? -1);
      told.push({
        transcript: await transcript(w),
        tools: [...new Set(w.llm.requests.map(toolsOf))],
        controls,
      });
      expect(w.slack.refusals).toEqual([]);
    }
    const [on, off] = told;
    expect(on?.tools[0]).toContain("SendMessage");
    expect(off?.tools).toEqual(on?.tools);
    expect(off?.transcript).toEqual(on?.transcript);
    expect(told.map((one) => one.controls)).toEqual([
      [0, 0],
      [0, 0],
    ]);
  },
  2 * START_MS,
);

test(
  "with cards off a question is numbered text: a number, a label or several of them answer it, and the text says so afterwards",
  async () => {
    await using w = await startWorld({ settings: IN_WORDS });
    w.script("Ada", (request) => {
      if (request.lastRole !== "user") return done();
      const words = heard(request);
      if (words.includes("widget_answer")) return sendMessage("noted");
      if (words.includes("several"))
        return sendWidget("Which days?", ["Monday", "Tuesday", "Friday"], { multiple: { min: 2, max: 3 } });
      return sendWidget("Which colour?", [{ label: "Blue", value: "color-blue" }, "Red"]);
    });
    for (const [ask, typed, shown] of [
      ["one", "2", "Red (answered by Alice)"],
      ["one again", "blue", "Blue (answered by Alice)"],
      ["several", "1, friday", "Monday, Friday (answered by Alice)"],
    ] as const) {
      const asked = w.say("Alice", `@Ada ask me ${ask}`);
      const card = await w.answer(asked);
      expect(card.controls).toEqual([]);
      expect(card.text).toMatch(/1\. \w+\n2\. \w+/);
      expect(w.slack.read(card)?.text).toContain("To answer, write");
      w.say("Bob", typed, { thread: asked });
      w.say("Alice", typed, { thread: asked });
      await w.until(() => w.slack.read(card)?.text.includes(shown), `the outcome of ${ask}`);
      expect(w.slack.read(card)?.text).not.toContain("To answer, write");
      await w.until(() => w.answers(asked).some((post) => post.text === "noted"), "an answer");
    }
    expect(w.slack.refusals).toEqual([]);
  },
  START_MS,
);

test(
  "a text that was posted with cards off is still settled as a text when cards are on again, and the other way round",
  async () => {
    await using w = await startWorld({ settings: IN_WORDS });
    w.script("Ada", asking);
    const asked = w.say("Alice", "@Ada ask me");
    const card = await w.answer(asked);
    await w.quiet();
    await w.stop();
    setCards(w, true);
    await w.start();
    w.say("Alice", "Blue", { thread: asked });
    await w.until(() => w.slack.read(card)?.text.includes("Blue (answered by Alice)"), "the outcome");
    expect(w.slack.read(card)?.text).not.toContain("To answer");
    const next = await w.answer(w.say("Alice", "@Ada ask me again"));
    expect(next.controls).toHaveLength(2);
    await w.quiet();
    await w.stop();
    setCards(w, false);
    await w.start();
    await w.slack.press(w.person("Alice"), next, "Blue");
    await w.until(() => w.slack.read(next)?.controls.length === 0, "a frozen card");
    expect(w.slack.read(next)?.text).toContain("Blue (answered by Alice)");
  },
  2 * START_MS,
);

test(
  "with cards off a secret is asked for in words: its link comes privately to the person asked, and can be declined",
  async () => {
    await using w = await startWorld({
      settings: { ...IN_WORDS, web: { port: 0, publicUrl: "http://127.0.0.1:3999" } },
    });
    w.script("Ada", (request) => {
      if (request.lastRole !== "user") return done();
      if (request.lastUserText.includes("eclined")) return sendMessage("then not");
      if (heard(request).includes("Enter it")) return sendMessage("that was not for you");
      return call("SendMessage", {
        type: "secret-request",
        secret: { label: "API key", connector: "tickets", field: "key" },
      });
    });
    const asked = w.say("Alice", "@Ada connect the tickets");
    const card = await w.answer(asked);
    expect(card.controls).toEqual([]);
    expect(card.text).not.toContain("/s/");
    w.say("Bob", "Enter it privately", { thread: asked });
    w.say("Alice", "enter it privately", { thread: asked });
    const notice = await w.until(
      () => w.slack.noticesFor(w.person("Alice")).find((one) => one.text.includes("/s/")),
      "the link",
    );
    expect(notice.text).toContain("http://127.0.0.1:3999/s/");
    await w.quiet();
    expect(w.slack.noticesFor(w.person("Bob")).filter((one) => one.text.includes("/s/"))).toEqual([]);
    expect(
      w
        .answers(asked)
        .map((post) => post.text)
        .slice(1),
    ).toEqual(["that was not for you"]);
    w.say("Alice", "Decline", { thread: asked });
    await w.until(() => w.answers(asked).some((post) => post.text === "then not"), "the bot's answer");
    await w.until(() => w.slack.read(card)?.text.includes("Declined by Alice"), "the outcome");
  },
  START_MS,
);

test(
  "with cards off a failure is tried again by writing so, and a Group says which commands change it",
  async () => {
    await using w = await startWorld({ settings: IN_WORDS, bots: ["Ada", "Bo"] });
    const notice = await w.until(
      () => w.slack.posts(w.general).find((post) => post.text.includes("are a Group")),
      "the Group's text",
    );
    expect(notice.controls).toEqual([]);
    expect(notice.text).toContain("!group mention (Only when mentioned) or !group all");
    w.script("Ada", () => ({ status: 503 }));
    const asked = w.dm("Alice", "hello");
    const failed = await w.answer(asked);
    expect(failed.controls).toEqual([]);
    expect(failed.text).toContain("To answer, write “Retry”");
    w.script("Ada", echo);
    w.dm("Alice", "retry");
    await w.until(() => w.answers(asked).some((post) => post.text.startsWith("You said")), "an answer after all");
    await w.until(() => w.slack.read(failed)?.text.includes("Retry (answered by Alice)"), "the outcome");
    await w.quiet();
  },
  START_MS,
);
