/** A card with which a turn waits for the person it serves: posted as the effect of one call, in the same transaction as that call's result (SPEC C8). */

import type { HostCard } from "../card.ts";
import { nativeChannelOf, renderHostCard } from "../delivery/render-delivery.ts";
import { newId } from "../ids.ts";
import { placeOf, type TurnRun } from "./turn-run.ts";

/** Posts it as the effect of the call with this index; only the persons served may answer. `data` comes back with the answer. */
export async function postWaitingCard(
  run: TurnRun,
  index: number,
  card: HostCard,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { parts, bot } = run;
  const cardId = newId("crd");
  const delivery = renderHostCard(run.adapter, {
    entryId: newId("ent"),
    cardId,
    conversationKey: run.conversation.key,
    botId: bot.id,
    botName: bot.name,
    place: placeOf(run),
    card,
    allowed: run.turn.authority.personIds,
    sessionId: run.session.id,
    turnId: run.turn.id,
    data,
  });
  const progress = { ...run.progress, waitingCardId: cardId, callsSinceSend: 0, workAfterSend: false };
  await parts.store.commitSend(run.claim, { turnId: run.turn.id, step: run.step, index }, delivery, progress);
  run.progress = progress;
  parts.outbox.nudge(nativeChannelOf(placeOf(run)));
}
