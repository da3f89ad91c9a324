/** A turn in memory with a store that only writes down what is committed, for tests of what a turn does with calls. */
import { z } from "zod";
import type { ModelCall } from "../../../src/engine/model-message.ts";
import type { StoredCall } from "../../../src/engine/store/store.ts";
import type { Tool, ToolResult } from "../../../src/engine/tool.ts";
import { newProgress, type TurnRun } from "../../../src/engine/turn/turn-run.ts";

/** A turn, what it committed in order, and ways to end it from outside. */
export interface FakeTurn {
  readonly run: TurnRun;
  readonly committed: string[];
  results(): readonly (string | undefined)[];
  stop(why?: "stop" | "yield" | "lost"): void;
  /** Lets the time of the running calls run out. */
  runOut(): void;
  /** Milliseconds the clock was asked to wait. */
  readonly waits: number[];
}

/** A tool without input; `more.execute` says what it does. */
export function toolOf(name: string, more: Partial<Tool> = {}): Tool {
  return {
    name,
    description: name,
    input: z.object({}),
    offeredIn: ["main"],
    execute: async () => ({ ok: true, text: `${name} done` }),
    ...more,
  };
}

/** A call of a tool that is waiting to be run. */
export function callOf(
  name: string,
  more: Partial<Omit<StoredCall, "call">> & { call?: Partial<ModelCall> } = {},
): Omit<StoredCall, "index"> {
  const { call, ...rest } = more;
  return { state: "pending", ...rest, call: { id: `call-${name}`, name, args: {}, ...call } };
}

/** A direct-message turn with these tools and calls. */
export function fakeTurn(tools: readonly Tool[], calls: readonly Omit<StoredCall, "index">[]): FakeTurn {
  const cancel = new AbortController();
  const committed: string[] = [];
  const waits: number[] = [];
  const outs: (() => void)[] = [];
  let why: "stop" | "yield" | "lost" | undefined;
  const store = {
    startCall: async (_claim: unknown, ref: { index: number }) => void committed.push(`start ${ref.index}`),
    commitCall: async (_claim: unknown, ref: { index: number }, result: ToolResult) =>
      void committed.push(`done ${ref.index} ${result.text}`),
  };
  const clock = {
    now: () => 0,
    delay: (ms: number) => new Promise<void>((resolve) => void [waits.push(ms), outs.push(resolve)]),
  };
  const run = {
    parts: {
      store,
      clock,
      tools,
      settings: { limits: { toolMs: 60_000, bubblesPerTurn: 25 }, sendMessageGuidance: true },
      mask: (text: string) => text.replaceAll("hunter2hunter2", "[secret]"),
      metrics: { count: () => undefined, observe: () => undefined },
    },
    claim: {},
    turn: { id: "trn", authority: { role: "member", personIds: [], names: {} } },
    bot: { id: "ada" },
    conversation: { key: "k" },
    session: { id: "ses" },
    mail: [],
    messages: [],
    offer: { tools: [], capabilities: "" },
    control: { cancel: cancel.signal, why: () => why, onSteer: () => () => undefined },
    kind: "main",
    step: 1,
    progress: newProgress(1),
    lostCalls: [],
    openSends: [],
    calls: calls.map((call, index) => ({ ...call, index })),
  } as unknown as TurnRun;
  return {
    run,
    committed,
    waits,
    results: () => run.calls.map((call) => call.result?.text),
    stop: (reason = "stop") => {
      why = reason;
      cancel.abort();
    },
    runOut: () => {
      for (const out of outs.splice(0)) out();
    },
  };
}
