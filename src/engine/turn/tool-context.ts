/**
 * What a tool may do while it runs in a turn: speak and react. A bubble is committed with its call before anybody posts it (SPEC T4), then the
 * call waits a little for the receipt, so that the model hears `delivered` and not a hope (M7).
 */

import type { Bubble } from "../bubble.ts";
import { prepareBubble } from "../delivery/deliver-bubble.ts";
import { nativeChannelOf } from "../delivery/render-delivery.ts";
import type { DiscussionMove } from "../discussion.ts";
import type { TurnProgress } from "../session.ts";
import type { SendState } from "../store/store.ts";
import type { ToolContext, ToolResult } from "../tool.ts";
import { isAddress } from "../transcript.ts";
import { askApproval, isApproved } from "./approvals.ts";
import { askPerson, showLink } from "./ask-person.ts";
import { afterSend, decideSend } from "./gate.ts";
import { handOff } from "./hand-off.ts";
import { countsInGroup, refusalOf, sayInGroup } from "./member-turn.ts";
import { answerTeammate, listTeammates, sendToTeammate } from "./peer-messages.ts";
import { createAgent, updateAgent } from "./runtime-bots.ts";
import { findSkills, readSkill } from "./skill-calls.ts";
import { createProgress, createToolFiles } from "./tool-files.ts";
import { connectorPlace } from "./turn-connectors.ts";
import { placeOf, type TurnRun } from "./turn-run.ts";
import { updateWorkflow } from "./workflows.ts";

/** The context of the call with this index in the current step. */
export function createToolContext(run: TurnRun, index: number, signal: AbortSignal): ToolContext {
  const { personId } = connectorPlace(run.conversation, run.mail);
  const call = run.calls[index]?.call;
  return {
    bot: run.bot,
    authority: run.turn.authority,
    conversationKey: run.conversation.key,
    sessionId: run.session.id,
    kind: run.kind,
    ...(personId ? { directPersonId: personId } : {}),
    isApproved: call !== undefined && isApproved(run, call),
    clock: run.parts.clock,
    signal,
    send: (bubble) =>
      run.kind === "peer" ? answerTeammate(run, index, bubble, signal) : send(run, index, bubble, signal),
    react: (address, emoji) => react(run, address, emoji),
    handOff: (instruction, reason) => handOff(run, index, instruction, reason),
    sendToAgent: (message) => sendToTeammate(run, index, message, signal),
    findTeammates: (words) => listTeammates(run, words),
    createAgent: (wanted) => createAgent(run, index, wanted),
    updateAgent: (wanted) => updateAgent(run, index, wanted),
    readSkill: (wanted) => readSkill(run, wanted),
    findSkills: (words) => findSkills(run, words),
    updateWorkflow: (wanted) => updateWorkflow(run, index, wanted),
    ...createToolFiles(run.parts),
    showProgress: createProgress(run),
    askApproval: (about) => askApproval(run, index, about),
    askPerson: (question) => askPerson(run, question, signal),
    showLink: (link) => showLink(run, link),
  };
}

async function send(run: TurnRun, index: number, bubble: Bubble, signal: AbortSignal): Promise<ToolResult> {
  const { parts } = run;
  const decision = decideSend(run.progress, bubble, parts.settings.limits);
  if (!decision.open) return refuse(run, decision.text);
  const silenced = bubble.channel ? undefined : await refusalOf(run);
  if (silenced) return refuse(run, silenced);
  const prepared = await prepareBubble(
    parts.deliver,
    {
      bot: run.bot,
      adapter: run.adapter,
      place: placeOf(run),
      conversationKey: run.conversation.key,
      sessionId: run.session.id,
      turnId: run.turn.id,
      authority: run.turn.authority,
      personCount: run.progress.personCount,
      ...(run.turn.route.replyTo ? { replyTo: run.turn.route.replyTo } : {}),
    },
    bubble,
    signal,
  );
  if (!prepared.ok) return { ok: false, text: prepared.text };
  const before = run.progress;
  const progress = afterSend(before, decision.print, prepared.cardId);
  const call = { turnId: run.turn.id, step: run.step, index };
  const { delivery } = prepared;
  const commit = (move?: DiscussionMove) => parts.store.commitSend(run.claim, call, delivery, progress, move);
  const counts = countsInGroup(run, delivery.conversationKey);
  const outcome = counts ? await sayInGroup(run, delivery.text, commit) : { ok: true as const, said: await commit() };
  if (!outcome.ok) return refuse(run, outcome.text);
  run.progress = progress;
  parts.metrics.count("parley_bubbles_total", { type: bubble.type, outcome: "committed" });
  parts.outbox.nudge(delivery.nativeChannel);
  return awaitReceipt(run, index, outcome.said.id, before);
}

function refuse(run: TurnRun, text: string): ToolResult {
  run.progress = { ...run.progress, refusedInRow: run.progress.refusedInRow + 1 };
  return { ok: false, text };
}

/** What became of a committed bubble, as text for the model (SPEC M7). `before` = the counters before it was said, where they are known. */
export async function awaitReceipt(
  run: TurnRun,
  index: number,
  entryId: string,
  before?: TurnProgress,
): Promise<ToolResult> {
  const { outbox, settings } = run.parts;
  outbox.nudge(nativeChannelOf(placeOf(run)));
  const fresh = before !== undefined;
  const state = await outbox.waitClosed(entryId, settings.limits.receiptWaitMs, run.control.cancel, fresh);
  if (!state || state.open > 0) run.openSends.push(entryId);
  else if (state.failed && countsInGroup(run, state.conversationKey)) run.lostCalls = [...run.lostCalls, index];
  return receiptText(state, run, before);
}

function receiptText(state: SendState | null, run: TurnRun, before: TurnProgress | undefined): ToolResult {
  const address = state?.address ?? "";
  if (!state || state.open > 0) {
    return {
      ok: true,
      text: `accepted: ${address}. It is on its way and will be posted by the host; do not send it again.`,
    };
  }
  if (state.failed) {
    run.progress = afterLostSend(before ?? withoutLastSend(run.progress));
    return { ok: false, text: `refused: the platform did not take this message, nobody saw it: ${state.failed}` };
  }
  return { ok: true, text: `delivered: ${address}` };
}

/** A bubble that was not shown counts for nothing: it may be said again, and a question in it is not waited for. */
function withoutLastSend(progress: TurnProgress): TurnProgress {
  const { waitingCardId: _waiting, ...rest } = progress;
  return { ...rest, bubbles: Math.max(0, rest.bubbles - 1), said: rest.said.slice(0, -1) };
}

/** Counts as a refusal: a bot whose messages are all refused must not go on for ever. */
function afterLostSend(progress: TurnProgress): TurnProgress {
  return { ...progress, refusedInRow: progress.refusedInRow + 1 };
}

const REACT_MS = 10_000;

async function react(run: TurnRun, address: string, emoji: string): Promise<ToolResult> {
  const { adapter, parts } = run;
  if (!adapter.react)
    return { ok: false, text: "Reactions do not exist on this platform; answer with SendMessage instead." };
  const nativeId = isAddress(address) ? await nativeIdOf(run, address) : undefined;
  if (!nativeId)
    return {
      ok: false,
      text: `${JSON.stringify(address.slice(0, 40))} is not a message of this conversation that can be reacted to.`,
    };
  const late = new AbortController();
  const timeout = parts.clock
    .delay(REACT_MS, late.signal)
    .then((): ToolResult => ({ ok: false, text: "The platform did not answer in time." }));
  const work = adapter.react(placeOf(run), nativeId, emoji).then(
    (): ToolResult => ({ ok: true, text: `reacted to ${address}` }),
    (error: unknown): ToolResult => ({
      ok: false,
      text: `The reaction was refused: ${error instanceof Error ? error.message : String(error)}`,
    }),
  );
  const result = await Promise.race([work, timeout]).finally(() => late.abort());
  if (result.ok) run.progress = { ...run.progress, reacted: true };
  return result;
}

async function nativeIdOf(run: TurnRun, address: string): Promise<string | undefined> {
  const { store } = run.parts;
  const entry = await store.readEntry(run.conversation.key, address);
  if (entry?.platformId) return entry.platformId;
  return (await store.nativeIdsOf(run.conversation.key, address))[0];
}
