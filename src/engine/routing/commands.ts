/**
 * Commands typed as a message (SPEC T5). They are read from the raw text before anything is added to it, and only in exact short forms, so
 * that an everyday sentence with "stop" in it never stops anything; `!group` takes one word more, `!broadcast` a whole message. Unknown "!words" are ordinary messages.
 */

import type { BotHandle } from "../bot.ts";
import { fold, opensWithHandle, opensWithName } from "../handles.ts";
import type { Mention, MessageEvent } from "../inbound-event.ts";

/** A command people can type. */
export type Command = "stop" | "new" | "status" | "memory" | "help" | "group" | "broadcast";

/** No command is longer than this, with its name, characters. */
const LONGEST = 120;

const COMMANDS: readonly Command[] = ["stop", "new", "status", "memory", "help", "group"];
/** What can be said after `!group` (SPEC G1). */
export type GroupChoice = "on" | "off" | "all" | "mention";
const GROUP_CHOICES: readonly GroupChoice[] = ["on", "off", "all", "mention"];

/** A command as it was typed. */
export interface CommandCall {
  readonly command: Command;
  /** The bot named with it; absent = every bot of the conversation. */
  readonly botId?: string;
  /** Only with `group`; absent = show it. */
  readonly choice?: GroupChoice;
  /** Only with `broadcast`: what all bots are to read, as it was typed; may be empty. */
  readonly text?: string;
}

/** `!stop`, `@Ada stop` or `@Ada !stop`, with nothing else but space, a sign after the name and full stops or exclamation marks at the end. */
export function readCommand(
  event: Pick<MessageEvent, "text" | "mentions">,
  bots: readonly BotHandle[],
): CommandCall | undefined {
  const [mention, second] = event.mentions;
  const mentioned = bots.find((bot) => mention && bot.platformIds.includes(mention.platformId));
  if (second || (mention && !mentioned)) return undefined;
  const words = textWithout(mention, event.text).trim();
  const message = /^[!！]broadcast(?:\s+([\s\S]*))?$/iu.exec(words);
  if (message) {
    return { command: "broadcast", text: message[1] ?? "", ...(mentioned ? { botId: mentioned.botId } : {}) };
  }
  if (words.length > LONGEST) return undefined;
  const sharing =
    mentioned && bots.filter((bot) => bot.isPersona && bot.platformIds.includes(mention?.platformId ?? ""));
  const handle = sharing ? opensWithName(words, sharing) : opensWithHandle(words, bots);
  const bot = handle?.bot ?? mentioned;
  const said = fold(handle?.rest ?? words).replace(bot ? /^[\s,:;]+/u : "", "");
  const match = /^(!?)(?:(stop|new|status|memory|help|group)|group (on|off|all|mention))[\s.!。]*$/u.exec(said);
  const choice = GROUP_CHOICES.find((name) => name === match?.[3]);
  const command = choice ? "group" : COMMANDS.find((name) => name === match?.[2]);
  if (!match || !command) return undefined;
  // The others without "!" are words people say to a bot in earnest.
  if (match[1] === "" && !(bot && command === "stop")) return undefined;
  return { command, ...(bot ? { botId: bot.botId } : {}), ...(choice ? { choice } : {}) };
}

function textWithout(mention: Mention | undefined, text: string): string {
  return mention ? `${text.slice(0, mention.start)} ${text.slice(mention.end)}` : text;
}
