/**
 * One Discord event becomes one InboundEvent, or nothing. Pure: what had to be looked up is handed in.
 * Invariant: every copy of a happening (other bots' connections, replays after a resume, what is read from history after a gap) gets the same
 * dedupe key, and whom a message is for does not depend on whose copy it is. Whether anybody is addressed is left to routing, but for what only
 * Discord knows: whose message a reply answers, and the bot's own role.
 */

import type {
  ConversationRef,
  DeleteEvent,
  EditEvent,
  InboundFile,
  MessageEvent,
  PersonRef,
  ReactionEvent,
} from "../../engine/index.ts";
import { personId } from "../../engine/index.ts";
import { type Fields, toFields, toList, toText, toTexts } from "../shared/fields.ts";
import type { DiscordIdentity } from "./bot.ts";
import { isThread, type Place } from "./directory.ts";
import { isWithheld, namesOwnRole } from "./inbound-kind.ts";
import { type Names, nameOf, readText, typedMentions } from "./inbound-text.ts";
import { DIRECT_WORKSPACE } from "./installs.ts";

/** What was looked up for one event. */
export interface Knowledge {
  readonly self: DiscordIdentity;
  readonly installationId: string;
  readonly conversation: ConversationRef;
  readonly names: Names;
  /** The message this one answers, when Discord told. */
  readonly replied?: Fields;
}

/** What the model reads in place of words that Discord keeps from a bot whose role was picked instead of the bot. */
export const ROLE_HINT =
  "(Discord withheld the words of this message: the bot was mentioned by the role that carries its name. Tell the person to pick the bot itself from the list of names, or to ask an administrator to switch on Message Content for the bot.)";

/** Discord's epoch, ms. */
const EPOCH = 1_420_070_400_000n;

/** When a Discord id was made. */
export function dateOfId(id: string): Date {
  return /^\d{15,21}$/.test(id) ? new Date(Number((BigInt(id) >> 22n) + EPOCH)) : new Date(0);
}

/** The smallest Discord id of a moment, for "everything after". */
export function idAt(ms: number): string {
  return String((BigInt(Math.max(0, Math.floor(ms))) - EPOCH) << 22n).replace(/^-.*/, "0");
}

/** The place of a message. Threads and forum posts lie under their channel; whatever comes without a server is direct. */
export function conversationOf(
  guildId: string | undefined,
  channelId: string,
  place: Place | undefined,
  parentName?: string,
): ConversationRef {
  const base = { platform: "discord", workspaceId: guildId ?? DIRECT_WORKSPACE };
  if (guildId === undefined) return { ...base, kind: "direct", channelId };
  if (isThread(place?.type) && place?.parentId !== undefined) {
    const named = parentName === undefined ? {} : { channelName: parentName };
    return { ...base, kind: "thread", channelId: place.parentId, threadId: channelId, ...named };
  }
  return { ...base, kind: "channel", channelId, ...(place?.name === undefined ? {} : { channelName: place.name }) };
}

/** A person's or foreign bot's message. */
export function toMessage(message: Fields, knowledge: Knowledge): MessageEvent | undefined {
  const id = toText(message.id);
  const channelId = toText(message.channel_id);
  if (id === undefined || channelId === undefined) return undefined;
  const { self, conversation, names } = knowledge;
  const from = authorOf(message);
  const clean = readText(message, names, quotedReply(message, knowledge));
  const byRole = namesOwnRole(message, self, names);
  const text = byRole && isWithheld(message, self) ? ROLE_HINT : clean.text;
  // A bot's answer to a bot is no call for the next answer; a person's reply to a bot is said to it.
  const answered = from.kind === "bot" ? undefined : answeredAccount(message, knowledge);
  const repliesTo = toText(toFields(message.message_reference).message_id);
  return {
    type: "message",
    dedupeKey: messageKey(channelId, id),
    installationId: knowledge.installationId,
    conversation,
    at: dateOfId(id),
    from,
    platformId: id,
    ...clean,
    text,
    namesBot: byRole || typedMentions(message).includes(self.botUserId),
    files: filesOf(message, channelId, id),
    ...(conversation.kind === "channel" ? { opensThread: id } : {}),
    ...(message.type === 19 && repliesTo !== undefined ? { repliesTo } : {}),
    ...(answered === undefined ? {} : { answersAccount: answered }),
  };
}

/**
 * Whose message a reply answers. Where Discord does not tell the message, the ping says it: of the accounts a reply mentions, the one that stands
 * nowhere in its words.
 */
function answeredAccount(message: Fields, { self, replied }: Knowledge): string | undefined {
  if (message.type !== 19) return undefined;
  const author = toText(toFields(replied?.author).id);
  if (author !== undefined) return author;
  if (isWithheld(message, self)) return undefined;
  const content = toText(message.content) ?? "";
  const pinged = toList(message.mentions).flatMap((user) => toText(user.id) ?? []);
  const silent = pinged.filter((id) => !content.includes(`<@${id}>`) && !content.includes(`<@!${id}>`));
  return silent.length === 1 ? silent[0] : undefined;
}

/**
 * The message a reply answers, when it is shown with it: not that of a bot of ours which the reply is for, since the bot knows what it said. Decided
 * without regard to whose copy this is.
 */
function quotedReply(message: Fields, { names, replied }: Knowledge): Fields | undefined {
  const author = toText(toFields(replied?.author).id);
  if (author === undefined || names.user(author) === undefined) return replied;
  const forAnother = typedMentions(message).some((id) => id !== author && names.user(id) !== undefined);
  return forAnother ? replied : undefined;
}

/** Changed words of a message. */
export function toEdit(message: Fields, knowledge: Knowledge): EditEvent | undefined {
  const id = toText(message.id);
  const channelId = toText(message.channel_id);
  const editedAt = toText(message.edited_timestamp);
  if (id === undefined || channelId === undefined || editedAt === undefined) return undefined;
  if (isWithheld(message, knowledge.self)) return undefined;
  return {
    type: "edit",
    dedupeKey: `${messageKey(channelId, id)}:edit:${Date.parse(editedAt)}`,
    installationId: knowledge.installationId,
    conversation: knowledge.conversation,
    at: new Date(editedAt),
    from: authorOf(message),
    platformId: id,
    text: readText(message, knowledge.names, quotedReply(message, knowledge)).text,
  };
}

/** Deleted messages: one, or many at once by a moderator. */
export function toDeletes(data: Fields, knowledge: Knowledge, now: Date): readonly DeleteEvent[] {
  const channelId = toText(data.channel_id) ?? "";
  return [...toTexts([data.id]), ...toTexts(data.ids)].map((id) => ({
    type: "delete",
    dedupeKey: `${messageKey(channelId, id)}:delete`,
    installationId: knowledge.installationId,
    conversation: knowledge.conversation,
    at: now,
    platformId: id,
  }));
}

/** An emoji put on a message or taken away. Discord gives such an event no id of its own. */
export function toReaction(event: string, data: Fields, knowledge: Knowledge, now: Date): ReactionEvent | undefined {
  const userId = toText(data.user_id);
  const messageId = toText(data.message_id);
  const emoji = toText(toFields(data.emoji).name);
  if (userId === undefined || messageId === undefined || emoji === undefined) return undefined;
  const change = event === "MESSAGE_REACTION_ADD" ? "added" : "removed";
  const member = toFields(data.member);
  return {
    type: "reaction",
    dedupeKey: `${messageKey(toText(data.channel_id) ?? "", messageId)}:${change}:${userId}:${emoji}`,
    installationId: knowledge.installationId,
    conversation: knowledge.conversation,
    at: now,
    from: personOf({ id: userId, ...toFields(member.user) }, member),
    platformId: messageId,
    emoji,
    change,
  };
}

function messageKey(channelId: string, messageId: string): string {
  return `discord:${channelId}:${messageId}`;
}

/** Who wrote a message. What a webhook posts comes from an app. */
export function authorOf(message: Fields): PersonRef {
  const person = personOf(toFields(message.author), toFields(message.member));
  return toText(message.webhook_id) === undefined ? person : { ...person, kind: "bot" };
}

/** A Discord account as a person. Its id is the same on every server. */
export function personOf(user: Fields, member: Fields): PersonRef {
  const platformId = toText(user.id) ?? "";
  return {
    id: personId("discord", DIRECT_WORKSPACE, platformId),
    platformId,
    name: nameOf(user, member),
    kind: user.bot === true ? "bot" : "member",
  };
}

/** A file's id says where it was posted, so that a link that has expired can be asked for again. */
function filesOf(message: Fields, channelId: string, messageId: string): readonly InboundFile[] {
  const forwarded = toList(message.message_snapshots).flatMap((snapshot) =>
    toList(toFields(snapshot.message).attachments),
  );
  return [...toList(message.attachments), ...forwarded].flatMap((file) => {
    const id = toText(file.id);
    if (id === undefined) return [];
    const url = toText(file.url);
    const mediaType = toText(file.content_type)?.split(";")[0]?.trim();
    return [
      {
        platformFileId: `${channelId}/${messageId}/${id}`,
        name: toText(file.filename) ?? id,
        ...(mediaType === undefined || mediaType === "" ? {} : { mediaType }),
        ...(typeof file.size === "number" ? { size: file.size } : {}),
        ...(url === undefined ? {} : { url }),
      },
    ];
  });
}
