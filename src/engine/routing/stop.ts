/**
 * Stop and the other typed commands (SPEC T5). A stop is a durable flag first and a signal second, so it works from any process; it clears the
 * stopper's own waiting mail. Commands never interrupt anything but stop itself.
 */

import { audienceOf, type ConversationRef, channelRowId, conversationKey } from "../conversation.ts";
import type { Reception, StopEvent } from "../inbound-event.ts";
import type { PersonRef, Role } from "../person.ts";
import type { StopOutcome } from "../store/store.ts";
import { decideAccess } from "./access.ts";
import { broadcast } from "./broadcast.ts";
import type { CommandCall } from "./commands.ts";
import { groupCommand } from "./group-command.ts";
import { channelFacts, ignoredIntake } from "./message.ts";
import type { MessageCase } from "./message-case.ts";
import type { RouterParts } from "./router-parts.ts";

/** Runs a typed command once, whichever copy of the message comes first. */
export async function runCommand(parts: RouterParts, item: MessageCase, call: CommandCall): Promise<Reception> {
  if (call.command === "group") return groupCommand(parts, item, call.choice);
  if (call.command === "broadcast") return broadcast(parts, item, call.text ?? "");
  const isStrange = item.view.sessions.length === 0 && item.ref.kind !== "direct" && !call.botId;
  if (isStrange && call.command === "stop") return stopBeside(parts, item);
  if (isStrange) return { status: "ignored" };
  if (call.command === "stop") return stopTyped(parts, item, call.botId);
  if (call.command === "new") return startOver(parts, item, call.botId);
  const result = await parts.store.takeIn({
    ...ignoredIntake(parts, item),
    outcome: "stored",
    ...channelFacts(parts, item, audienceOf(item.ref, item.event.from.id)),
  });
  if (result.status === "duplicate") return { status: "duplicate" };
  await parts.hostCards.commandAnswer(item, call.command, call.botId);
  return { status: "accepted" };
}

/** Begins the conversation anew for its bots (SPEC X4); work under way is not interrupted, it says so. */
async function startOver(parts: RouterParts, item: MessageCase, botId: string | undefined): Promise<Reception> {
  const { first, busy } = await parts.store.startOver({
    dedupeKey: item.event.dedupeKey,
    conversationKey: item.key,
    ...(botId ? { botId } : {}),
  });
  if (!first) return { status: "duplicate" };
  const text =
    busy > 0
      ? "Something is still running here, so it was left as it is. Type `!stop` first, then `!new`."
      : "A new conversation begins here: what was said before stays readable, but is no longer taken into account.";
  await parts.hostCards.say(item, `new:${item.event.dedupeKey}`, text, botId);
  return { status: "accepted" };
}

const FOR_OTHERS = "That work is for somebody else; they or an administrator can stop it.";

/** A typed stop has no control beside it that could show a refusal, so every outcome is said in the conversation. */
async function stopTyped(parts: RouterParts, item: MessageCase, botId: string | undefined): Promise<Reception> {
  const { event, role } = item;
  const outcome = await requestStop(parts, { key: item.key, ref: item.ref, event, role, botId });
  if (outcome.duplicate) return { status: "duplicate" };
  const said = spokenOutcome(outcome);
  if (said) await parts.hostCards.stopAnswer(item, said);
  return outcome.refused ? { status: "refused", reason: FOR_OTHERS } : { status: "accepted" };
}

/** A stop typed in the channel while its Group discusses in threads: ends those discussions. Where there are none it is no business of ours. */
async function stopBeside(parts: RouterParts, item: MessageCase): Promise<Reception> {
  const { event, ref, role } = item;
  const inThread = ref.kind === "thread" && event.platformId !== ref.threadId;
  const discussions = inThread ? [] : await parts.store.openDiscussions(channelRowId(ref));
  if (discussions.length === 0) return { status: "ignored" };
  const outcomes: StopOutcome[] = [];
  for (const { id, threadKey } of discussions) {
    const once = { from: event.from, dedupeKey: `${event.dedupeKey}:${id}` };
    outcomes.push(await requestStop(parts, { key: threadKey, ref, event: once, role }));
  }
  if (outcomes.every((outcome) => outcome.duplicate)) return { status: "duplicate" };
  const isRefused = outcomes.every((outcome) => outcome.refused);
  const where = discussions.length === 1 ? "a thread" : `${discussions.length} threads`;
  await parts.hostCards.stopAnswer(item, isRefused ? FOR_OTHERS : `Stopped the discussion in ${where} here.`);
  return isRefused ? { status: "refused", reason: FOR_OTHERS } : { status: "accepted" };
}

/** The platform's own stop control: stops what runs in its conversation. */
export async function stopConversation(parts: RouterParts, event: StopEvent): Promise<Reception> {
  const installation = parts.installations.get(event.installationId);
  const ref = event.conversation;
  const key = conversationKey(ref);
  const outcome = await requestStop(parts, { key, ref, event, role: decideRole(parts, event.from) });
  if (outcome.duplicate) return { status: "duplicate" };
  if (outcome.refused) return { status: "refused", reason: FOR_OTHERS };
  const said = spokenOutcome(outcome);
  if (said && installation) await parts.hostCards.stopAnswer({ event, ref, key, installation }, said);
  return { status: "accepted" };
}

/** What people are told; a turn that was stopped says so itself. */
function spokenOutcome(outcome: StopOutcome): string | undefined {
  if (outcome.refused) return FOR_OTHERS;
  if (outcome.sessionIds.length > 0) return undefined;
  return outcome.cancelled > 0 || outcome.peerSessionIds.length > 0
    ? "Stopped: what was waiting has been dropped."
    : "Nothing is running here.";
}

/** The durable flag, then the signal to whoever runs the turn. Work done for others needs a role. */
async function requestStop(
  parts: RouterParts,
  stop: {
    readonly key: string;
    readonly ref: ConversationRef;
    readonly event: Pick<StopEvent, "from" | "dedupeKey">;
    readonly role: Role;
    readonly botId?: string | undefined;
  },
): Promise<StopOutcome> {
  const outcome = await parts.store.requestStop({
    conversationKey: stop.key,
    by: stop.event.from,
    dedupeKey: stop.event.dedupeKey,
    mayStopOthers: stop.role === "admin" || stop.role === "owner" || stop.ref.kind === "direct",
    ...(stop.botId ? { botIds: [stop.botId] } : {}),
  });
  for (const sessionId of [...outcome.sessionIds, ...outcome.peerSessionIds]) parts.queue.signal(sessionId, "stop");
  return outcome;
}

function decideRole(parts: RouterParts, person: PersonRef): Role {
  const access = decideAccess(person, true, { ...parts.settings.access, directMessages: "open" });
  return access.allowed ? access.role : "guest";
}
