/**
 * The turn as a machine over the session's last stored message (SPEC T3–T5): calls without results → run them; new input → ask the model; a reply
 * without calls → end, or nudge. Because it is driven by what is stored, resuming after a crash is the same code as going on.
 */

import { systemPrompt } from "../context/identity.ts";
import { reminderText } from "../context/reminders.ts";
import type { ModelReply, ModelRequest } from "../model/model.ts";
import type { ModelMessage } from "../model-message.ts";
import type { TurnProgress } from "../session.ts";
import { nextNode } from "../state/state-chain.ts";
import type { StateNode } from "../store/store.ts";
import { approvedCall } from "./approvals.ts";
import { mustEnd } from "./gate.ts";
import {
  afterForcedStep,
  decideEnd,
  dueReminder,
  type EndDecision,
  mustSpeak,
  remindUntold,
  spokeInVain,
} from "./nudges.ts";
import { runCalls } from "./run-calls.ts";
import { joinable } from "./take-mail.ts";
import { modelTools, SEND_TOOL } from "./tool-set.ts";
import { entriesOf, inputFor, unseenFor } from "./turn-input.ts";
import { applyNodes, bringsAnswer, memberTurnOf, owesAnswer, type TurnRun, toolsOf } from "./turn-run.ts";

/** How the loop ended. `failed` carries the model's last failure; `interrupted` = lost with its process so often that it is given up. */
export type LoopEnd =
  | { readonly end: "sent" | "reacted" | "silent" | "waiting" | "unanswered" }
  | { readonly end: "cap" | "blocked"; readonly text: string }
  | { readonly end: "cancelled" | "interrupted" }
  | { readonly end: "failed"; readonly reply: Extract<ModelReply, { ok: false }> };

/** Runs until the turn ends or is cancelled. */
export async function runLoop(run: TurnRun): Promise<LoopEnd> {
  for (;;) {
    if (run.control.cancel.aborted) return { end: "cancelled" };
    const last = run.messages.at(-1);
    const end = last?.role === "assistant" ? await afterReply(run, last) : await askModel(run);
    if (end) return end;
  }
}

/** A stored reply: run its calls and hand over the results, or decide how the turn ends. */
async function afterReply(
  run: TurnRun,
  reply: Extract<ModelMessage, { role: "assistant" }>,
): Promise<LoopEnd | undefined> {
  if (reply.calls.length === 0) return endOrNudge(run, reply.text);
  await runCalls(run);
  if (run.control.cancel.aborted) return { end: "cancelled" };
  run.progress = afterForcedStep(run.progress);
  const end = endAfterCalls(run);
  if (end) return end;
  const progress = run.progress;
  const due = dueReminder(progress);
  const extra: ModelMessage[] = due && owesAnswer(run) ? [{ role: "user", text: reminderText(due.kind) }] : [];
  await commitInput(
    run,
    [resultsMessage(run)],
    extra,
    due ? { ...progress, reminded: [...progress.reminded, due.mark] } : progress,
  );
  return undefined;
}

function endAfterCalls(run: TurnRun): LoopEnd | undefined {
  const { limits } = run.parts.settings;
  if (run.progress.waitingCardId) return { end: "waiting" };
  if (run.isSilenced && run.progress.refusedInRow > 1) return { end: run.progress.bubbles > 0 ? "sent" : "silent" };
  if (spokeInVain(run.progress)) return { end: "unanswered" };
  if (mustEnd(run.progress, limits)) return run.progress.bubbles > 0 ? { end: "cap", text: "" } : { end: "unanswered" };
  if (run.step >= limits.maxSteps) return { end: "cap", text: `I stopped after ${limits.maxSteps} steps.` };
  const minutes = Math.round(limits.turnMs / 60_000);
  if (run.parts.clock.now() - run.turn.startedAt.getTime() > limits.turnMs) {
    return { end: "cap", text: `I stopped after ${minutes} minutes of work.` };
  }
  return undefined;
}

function decideEndOf(run: TurnRun, text: string): EndDecision {
  if (owesAnswer(run) || !bringsAnswer(run)) return decideEnd(run.progress, owesAnswer(run));
  const progress = remindUntold(run.progress, text);
  return progress ? { do: "remind", kind: "untold", progress } : { do: "end" };
}

async function endOrNudge(run: TurnRun, text: string): Promise<LoopEnd | undefined> {
  const decision = decideEndOf(run, text);
  switch (decision.do) {
    case "end":
      return { end: run.progress.bubbles > 0 ? "sent" : run.progress.reacted ? "reacted" : "silent" };
    case "notice":
      run.parts.metrics.count("parley_nudges_total", { kind: "notice" });
      return { end: "unanswered" };
    case "remind":
      run.parts.metrics.count("parley_nudges_total", { kind: decision.kind });
      await commitInput(run, [], [{ role: "user", text: reminderText(decision.kind) }], decision.progress);
      return undefined;
    case "force":
      run.parts.metrics.count("parley_nudges_total", { kind: "forced" });
      await commitInput(run, [], [{ role: "user", text: reminderText("forced") }], decision.progress);
      return undefined;
  }
}

/** Results of the newest step, in call order; a call without one was not reached. */
export function resultsMessage(run: TurnRun): ModelMessage {
  return {
    role: "tool",
    results: run.calls.map(({ call, result }) => ({
      callId: call.id,
      name: call.name,
      ok: result?.ok ?? false,
      text: result?.text ?? "Not run: the turn was stopped before this call.",
    })),
  };
}

/** Commits what the model reads next: results, mail that joined, reminders (at most one of the last two). */
async function commitInput(
  run: TurnRun,
  results: readonly ModelMessage[],
  reminders: readonly ModelMessage[],
  progress: TurnProgress,
): Promise<void> {
  const joined = await takeJoined(run);
  const user = joined ? [joined.message] : reminders;
  const nodes: StateNode[] = [];
  for (const message of [...results, ...user]) {
    nodes.push(
      nextNode(run.session.id, nodes.at(-1)?.hash ?? run.head, message.role === "tool" ? "results" : "input", message),
    );
  }
  const next = joined ? { ...progress, ...joined.progress } : progress;
  const member = joined && memberTurnOf(joined.mail);
  await run.parts.store.commitInput(run.claim, {
    turnId: run.turn.id,
    nodes,
    mailIds: joined?.mailIds ?? [],
    cursor: joined?.cursor ?? run.cursor,
    progress: next,
    ...(joined ? { authority: joined.authority, route: joined.route } : {}),
    ...(member ? { epoch: member.epoch } : {}),
  });
  applyNodes(run, nodes);
  run.progress = next;
  if (!joined) return;
  run.cursor = joined.cursor;
  run.mail = [...run.mail, ...joined.mail];
  run.onJoined?.(joined.mail);
  if (member) {
    run.member = member;
    run.isSilenced = false;
  }
  run.turn = { ...run.turn, authority: joined.authority, route: joined.route };
}

/** Mail of the same person on the same route that came meanwhile (SPEC T5), with what others said up to then. */
async function takeJoined(run: TurnRun) {
  const { store } = run.parts;
  const view = await store.viewSession(run.claim);
  const mail = joinable(view.due, run.mail);
  if (mail.length === 0) return undefined;
  const entries = await entriesOf(run.parts, mail, run.control.cancel);
  const before = await unseenFor(run, view.conversation, mail, [...view.due, ...run.mail]);
  return inputFor(run, mail, entries, before);
}

async function askModel(run: TurnRun): Promise<LoopEnd | undefined> {
  const approved = approvedCall(run);
  if (approved) {
    await commitReply(run, { role: "assistant", text: "", calls: [approved] });
    return undefined;
  }
  const reply = await stepUnlessSteered(run);
  if (run.control.cancel.aborted) return { end: "cancelled" };
  if (reply === "steered") {
    await commitInput(run, [], [], run.progress);
    return undefined;
  }
  if (!reply.ok) return { end: "failed", reply };
  await commitReply(run, {
    role: "assistant",
    text: reply.text,
    calls: reply.calls,
    ...(reply.providerState ? { providerState: reply.providerState } : {}),
  });
  return undefined;
}

/** Stores a reply before any of its calls runs (SPEC T4). The host's own reply is a call that a person approved. */
async function commitReply(run: TurnRun, message: Extract<ModelMessage, { role: "assistant" }>): Promise<void> {
  const { calls } = message;
  const node = nextNode(run.session.id, run.head, "reply", message);
  const step = run.step + 1;
  const progress = { ...run.progress, attemptsAtReply: run.turn.attempts };
  await run.parts.store.commitReply(run.claim, { turnId: run.turn.id, step, node, calls, progress });
  applyNodes(run, [node]);
  run.progress = progress;
  run.step = step;
  run.calls = calls.map((call, index) => ({ index, call, state: "pending" }));
}

/** One model step. New mail of the same person cuts it short, at most once per step; then there is new input to read first. */
async function stepUnlessSteered(run: TurnRun): Promise<ModelReply | "steered"> {
  const steer = new AbortController();
  const steps = run.step;
  const check = async () => {
    const view = await run.parts.store.viewSession(run.claim);
    if (joinable(view.due, run.mail).length === 0 || run.steeredStep === steps) return;
    run.steeredStep = steps;
    steer.abort();
  };
  const unsubscribe = run.control.onSteer(() => {
    // A failed look is harmless: the next step boundary looks again.
    void check().catch((error: unknown) => run.parts.log.debug({ error: String(error) }, "steer check failed"));
  });
  try {
    const model = run.parts.modelOf(run.bot);
    const reply = await model.step(requestOf(run), AbortSignal.any([run.control.cancel, steer.signal]));
    return !reply.ok && reply.problem === "aborted" && steer.signal.aborted ? "steered" : reply;
  } finally {
    unsubscribe();
  }
}

function requestOf(run: TurnRun): ModelRequest {
  const tools = toolsOf(run);
  return {
    system: systemPrompt(
      run.bot,
      run.conversation,
      run.session.teammates,
      run.directory,
      run.skills,
      run.offer.capabilities,
    ),
    messages: run.messages,
    tools: modelTools(tools),
    cacheKey: run.session.id,
    ...(mustSpeak(run.progress) ? { forceTool: SEND_TOOL } : {}),
  };
}
