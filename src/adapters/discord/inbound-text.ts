/**
 * What a person wrote on Discord, as clean text: tokens become "@Name", "#channel", ":emoji:" or a time, with the place of each mention; code and
 * quotations are marked, because names there address nobody. What was forwarded, and what is not words (voice, stickers, polls, cards of other bots),
 * is described. Pure: names are handed in.
 */

import type { Mention } from "../../engine/index.ts";
import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import { codeRanges } from "../shared/markdown-code.ts";

/** A stretch of the clean text. */
export interface TextRange {
  readonly start: number;
  readonly end: number;
}

/** A message's words, ready for an InboundEvent. */
export interface CleanText {
  readonly text: string;
  readonly mentions: readonly Mention[];
  readonly quoted: readonly TextRange[];
  readonly everyone: boolean;
}

/** Names known so far; undefined when unknown. */
export interface Names {
  user(id: string): string | undefined;
  role(id: string): { readonly name: string; readonly botUserId?: string } | undefined;
  channel(id: string): string | undefined;
}

const TOKEN =
  /(?<!\\)<(?:@!?(?<user>\d{15,21})|@&(?<role>\d{15,21})|#(?<channel>\d{15,21})|a?:(?<emoji>\w{1,40}):\d{15,21}|t:(?<time>-?\d{1,13})(?::\w)?|\/(?<command>[^:<>\n]{1,100}):\d{15,21})>/g;
const EVERYONE = /(?<![\w`\\])@(?:everyone|here)(?!\w)/;
/** A voice message is one file without words. */
const VOICE_FLAG = 1 << 13;
const QUOTE_CHARS = 600;

/** Reads a message object of Discord. `replied` is the message it answers, when that is not one of our own. */
export function readText(message: Fields, names: Names, replied?: Fields): CleanText {
  const parts = [
    cleanContent(toText(message.content) ?? "", namesWith(names, message)),
    ...extrasOf(message).map(plain),
    ...forwardsOf(message, names),
    ...(replied && !isCommandLike(toText(message.content) ?? "") ? [quotationOf(replied, names)] : []),
  ].filter((part) => part.text.trim() !== "");
  return joined(parts, message.mention_everyone === true);
}

/** Ids of users whose typed mention counts: outside code and not escaped. */
export function typedMentions(message: Fields): readonly string[] {
  const content = toText(message.content) ?? "";
  const code = codeRanges(content);
  return [...content.matchAll(TOKEN)]
    .filter((match) => !code.some((range) => match.index >= range.start && match.index < range.end))
    .flatMap((match) => match.groups?.user ?? []);
}

/** Roles mentioned in the words or, where the words are withheld, said by Discord. */
export function mentionedRoles(message: Fields): readonly string[] {
  const listed = Array.isArray(message.mention_roles) ? message.mention_roles : [];
  return listed.filter((id): id is string => typeof id === "string");
}

/** Decodes one content string. */
function cleanContent(content: string, names: Names): CleanText {
  const code = codeRanges(content);
  const inCode = (at: number) => code.some((range) => at >= range.start && at < range.end);
  const mentions: Mention[] = [];
  const shifts: { readonly at: number; readonly by: number }[] = [];
  let text = "";
  let from = 0;
  for (const match of content.matchAll(TOKEN)) {
    if (inCode(match.index)) continue;
    text += content.slice(from, match.index);
    from = match.index + match[0].length;
    const shown = shownFor(match.groups ?? {}, match[0], names);
    const { user, role } = match.groups ?? {};
    const platformId = user ?? role;
    if (platformId !== undefined) {
      const bot = role === undefined ? undefined : names.role(role)?.botUserId;
      mentions.push({
        platformId,
        start: text.length,
        end: text.length + shown.length,
        ...(bot ? { members: [bot] } : {}),
      });
    }
    text += shown;
    shifts.push({ at: match.index, by: shown.length - match[0].length });
  }
  text += content.slice(from);
  const moved = (at: number) => at + shifts.filter((shift) => shift.at < at).reduce((sum, shift) => sum + shift.by, 0);
  const quoted = [...code.map((range) => ({ start: moved(range.start), end: moved(range.end) })), ...quotedLines(text)];
  const loud = EVERYONE.exec(blank(text, quoted)) !== null;
  return { text, mentions, quoted, everyone: loud };
}

function shownFor(groups: Readonly<Record<string, string | undefined>>, token: string, names: Names): string {
  const { user, role, channel, emoji, time, command } = groups;
  if (user !== undefined) return `@${names.user(user) ?? user}`;
  if (role !== undefined) return `@${names.role(role)?.name ?? "role"}`;
  if (channel !== undefined) return `#${names.channel(channel) ?? channel}`;
  if (emoji !== undefined) return `:${emoji}:`;
  if (command !== undefined) return `/${command}`;
  const at = new Date(Number(time) * 1000);
  return Number.isNaN(at.getTime()) ? token : at.toISOString().replace(":00.000Z", "Z").replace("T", " ");
}

/** Lines that begin with ">" quote somebody; after ">>>" everything does. */
function quotedLines(text: string): readonly TextRange[] {
  const found: TextRange[] = [];
  for (const match of text.matchAll(/^(?:>>> [\s\S]*|> .*)/gm)) {
    found.push({ start: match.index, end: match.index + match[0].length });
    if (match[0].startsWith(">>>")) break;
  }
  return found;
}

function blank(text: string, ranges: readonly TextRange[]): string {
  let kept = text;
  for (const { start, end } of ranges) kept = kept.slice(0, start) + " ".repeat(end - start) + kept.slice(end);
  return kept;
}

/** The people a message mentions come with it, names included; our own bots have their own. */
function namesWith(names: Names, message: Fields): Names {
  const own = new Map(
    toList(message.mentions).map((user) => [toText(user.id) ?? "", nameOf(user, toFields(user.member))]),
  );
  return { ...names, user: (id) => names.user(id) ?? own.get(id) };
}

/** The name people see: nickname on the server, else display name, else account name. */
export function nameOf(user: Fields, member: Fields): string {
  return toText(member.nick) ?? toText(user.global_name) ?? toText(user.username) ?? toText(user.id) ?? "somebody";
}

/** What a message holds beside its words, in words. */
function extrasOf(message: Fields): readonly string[] {
  const lines: string[] = [];
  if (typeof message.flags === "number" && (message.flags & VOICE_FLAG) !== 0) {
    const seconds = toList(message.attachments)[0]?.duration_secs;
    lines.push(typeof seconds === "number" ? `[Voice message, ${Math.round(seconds)} s]` : "[Voice message]");
  }
  for (const sticker of toList(message.sticker_items)) lines.push(`[Sticker: ${toText(sticker.name) ?? "picture"}]`);
  if (message.poll !== undefined && message.poll !== null) lines.push(pollWords(toFields(message.poll)));
  const fromBot = toFields(message.author).bot === true || message.webhook_id !== undefined;
  if (fromBot) lines.push(...toList(message.embeds).map(embedWords), ...componentWords(message.components));
  return lines.filter((line) => line !== "");
}

function pollWords(poll: Fields): string {
  const question = toText(toFields(poll.question).text) ?? "";
  const answers = toList(poll.answers).map((answer) => toText(toFields(answer.poll_media).text) ?? "");
  return `[Poll: ${question} — ${answers.filter((answer) => answer !== "").join(" / ")}]`;
}

function embedWords(embed: Fields): string {
  const fields = toList(embed.fields).map((field) => `${toText(field.name) ?? ""}: ${toText(field.value) ?? ""}`);
  return [toText(embed.title), toText(embed.description), ...fields].filter((line) => line !== undefined).join("\n");
}

/** Messages made of components have no content; their words are in text displays, at any depth. */
function componentWords(components: unknown): readonly string[] {
  return toList(components).flatMap((component) => [
    ...(component.type === 10 ? [toText(component.content) ?? ""] : []),
    ...componentWords(component.components),
  ]);
}

/** Forwarded messages: their words are somebody else's, so names in them address nobody. */
function forwardsOf(message: Fields, names: Names): readonly CleanText[] {
  return toList(message.message_snapshots).map((snapshot) => {
    const inner = toFields(snapshot.message);
    const words = [cleanContent(toText(inner.content) ?? "", namesWith(names, inner)).text, ...extrasOf(inner)];
    const said = words.filter((part) => part.trim() !== "").join("\n");
    return asQuotation(`[Forwarded message]${said === "" ? "" : `\n${said}`}`);
  });
}

function quotationOf(replied: Fields, names: Names): CleanText {
  const author = nameOf(toFields(replied.author), toFields(replied.member));
  const words = readText({ ...replied, message_snapshots: undefined, mention_everyone: false }, names).text;
  const short = words.length > QUOTE_CHARS ? `${words.slice(0, QUOTE_CHARS).trimEnd()}…` : words;
  if (short.trim() === "") return plain("");
  return asQuotation(`[In reply to ${author}]\n${short.replace(/^/gm, "> ")}`);
}

/** Commands are read from the words alone, so nothing is added to what may be one. */
function isCommandLike(content: string): boolean {
  return /^(?:\s*<@!?\d+>)*\s*!?[\p{L}]{1,12}[\s.!。]*$/u.test(content);
}

function asQuotation(text: string): CleanText {
  return { text, mentions: [], quoted: [{ start: 0, end: text.length }], everyone: false };
}

function plain(text: string): CleanText {
  return { text, mentions: [], quoted: [], everyone: false };
}

function joined(parts: readonly CleanText[], everyone: boolean): CleanText {
  let text = "";
  const mentions: Mention[] = [];
  const quoted: TextRange[] = [];
  for (const part of parts) {
    const by = text === "" ? 0 : text.length + 2;
    text = text === "" ? part.text : `${text}\n\n${part.text}`;
    mentions.push(
      ...part.mentions.map((mention) => ({ ...mention, start: mention.start + by, end: mention.end + by })),
    );
    quoted.push(...part.quoted.map((range) => ({ start: range.start + by, end: range.end + by })));
  }
  return { text, mentions, quoted, everyone: everyone || parts.some((part) => part.everyone) };
}
