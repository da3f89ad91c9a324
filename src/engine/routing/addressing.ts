/**
 * Who is meant by a message (SPEC I2, I3). Pure: platform structure first, then text handles that begin with "@"; the new message only,
 * never quoted or parent text. With one bot in a channel this decides alone; Groups choose speakers with the same findings.
 */

import type { BotHandle } from "../bot.ts";
import type { AddressFindings } from "../group/speakers.ts";
import { type NamedBot, namedInText, namesEveryone, opensWithHandle, opensWithName } from "../handles.ts";
import type { Mention, MessageEvent } from "../inbound-event.ts";
import type { EngineSettings } from "../settings.ts";
import type { Installations } from "./installations.ts";
import type { MessageCase } from "./message-case.ts";

/** One message and the bots it could be meant for. */
export interface AddressingInput {
  readonly event: Pick<
    MessageEvent,
    "text" | "mentions" | "quoted" | "everyone" | "namesBot" | "answersAccount" | "from"
  >;
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
  /** Whether bots that are not ours are heard only when they name one of ours. Default: they are. */
  readonly foreignBots?: EngineSettings["access"]["bots"];
}

/** The addressing question of one message. */
export function addressingOf(
  parts: {
    readonly installations: Pick<Installations, "handleOf">;
    readonly settings: Pick<EngineSettings, "threads" | "access">;
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
    foreignBots: parts.settings.access.bots,
  };
}

/** Bots to wake, in order of being named. Empty = silence. */
export function addressedBots(input: AddressingInput): readonly string[] {
  if (input.direct) return [directBot(input)];
  if (opensWithPeople(input)) return [];
  const named = namedBots(input);
  if (named.length > 0) return named;
  const addressesOthers = liveMentions(input.event).length > 0 || input.event.everyone;
  const mustName = input.event.from.kind === "bot" && input.foreignBots !== "all";
  return addressesOthers || mustName ? [] : unnamed(input);
}

/** A direct conversation with an app that personas share is with the one called, else with the only one taking part, else with the app's own bot. */
function directBot(input: AddressingInput): string {
  const { receiver, bots, takingPart } = input;
  const personas = bots.filter((bot) => bot.isPersona);
  if (personas.length === 0) return receiver.botId;
  const called = opensWithHandle(input.event.text, personas)?.bot ?? calledPersona(input.event.text, personas);
  const [only, ...more] = bots.filter((bot) => takingPart.includes(bot.botId));
  return (called ?? (more.length === 0 ? only : undefined) ?? receiver).botId;
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

/** Bots named by id or handle, in the order they appear; where the words name none, the bot whose message is answered. */
export function namedBots(input: AddressingInput): readonly string[] {
  const found: NamedBot[] = [];
  for (const mention of liveMentions(input.event)) {
    for (const bot of mentionedBots(input, mention)) found.push({ botId: bot.botId, at: mention.start });
  }
  const { text, quoted, mentions } = input.event;
  found.push(...namedInText(text, [...quoted, ...mentions], input.bots));
  const personas = input.bots.filter((bot) => bot.isPersona);
  const called = quoted.some(({ start }) => start === 0) ? undefined : calledPersona(text, personas);
  if (called) found.push({ botId: called.botId, at: 0 });
  const meant = [...personas, input.receiver].map((bot) => bot.botId);
  if (input.event.namesBot && !found.some((item) => meant.includes(item.botId))) {
    found.push({ botId: input.receiver.botId, at: Number.MAX_SAFE_INTEGER });
  }
  const answered = input.bots.find((bot) => bot.platformIds.includes(input.event.answersAccount ?? ""));
  if (found.length === 0) return answered ? [answered.botId] : [];
  return [...new Set(found.sort((a, b) => a.at - b.at).map((item) => item.botId))];
}

/** Whom a mention means: where personas share the app, the one called right after it ("@Parley Bo, …"), else the app's own bot. */
function mentionedBots(input: AddressingInput, mention: Mention): readonly BotHandle[] {
  const matched = input.bots.filter((bot) => isMentioned(bot, mention));
  const personas = matched.filter((bot) => bot.isPersona);
  if (personas.length === 0) return matched;
  const after = input.event.text.slice(mention.end);
  const called = opensWithHandle(after.trimStart(), personas)?.bot ?? calledPersona(after, personas);
  return called ? [called] : matched.filter((bot) => !bot.isPersona);
}

/** The persona a text opens with, as people call one another: "Bo, …", "Bo: …", or the name alone. */
function calledPersona(text: string, personas: readonly BotHandle[]): BotHandle | undefined {
  const opening = opensWithName(text, personas);
  return opening && /^\s?(?:[,:，：、]|$)/u.test(opening.rest) ? opening.bot : undefined;
}

function isMentioned(bot: BotHandle, mention: Mention): boolean {
  return (
    bot.platformIds.includes(mention.platformId) || (mention.members ?? []).some((id) => bot.platformIds.includes(id))
  );
}
