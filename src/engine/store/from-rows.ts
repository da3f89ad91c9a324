/**
 * The engine's nouns made of the database's rows. Times arrive as Date from plain columns and as text with an offset from JSON; both become
 * Date. Null becomes absent. Sequence numbers of mail and pieces (BIGINT) only order rows and never leave the store.
 */
import type { Piece, Place } from "../adapter.ts";
import type { Bot, Installation, Persona } from "../bot.ts";
import type { Card, CardAnswer, CardKind, CardSpec, CardState } from "../card.ts";
import type { Channel, ChannelSettings, Conversation, ConversationKind, ReplyMode, Route } from "../conversation.ts";
import type { Discussion, DiscussionFrame, DiscussionState } from "../discussion.ts";
import type { FileRef } from "../file-ref.ts";
import type { Mail, MailBody, MailKind } from "../mail.ts";
import type { ModelCall, ModelMessage } from "../model-message.ts";
import type { Authority, Session, Turn, TurnProgress, TurnStatus } from "../session.ts";
import type { ToolResult } from "../tool.ts";
import type { AuthorKind, Entry, EntryKind, EntryMark } from "../transcript.ts";
import type {
  BotRow,
  CallRow,
  CardRow,
  ChannelRow,
  ConversationRow,
  DiscussionRow,
  EntryRow,
  InstallationRow,
  MailRow,
  NodeRow,
  PieceRow,
  SessionRow,
  Time,
  TurnRow,
} from "./rows.ts";
import type { OutboxPiece, StateNode, StoredCall } from "./store.ts";

/** Undefined instead of the database's null. */
export function given<Value>(value: Value | null | undefined): Value | undefined {
  return value ?? undefined;
}

function timeOf(value: Time): Date {
  return value instanceof Date ? value : new Date(value);
}

/** A bot. */
export function botOf(row: BotRow): Bot {
  const { id, orgId, name, role, model, lanes, version } = row;
  return { id, orgId, name, role, model, lanes, version };
}

/** An installation, with the names of its account joined in. */
export function installationOf(row: InstallationRow): Installation {
  const { id, botId, platform, appId, workspaceId, orgId, botUserId, otherIds } = row;
  const persona = personaOf(row.persona);
  return { id, botId, platform, appId, workspaceId, orgId, botUserId, otherIds, ...(persona ? { persona } : {}) };
}

function personaOf(value: unknown): Persona | undefined {
  const { name, icon } = (value ?? {}) as Partial<Record<keyof Persona, unknown>>;
  if (typeof name !== "string" || name === "") return undefined;
  return typeof icon === "string" ? { name, icon } : { name };
}

/** A conversation; the channel id is empty for places without a platform. */
export function conversationOf(row: ConversationRow): Conversation {
  return {
    key: row.key,
    kind: row.kind as ConversationKind,
    platform: row.platform,
    workspaceId: row.workspaceId,
    channelId: row.channelId ?? "",
    ...(row.threadId === null ? {} : { threadId: row.threadId }),
    ...(row.channelName ? { channelName: row.channelName } : {}),
    personCount: row.personCount,
    lastSeq: row.lastSeq,
    contextLoaded: row.contextLoadedAt !== null,
  };
}

/** A channel. */
export function channelOf(row: ChannelRow): Channel {
  return {
    id: row.id,
    platform: row.platform,
    workspaceId: row.workspaceId,
    channelId: row.channelId,
    name: given(row.name),
    members: row.members,
    audience: row.audience,
    replyMode: row.replyMode as ReplyMode,
    settings: (row.settings ?? {}) as ChannelSettings,
  };
}

/** What rows of older versions lack. */
type Later = "asked" | "answering";

/** A discussion. */
export function discussionOf(row: DiscussionRow): Discussion {
  const { id, channelId, threadKey, revision } = row;
  const kept = row.state as Omit<DiscussionState, Later> & Partial<Pick<DiscussionState, Later>>;
  const state: DiscussionState = { ...kept, asked: kept.asked ?? {}, answering: kept.answering ?? {} };
  const frame = row.frame as DiscussionFrame;
  return {
    id,
    channelId,
    threadKey,
    revision,
    state,
    frame,
    ...(row.entryId === null ? {} : { entryId: row.entryId }),
  };
}

/** An entry of the transcript. */
export function entryOf(row: EntryRow): Entry {
  return {
    id: row.id,
    conversationKey: row.conversationKey,
    seq: row.seq,
    address: given(row.address),
    platformId: given(row.platformId),
    at: timeOf(row.at),
    author: { kind: row.authorKind as AuthorKind, id: row.authorId, name: row.authorName },
    kind: row.kind as EntryKind,
    text: row.text,
    files: row.files as readonly FileRef[],
    replyTo: given(row.replyTo),
    botId: given(row.botId),
    mark: given(row.mark as EntryMark | null),
    ...(row.redactedAt === null ? {} : { redacted: true }),
  };
}

/** A card. */
export function cardOf(row: CardRow): Card {
  return {
    id: row.id,
    entryId: row.entryId,
    botId: row.botId,
    sessionId: given(row.sessionId),
    conversationKey: row.conversationKey,
    turnId: given(row.turnId),
    kind: row.kind as CardKind,
    spec: row.spec as CardSpec,
    allowed: row.allowed,
    state: row.state as CardState,
    skipped: row.skippedAt !== null,
    expiresAt: row.expiresAt === null ? undefined : timeOf(row.expiresAt),
    answeredBy: given(row.answeredBy),
    answeredByName: given(row.answeredByName),
    answer: given(row.answer as CardAnswer | null),
  };
}

/** A session, without its claim. */
export function sessionOf(row: SessionRow): Session {
  return {
    id: row.id,
    botId: row.botId,
    conversationKey: row.conversationKey,
    installationId: given(row.installationId),
    cursor: row.cursor,
    cycle: row.cycle,
    stateHead: given(row.stateHead),
    ...(row.teammates?.length ? { teammates: row.teammates } : {}),
    directory: given(row.directory),
    skills: given(row.skills),
    skillsTold: given(row.skillsTold as Session["skillsTold"] | null),
  };
}

/** A turn. */
export function turnOf(row: TurnRow): Turn {
  return {
    id: row.id,
    sessionId: row.sessionId,
    step: row.step,
    route: row.route as Route,
    authority: row.authority as Authority,
    status: row.status as TurnStatus,
    stopRequested: row.stopRequestedAt !== null,
    progress: row.progress as TurnProgress,
    attempts: row.attempts,
    startedAt: timeOf(row.startedAt),
    ...(row.discussionId === null ? {} : { discussionId: row.discussionId }),
    ...(row.epoch === null ? {} : { epoch: row.epoch }),
  };
}

/** A call as the model made it, and how far it is. */
export function callOf(row: CallRow): StoredCall {
  return {
    index: row.index,
    call: row.args as ModelCall,
    state: row.state as StoredCall["state"],
    result: given(row.result as ToolResult | null),
    entryId: given(row.entryId),
  };
}

/** A piece of mail. */
export function mailOf(row: MailRow): Mail {
  return {
    id: row.id,
    sessionId: row.sessionId,
    kind: row.kind as MailKind,
    entryId: given(row.entryId),
    authorId: given(row.authorId),
    authorName: given(row.authorName),
    route: row.route,
    body: row.body as MailBody,
    audience: row.audience,
    hops: row.hops,
    orderAt: timeOf(row.orderAt),
  };
}

/** A node of model state. */
export function nodeOf(row: NodeRow): StateNode {
  return {
    hash: row.hash,
    parent: row.parent,
    kind: row.kind as StateNode["kind"],
    message: row.body as ModelMessage,
  };
}

/** A piece; where it goes is stored with what is posted. */
export function pieceOf(row: PieceRow): OutboxPiece {
  const payload = row.payload as { place: Place; content: Piece["content"] };
  return {
    id: row.id,
    entryId: row.entryId,
    index: row.index,
    platform: row.platform,
    place: payload.place,
    content: payload.content,
    progress: row.progress,
    state: row.state as OutboxPiece["state"],
    attempts: row.attempts,
    attemptedAt: row.attemptedAt === null ? undefined : timeOf(row.attemptedAt),
  };
}
