/**
 * Who is meant by a message (SPEC I2, I3). Pure: platform structure first, then text handles that begin with "@"; the new message only,
 * never quoted or parent text. With one bot in a channel this decides alone; Groups choose speakers with the same findings.
 */

import type { BotHandle } from "../bot.ts";
import type { Mention, MessageEvent } from "../inbound-event.ts";

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

/** Bots to wake, in order of being named. Empty = silence. */
export function addressedBots(input: AddressingInput): readonly string[] {
  if (input.direct) return [input.receiver.botId];
  if (opensWithPeople(input)) return [];
  const named = namedBots(input);
  if (named.length > 0) return named;
  const addressesOthers = input.event.mentions.length > 0 || input.event.everyone;
  return addressesOthers || input.event.from.kind === "bot" ? [] : unnamed(input);
}

/** True when the message opens with mentions and none of that opening run is one of our bots: it is said to somebody else. */
function opensWithPeople(input: AddressingInput): boolean {
  const mentions = [...input.event.mentions].sort((a, b) => a.start - b.start);
  const run: Mention[] = [];
  let end = 0;
  for (const mention of mentions) {
    if (/[^\s,;:&]/u.test(input.event.text.slice(end, mention.start))) break;
    run.push(mention);
    end = mention.end;
  }
  return run.length > 0 && !run.some((mention) => input.bots.some((bot) => isMentioned(bot, mention)));
}

function unnamed(input: AddressingInput): readonly string[] {
  if (input.threads === "strict") return [];
  if (input.inThread && input.takingPart.length > 0) return input.takingPart;
  return input.threads === "always" && input.bots.length === 1 ? [input.receiver.botId] : [];
}

/** Bots named by id or handle, in the order they appear. */
export function namedBots(input: AddressingInput): readonly string[] {
  const found: { readonly botId: string; readonly at: number }[] = [];
  for (const mention of input.event.mentions) {
    for (const bot of input.bots) if (isMentioned(bot, mention)) found.push({ botId: bot.botId, at: mention.start });
  }
  found.push(...handlesIn(input));
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

function handlesIn(input: AddressingInput): { botId: string; at: number }[] {
  const { text, quoted, mentions } = input.event;
  const closed = [...quoted, ...mentions, ...linkRanges(text)];
  const found: { botId: string; at: number }[] = [];
  for (const match of text.matchAll(/(?<![\p{L}\p{N}_.@/])@(?=\p{L}|\p{N})/gu)) {
    if (closed.some((range) => match.index >= range.start && match.index < range.end)) continue;
    const bot = botNamedAt(text.slice(match.index + 1), input.bots);
    if (bot) found.push({ botId: bot.botId, at: match.index });
  }
  return found;
}

/** Longest handle first, so "@Ada Lovelace" is not taken for "@Ada". */
function botNamedAt(rest: string, bots: readonly BotHandle[]): BotHandle | undefined {
  const handles = bots.flatMap((bot) => handlesOf(bot, bots).map((handle) => ({ bot, handle })));
  handles.sort((a, b) => b.handle.length - a.handle.length);
  const start = fold(rest);
  return handles.find(({ handle }) => start.startsWith(handle) && !/^[\p{L}\p{N}_]/u.test(start.slice(handle.length)))
    ?.bot;
}

/** Full name, name without spaces, and the first word when no other bot shares it. */
function handlesOf(bot: BotHandle, bots: readonly BotHandle[]): readonly string[] {
  const name = fold(bot.name);
  const first = firstWord(name);
  const unique = bots.filter((other) => firstWord(fold(other.name)) === first).length === 1;
  return [name, name.replaceAll(" ", ""), ...(unique ? [first] : [])];
}

function firstWord(name: string): string {
  return name.split(" ")[0] ?? name;
}

function fold(text: string): string {
  return text.normalize("NFKC").toLocaleLowerCase().replace(/\s+/gu, " ");
}

function linkRanges(text: string): { start: number; end: number }[] {
  return [...text.matchAll(/\bhttps?:\/\/\S+/giu)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}
