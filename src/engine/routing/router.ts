/**
 * One event in, one decision, one transaction (SPEC T1, G12). The router reads the place, decides with pure functions who wakes, and commits
 * with `takeIn`; the adapter acknowledges when `receive` resolves. It sends nothing itself: refusals that people must see are host cards in the outbox.
 */

import type { Installation } from "../bot.ts";
import type { InboundEvent, MessageEvent, ReactionEvent, Receive, Reception } from "../inbound-event.ts";
import { addressedBots } from "./addressing.ts";
import { amendEvent } from "./amendments.ts";
import { receiveAnswer } from "./answers.ts";
import { readCommand } from "./commands.ts";
import { mustRest } from "./foreign-bots.ts";
import { ignoredIntake, takeMessage } from "./message.ts";
import type { MessageCase } from "./message-case.ts";
import { admit, pair, readPairing } from "./pairing.ts";
import { botsHere, type MessagePlace, readPlace } from "./place.ts";
import type { RouterParts } from "./router-parts.ts";
import { runCommand, stopConversation } from "./stop.ts";

const IGNORED: Reception = { status: "ignored" };

/** The engine's front door for events. */
export function createReceive(parts: RouterParts): Receive {
  return async (event) => {
    const reception = await route(parts, event);
    const { platform } = event.conversation;
    parts.metrics.count("parley_events_total", { platform, type: event.type, status: reception.status });
    return reception;
  };
}

async function route(parts: RouterParts, event: InboundEvent): Promise<Reception> {
  switch (event.type) {
    case "message":
      return receiveMessage(parts, event);
    case "answer":
    case "dismiss":
    case "secret":
    case "secret-link":
      return receiveAnswer(parts, event);
    case "edit":
    case "delete":
      return amendEvent(parts, event);
    case "stop":
      return stopConversation(parts, event);
    case "reaction":
      return noteReaction(parts, event);
    case "membership":
      return parts.membership.note(event);
  }
}

async function receiveMessage(parts: RouterParts, event: MessageEvent): Promise<Reception> {
  const installation = parts.installations.get(event.installationId);
  if (!installation) return { status: "refused", reason: "This bot is not set up here." };
  if (parts.installations.isOurs(event.from, installation)) return IGNORED;
  await parts.membership.look(event.conversation, installation);
  const place = await readPlace(parts, event);
  const late = lateFor(parts, event, place, installation);
  if (place.view.mark === "stored" && !late) return { status: "duplicate" };
  const bots = botsHere(place.view, installation, parts.installations);
  const direct = place.ref.kind === "direct";
  const isBot = event.from.kind === "bot";
  const command = late || isBot ? undefined : readCommand(event, bots);
  const access = await admit(parts, event.from, direct);
  const item: MessageCase = {
    event,
    ...place,
    installation,
    bots,
    role: access.allowed ? access.role : "guest",
    ...late,
  };
  if (!access.allowed) return refuse(parts, item, access);
  const code = direct ? readPairing(event.text) : undefined;
  if (code) return answerPairing(parts, item, code);
  if (command) return runCommand(parts, item, command);
  if (isBot && (await mustRest(parts, item))) return IGNORED;
  return takeMessage(parts, item);
}

async function answerPairing(parts: RouterParts, item: MessageCase, code: string): Promise<Reception> {
  const result = await parts.store.takeIn({ ...ignoredIntake(parts, item), outcome: "stored" });
  if (result.status !== "stored") return { status: "duplicate" };
  const text = await pair(parts, code, item.event.from, item.role);
  await parts.hostCards.say(item, `pair:${item.event.dedupeKey}`, text);
  return { status: "accepted" };
}

/**
 * A copy of a message that was taken in before still counts for the bot it came to, when that bot is named and could not be known to be here when
 * the first copy was decided about (SPEC G10).
 */
function lateFor(
  parts: RouterParts,
  event: MessageEvent,
  place: MessagePlace,
  installation: Installation,
): { readonly onlyBot: string } | undefined {
  const { mark, channel } = place.view;
  if (mark !== "stored" || place.ref.kind === "direct" || channel?.members.includes(installation.botId))
    return undefined;
  const ids = parts.installations.handleOf(installation).platformIds;
  const isNamed =
    event.namesBot ||
    event.mentions.some((mention) => ids.includes(mention.platformId)) ||
    ids.includes(event.answersAccount ?? "");
  return isNamed ? { onlyBot: installation.botId } : undefined;
}

async function refuse(
  parts: RouterParts,
  item: MessageCase,
  denied: { readonly reason: string; readonly silent: boolean },
): Promise<Reception> {
  await parts.store.takeIn(ignoredIntake(parts, item));
  const named = addressedBots({
    event: item.event,
    direct: item.ref.kind === "direct",
    inThread: false,
    receiver: parts.installations.handleOf(item.installation),
    bots: item.bots,
    takingPart: [],
    threads: "strict",
  });
  if (denied.silent || named.length === 0) return IGNORED;
  await parts.hostCards.denied(item, denied.reason);
  return { status: "refused", reason: denied.reason };
}

/** A reaction is kept where a bot has a session, so that the bot sees it with whatever wakes it next; it wakes nobody itself. */
async function noteReaction(parts: RouterParts, event: ReactionEvent): Promise<Reception> {
  const installation = parts.installations.get(event.installationId);
  if (!installation || parts.installations.isOurs(event.from, installation)) return IGNORED;
  const { ref, key, view } = await readPlace(parts, event);
  const direct = event.conversation.kind === "direct";
  if (view.sessions.length === 0 || !(await admit(parts, event.from, direct)).allowed) return IGNORED;
  const result = await parts.store.takeIn({
    dedupeKey: event.dedupeKey,
    outcome: "stored",
    ref,
    conversationKey: key,
    person: event.from,
    entry: {
      author: { kind: "person", id: event.from.id, name: event.from.name },
      kind: "reaction",
      at: event.at,
      text: event.change === "added" ? `reacted with :${event.emoji}:` : `took back the reaction :${event.emoji}:`,
      body: { emoji: event.emoji, change: event.change },
      files: [],
      nativeReplyTo: event.platformId,
    },
    wake: [],
    mailLimit: parts.settings.limits.mailPerSession,
  });
  return { status: result.status === "stored" ? "accepted" : "duplicate" };
}
