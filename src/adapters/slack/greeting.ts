/**
 * The first time a person opens a bot's direct messages: a word of welcome and a few prompts to begin with.
 * Invariant: once per person and bot, whatever process hears of it; only people whom the workspace counts as its own are greeted; a failure is not an
 * error, the greeting is then given next time.
 */

import { type Fields, toText } from "../shared/fields.ts";
import type { SlackBot } from "./bot.ts";
import { problemOf } from "./errors.ts";
import { toPlainText, toSlackMarkdown } from "./format.ts";
import { clip } from "./limits.ts";
import { suggestedPrompts } from "./prompts.ts";

const ROLE_CHARS = 400;

/** Greets when this event is a first opening. Never rejects. */
export async function greet(bot: SlackBot, event: Fields): Promise<void> {
  const channel = toText(event.channel);
  const user = toText(event.user);
  if (event.tab !== "messages" || channel === undefined || user === undefined) return;
  const key = `slack:greeted:${bot.self.installationId}:${user}`;
  try {
    if ((await bot.directory.person(user)).kind !== "member") return;
    if (!(await bot.context.kv.insert(key, { at: bot.context.clock.now() }))) return;
    await suggest(bot, channel);
    await welcome(bot, channel, key);
  } catch (error) {
    bot.log.debug({ code: problemOf(error).code }, "a person was not greeted");
  }
}

async function welcome(bot: SlackBot, channel: string, key: string): Promise<void> {
  const words = greetingWords(bot.name, bot.role);
  try {
    await bot.calls.web("chat.postMessage", {
      channel,
      text: toPlainText(words),
      blocks: [{ type: "markdown", text: toSlackMarkdown(words) }],
      parse: "none",
      link_names: false,
      unfurl_links: false,
      unfurl_media: false,
      metadata: { event_type: "parley_greeting", event_payload: { id: "greeting" } },
    });
  } catch (error) {
    // Only a post that certainly was not made may be made again.
    if (problemOf(error).problem !== "unknown") await bot.context.kv.delete(key);
    throw error;
  }
}

function greetingWords(name: string, role: string): string {
  const about = clip(role.replace(/\s+/g, " ").trim(), ROLE_CHARS);
  return [
    `Hi, I am **${name}**. ${about}`,
    `Write to me here, or mention @${name} in a channel I am in. \`!help\` shows what else there is, \`!stop\` stops my work.`,
  ].join("\n\n");
}

async function suggest(bot: SlackBot, channel: string): Promise<void> {
  try {
    await bot.calls.web("assistant.threads.setSuggestedPrompts", {
      channel_id: channel,
      title: clip(`What can ${bot.name} do for you?`, 75),
      prompts: suggestedPrompts(),
    });
  } catch (error) {
    // Prompts are decoration; an app that is no agent has none.
    bot.log.debug({ code: problemOf(error).code }, "no prompts were suggested");
  }
}
