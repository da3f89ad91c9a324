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
  const addressesOthers = liveMentions(input.event).length > 0 || input.event.everyone;
  return addressesOthers || input.event.from.kind === "bot" ? [] : unnamed(input);
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
  const found: { readonly botId: string; readonly at: number }[] = [];
  for (const mention of liveMentions(input.event)) {
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
  const handles = handlesAmong(input.bots);
  const found: { botId: string; at: number }[] = [];
  for (const match of text.matchAll(HANDLE_SIGN)) {
    if (closed.some((range) => match.index >= range.start && match.index < range.end)) continue;
    const bot = findHandle(fold(text.slice(match.index, match.index + HANDLE_WINDOW)), handles)?.bot;
    if (bot) found.push({ botId: bot.botId, at: match.index });
  }
  return found;
}

/** Scripts written without spaces, or with endings joined to names: there a letter beside a handle does not belong to it. */
const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
/** An "@" that begins a handle: not inside a word, an e-mail address or a path. */
const HANDLE_SIGN = new RegExp(`(?<=^|[^\\p{L}\\p{N}\\p{M}_.@/]|[${UNSPACED}])[@＠](?=\\S)`, "gu");
/** What makes the word before it a longer one: letters, or a sign that joins a domain or path ("@ada.example", "@ada/core"). */
const GOES_ON = new RegExp(`^(?:(?![${UNSPACED}])[\\p{L}\\p{N}\\p{M}_]|[./](?=[\\p{L}\\p{N}]))`, "u");
/** Longest stretch in which a handle is looked for, characters. */
const HANDLE_WINDOW = 200;

interface Handle {
  readonly bot: BotHandle;
  /** Folded, with its "@". */
  readonly sign: string;
}

/** All handles, the longest first, so that "@Ada Lovelace" is not taken for "@Ada". */
function handlesAmong(bots: readonly BotHandle[]): readonly Handle[] {
  const all = bots.flatMap((bot) => handlesOf(bot, bots).map((handle) => ({ bot, sign: `@${handle}` })));
  return all.sort((a, b) => b.sign.length - a.sign.length);
}

function findHandle(start: string, handles: readonly Handle[]): Handle | undefined {
  return handles.find(({ sign }) => start.startsWith(sign) && !GOES_ON.test(start.slice(sign.length)));
}

/** The bot whose handle a short text begins with ("@Ada stop"), and the folded rest. */
export function opensWithHandle(
  text: string,
  bots: readonly BotHandle[],
): { readonly bot: BotHandle; readonly rest: string } | undefined {
  const folded = fold(text.slice(0, HANDLE_WINDOW));
  const found = findHandle(folded, handlesAmong(bots));
  return found && { bot: found.bot, rest: folded.slice(found.sign.length) };
}

/** Full name, name without spaces, and the first word when no other bot shares it. */
function handlesOf(bot: BotHandle, bots: readonly BotHandle[]): readonly string[] {
  const name = fold(bot.name).trim();
  const first = firstWord(name);
  const unique = bots.filter((other) => firstWord(fold(other.name).trim()) === first).length === 1;
  return [name, name.replaceAll(" ", ""), ...(unique ? [first] : [])].filter(Boolean);
}

function firstWord(name: string): string {
  return name.split(" ")[0] ?? name;
}

/** One form for text that looks the same: width, case, space; signs that cannot be seen are left out. */
export function fold(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .replace(/\s+/gu, " ")
    .toLowerCase();
}

function linkRanges(text: string): { start: number; end: number }[] {
  return [...text.matchAll(/\b(?:https?:\/\/|www\.|mailto:)\S+/giu)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}
