/**
 * Connectors in a turn (SPEC X2, G11, bugs 58 and 105): the offer of this cycle, what is said of connectors in trouble (to the model when it changed,
 * to the people once per incident), and which trouble stops the turn.
 */

import type { ConnectorOffer, ConnectorPlace, ConnectorTrouble } from "../connector.ts";
import type { Conversation } from "../conversation.ts";
import { nativeChannelOf, renderHostCard } from "../delivery/render-delivery.ts";
import { newId } from "../ids.ts";
import type { Mail } from "../mail.ts";
import type { Session } from "../session.ts";
import { owesAnswer, placeOf, type TurnParts, type TurnRun } from "./turn-run.ts";

/** What a turn knows of connectors when it begins. */
export interface TurnConnectors {
  readonly offer: ConnectorOffer;
  /** Lines for the model about what changed since it was last told. */
  readonly notes: readonly string[];
  /** What it has been told once these lines are committed. */
  readonly told: readonly string[];
}

const NONE: TurnConnectors = { offer: { tools: [], capabilities: "" }, notes: [], told: [] };

/** The person whose own connectors work here: only in a direct conversation, and never for a teammate's question. */
export function connectorPlace(conversation: Conversation, mail: readonly Mail[]): ConnectorPlace {
  if (conversation.kind !== "direct") return {};
  const personId = mail.find((item) => item.kind === "person" && item.authorId)?.authorId;
  return personId ? { personId } : {};
}

/** The offer of this cycle and the news since the last turn. */
export async function readConnectors(
  parts: Pick<TurnParts, "connectors" | "offers">,
  session: Session,
  place: ConnectorPlace,
): Promise<TurnConnectors> {
  const { connectors, offers } = parts;
  if (!connectors || !offers) return NONE;
  const now = (await connectors.troubles(place)).map(lineOf);
  const kept = await offers.keep(session, async () => ({ offer: await connectors.offer(place), told: now }));
  const lost = now.filter((line) => !kept.told.includes(line));
  const back = kept.told.filter((line) => !now.includes(line)).map((line) => nameIn(line));
  const notes = [
    ...lost,
    ...back
      .filter((name) => !now.some((line) => nameIn(line) === name))
      .map((name) => `The connector ${name} works again.`),
  ];
  return { offer: kept.offer, notes, told: now };
}

function lineOf({ connector, text }: ConnectorTrouble): string {
  return `The connector ${connector} does not work now: ${text} Do not pretend that it did; say so when it matters.`;
}

function nameIn(line: string): string {
  return /^The connector (\S+) /.exec(line)?.[1] ?? "";
}

/** Tells the people of this conversation about connectors in trouble, once per incident, when one of them waits for an answer. */
export async function tellPeople(run: TurnRun): Promise<void> {
  const { connectors, store, outbox } = run.parts;
  if (!connectors || !owesAnswer(run) || run.kind === "peer") return;
  const troubles = await connectors.troubles(connectorPlace(run.conversation, run.mail));
  for (const trouble of troubles.filter(({ isRequired }) => !isRequired)) {
    const place = placeOf(run);
    const text = `The connector ${trouble.connector} does not work right now: ${trouble.text} ${run.bot.name} goes on without it.`;
    const delivery = renderHostCard(run.adapter, {
      entryId: newId("ent"),
      conversationKey: run.conversation.key,
      botId: run.bot.id,
      botName: run.bot.name,
      place,
      card: { kind: "notice", text, controls: [] },
      allowed: [],
      data: {},
    });
    const dedupeKey = `connector:${trouble.incident}:${run.conversation.key}`;
    if (await store.postHostCard({ dedupeKey, delivery })) outbox.nudge(nativeChannelOf(place));
  }
}

/** Why this turn cannot be run at all, in words for the person; undefined when it can (bug 105). */
export async function blockedBy(run: TurnRun): Promise<string | undefined> {
  const [first, ...more] = (await run.parts.connectors?.awaitRequired(run.control.cancel)) ?? [];
  if (!first || run.control.cancel.aborted) return undefined;
  const others = more.length > 0 ? ` So do ${more.map(({ connector }) => connector).join(", ")}.` : "";
  return `${run.bot.name} needs the connector ${first.connector} for this, and it does not work right now: ${first.text}${others}`;
}
