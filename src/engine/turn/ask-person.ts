/**
 * Questions and pages that a running call puts before the person served (SPEC C1, P2): the card is posted beside the turn, its answer wakes nobody,
 * and the call waits for it by looking at the card's row, so that it does not matter which process took the click.
 */

import type { Card, CardSpec, HostCard, Widget } from "../card.ts";
import { nativeChannelOf, renderHostCard } from "../delivery/render-delivery.ts";
import { newId } from "../ids.ts";
import type { NewDelivery } from "../store/store.ts";
import type { PersonLink, PersonReply, ShownLink } from "../tool.ts";
import { connectorPlace } from "./turn-connectors.ts";
import { placeOf, type TurnRun } from "./turn-run.ts";

/** How long a call waits for a person, ms; the card expires with it. */
export const ASK_MS = 300_000;
const LOOK_MS = 500;
const CANCELLED: PersonReply = { outcome: "cancelled" };

/** Asks and waits. A widget's option with value `decline`, and the control of a link card with it, count as declined. */
export async function askPerson(
  run: TurnRun,
  question: Widget | PersonLink,
  signal: AbortSignal,
): Promise<PersonReply> {
  if (run.kind === "peer" || run.turn.authority.personIds.length === 0) return CANCELLED;
  const cardId = newId("crd");
  const delivery = "url" in question ? linkDelivery(run, question, cardId) : widgetDelivery(run, question, cardId);
  if (!(await run.parts.store.postHostCard({ dedupeKey: `ask:${cardId}`, delivery }))) return CANCELLED;
  run.parts.outbox.nudge(delivery.nativeChannel);
  const card = await closedCard(run, cardId, signal);
  if (!card || card.state === "expired") return CANCELLED;
  if (card.state !== "answered" || !card.answer || card.answer.values.includes("decline"))
    return { outcome: "declined" };
  return { outcome: "answered", answer: card.answer };
}

/** How long a page that is shown can be opened, ms. */
const LINK_MS = 15 * 60_000;

/** Shows the person of a direct conversation a page to open; the card's answer wakes the bot. */
export async function showLink(run: TurnRun, link: PersonLink): Promise<ShownLink | null> {
  const { personId } = connectorPlace(run.conversation, run.mail);
  if (!personId) return null;
  const cardId = newId("crd");
  const delivery = renderHostCard(run.adapter, {
    ...placeOfCard(run),
    allowed: [personId],
    entryId: newId("ent"),
    cardId,
    card: {
      kind: "connect",
      text: run.parts.mask(link.text),
      link: { label: link.label, url: link.url },
      controls: [
        { value: "done", label: "Done", style: "default" },
        { value: "decline", label: "Not now", style: "default" },
      ],
    },
    data: { about: link.label },
    ttlMs: LINK_MS,
  });
  if (!(await run.parts.store.postHostCard({ dedupeKey: `link:${cardId}`, delivery }))) return null;
  run.parts.outbox.nudge(delivery.nativeChannel);
  const { ref, installationId } = run.turn.route;
  const name = run.turn.authority.names[personId] ?? "";
  const person = { id: personId, platformId: personId.split(":").slice(2).join(":"), name, kind: "member" as const };
  return { cardId, installationId, conversation: ref, person };
}

async function closedCard(run: TurnRun, cardId: string, signal: AbortSignal): Promise<Card | null> {
  const { store, clock } = run.parts;
  const end = clock.now() + ASK_MS;
  while (!signal.aborted && clock.now() < end) {
    const card = await store.readCard(cardId);
    if (card && card.state !== "open") return card;
    await clock.delay(LOOK_MS, signal);
  }
  return null;
}

function placeOfCard(run: TurnRun) {
  return {
    conversationKey: run.conversation.key,
    botId: run.bot.id,
    botName: run.bot.name,
    place: placeOf(run),
    allowed: run.turn.authority.personIds,
    sessionId: run.session.id,
    turnId: run.turn.id,
  };
}

function linkDelivery(run: TurnRun, link: PersonLink, cardId: string): NewDelivery {
  const card: HostCard = {
    kind: "connect",
    text: run.parts.mask(link.text),
    link: { label: link.label, url: link.url },
    controls: [
      { value: "done", label: "Done", style: "primary" },
      { value: "decline", label: "Decline", style: "default" },
    ],
  };
  const data = { askedByCall: true };
  return renderHostCard(run.adapter, { ...placeOfCard(run), entryId: newId("ent"), cardId, card, data, ttlMs: ASK_MS });
}

/** A host card that looks like a bot's question, because only widgets can be answered in one's own words. */
function widgetDelivery(run: TurnRun, widget: Widget, cardId: string): NewDelivery {
  const { conversationKey, botId, botName, place, allowed, sessionId, turnId } = placeOfCard(run);
  const entryId = newId("ent");
  const content = { type: "widget" as const, widget };
  const body = { kind: "bubble" as const, entryId, botName, content, cardId, mentionable: [] };
  const back = place.nativeReplyTo ? { nativeReplyTo: place.nativeReplyTo } : {};
  const spec: CardSpec = { kind: "widget", widget, askedByCall: true, ...back };
  return {
    ...{ entryId, conversationKey, botId, botName, body, place },
    kind: "host-card",
    text: widget.prompt,
    files: [],
    personCount: 0,
    nativeChannel: nativeChannelOf(place),
    pieces: run.adapter.render(body, place),
    card: { id: cardId, kind: "widget", spec, allowed, sessionId, turnId, ttlMs: ASK_MS },
  };
}
