/**
 * Who is meant by a message (SPEC I2, I3). Pure: platform structure first, then text handles that begin with "@"; the new message only,
 * never quoted or parent text. With one bot in a channel this decides alone; Groups choose speakers with the same findings.
 */

import type { BotHandle } from "../bot.ts";
import type { AddressFindings } from "../group/speakers.ts";
import { type NamedBot, namedInText, namesEveryone } from "../handles.ts";
import type { Mention, MessageEvent } from "../inbound-event.ts";
import type { EngineSettings } from "../settings.ts";
import type { Installations } from "./installations.ts";
import type { MessageCase } from "./message-case.ts";

/** One message and the bots it could be meant for. */
export interface AddressingInput {
  readonly event: Pick<MessageEvent, "text" | "mentions" | "quoted" | "everyone" | "namesBot" | "from">;
  readonly direct: boolean;
  /** True for a reply inside a thread. */
  readonly inThread: boolean;
  /** The bot whose connection delivered this copy. */
  readonly receiver: BotHandle;
  /** Our bots known to be in this place, the receiver included. */
  readonly bots: readonly BotHandle[];
  /** Bots that already take part in this conversation. */
  readonly takingPart: readonly string[];
  readonly threads: "sticky" | "strict" | "always";
}

/** The addressing question of one message. */
export function addressingOf(
  parts: {
    readonly installations: Pick<Installations, "handleOf">;
    readonly settings: Pick<EngineSettings, "threads">;
  },
  item: MessageCase,
): AddressingInput {
  return {
    event: item.event,
    direct: item.ref.kind === "direct",
    inThread: item.ref.kind === "thread" && item.event.platformId !== item.ref.threadId,
    receiver: parts.installations.handleOf(item.installation),
    bots: item.bots,
    takingPart: item.view.sessions.map((session) => session.botId),
    threads: parts.settings.threads,
  };
}

/** Bots to wake, in order of being named. Empty = silence. */
export function addressedBots(input: AddressingInput): readonly string[] {
  if (input.direct) return [input.receiver.botId];
  if (opensWithPeople(input)) return [];
  const named = namedBots(input);
  if (named.length > 0) return named;
  const addressesOthers = liveMentions(input.event).length > 0 || input.event.everyone;
  return addressesOthers || input.event.from.kind === "bot" ? [] : unnamed(input);
}

/** What a Group selects its speakers by (SPEC G2); mass pings count there. */
export function findAddressed(input: AddressingInput): AddressFindings {
  const { event, bots } = input;
  const isOurs = (mention: Mention) => bots.some((bot) => isMentioned(bot, mention));
  return {
    named: namedBots(input),
    everyone: event.everyone || namesEveryone(event.text, [...event.quoted, ...event.mentions]),
    opensWithPeople: opensWithPeople(input),
    namesPeople: liveMentions(event).some((mention) => !isOurs(mention)),
  };
}

/** Mentions outside code and quotations; those inside address nobody. */
function liveMentions(event: Pick<MessageEvent, "mentions" | "quoted">): readonly Mention[] {
  return event.mentions
    .filter((mention) => !event.quoted.some((range) => mention.start >= range.start && mention.start < range.end))
    .sort((a, b) => a.start - b.start);
}

/** Signs and "and" in common languages: what may stand between mentions said in one breath. */
const BETWEEN = /^[\s,;:&+/]*(?:(?:and|und|et|y|e|en|og|och|и|和|と)(?=[\s@]|$))?[\s,;:&+/]*$/iu;

/** True when the message opens with mentions and none of that opening run is one of our bots: it is said to somebody else. */
function opensWithPeople(input: AddressingInput): boolean {
  const run: Mention[] = [];
  let end = 0;
  for (const mention of liveMentions(input.event)) {
    const between = input.event.text.slice(end, mention.start);
    if (run.length === 0 ? /[^\s,;:&]/u.test(between) : !BETWEEN.test(between)) break;
    run.push(mention);
    end = mention.end;
  }
  return run.length > 0 && !run.some((mention) => input.bots.some((bot) => isMentioned(bot, mention)));
}

/** A bot that is known to take part but not to be here any more is not woken by chatter. */
function unnamed(input: AddressingInput): readonly string[] {
  if (input.threads === "strict") return [];
  const takingPart = input.takingPart.filter((botId) => input.bots.some((bot) => bot.botId === botId));
  if (input.inThread && takingPart.length > 0) return takingPart;
  return input.threads === "always" && input.bots.length === 1 ? [input.receiver.botId] : [];
}

/** Bots named by id or handle, in the order they appear. */
export function namedBots(input: AddressingInput): readonly string[] {
  const found: NamedBot[] = [];
  for (const mention of liveMentions(input.event)) {
    for (const bot of input.bots) if (isMentioned(bot, mention)) found.push({ botId: bot.botId, at: mention.start });
  }
  const { text, quoted, mentions } = input.event;
  found.push(...namedInText(text, [...quoted, ...mentions], input.bots));
  if (input.event.namesBot && !found.some((item) => item.botId === input.receiver.botId)) {
    found.push({ botId: input.receiver.botId, at: Number.MAX_SAFE_INTEGER });
  }
  return [...new Set(found.sort((a, b) => a.at - b.at).map((item) => item.botId))];
}

function isMentioned(bot: BotHandle, mention: Mention): boolean {
  return (
    bot.platformIds.includes(mention.platformId) || (mention.members ?? []).some((id) => bot.platformIds.includes(id))
  );
}
