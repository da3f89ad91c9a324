/**
 * Threads as places to write. Where a channel is set to answer in threads, the thread is opened below the person's message with the first answer.
 * Invariant: a thread that exists is used, whoever opened it; a message has at most one.
 */

import type { Place } from "../../engine/index.ts";
import { toFields, toText } from "../shared/fields.ts";
import type { DiscordBot } from "./bot.ts";
import { problemOf } from "./errors.ts";
import { clip, THREAD_NAME_CHARS } from "./limits.ts";

const ARCHIVE_MINUTES = 1440;
const ALREADY_THERE = "160004";

/** Discord's id of the channel, thread or direct conversation a place is written in. */
export function targetOf({ ref }: Pick<Place, "ref">): string {
  return ref.kind === "thread" && ref.threadId ? ref.threadId : ref.channelId;
}

/** Makes sure that the place's thread exists. Rejects with the client's errors. */
export async function openThread(bot: DiscordBot, place: Place): Promise<void> {
  const { threadId, channelId, kind } = place.ref;
  if (kind !== "thread" || !threadId) return;
  if (await bot.directory.place(bot.calls, threadId)) return;
  const path = `/channels/${channelId}/messages/${threadId}`;
  try {
    const name = await titleOf(bot, path);
    const made = await bot.calls.call("post", `${path}/threads`, {
      body: { name, auto_archive_duration: ARCHIVE_MINUTES },
    });
    bot.directory.note("THREAD_CREATE", toFields(made));
  } catch (error) {
    if (problemOf(error).code !== ALREADY_THERE) throw error;
  }
}

async function titleOf(bot: DiscordBot, path: string): Promise<string> {
  const fallback = `Conversation with ${bot.name}`;
  try {
    const content = toText(toFields(await bot.calls.call("get", path)).content) ?? "";
    const words = content
      .replace(/<[@#&!:\w]+>/g, " ")
      .replace(/\s+/g, " ")
      .trim();
    return clip(words === "" ? fallback : words, THREAD_NAME_CHARS);
  } catch {
    // Only the title is missing; whether the thread can be opened shows when it is.
    return clip(fallback, THREAD_NAME_CHARS);
  }
}
