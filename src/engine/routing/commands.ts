/**
 * Commands typed as a message (SPEC T5). They are read from the raw text before anything is added to it, and only in exact short forms, so
 * that an everyday sentence with "stop" in it never stops anything. Unknown "!words" are ordinary messages.
 */

import type { BotHandle } from "../bot.ts";
import type { MessageEvent } from "../inbound-event.ts";

/** A command people can type. */
export type Command = "stop" | "status" | "help";

const COMMANDS: readonly Command[] = ["stop", "status", "help"];

/** A command as it was typed. */
export interface CommandCall {
  readonly command: Command;
  /** The bot named with it; absent = every bot of the conversation. */
  readonly botId?: string;
}

/** `!stop`, `@Ada stop` or `@Ada !stop`, with nothing else but white space and a final mark. */
export function readCommand(
  event: Pick<MessageEvent, "text" | "mentions">,
  bots: readonly BotHandle[],
): CommandCall | undefined {
  const named = event.mentions
    .map((mention) => bots.find((bot) => bot.platformIds.includes(mention.platformId)))
    .filter((bot) => bot !== undefined);
  if (event.mentions.length > 1 || named.length !== event.mentions.length) return undefined;
  const rest = textWithoutMentions(event, bots);
  const match = /^(!?)(\p{L}+)[.!]?$/u.exec(rest.text);
  const command = COMMANDS.find((name) => name === match?.[2]?.toLowerCase());
  const bot = named[0] ?? rest.bot;
  if (!match || !command || (match[1] === "" && !bot)) return undefined;
  // "help" and "status" without "!" are words people say to a bot in earnest.
  if (match[1] === "" && command !== "stop") return undefined;
  return bot ? { command, botId: bot.botId } : { command };
}

function textWithoutMentions(
  event: Pick<MessageEvent, "text" | "mentions">,
  bots: readonly BotHandle[],
): { text: string; bot?: BotHandle } {
  let text = event.text;
  for (const mention of [...event.mentions].sort((a, b) => b.start - a.start)) {
    text = `${text.slice(0, mention.start)} ${text.slice(mention.end)}`;
  }
  text = text.trim();
  const bot = bots.find((candidate) => text.toLowerCase().startsWith(`@${candidate.name.toLowerCase()} `));
  return bot ? { text: text.slice(bot.name.length + 1).trim(), bot } : { text };
}
