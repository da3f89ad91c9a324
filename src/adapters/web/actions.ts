/**
 * What a person does besides writing: answers and dismisses cards, hands over secrets, stops a bot.
 * Invariant: an answer names a card that really stands at that place of the timeline; whether it is still open and whose it is decides the engine,
 * and its refusal is passed on in words for this person. A secret's value goes into a SecretValue at once and nowhere else.
 */

import { randomUUID } from "node:crypto";
import type { SecretValue } from "../../engine/index.ts";
import { type Place, toRef } from "./channels.ts";
import { HttpProblem } from "./http.ts";
import type { Hub, RunningBot } from "./hub.ts";
import { receiveForAll } from "./inbound.ts";
import { PLATFORM, toPersonRef } from "./people.ts";
import type { WirePerson, WireReception } from "./wire.ts";

/** Where a card stands. */
export interface CardPlace {
  readonly place: Place;
  readonly seq: number;
}

/** A choice, or free text where the widget allows it. `clientId` makes a repeated click one click. */
export async function answerCard(
  hub: Hub,
  person: WirePerson,
  at: CardPlace,
  answer: { readonly choices: readonly string[]; readonly text?: string; readonly clientId: string },
): Promise<WireReception> {
  const card = await cardAt(hub, at);
  return receiveForAll(hub, card, (bot) => ({
    ...base(hub, bot, at, `answer:${person.id}:${answer.clientId}`),
    type: "answer",
    from: toPersonRef(person),
    cardId: card.cardId,
    choices: answer.choices,
    ...(answer.text ? { text: answer.text } : {}),
  }));
}

/** "No" to a secret-request or a hand-off. */
export async function dismissCard(hub: Hub, person: WirePerson, at: CardPlace): Promise<WireReception> {
  const card = await cardAt(hub, at);
  return receiveForAll(hub, card, (bot) => ({
    ...base(hub, bot, at, `dismiss:${person.id}:${randomUUID()}`),
    type: "dismiss",
    from: toPersonRef(person),
    cardId: card.cardId,
  }));
}

/** A secret typed into the page's masked field. */
export async function takeSecret(
  hub: Hub,
  person: WirePerson,
  at: CardPlace,
  value: SecretValue,
): Promise<WireReception> {
  const card = await cardAt(hub, at);
  return receiveForAll(hub, card, (bot) => ({
    ...base(hub, bot, at, `secret:${person.id}:${randomUUID()}`),
    type: "secret",
    from: toPersonRef(person),
    cardId: card.cardId,
    value,
  }));
}

/** The Stop button (SPEC T5). */
export async function stopWork(hub: Hub, person: WirePerson, place: Place): Promise<WireReception> {
  return receiveForAll(hub, place, (bot) => ({
    type: "stop",
    dedupeKey: `${PLATFORM}:${place.id}:stop:${randomUUID()}`,
    installationId: bot.installation.id,
    conversation: toRef(place),
    at: new Date(hub.clock.now()),
    from: toPersonRef(person),
  }));
}

/** A bot came into a channel or left it. */
export async function announceMembership(
  hub: Hub,
  place: Place,
  botIds: readonly string[],
  change: "joined" | "left",
): Promise<void> {
  for (const botId of botIds) {
    await receiveForAll(hub, { bots: [botId] }, (bot) => ({
      type: "membership",
      dedupeKey: `${PLATFORM}:${place.id}:${change}:${botId}:${randomUUID()}`,
      installationId: bot.installation.id,
      conversation: toRef(place),
      at: new Date(hub.clock.now()),
      platformId: botId,
      change,
    }));
  }
}

/** The card and the bot that posted it; only that bot is asked. */
async function cardAt(hub: Hub, at: CardPlace): Promise<{ cardId: string; bots: readonly string[] }> {
  const post = await hub.timeline.post(at.place.id, at.seq);
  if (!post?.cardId) throw new HttpProblem(404, "There is no card at this place. Reload the page.");
  return { cardId: post.cardId, bots: [post.author.id] };
}

function base(hub: Hub, bot: RunningBot, at: CardPlace, suffix: string) {
  return {
    dedupeKey: `${PLATFORM}:${at.place.id}:${at.seq}:${suffix}`,
    installationId: bot.installation.id,
    conversation: toRef(at.place),
    at: new Date(hub.clock.now()),
  };
}
