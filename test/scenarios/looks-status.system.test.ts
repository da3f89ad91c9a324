/** The status of a working bot on Slack, and receipts (SPEC M14): on or off, what they cost, and that nothing stays behind. */

import { expect, test } from "vitest";
import { echo, heard, heldBack } from "../support/scripts.ts";
import { START_MS, startWorld, type World } from "../support/world.ts";

const STATUS_CALLS = ["assistant.threads.setStatus", "agents.sessions.setStatus"];
const statusCalls = (w: World) => STATUS_CALLS.flatMap((method) => w.slack.calls(method));
test(
  "with the status off Slack is told nothing of the work, and `stop` still finds it",
  async () => {
    await using w = await startWorld({ settings: { slack: { status: "off" } } });
    const { script, release } = heldBack();
    w.script("Ada", echo);
    await w.answer(w.say("Alice", "@Ada quick"));
    await w.quiet();
    w.script("Ada", script);
    const asked = w.say("Alice", "@Ada think");
    await w.request((request) => heard(request).includes("think"));
    const said = await w.slack.command(w.person("Alice"), w.bot(), w.general, "/ada", "stop");
    expect(JSON.stringify(said)).toContain("Stopping what I am doing in a thread");
    release();
    await w.quiet();
    expect(w.answers(asked).some((post) => post.text === "done waiting")).toBe(false);
    expect(statusCalls(w)).toEqual([]);
  },
  START_MS,
);

test(
  "one answered message costs Slack at most two status calls and leaves nothing shown",
  async () => {
    await using w = await startWorld({});
    w.script("Ada", echo);
    for (const words of ["@Ada one", "@Ada two"]) {
      const before = statusCalls(w).length;
      const asked = w.say("Alice", words);
      await w.answer(asked);
      await w.quiet();
      const calls = statusCalls(w).slice(before);
      expect(calls.length).toBeGreaterThan(0);
      expect(calls.length).toBeLessThanOrEqual(2);
      expect(w.slack.status(w.bot(), { channel: w.general, ts: asked.ts })).toBe("");
    }
    expect(await w.database().count("KeyValue", `"key" like 'slack:working:%'`)).toBe(0);
  },
  START_MS,
);

const eyes = (w: World, post: { ts: string }) =>
  (w.slack.read({ channel: w.general, ts: post.ts })?.reactions ?? []).filter((one) => one.name === "eyes");
const receiptCalls = (w: World, ts: string) =>
  ["reactions.add", "reactions.remove"].flatMap((method) =>
    w.slack.calls(method).filter(({ args }) => args.timestamp === ts),
  );

test(
  "with receipts on a taken message has eyes until its turn ends: answered, failed, stopped, or lost with its process",
  async () => {
    await using w = await startWorld({ settings: { slack: { receipts: true } }, process: "own" });
    const held = heldBack();
    w.script("Ada", held.script);
    const asked = w.say("Alice", "@Ada wait for it");
    await w.until(() => eyes(w, asked).length === 1, "eyes");
    w.say("Alice", "and one more", { thread: asked });
    held.release();
    await w.until(() => eyes(w, asked).length === 0, "no eyes");
    await w.quiet();
    expect(receiptCalls(w, asked.ts).map(({ method }) => method)).toEqual(["reactions.add", "reactions.remove"]);

    w.script("Ada", () => ({ status: 401 }));
    const failing = w.say("Alice", "@Ada fail");
    await w.answer(failing);
    await w.until(
      () => receiptCalls(w, failing.ts).length === 2 && eyes(w, failing).length === 0,
      "no eyes after a failure",
    );

    const stopped = heldBack();
    w.script("Ada", stopped.script);
    const long = w.say("Alice", "@Ada go on for ever");
    await w.until(() => eyes(w, long).length === 1, "eyes");
    w.say("Alice", "@Ada stop", { thread: long });
    await w.until(() => eyes(w, long).length === 0, "no eyes after a stop");
    stopped.release();
    await w.quiet();

    const lost = heldBack();
    w.script("Ada", lost.script);
    const crashed = w.say("Alice", "@Ada survive this");
    await w.until(() => eyes(w, crashed).length === 1, "eyes");
    await w.crash();
    lost.release();
    w.script("Ada", echo);
    await w.start();
    await w.answer(crashed, 40_000);
    await w.until(() => eyes(w, crashed).length === 0, "no eyes after a crash");
  },
  2 * START_MS,
);

test(
  "without the permission to react a turn goes on as ever",
  async () => {
    await using w = await startWorld({ settings: { slack: { receipts: true } } });
    w.script("Ada", echo);
    w.slack.fail("reactions.add", { error: "missing_scope" }, { times: 9 });
    w.slack.fail("reactions.remove", { error: "missing_scope" }, { times: 9 });
    const asked = w.say("Alice", "@Ada hello");
    expect((await w.answer(asked)).text).toContain("hello");
    await w.quiet();
    expect(eyes(w, asked)).toEqual([]);
  },
  START_MS,
);
