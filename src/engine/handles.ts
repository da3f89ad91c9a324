/**
 * Bots named in running text (SPEC I3): handles that begin with "@", never inside code, quotations, links, e-mail addresses or longer words. Pure; people's
 * messages and the bubbles of Group members are read with the same rules.
 */

import type { BotHandle } from "./bot.ts";

/** A stretch of text in which nobody is named: code, a quotation, a mention that is known already. */
export interface ClosedRange {
  readonly start: number;
  readonly end: number;
}

/** A bot named at a place of the text. */
export interface NamedBot {
  readonly botId: string;
  readonly at: number;
}

/** Bots whose handle stands in the text outside the closed ranges and outside links. */
export function namedInText(
  text: string,
  closed: readonly ClosedRange[],
  bots: readonly Pick<BotHandle, "botId" | "name">[],
): readonly NamedBot[] {
  const handles = handlesAmong(bots);
  return openSigns(text, closed).flatMap((at) => {
    const bot = findHandle(fold(text.slice(at, at + HANDLE_WINDOW)), handles)?.bot;
    return bot ? [{ botId: bot.botId, at }] : [];
  });
}

/** True when `@everyone` or `@all` stands in the text as a word of its own (SPEC G2). */
export function namesEveryone(text: string, closed: readonly ClosedRange[]): boolean {
  return openSigns(text, closed).some((at) => {
    const said = /^[@＠](?:everyone|all)/iu.exec(text.slice(at));
    const rest = said && text.slice(at + said[0].length);
    // "@all-hands" is somebody's word, while "@Ada-san" is still Ada.
    return rest !== null && !GOES_ON.test(rest) && !/^[-‐‑][\p{L}\p{N}]/u.test(rest);
  });
}

/** Code in Markdown: what stands there addresses nobody. */
export function codeRanges(text: string): readonly ClosedRange[] {
  return [...text.matchAll(/(`{1,3}|~~~)[\s\S]*?(?:\1|$)/gu)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}

/** Lines that quote in Markdown: whoever stands there is spoken about. A line without the sign after them is no part of the quotation. */
export function quoteRanges(text: string): readonly ClosedRange[] {
  return [...text.matchAll(/^ {0,3}>.*$/gmu)].map((match) => ({
    start: match.index,
    end: match.index + match[0].length,
  }));
}

function openSigns(text: string, closed: readonly ClosedRange[]): readonly number[] {
  const ranges = [...closed, ...linkRanges(text)];
  return [...text.matchAll(HANDLE_SIGN)]
    .map((match) => match.index)
    .filter((at) => !ranges.some((range) => at >= range.start && at < range.end));
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

type Named = Pick<BotHandle, "botId" | "name">;

interface Handle<Bot extends Named> {
  readonly bot: Bot;
  /** Folded, with its "@". */
  readonly sign: string;
}

/** All handles, the longest first, so that "@Ada Lovelace" is not taken for "@Ada". */
function handlesAmong<Bot extends Named>(bots: readonly Bot[]): readonly Handle<Bot>[] {
  const all = bots.flatMap((bot) => handlesOf(bot, bots).map((handle) => ({ bot, sign: `@${handle}` })));
  return all.sort((a, b) => b.sign.length - a.sign.length);
}

function findHandle<Bot extends Named>(start: string, handles: readonly Handle<Bot>[]): Handle<Bot> | undefined {
  return handles.find(({ sign }) => start.startsWith(sign) && !GOES_ON.test(start.slice(sign.length)));
}

/** The bot whose handle a short text begins with ("@Ada stop"), and the folded rest. */
export function opensWithHandle<Bot extends Named>(
  text: string,
  bots: readonly Bot[],
): { readonly bot: Bot; readonly rest: string } | undefined {
  const folded = fold(text.slice(0, HANDLE_WINDOW));
  const found = findHandle(folded, handlesAmong(bots));
  return found && { bot: found.bot, rest: folded.slice(found.sign.length) };
}

/** The text behind the bot's own handle or, for a persona, its bare name with a sign after it; the text itself where it opens with neither. */
export function withoutOpeningName(text: string, bot: Named & { readonly isPersona?: boolean }): string {
  const trimmed = text.trimStart();
  for (const handle of handlesOf(bot, [bot])) {
    const isNamed = bot.isPersona ? [`@${handle}`, handle] : [`@${handle}`];
    for (const opening of isNamed) {
      const rest = behind(trimmed, opening);
      if (rest === undefined || GOES_ON.test(rest)) continue;
      if (opening.startsWith("@") || /^\s?(?:[,:，：、]|$)/u.test(rest)) return rest.replace(/^[\s,:;，：、]+/u, "");
    }
  }
  return text;
}

/** What follows a folded opening in the text as it was written; undefined when it opens otherwise. */
function behind(text: string, opening: string): string | undefined {
  for (let end = 1; end <= Math.min(text.length, HANDLE_WINDOW); end += 1) {
    const folded = fold(text.slice(0, end)).replace("＠", "@");
    if (folded === opening) return text.slice(end);
    if (!opening.startsWith(folded)) return undefined;
  }
  return undefined;
}

/** The bot whose bare name a text begins with ("Bo, …" without "@"; SPEC I3 allows it for personas only), and the folded rest. */
export function opensWithName<Bot extends Named>(
  text: string,
  bots: readonly Bot[],
): { readonly bot: Bot; readonly rest: string } | undefined {
  const folded = fold(text.slice(0, HANDLE_WINDOW)).replace(/^[\s,:;@]+/u, "");
  const found = findHandle(`@${folded}`, handlesAmong(bots));
  return found && { bot: found.bot, rest: folded.slice(found.sign.length - 1) };
}

/** Full name, name without spaces, and the first word when no other bot shares it. */
function handlesOf(bot: Named, bots: readonly Named[]): readonly string[] {
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
