/**
 * Where something is said. One canonical key per place (SPEC I4): it is built here, stored, and never rebuilt differently.
 * Adapters fill in a ConversationRef from a native event; everything else compares keys only.
 */

export type ConversationKind = "direct" | "channel" | "thread" | "peer" | "background";

/** Where answers to a channel message go: into a thread under it, or into the channel itself. */
export type ReplyMode = "thread" | "channel";

/** A place as an adapter names it. Empty strings are never used for "no thread": the field is absent then. */
export interface ConversationRef {
  readonly platform: string;
  /** Begins with @ where a place belongs to no workspace, so that nothing is public there (SPEC R2). */
  readonly workspaceId: string;
  readonly kind: ConversationKind;
  /** Native channel or direct-message id. */
  readonly channelId: string;
  /** Native thread id (root message) for kind "thread". */
  readonly threadId?: string;
  /** Display name of the channel, when the event carries it. */
  readonly channelName?: string;
}

/** A stored place with its counters. */
export interface Conversation extends ConversationRef {
  readonly key: string;
  /** n of the newest person message (SPEC M8). */
  readonly personCount: number;
  readonly lastSeq: number;
  /** True once root and earlier messages were loaded on first contact in an existing thread. */
  readonly contextLoaded: boolean;
}

/** What people chose for one channel. Absent = what the operator's settings say. */
export interface ChannelSettings {
  /** Whether the Group hears everything or only what names a member (SPEC G1). */
  readonly activation?: "all" | "mention";
  /** Whether several bots here are a Group. */
  readonly group?: boolean;
  /** Bots that were named when somebody asked for the Group: they are in it before others. */
  readonly asked?: readonly string[];
  /** How often this channel has become a Group; its card appears once each time. */
  readonly begun?: number;
  /** It is a Group now, and people have been told. */
  readonly told?: boolean;
}

/** What the conversations of one native channel share. `members` are the bots in it, in the order they came. */
export interface Channel {
  readonly id: string;
  readonly platform: string;
  readonly workspaceId: string;
  readonly channelId: string;
  readonly name?: string;
  readonly members: readonly string[];
  readonly audience: string;
  readonly replyMode: ReplyMode;
  readonly settings: ChannelSettings;
}

/** Where a turn answers: recorded with the turn, so a late send never drifts to another place (SPEC T3). */
export interface Route {
  readonly conversationKey: string;
  readonly ref: ConversationRef;
  readonly installationId: string;
  /** Native id of the message that is answered, for adapters that show a reply reference. */
  readonly nativeReplyTo?: string;
  /** Entry address that bubbles of the turn thread to by default (SPEC M8). */
  readonly replyTo?: string;
}

/** The canonical key of a place. Stable across versions: changing this function orphans sessions. */
export function conversationKey(ref: ConversationRef): string {
  const base = `${ref.platform}:${ref.workspaceId}:${ref.channelId}`;
  return ref.kind === "thread" && ref.threadId ? `${base}:${ref.threadId}` : base;
}

/** The row id of a native channel. */
export function channelRowId(ref: Pick<ConversationRef, "platform" | "workspaceId" | "channelId">): string {
  return `${ref.platform}:${ref.workspaceId}:${ref.channelId}`;
}

/** Symbolic audiences (SPEC R2): who may hear what was said here. */
export function audienceOf(ref: ConversationRef, personIdOfDirect?: string): string {
  if (ref.kind === "direct" && personIdOfDirect) return `person(${personIdOfDirect})`;
  return `channel(${channelRowId(ref)})`;
}

/** Platform name of conversations between two bots; no adapter of a chat platform has it. */
export const PEER_PLATFORM = "peer";

/** The place where a bot answers what another bot's session asks (SPEC I4): one for each receiver and asking session. */
export function peerRef(asking: {
  readonly orgId: string;
  readonly botId: string;
  readonly sessionId: string;
  readonly receiverId: string;
}): ConversationRef {
  return {
    platform: PEER_PLATFORM,
    workspaceId: asking.orgId,
    kind: "peer",
    channelId: `${asking.botId}.${asking.receiverId}.${asking.sessionId}`,
    threadId: asking.sessionId,
  };
}

/** Who asked in a peer conversation; undefined for every other place. */
export function askerOf(ref: ConversationRef): { readonly botId: string; readonly sessionId: string } | undefined {
  if (ref.kind !== "peer" || !ref.threadId) return undefined;
  return { botId: ref.channelId.split(".")[0] ?? "", sessionId: ref.threadId };
}
