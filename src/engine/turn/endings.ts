/**
 * How a turn is finished: results of calls that were not reached, what the host says when the bot could not (SPEC M12, T8), and what becomes of
 * the rest. One commit; the next turn finds a state a model can read.
 */

import type { HostCard } from "../card.ts";
import { nativeChannelOf, renderHostCard } from "../delivery/render-delivery.ts";
import type { DiscussionMove } from "../discussion.ts";
import { groupDelivery } from "../group/group-cards.ts";
import { repeated } from "../group/repeated.ts";
import { newId } from "../ids.ts";
import type { ModelReply } from "../model/model.ts";
import type { TurnOutcome } from "../session.ts";
import { nextNode } from "../state/state-chain.ts";
import type { NewDelivery, StateNode } from "../store/store.ts";
import type { LoopEnd } from "./loop.ts";
import { resultsMessage } from "./loop.ts";
import { handoverOf } from "./member-turn.ts";
import { bringsAnswer, owesAnswer, placeOf, type TurnRun } from "./turn-run.ts";

/** Commits the end of a turn that was not handed to another process. */
export async function finish(run: TurnRun, end: LoopEnd): Promise<void> {
  const outcome = outcomeOf(run, end);
  const { hostCards, woken } = await repeated(() => commitEnd(run, end, outcome));
  for (const { nativeChannel } of hostCards) run.parts.outbox.nudge(nativeChannel);
  for (const { sessionId, rank } of woken) run.parts.queue.ring(sessionId, rank);
  run.parts.metrics.count("parley_turns_total", { outcome });
  run.parts.log.info(
    { turnId: run.turn.id, botId: run.bot.id, outcome, steps: run.step, bubbles: run.progress.bubbles },
    "turn ended",
  );
}

/** One commit: the end of the turn, what the host says, and in a Group the next speaker's mail (SPEC G12). */
async function commitEnd(run: TurnRun, end: LoopEnd, outcome: TurnOutcome) {
  const handover = await handoverOf(run, outcome === "failed" ? "failed" : "done");
  const card = hostCardOf(run, end, handover?.move);
  const hostCards = [
    ...(card ? [hostDelivery(run, card)] : []),
    ...(handover?.card ? [groupDelivery(run.adapter, handover.move, handover.card)] : []),
  ];
  const woken = await run.parts.store.finishTurn(run.claim, {
    turnId: run.turn.id,
    status: outcome === "failed" ? "failed" : "done",
    outcome,
    nodes: openResults(run),
    progress: run.progress,
    hostCards,
    ...(handover ? { discussion: handover.move, wake: handover.wake } : {}),
  });
  return { hostCards, woken };
}

/** A reply whose calls have no results yet would make the stored state unreadable for a model. */
function openResults(run: TurnRun): readonly StateNode[] {
  const last = run.messages.at(-1);
  if (last?.role !== "assistant" || last.calls.length === 0) return [];
  return [nextNode(run.session.id, run.head, "results", resultsMessage(run))];
}

function outcomeOf(run: TurnRun, end: LoopEnd): TurnOutcome {
  switch (end.end) {
    case "silent":
      return run.member ? "passed" : "silent";
    case "cancelled":
      return "stopped";
    case "unanswered":
      return "silent";
    case "interrupted":
    case "blocked":
      return "failed";
    default:
      return end.end;
  }
}

function hostCardOf(run: TurnRun, end: LoopEnd, moved: DiscussionMove | undefined): HostCard | undefined {
  switch (end.end) {
    case "unanswered":
      return retryCard(`${run.bot.name} did not manage to answer this.`);
    case "failed":
      // In a Group one line names the member that cannot speak; the round goes on without it (SPEC G8).
      if (run.member && moved) return plainCard(lineOf(failureText(run.bot.name, end.reply), moved));
      // In a conversation between bots the card becomes mail for the one that asked (SPEC A2: reported to the sender).
      if (run.kind === "peer") return plainCard(failureText(run.bot.name, end.reply));
      return owesAnswer(run) || bringsAnswer(run) ? retryCard(failureText(run.bot.name, end.reply)) : undefined;
    case "interrupted":
      if (run.member && moved) return plainCard(lineOf(`${run.bot.name} was interrupted too often.`, moved));
      return owesMore(run) ? retryCard(`${run.bot.name} was interrupted again and again and gave this up.`) : undefined;
    case "cancelled":
      return run.kind === "peer" ? undefined : plainCard("Stopped.");
    case "blocked":
      if (run.member && moved) return plainCard(lineOf(end.text, moved));
      if (run.kind === "peer") return plainCard(end.text);
      return owesAnswer(run) ? retryCard(end.text) : undefined;
    case "cap":
      return (owesAnswer(run) || run.kind === "peer") && end.text
        ? plainCard(`${run.bot.name}: ${end.text}`)
        : undefined;
    default:
      return undefined;
  }
}

/** False when the last thing the turn did was to send a message: most likely that was all. */
function owesMore(run: TurnRun): boolean {
  return (owesAnswer(run) || bringsAnswer(run)) && (run.progress.bubbles === 0 || run.progress.workAfterSend);
}

function failureText(name: string, reply: Extract<ModelReply, { ok: false }>): string {
  switch (reply.problem) {
    case "not-configured":
    case "auth":
      return `${name} cannot think right now: the language model is not set up correctly. An administrator can find the reason in the log.`;
    case "context-overflow":
      return `${name} could not answer: this conversation has become too long for its language model. Type \`!new\` to begin anew.`;
    case "refused":
      return `${name} could not answer: the language model declined this request.`;
    default:
      return `${name} cannot answer right now: the language model is not reachable. Please try again in a little while.`;
  }
}

function lineOf(text: string, moved: DiscussionMove): string {
  return moved.state.current === null ? text : `${text} The others go on.`;
}

function retryCard(text: string): HostCard {
  return { kind: "retry", text, controls: [{ value: "retry", label: "Retry", style: "primary" }] };
}

function plainCard(text: string): HostCard {
  return { kind: "notice", text, controls: [] };
}

/** A host card of this turn, in its place. */
export function hostDelivery(run: TurnRun, card: HostCard): NewDelivery {
  const place = placeOf(run);
  const delivery = renderHostCard(run.adapter, {
    entryId: newId("ent"),
    ...(card.controls.length > 0 ? { cardId: newId("crd") } : {}),
    conversationKey: run.conversation.key,
    botId: run.bot.id,
    botName: run.bot.name,
    place,
    card,
    allowed: run.turn.authority.personIds,
    sessionId: run.session.id,
    turnId: run.turn.id,
    data: {},
  });
  return { ...delivery, nativeChannel: nativeChannelOf(place) };
}
