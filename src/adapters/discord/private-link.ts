/**
 * A one-time link that somebody asked for in words (SPEC C4, C5). Discord shows a message to one person only as the answer to a click, so the link goes
 * into their direct messages.
 * Invariant: the link is written nowhere but there; a failure is told where it was asked for, without it.
 */

import type { MessageEvent } from "../../engine/index.ts";
import { toFields, toText } from "../shared/fields.ts";
import type { DiscordBot } from "./bot.ts";
import { NO_PREVIEWS_FLAG } from "./components.ts";
import { problemOf } from "./errors.ts";
import { targetOf } from "./threads.ts";

const CLOSED =
  "I cannot write to you directly, and the link is for your eyes only. Allow direct messages from members of this server, then write the same again.";

/** Tells the link to the message's author. Never rejects. */
export async function tellLink(bot: DiscordBot, event: MessageEvent, link: string): Promise<void> {
  const { from, platformId, conversation } = event;
  const here = targetOf({ ref: conversation });
  try {
    const direct = conversation.kind === "direct" ? here : await directChannel(bot, from.platformId);
    await say(bot, direct, `Here is your one-time link. It opens a masked form and works once: ${link}`);
  } catch (error) {
    bot.log.warn({ code: problemOf(error).code }, "a one-time link could not be told");
    await say(bot, here, CLOSED, platformId).catch(() => {
      bot.context.metrics.count("parley_discord_untold_notices_total");
    });
  }
}

async function directChannel(bot: DiscordBot, userId: string): Promise<string> {
  const opened = await bot.calls.call("post", "/users/@me/channels", { body: { recipient_id: userId } });
  return toText(toFields(opened).id) ?? "";
}

async function say(bot: DiscordBot, channelId: string, content: string, answers?: string): Promise<void> {
  const reference =
    answers === undefined ? {} : { message_reference: { type: 0, message_id: answers, fail_if_not_exists: false } };
  const body = { content, flags: NO_PREVIEWS_FLAG, allowed_mentions: { parse: [], replied_user: false }, ...reference };
  await bot.calls.call("post", `/channels/${channelId}/messages`, { body });
}
