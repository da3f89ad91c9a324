/** The tool calls of one step: order, limits, interruptions, and what a restart finds (SPEC T4, T9). */
import { describe, expect, test, vi } from "vitest";
import { z } from "zod";
import type { ToolResult } from "../../../src/engine/tool.ts";
import { runCalls } from "../../../src/engine/turn/run-calls.ts";
import { callOf, fakeTurn, toolOf } from "./turn-parts.ts";

const never = () => new Promise<ToolResult>(() => undefined);

/** A tool whose runs end when the test says so, in any order. */
function heldTool(name: string, readOnly: boolean) {
  const waiting: ((result: ToolResult) => void)[] = [];
  const execute = () => new Promise<ToolResult>((resolve) => void waiting.push(resolve));
  return {
    tool: toolOf(name, { readOnly, execute }),
    waiting,
    end: (i: number) => waiting[i]?.({ ok: true, text: `${name} ${i}` }),
  };
}

describe("calls of one step", () => {
  test("run one after the other, each committed before the next begins", async () => {
    const seen: string[] = [];
    const turn = fakeTurn(
      ["a", "b"].map((name) =>
        toolOf(name, {
          execute: async () => ({ ok: true, text: `${name} after ${seen.push(turn.committed.join("|"))}` }),
        }),
      ),
      [callOf("a"), callOf("b")],
    );
    await runCalls(turn.run);
    expect(turn.committed).toEqual(["start 0", "done 0 a after 1", "start 1", "done 1 b after 2"]);
    expect(seen).toEqual(["start 0", "start 0|done 0 a after 1|start 1"]);
  });

  test("that only read run together, and their results keep the order of the calls", async () => {
    const look = heldTool("look", true);
    const turn = fakeTurn(
      [look.tool, toolOf("write")],
      [callOf("look"), callOf("look"), callOf("look"), callOf("write")],
    );
    const running = runCalls(turn.run);
    await vi.waitFor(() => expect(look.waiting).toHaveLength(3));
    for (const i of [2, 0, 1]) look.end(i);
    await running;
    expect(turn.committed).toEqual(["done 0 look 0", "done 1 look 1", "done 2 look 2", "start 3", "done 3 write done"]);
  });

  test("that read do not overtake a write between them", async () => {
    const look = heldTool("look", true);
    const turn = fakeTurn([look.tool, toolOf("write")], [callOf("look"), callOf("write"), callOf("look")]);
    const running = runCalls(turn.run);
    await vi.waitFor(() => expect(look.waiting).toHaveLength(1));
    expect(turn.committed).toEqual([]);
    look.end(0);
    await vi.waitFor(() => expect(look.waiting).toHaveLength(2));
    look.end(1);
    await running;
    expect(turn.committed).toEqual(["done 0 look 0", "start 1", "done 1 write done", "done 2 look 1"]);
  });

  test("count singly towards reminders, SendMessage not at all", async () => {
    const turn = fakeTurn(
      [toolOf("look", { readOnly: true }), toolOf("SendMessage")],
      [callOf("look"), callOf("look"), callOf("SendMessage")],
    );
    await runCalls(turn.run);
    expect(turn.run.progress.callsSinceSend).toBe(2);
  });

  test("have stored secrets masked in their results", async () => {
    const turn = fakeTurn(
      [toolOf("leak", { execute: async () => ({ ok: true, text: "it is hunter2hunter2" }) })],
      [callOf("leak")],
    );
    await runCalls(turn.run);
    expect(turn.results()).toEqual(["it is [secret]"]);
  });

  test("more than ten of them leave no listeners behind", async () => {
    const warnings: string[] = [];
    const note = (warning: Error) => void warnings.push(warning.name);
    process.on("warning", note);
    const turn = fakeTurn(
      [toolOf("look", { readOnly: true })],
      Array.from({ length: 30 }, () => callOf("look")),
    );
    for (const call of turn.run.calls) await runCalls({ ...turn.run, calls: [call] });
    await new Promise((resolve) => setImmediate(resolve));
    process.off("warning", note);
    expect(warnings).toEqual([]);
  });
});

describe("a call that cannot be run", () => {
  test("of an unknown tool names those there are", async () => {
    const turn = fakeTurn(
      [toolOf("look"), toolOf("write"), toolOf("other", { offeredIn: ["background"] })],
      [callOf("SendMail")],
    );
    await runCalls(turn.run);
    expect(turn.results()).toEqual(["There is no tool called SendMail. Available: look, write."]);
  });

  test.each(["__proto__", "constructor", "toString", ""])("of a tool called %j is unknown", async (name) => {
    const turn = fakeTurn([toolOf("look")], [callOf(name)]);
    await runCalls(turn.run);
    expect(turn.results()).toEqual([`There is no tool called ${name}. Available: look.`]);
  });

  test("with arguments that are not JSON asks for complete ones", async () => {
    const turn = fakeTurn([toolOf("look")], [callOf("look", { call: { invalid: '{"a":' } })]);
    await runCalls(turn.run);
    expect(turn.results()[0]).toContain("look was not run: its arguments are not valid JSON");
    expect(turn.committed[0]).toContain("done 0");
  });

  test("with wrong arguments names every one of them", async () => {
    const input = z.object({ path: z.string(), depth: z.number().max(3) });
    const turn = fakeTurn(
      [toolOf("look", { input })],
      [callOf("look", { call: { args: { path: 5, depth: 9 } } }), callOf("look", { call: { args: null } })],
    );
    await runCalls(turn.run);
    expect(turn.results()[0]).toMatch(/look was not run[\s\S]*- path: [\s\S]*- depth: /);
    expect(turn.results()[1]).toMatch(/- path: [\s\S]*- depth: /);
  });

  test("whose tool checks its own input gets the arguments as they are", async () => {
    const execute = vi.fn(async () => ({ ok: true, text: "ok" }));
    const turn = fakeTurn(
      [toolOf("say", { checksInput: true, execute, input: z.object({ must: z.string() }) })],
      [callOf("say", { call: { args: [1] } })],
    );
    await runCalls(turn.run);
    expect(execute).toHaveBeenCalledWith([1], expect.anything());
  });

  test("does not keep the next ones from running", async () => {
    const turn = fakeTurn([toolOf("look")], [callOf("nothing"), callOf("look")]);
    await runCalls(turn.run);
    expect(turn.results()[1]).toBe("look done");
  });
});

describe("a call that takes too long", () => {
  test("is cut off with the tool's name and limit, and its signal is aborted", async () => {
    let signal: AbortSignal | undefined;
    const execute = (_input: unknown, context: { signal: AbortSignal }) => {
      signal = context.signal;
      return never();
    };
    const turn = fakeTurn(
      [toolOf("slow", { timeoutMs: 15_000, execute }), toolOf("next")],
      [callOf("slow"), callOf("next")],
    );
    const running = runCalls(turn.run);
    await vi.waitFor(() => expect(turn.waits).toEqual([15_000]));
    turn.runOut();
    await running;
    expect(turn.results()).toEqual(["slow took longer than its limit of 15 s and was cut off.", "next done"]);
    expect(signal?.aborted).toBe(true);
  });

  test("has 60 seconds unless it says otherwise", async () => {
    const turn = fakeTurn([toolOf("look")], [callOf("look")]);
    await runCalls(turn.run);
    expect(turn.waits).toEqual([60_000]);
  });
});

describe("a stop", () => {
  test("ends the running call at once and leaves the rest unrun", async () => {
    const turn = fakeTurn([toolOf("slow", { execute: never }), toolOf("next")], [callOf("slow"), callOf("next")]);
    const running = runCalls(turn.run);
    await vi.waitFor(() => expect(turn.waits).toHaveLength(1));
    turn.stop();
    await running;
    expect(turn.results()).toEqual(["slow was interrupted because the turn was stopped.", undefined]);
  });

  test("before the first call runs nothing", async () => {
    const turn = fakeTurn([toolOf("look")], [callOf("look")]);
    turn.stop();
    await runCalls(turn.run);
    expect(turn.committed).toEqual([]);
  });

  test.each(["yield", "lost"] as const)(
    "because of %s leaves the call without a result, so that whoever goes on decides",
    async (why) => {
      const turn = fakeTurn([toolOf("slow", { execute: never, readOnly: true })], [callOf("slow")]);
      const running = runCalls(turn.run);
      await vi.waitFor(() => expect(turn.waits).toHaveLength(1));
      turn.stop(why);
      await running;
      expect(turn.committed).toEqual([]);
    },
  );
});

describe("after a restart", () => {
  test("only calls without a result run", async () => {
    const result = { ok: true, text: "before" };
    const turn = fakeTurn([toolOf("look")], [callOf("look", { state: "done", result }), callOf("look")]);
    await runCalls(turn.run);
    expect(turn.results()).toEqual(["before", "look done"]);
    expect(turn.committed).toEqual(["start 1", "done 1 look done"]);
  });

  test("a started call that cannot be repeated is unknown, and is not run", async () => {
    const execute = vi.fn(never);
    const turn = fakeTurn([toolOf("pay", { execute })], [callOf("pay", { state: "started" })]);
    await runCalls(turn.run);
    expect(execute).not.toHaveBeenCalled();
    expect(turn.results()[0]).toMatch(/pay was interrupted by a restart\. Unknown: it may have happened/);
  });

  test.each([{ repeatable: true }, { readOnly: true }])("a started call that is %j runs again", async (more) => {
    const turn = fakeTurn([toolOf("look", more)], [callOf("look", { state: "started" })]);
    await runCalls(turn.run);
    expect(turn.results()).toEqual(["look done"]);
  });
});
