/**
 * Stop and the other typed commands (SPEC T5). A stop is a durable flag first and a signal second, so it works from any process; it clears the
 * stopper's own waiting mail. Commands never interrupt anything but stop itself.
 */

import { audienceOf, conversationKey } from "../conversation.ts";
import type { Reception, StopEvent } from "../inbound-event.ts";
import type { PersonRef, Role } from "../person.ts";
import { decideAccess } from "./access.ts";
import type { CommandCall } from "./commands.ts";
import type { MessageCase } from "./message-case.ts";
import type { RouterParts } from "./router-parts.ts";

/** Runs a typed command once, whichever copy of the message comes first. */
export async function runCommand(parts: RouterParts, item: MessageCase, call: CommandCall): Promise<Reception> {
  if (item.view.sessions.length === 0 && item.ref.kind !== "direct" && !call.botId) return { status: "ignored" };
  if (call.command === "stop")
    return stopConversation(parts, { ...item.event, conversation: item.ref }, item.event.from, call.botId, item.role);
  const result = await parts.store.takeIn({
    dedupeKey: item.event.dedupeKey,
    outcome: "stored",
    ref: item.ref,
    conversationKey: item.key,
    wake: [],
    mailLimit: parts.settings.limits.mailPerSession,
    ...(item.ref.kind === "direct"
      ? {}
      : { channel: { members: [item.installation.botId], replyMode: "channel", audience: audienceOf(item.ref) } }),
  });
  if (result.status === "duplicate") return { status: "duplicate" };
  await parts.hostCards.commandAnswer(item, call.command);
  return { status: "accepted" };
}

/** Stops what runs in a conversation; work done for others needs a role. */
export async function stopConversation(
  parts: RouterParts,
  event: Pick<StopEvent, "conversation" | "dedupeKey" | "installationId" | "at">,
  by: PersonRef,
  botId?: string,
  role: Role = decideRole(parts, by),
): Promise<Reception> {
  const key = conversationKey(event.conversation);
  const outcome = await parts.store.requestStop({
    conversationKey: key,
    by,
    dedupeKey: event.dedupeKey,
    mayStopOthers: role === "admin" || role === "owner" || event.conversation.kind === "direct",
    ...(botId ? { botIds: [botId] } : {}),
  });
  for (const sessionId of outcome.sessionIds) parts.queue.signal(sessionId, "stop");
  if (outcome.refused)
    return { status: "refused", reason: "That work is for somebody else; they or an administrator can stop it." };
  if (outcome.sessionIds.length === 0) await parts.hostCards.nothingToStop(event, key, outcome.cancelled);
  return { status: "accepted" };
}

function decideRole(parts: RouterParts, person: PersonRef): Role {
  const access = decideAccess(person, true, { ...parts.settings.access, directMessages: "open" });
  return access.allowed ? access.role : "guest";
}
