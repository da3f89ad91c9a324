/**
 * Reads a model request the way the demo model needs it: who speaks, what they wrote, what was already answered. Pure.
 * Tolerant by design: reminders are cut out, address tags and speaker names are taken off if they are there.
 */

import type { ModelMessage, ModelRequest } from "./model.ts";

/** One thing a person wrote or did. */
export interface Utterance {
  readonly speaker: string;
  /** Person id, if the line had one. */
  readonly speakerId: string;
  readonly words: string;
  /** Names of files that came with it. */
  readonly files: readonly string[];
  /** True when a teammate wrote it, another bot. */
  readonly byTeammate?: boolean;
  /** Set when the host told of it instead of the person's own words. */
  readonly event?: "secret-stored" | "secret-declined" | "retry";
}

/** A request as the demo model understands it. */
export interface DemoRequest {
  readonly botName: string;
  /** First sentence about the bot's work; may be empty. */
  readonly botRole: string;
  /** What is to be answered; undefined when no person has written. */
  readonly newest: Utterance | undefined;
  /** What the same person wrote before, oldest first. */
  readonly earlier: readonly string[];
  /** What a person last asked for, and what teammates wrote since then. */
  readonly asked: Utterance | undefined;
  readonly replies: readonly Utterance[];
  /** True in a conversation between two bots. */
  readonly isPeer: boolean;
  /** Steps with calls since the newest utterance. */
  readonly stepsDone: number;
  /** Results of the last of these steps that were refusals. */
  readonly refusals: readonly string[];
  /** Steps since the newest utterance in which something was refused. */
  readonly refusedSteps: number;
  /** True when something was sent since the newest utterance. */
  readonly sent: boolean;
  /** True when the bot had spoken in this session before the newest utterance. */
  readonly hasSpoken: boolean;
  /** Set at a turn in a Group. */
  readonly group?: DemoGroupTurn;
}

/** A member's turn in a Group, as the host's reminder tells it. */
export interface DemoGroupTurn {
  /** The person asked for this bot by name. */
  readonly named: boolean;
  /** It is the first in the Group: the one that answers for all when nobody is named. */
  readonly first: boolean;
}

const REMINDER = /<system_reminder\b[^>]*>([\s\S]*?)(?:<\/system_reminder>|$)/gi;
const CONTEXT = /<context_before\b[^>]*>[\s\S]*?(?:<\/context_before>|$)/gi;
/** "[t3u] Alice (web:local:alice) (in reply to t1s1): words"; the address may be missing when the id is there. */
const TAGGED = /^\[(t(?:b|\d+)(?:u|[sa]\d*))\]\s*([^:()\n]{1,100}?)((?:\s*\([^()\n]*\))*)\s*:(?:\s(.*)|$)/;
const UNTAGGED = /^()([^:()\n[\]{"]{1,100}?)((?:\s*\([^()\s]*:[^()\s]*\))(?:\s*\([^()\n]*\))*)\s*:(?:\s(.*)|$)/;
const FILE_LINE = /^(?:\[t\w+\]\s*)?attached file:\s*(.+?)\s*\([^()]*\)\s*$/;

/** Everything the demo model looks at. */
export function readDemoRequest(request: ModelRequest): DemoRequest {
  const botName = readBotName(request.system);
  const spoken = request.messages.map((message) => utterancesOf(message, botName));
  const at = spoken.findLastIndex((list) => list.length > 0);
  const newest = meantBy(spoken.flat());
  const since = request.messages.slice(at + 1);
  const steps = since.filter((message) => message.role === "tool");
  const group = readGroupTurn(request.messages, newest?.words ?? "");
  const refused = steps.map((message) => message.results.filter((result) => !result.ok).map((result) => result.text));
  return {
    botName,
    botRole: readBotRole(request.system, botName),
    newest,
    earlier: newest ? saidBefore(spoken.flat(), newest) : [],
    ...teamworkIn(spoken.flat()),
    isPeer: request.system.includes("This conversation is between you and a teammate"),
    stepsDone: since.filter((message) => message.role === "assistant" && message.calls.length > 0).length,
    refusals: refused.at(-1) ?? [],
    refusedSteps: refused.filter((texts) => texts.length > 0).length,
    sent: steps.some((message) => message.results.some((result) => result.ok && result.name === "SendMessage")),
    hasSpoken: request.messages
      .slice(0, Math.max(at, 0))
      .some((message) => message.role === "assistant" && message.calls.length > 0),
    ...(group ? { group } : {}),
  };
}

function readGroupTurn(messages: readonly ModelMessage[], words: string): DemoGroupTurn | undefined {
  const last = messages.findLast((message) => message.role === "user");
  const note = last?.role === "user" ? [...last.text.matchAll(REMINDER)].at(-1)?.[1] : undefined;
  const roster = note === undefined ? undefined : /\bIn the Group: ([^\n]*?)\.(?:\n|$)/.exec(note)?.[1];
  if (note === undefined || roster === undefined) return undefined;
  // Who asks everybody hears from everybody, once.
  const toAll = /[@＠](?:everyone|all)(?![\p{L}\p{N}-])/iu.test(words) && /\bround 1 of\b/.test(note);
  return { named: toAll || /\basked you by name\b/.test(note), first: /^[^,]* \(you\)/.test(roster) };
}

/** The last utterance; for another try, the words it is about. */
function meantBy(all: readonly Utterance[]): Utterance | undefined {
  const last = all.at(-1);
  return last?.event === "retry" ? all.findLast((one) => one.event === undefined) : last;
}

function teamworkIn(all: readonly Utterance[]): Pick<DemoRequest, "asked" | "replies"> {
  const at = all.findLastIndex((one) => !one.byTeammate && one.event === undefined);
  return { asked: all[at], replies: all.slice(at + 1).filter((one) => one.byTeammate) };
}

function saidBefore(all: readonly Utterance[], newest: Utterance): string[] {
  const mine = all.filter(
    (one) => one !== newest && one.speakerId === newest.speakerId && one.speaker === newest.speaker,
  );
  return mine.map((one) => one.words);
}

/** What people wrote and did in one message; bots' own lines, earlier talk of others and reminders are left out. */
function utterancesOf(message: ModelMessage, botName: string): Utterance[] {
  if (message.role !== "user") return [];
  const events = [...message.text.matchAll(REMINDER)].flatMap((match) => eventOf(match[1] ?? ""));
  const blocks: Block[] = [];
  for (const line of message.text.replace(CONTEXT, "").replace(REMINDER, "").split("\n")) addLine(blocks, line);
  const pictures = (message.images ?? []).map((image) => image.name);
  const heard = blocks.filter((block) => !block.byBot);
  const said = heard.flatMap(({ speaker, speakerId, byTeammate, lines, files }, i): Utterance[] => {
    const words = withoutMention(lines.join("\n").trim(), botName);
    const all = [...new Set(i === heard.length - 1 ? [...files, ...pictures] : files)];
    return words || all.length > 0
      ? [{ speaker, speakerId, words, files: all, ...(byTeammate ? { byTeammate } : {}) }]
      : [];
  });
  return [...said, ...events];
}

interface Block {
  readonly speaker: string;
  readonly speakerId: string;
  readonly byBot: boolean;
  readonly byTeammate: boolean;
  readonly lines: string[];
  readonly files: string[];
}

/** A line begins a speaker's block, names a file, or goes on with the words. */
function addLine(blocks: Block[], line: string): void {
  const header = TAGGED.exec(line) ?? UNTAGGED.exec(line);
  if (header) {
    const [, tag = "", speaker = "", notes = "", rest = ""] = header;
    const speakerId = /\(([^()]*)\)/.exec(notes)?.[1] ?? "";
    const byTeammate = /\(bot, your teammate\)/.test(notes);
    const byBot = /[sa]\d*$/.test(tag) && !byTeammate;
    blocks.push({ speaker: speaker.trim(), speakerId, byBot, byTeammate, lines: [rest], files: [] });
    return;
  }
  if (blocks.length === 0)
    blocks.push({ speaker: "", speakerId: "", byBot: false, byTeammate: false, lines: [], files: [] });
  const file = FILE_LINE.exec(line)?.[1];
  const block = blocks.at(-1);
  if (file) block?.files.push(file);
  else block?.lines.push(line);
}

/** Host notes that ask for an answer: a secret's fate (SPEC C5), another try (SPEC M12). */
function eventOf(note: string): Utterance[] {
  const happened = /\bthe secret "/.test(note)
    ? /\bdeclin/i.test(note)
      ? ("secret-declined" as const)
      : ("secret-stored" as const)
    : /\banother try\b/.test(note)
      ? ("retry" as const)
      : undefined;
  return happened ? [{ speaker: "", speakerId: "", words: "", files: [], event: happened }] : [];
}

/** Takes off "@Ada" anywhere and "Ada," at the beginning. */
function withoutMention(words: string, botName: string): string {
  const name = botName.replace(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return words
    .replace(new RegExp(`(^|\\s)@${name}(?![\\p{L}\\p{N}])[,:]?`, "giu"), "$1")
    .replace(new RegExp(`^${name}\\s*[,:]\\s*`, "iu"), "")
    .trim();
}

function readBotName(system: string): string {
  const name = /\bYou are \*{0,2}([\p{L}\p{N}][\p{L}\p{N} ._-]{0,60}?)\*{0,2}(?=[,.:;\n(]|\s+[-–—]|$)/u
    .exec(system)?.[1]
    ?.trim();
  return name || "Parley";
}

function readBotRole(system: string, botName: string): string {
  const labelled = /^(?:your )?(?:role|duties|job)\b[^:\n]*:\s*(.+)$/im.exec(system)?.[1];
  const line = system.split("\n").find((one) => one.includes(`You are ${botName}`)) ?? "";
  const behind = line.slice(line.indexOf(botName) + botName.length).replace(/^[\s*,.:;–—-]+/, "");
  const sentence = (labelled ?? behind).split(/(?<=[.!?])\s/)[0] ?? "";
  return sentence.replace(/[.\s]+$/, "").slice(0, 120);
}
