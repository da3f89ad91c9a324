/**
 * Hand-offs to a person (SPEC C7): a host card with Done and Can't that ends the turn; the answer wakes the bot with the outcome. A second one while
 * one is pending is refused before anything else happens.
 */

import type { HostCard } from "../card.ts";
import type { HandOffReason, ToolResult } from "../tool.ts";
import type { TurnRun } from "./turn-run.ts";
import { postWaitingCard } from "./waiting-card.ts";

const REASONS: Readonly<Record<HandOffReason, string>> = {
  auth: "needs you to sign in",
  captcha: "needs you to solve a captcha",
  payment: "needs you to make a payment",
  approval: "needs your approval",
  other: "needs you",
};

/** Posts the card as the effect of the call with this index. */
export async function handOff(
  run: TurnRun,
  index: number,
  instruction: string,
  reason: HandOffReason,
): Promise<ToolResult> {
  const { parts, bot } = run;
  if (run.turn.authority.personIds.length === 0) {
    return { ok: false, text: "This turn serves no person, so there is nobody to hand over to." };
  }
  if (run.progress.waitingCardId || (await hasPending(run))) {
    return {
      ok: false,
      text: "A request to the person is already pending. End your turn; their answer will wake you.",
    };
  }
  const card: HostCard = {
    kind: "handoff",
    text: parts.mask(`**${bot.name} ${REASONS[reason]}:** ${instruction}`),
    controls: [
      { value: "done", label: "Done", style: "primary" },
      { value: "cannot", label: "Can't", style: "default" },
    ],
  };
  await postWaitingCard(run, index, card, { instruction, reason });
  return { ok: true, text: "waiting: the person was asked. Your turn is over; you will be woken with their answer." };
}

async function hasPending(run: TurnRun): Promise<boolean> {
  const { ref, installationId } = run.turn.route;
  const view = await run.parts.store.readPlace({
    dedupeKey: `hand-off:${run.turn.id}`,
    conversationKey: run.conversation.key,
    ref,
    installationId,
  });
  return view.openCards.some((card) => card.kind === "handoff" && card.botId === run.bot.id);
}
