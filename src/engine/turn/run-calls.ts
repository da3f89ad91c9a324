/**
 * Runs the tool calls of one step (SPEC T4, T9): results in call order, each committed together with its effects before the next begins; read-only
 * neighbours run together. After a crash only calls without a result run, and one that cannot be repeated safely says so.
 */

import type { DiscussionMove } from "../discussion.ts";
import { isTooDeep, MAX_NESTING } from "../model/deep-arguments.ts";
import type { ModelCall } from "../model-message.ts";
import type { TurnProgress } from "../session.ts";
import type { StoredCall } from "../store/store.ts";
import type { Tool, ToolResult } from "../tool.ts";
import { takeBackBubble } from "./member-turn.ts";
import { afterToolCall } from "./nudges.ts";
import { awaitReceipt, createToolContext } from "./tool-context.ts";
import { SPEAKING_TOOLS } from "./tool-set.ts";
import { type TurnRun, toolsOf } from "./turn-run.ts";

/** Runs what is not done yet; returns when every call of the step has a result, or the turn was cancelled. */
export async function runCalls(run: TurnRun): Promise<void> {
  const tools = new Map(toolsOf(run).map((tool) => [tool.name, tool]));
  let at = 0;
  while (at < run.calls.length && !run.control.cancel.aborted) {
    const group = nextGroup(run.calls, at, tools);
    const done = await Promise.all(group.map((call) => runCall(run, call, tools.get(call.call.name))));
    for (const [i, result] of done.entries()) {
      const call = group[i];
      if (call && result) await commit(run, call, result);
    }
    at += group.length;
  }
}

/** Neighbouring read-only calls, or one call. */
function nextGroup(calls: readonly StoredCall[], at: number, tools: ReadonlyMap<string, Tool>): readonly StoredCall[] {
  const isReadOnly = (call: StoredCall) => tools.get(call.call.name)?.readOnly === true;
  let end = at + 1;
  const first = calls[at];
  while (first && isReadOnly(first) && end < calls.length && isReadOnly(calls[end] as StoredCall)) end += 1;
  return calls.slice(at, end);
}

/** The result, or undefined when there is one already or the turn was cancelled before it began. */
async function runCall(run: TurnRun, stored: StoredCall, tool: Tool | undefined): Promise<ToolResult | undefined> {
  if (stored.state === "done") return undefined;
  if (stored.entryId) return awaitReceipt(run, stored.index, stored.entryId);
  const { call } = stored;
  if (!tool) {
    const names = toolsOf(run).map((item) => item.name);
    return { ok: false, text: `There is no tool called ${call.name}. Available: ${names.join(", ")}.` };
  }
  if (call.invalid !== undefined) return invalidArguments(call);
  if (stored.state === "started" && !tool.repeatable && !tool.readOnly) {
    return {
      ok: false,
      text: `${call.name} was interrupted by a restart. Unknown: it may have happened. Check before you repeat it.`,
    };
  }
  const input = tool.checksInput ? { success: true as const, data: call.args } : tool.input.safeParse(call.args ?? {});
  if (!input.success) {
    const problems = input.error.issues.map((issue) => `- ${issue.path.join(".") || "arguments"}: ${issue.message}`);
    return { ok: false, text: `${call.name} was not run. Problems with its arguments:\n${problems.join("\n")}` };
  }
  if (!tool.repeatable && !tool.readOnly) {
    await run.parts.store.startCall(run.claim, { turnId: run.turn.id, step: run.step, index: stored.index });
  }
  return execute(run, stored, tool, input.data);
}

function invalidArguments(call: ModelCall): ToolResult {
  if (isTooDeep(call.invalid ?? ""))
    return {
      ok: false,
      text: `${call.name} was not run: its arguments are nested deeper than ${MAX_NESTING} levels. Send the call again with the fields that the tool describes.`,
    };
  return {
    ok: false,
    text: `${call.name} was not run: its arguments are not valid JSON (they may have been cut off). Send the call again with complete JSON; split long content into several calls.`,
  };
}

/** Undefined when the process is going away in the middle of it: the call stays without a result, and whoever goes on decides about it. */
async function execute(run: TurnRun, stored: StoredCall, tool: Tool, input: unknown): Promise<ToolResult | undefined> {
  const limit = tool.timeoutMs ?? run.parts.settings.limits.toolMs;
  const over = new AbortController();
  const late = new AbortController();
  const cancelled = AbortSignal.any([run.control.cancel]);
  const signal = AbortSignal.any([cancelled, late.signal]);
  const timeout = run.parts.clock.delay(limit, over.signal).then((): ToolResult => {
    late.abort();
    const text = `${tool.name} took longer than its limit of ${Math.round(limit / 1000)} s and was cut off.`;
    return { ok: false, text };
  });
  const interrupted = { ok: false, text: `${tool.name} was interrupted because the turn was stopped.` };
  const stopped = new Promise<ToolResult | undefined>((resolve) => {
    const stop = () => resolve(run.control.why() === "stop" ? interrupted : undefined);
    // A signal of its own: many calls at once would look like a leak on the turn's.
    if (cancelled.aborted) stop();
    else cancelled.addEventListener("abort", stop, { once: true, signal: over.signal });
  });
  try {
    const work = tool.execute(input, createToolContext(run, stored.index, signal));
    // Speaking is never raced: once its bubble is committed the call must not be reported as cut off. It obeys its signal and is bounded itself.
    return await (SPEAKING_TOOLS.has(tool.name) ? work : Promise.race([work, timeout, stopped]));
  } finally {
    over.abort();
  }
}

async function commit(run: TurnRun, stored: StoredCall, result: ToolResult): Promise<void> {
  const progress = progressAfter(run.progress, stored.call.name);
  const masked: ToolResult = { ...result, text: run.parts.mask(result.text) };
  const ref = { turnId: run.turn.id, step: run.step, index: stored.index };
  const write = (move?: DiscussionMove) => run.parts.store.commitCall(run.claim, ref, masked, progress, move);
  if (run.lostCalls.includes(stored.index)) await takeBackBubble(run, write);
  else await write();
  run.lostCalls = run.lostCalls.filter((index) => index !== stored.index);
  run.progress = progress;
  run.calls = run.calls.map((item) =>
    item.index === stored.index ? { ...item, state: "done", result: masked } : item,
  );
  run.parts.metrics.count("parley_tool_calls_total", { tool: stored.call.name, outcome: result.ok ? "ok" : "refused" });
}

function progressAfter(progress: TurnProgress, name: string): TurnProgress {
  // Handing work on is not work whose result the person waits for in this turn: its answer comes as mail.
  return SPEAKING_TOOLS.has(name) ? progress : afterToolCall(progress);
}
