/**
 * Reading what is already in a conversation and who is in it: first contact with a thread, members.
 * Invariant: nothing here posts a message.
 */

import type { ConversationRef, HistoryMessage, PersonRef } from "../../engine/index.ts";
import { DeliveryError, personId } from "../../engine/index.ts";
import { type Fields, toFields, toList, toText, toTexts } from "../shared/fields.ts";
import type { SlackBot } from "./bot.ts";
import { mentionedIds, readText } from "./inbound-text.ts";

const PAGE = 200;
const MAX_PAGES = 10;
const MAX_CHANNEL_PAGES = 50;

/** Root and the most recent replies of a thread, oldest first; [] for places without a thread. */
export async function readThread(
  bot: SlackBot,
  ref: ConversationRef,
  limit: number,
): Promise<readonly HistoryMessage[]> {
  const { threadId } = ref;
  if (threadId === undefined || limit < 1) return [];
  const messages = await readPages(bot, "conversations.replies", "messages", { channel: ref.channelId, ts: threadId });
  const spoken = messages.filter((message) => toText(message.ts) !== undefined && message.hidden !== true);
  const root = spoken.find((message) => message.ts === threadId);
  const replies = spoken.filter((message) => message.ts !== threadId);
  const room = root ? limit - 1 : limit;
  const kept = [...(root ? [root] : []), ...(room > 0 ? replies.slice(-room) : [])];
  return Promise.all(kept.map((message) => toHistory(bot, message, threadId)));
}

async function readPages(
  bot: SlackBot,
  method: string,
  key: string,
  args: Record<string, unknown>,
): Promise<readonly Fields[]> {
  const found: Fields[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = toFields(
      await bot.calls.web(method, { ...args, limit: PAGE, ...(cursor === undefined ? {} : { cursor }) }),
    );
    found.push(...toList(answer[key]));
    cursor = toText(toFields(answer.response_metadata).next_cursor);
    if (cursor === undefined) break;
  }
  return found;
}

async function toHistory(bot: SlackBot, message: Fields, rootTs: string): Promise<HistoryMessage> {
  const { users, groups } = mentionedIds(message);
  const { names } = await bot.directory.learn({ mentioned: users, groups });
  const platformId = toText(message.ts) ?? "";
  return {
    platformId,
    at: new Date(Math.floor(Number(platformId) * 1000)),
    from: await authorOf(bot, message),
    text: withFiles(readText(message, names).text, message),
    isRoot: platformId === rootTs,
  };
}

/** Files are named, so that the bot knows of them. */
function withFiles(text: string, message: Fields): string {
  const lines = toList(message.files).map((file) => `[file: ${toText(file.name) ?? toText(file.title) ?? "unnamed"}]`);
  return [...(text === "" ? [] : [text]), ...lines].join("\n");
}

async function authorOf(bot: SlackBot, message: Fields): Promise<PersonRef> {
  const { workspaceId } = bot.self;
  const user = toText(message.user);
  const slackBot = toText(message.bot_id);
  const platformId = user ?? slackBot ?? "";
  const id = personId("slack", workspaceId, platformId);
  if (slackBot !== undefined || user === undefined) {
    const name = toText(message.username) ?? toText(toFields(message.bot_profile).name) ?? platformId;
    return { id, platformId, name, kind: "bot" };
  }
  try {
    return { id, platformId, ...(await bot.directory.person(user)) };
  } catch {
    // Context only: a name that Slack cannot tell now is replaced by the id.
    return { id, platformId, name: user, kind: "guest" };
  }
}

/** Native ids of the accounts in a channel. */
export async function readMembers(bot: SlackBot, channelId: string): Promise<readonly string[]> {
  const members: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const answer = toFields(
      await bot.calls.web("conversations.members", {
        channel: channelId,
        limit: 1000,
        ...(cursor === undefined ? {} : { cursor }),
      }),
    );
    members.push(...toTexts(answer.members));
    cursor = toText(toFields(answer.response_metadata).next_cursor);
    if (cursor === undefined) break;
  }
  return members;
}

/** Channels the bot is in, public and private. */
export async function readChannels(
  bot: SlackBot,
): Promise<readonly { readonly channelId: string; readonly name?: string }[]> {
  const found: { readonly channelId: string; readonly name?: string }[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_CHANNEL_PAGES; page += 1) {
    const answer = toFields(
      await bot.calls.web("users.conversations", {
        types: "public_channel,private_channel",
        exclude_archived: true,
        limit: 200,
        ...(cursor === undefined ? {} : { cursor }),
      }),
    );
    for (const channel of toList(answer.channels)) {
      const [channelId, name] = [toText(channel.id), toText(channel.name)];
      if (channelId !== undefined) found.push({ channelId, ...(name === undefined ? {} : { name }) });
    }
    cursor = toText(toFields(answer.response_metadata).next_cursor);
    if (cursor === undefined) return found;
  }
  // Half a list would look like channels that were left.
  throw new DeliveryError("content", "This bot is in more channels than can be listed.");
}
