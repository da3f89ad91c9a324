/**
 * Rows as the database returns them, only the columns that are read. A time is a Date when it comes from a plain column and text when it
 * comes out of JSON; columns of JSON are unknown here and get their meaning in from-rows.ts.
 */

/** A point in time. */
export type Time = string | Date;

/** Table Bot. */
export interface BotRow {
  id: string;
  orgId: string;
  name: string;
  role: string;
  model: string;
  lanes: number;
  version: number;
}

/** Table Installation with three columns of its Account. */
export interface InstallationRow {
  id: string;
  botId: string;
  platform: string;
  appId: string;
  workspaceId: string;
  orgId: string;
  botUserId: string;
  otherIds: string[];
  /** `Persona`, when the app is shared. */
  persona: unknown;
}

/** Table Conversation. */
export interface ConversationRow {
  key: string;
  kind: string;
  platform: string;
  workspaceId: string;
  channelId: string | null;
  threadId: string | null;
  lastSeq: number;
  personCount: number;
  contextLoadedAt: Time | null;
  /** Only where the query joins the channel. */
  channelName?: string | null;
}

/** Table Channel. */
export interface ChannelRow {
  id: string;
  platform: string;
  workspaceId: string;
  channelId: string;
  name: string | null;
  members: string[];
  audience: string;
  replyMode: string;
  settings: unknown;
}

/** Table Discussion. */
export interface DiscussionRow {
  id: string;
  channelId: string;
  threadKey: string;
  revision: number;
  state: unknown;
  frame: unknown;
  entryId: string | null;
}

/** Table Entry. */
export interface EntryRow {
  id: string;
  conversationKey: string;
  seq: number;
  address: string | null;
  platformId: string | null;
  at: Time;
  authorKind: string;
  authorId: string;
  authorName: string;
  kind: string;
  text: string;
  files: unknown;
  replyTo: string | null;
  botId: string | null;
  mark: unknown;
  redactedAt: Time | null;
}

/** Table Card. */
export interface CardRow {
  id: string;
  entryId: string;
  botId: string;
  sessionId: string | null;
  conversationKey: string;
  turnId: string | null;
  kind: string;
  spec: unknown;
  allowed: string[];
  state: string;
  skippedAt: Time | null;
  expiresAt: Time | null;
  answeredBy: string | null;
  answeredByName: string | null;
  answer: unknown;
}

/** Table Session. */
export interface SessionRow {
  id: string;
  botId: string;
  conversationKey: string;
  installationId: string | null;
  cursor: number;
  cycle: number;
  stateHead: string | null;
  teammates: string[] | null;
  directory: string | null;
  skills: string | null;
  skillsTold: unknown;
}

/** Table Turn. */
export interface TurnRow {
  id: string;
  sessionId: string;
  step: number;
  route: unknown;
  authority: unknown;
  status: string;
  stopRequestedAt: Time | null;
  progress: unknown;
  attempts: number;
  startedAt: Time;
  discussionId: string | null;
  epoch: number | null;
}

/** Table ToolCall. */
export interface CallRow {
  index: number;
  /** The whole ModelCall, so that arguments which were not JSON survive too. */
  args: unknown;
  state: string;
  result: unknown;
  entryId: string | null;
}

/** Table Mail with the author's name joined in. */
export interface MailRow {
  id: string;
  sessionId: string;
  kind: string;
  entryId: string | null;
  authorId: string | null;
  authorName: string | null;
  route: string;
  body: unknown;
  audience: string;
  hops: number;
  orderAt: Time;
}

/** Table StateNode. */
export interface NodeRow {
  hash: string;
  parent: string | null;
  kind: string;
  body: unknown;
}

/** Table OutboxPiece. */
export interface PieceRow {
  id: string;
  entryId: string;
  index: number;
  platform: string;
  payload: unknown;
  progress: unknown;
  state: string;
  attempts: number;
  attemptedAt: Time | null;
}
