/**
 * One event in, one decision, one transaction (SPEC T1, G12). The router reads the place, decides with pure functions who wakes, and commits
 * with `takeIn`; the adapter acknowledges when `receive` resolves. It sends nothing itself: refusals that people must see are host cards in the outbox.
 */

import { audienceOf, conversationKey } from "../conversation.ts";
import type { InboundEvent, MembershipEvent, MessageEvent, Receive, Reception } from "../inbound-event.ts";
import { decideAccess } from "./access.ts";
import { addressedBots } from "./addressing.ts";
import { amendEvent } from "./amendments.ts";
import { receiveAnswer } from "./answers.ts";
import { readCommand } from "./commands.ts";
import { ignoredIntake, takeMessage } from "./message.ts";
import type { MessageCase } from "./message-case.ts";
import { botsHere, readPlace, replyModeOf } from "./place.ts";
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
      return stopConversation(parts, event, event.from);
    case "membership":
      return noteMembership(parts, event);
  }
}

async function receiveMessage(parts: RouterParts, event: MessageEvent): Promise<Reception> {
  const installation = parts.installations.get(event.installationId);
  if (!installation) return { status: "refused", reason: "This bot is not set up here." };
  if (parts.installations.isOurs(event.from, installation)) return IGNORED;
  const place = await readPlace(parts, event);
  if (place.view.mark === "stored") return { status: "duplicate" };
  const bots = botsHere(place.view, installation, parts.installations);
  const direct = place.ref.kind === "direct";
  const command = readCommand(event, bots);
  const access = decideAccess(event.from, direct, parts.settings.access);
  const item: MessageCase = { event, ...place, installation, bots, role: access.allowed ? access.role : "guest" };
  if (!access.allowed) return refuse(parts, item, access);
  if (command) return runCommand(parts, item, command);
  return takeMessage(parts, item);
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

async function noteMembership(parts: RouterParts, event: MembershipEvent): Promise<Reception> {
  const installation = parts.installations.get(event.installationId);
  const botId = installation && parts.installations.botOfPlatformId(event.platformId, installation);
  if (!botId) return IGNORED;
  const view = await parts.store.readPlace({
    dedupeKey: event.dedupeKey,
    conversationKey: conversationKey(event.conversation),
    ref: event.conversation,
    installationId: event.installationId,
  });
  const others = (view.channel?.members ?? []).filter((member) => member !== botId);
  await parts.store.setChannelMembers(event.conversation, event.change === "joined" ? [...others, botId] : others, {
    replyMode: replyModeOf(parts, event.conversation),
    audience: audienceOf(event.conversation),
  });
  return { status: "accepted" };
}
