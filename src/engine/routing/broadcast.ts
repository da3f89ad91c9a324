/**
 * `!broadcast` (SPEC A3): somebody in charge puts one message to all bots, from a direct message with one of them. That one reads it there; every other
 * gets it as bot mail in a conversation with it, and answers come back by way of it. Everything is one transaction; who got it is said once.
 */

import { audienceOf, conversationKey, peerRef } from "../conversation.ts";
import { listOf } from "../group/discussion-mail.ts";
import type { Reception } from "../inbound-event.ts";
import { MAIL_RANK } from "../mail.ts";
import { isAtLeast } from "../person.ts";
import type { Broadcast, TakeIn } from "../store/store.ts";
import { ignoredIntake, intake } from "./message.ts";
import type { MessageCase } from "./message-case.ts";
import type { RouterParts } from "./router-parts.ts";

/** Characters of one broadcast, as of any message to a teammate (SPEC A1). */
const MAX_CHARS = 8000;
/** The asking session is known only when its row is there; the store puts its id in this place. */
const SESSION = "{session}";

/** Runs the command, or says in the conversation why not. */
export async function broadcast(parts: RouterParts, item: MessageCase, typed: string): Promise<Reception> {
  const text = typed.trim();
  const bots = await parts.store.listBots(item.installation.orgId);
  const others = bots.filter((bot) => bot.id !== item.installation.botId);
  const refusal = refusalOf(item, text, others.length);
  if (refusal) return refuse(parts, item, refusal);
  const result = await parts.store.broadcast(broadcastOf(parts, item, text, others));
  if (result.status !== "stored") return { status: "duplicate" };
  for (const { sessionId, rank } of result.woken) parts.queue.ring(sessionId, rank);
  for (const sessionId of result.sessionIds) parts.queue.ring(sessionId, MAIL_RANK.bot);
  const missed = others.filter((bot) => result.skipped.includes(bot.id)).map((bot) => bot.name);
  const sent = others.filter((bot) => !result.skipped.includes(bot.id)).map((bot) => bot.name);
  const own = parts.installations.botName(item.installation.botId);
  const lines = [
    sent.length > 0 ? `Sent to ${listOf(sent)}. What they answer comes back here by way of ${own}.` : "",
    missed.length > 0 ? `${listOf(missed)} could not take it: too many messages are waiting there.` : "",
  ];
  await parts.hostCards.say(item, `broadcast:${item.event.dedupeKey}`, lines.filter(Boolean).join("\n"));
  return { status: "accepted" };
}

function refusalOf({ role, ref }: MessageCase, text: string, others: number): string | undefined {
  if (!isAtLeast(role, "admin"))
    return "Only administrators of the bots (`access.admins` in the settings) can write to all of them at once. Write to the bot you need.";
  if (ref.kind !== "direct")
    return "Write `!broadcast` in a direct message with a bot: that is where the answers of all bots come together.";
  if (text === "") return "Write what all bots are to read after `!broadcast`, in the same message.";
  if (text.length > MAX_CHARS)
    return `That is too long for all bots at once: ${text.length} characters, and ${MAX_CHARS} are the most. Shorten it, or name a file.`;
  return others === 0 ? "There is no other bot to write to. Write to this one without `!broadcast`." : undefined;
}

async function refuse(parts: RouterParts, item: MessageCase, reason: string): Promise<Reception> {
  const result = await parts.store.takeIn({ ...ignoredIntake(parts, item), outcome: "stored" });
  if (result.status !== "stored") return { status: "duplicate" };
  await parts.hostCards.say(item, `broadcast:${item.event.dedupeKey}`, reason);
  return { status: "refused", reason };
}

function broadcastOf(
  parts: RouterParts,
  item: MessageCase,
  text: string,
  others: readonly { readonly id: string; readonly name: string }[],
): Broadcast {
  const { event, installation, role } = item;
  const { id, name } = event.from;
  return {
    intake: ownIntake(
      parts,
      item,
      others.map((bot) => bot.name),
    ),
    botId: installation.botId,
    receivers: others.map((bot) => {
      const asking = { orgId: installation.orgId, botId: installation.botId, sessionId: SESSION, receiverId: bot.id };
      const ref = peerRef(asking);
      return { botId: bot.id, conversationKey: conversationKey(ref), ref };
    }),
    sessionMark: SESSION,
    author: { id, name },
    text,
    mail: {
      type: "peer",
      direction: "ask",
      root: SESSION,
      serves: { role, personIds: [id], names: { [id]: name } },
      isBroadcast: true,
    },
    audience: audienceOf(item.ref, id),
    mailLimit: parts.settings.limits.mailPerSession,
  };
}

/** The message as the bot it was written to reads it. */
function ownIntake(parts: RouterParts, item: MessageCase, names: readonly string[]): TakeIn {
  const { botId } = item.installation;
  const taken = intake(parts, item, [botId], [botId]);
  const wake = taken.wake.map((one) =>
    one.mail?.body.type === "message"
      ? { ...one, mail: { ...one.mail, body: { ...one.mail.body, broadcastTo: names } } }
      : one,
  );
  return { ...taken, wake };
}
