/**
 * What the page knows, and how records, answers and clicks change it. Pure functions on plain values, so the hard part (nothing lost, nothing
 * twice, whatever arrives in which order) is tested without a browser.
 * Invariant: a channel's records are applied in the order of their numbers, each once; what arrives while a page of history loads waits for it.
 */

import type {
  WireBot,
  WireChannel,
  WirePage,
  WirePerson,
  WirePost,
  WireRecord,
  WireState,
  WireWorking,
} from "../wire.ts";

/** What is known of one channel's log. */
export interface Timeline {
  readonly posts: readonly WirePost[];
  /** Number of the newest record applied. */
  readonly seen: number;
  readonly first: number;
  readonly more: boolean;
  readonly loaded: boolean;
  /** Records that arrived before the first page did. */
  readonly early: readonly WireRecord[];
}

/** A file chosen in the composer and already uploaded. */
export interface SentFile {
  readonly uploadId: string;
  readonly name: string;
  readonly size: number;
}

/** A message on its way. waiting: no connection, it goes out by itself · failed: refused, the person decides · sent: stored, its record is coming. */
export interface Outgoing {
  readonly clientId: string;
  readonly channelId: string;
  readonly text: string;
  readonly files: readonly SentFile[];
  readonly at: string;
  readonly state: "sending" | "waiting" | "failed" | "sent";
  readonly error?: string;
}

/** A line only this person sees, below the post `after`. */
export interface Aside {
  readonly id: string;
  readonly channelId: string;
  readonly after: number;
  readonly text: string;
}

/** Everything the components draw. */
export interface Model {
  readonly phase: "loading" | "welcome" | "ready" | "failed";
  readonly failure?: string;
  readonly me: WirePerson | null;
  readonly bots: readonly WireBot[];
  readonly people: readonly WirePerson[];
  readonly channels: readonly WireChannel[];
  readonly working: readonly WireWorking[];
  readonly connection: "connecting" | "live" | "offline";
  readonly current: string | null;
  readonly timelines: Readonly<Record<string, Timeline>>;
  readonly outgoing: readonly Outgoing[];
  readonly asides: readonly Aside[];
  /** Where the unread line stands in the open channel. */
  readonly unreadFrom: number;
}

const EMPTY: Timeline = { posts: [], seen: 0, first: 1, more: false, loaded: false, early: [] };

/** Before anything was loaded. */
export const START: Model = {
  phase: "loading",
  me: null,
  bots: [],
  people: [],
  channels: [],
  working: [],
  connection: "connecting",
  current: null,
  timelines: {},
  outgoing: [],
  asides: [],
  unreadFrom: 0,
};

/** Takes a fresh state from the server; positions already passed here are kept. Without a name everything starts anew. */
export function withState(model: Model, state: WireState): Model {
  if (!state.me) return { ...START, phase: "welcome", bots: state.bots };
  const known = new Map(model.channels.map((channel) => [channel.id, channel]));
  const channels = state.channels.map((channel) => {
    const old = known.get(channel.id);
    if (!old || old.head < channel.head) return channel;
    return { ...channel, head: old.head, read: Math.max(old.read, channel.read), unread: old.unread };
  });
  const { me, bots, people } = state;
  // Later the live connection knows better who is at work than an answer that was on its way.
  const working = model.phase === "ready" ? model.working : state.working;
  return { ...model, phase: "ready", me, bots, people, channels, working };
}

/** The log of a channel; an empty one when nothing is known. */
export function timelineOf(model: Model, channelId: string): Timeline {
  return model.timelines[channelId] ?? EMPTY;
}

/** Applies one live record. */
export function withRecord(model: Model, record: WireRecord): Model {
  const before = timelineOf(model, record.channelId);
  const noted = countUnread(model, record);
  if (!before.loaded) return putTimeline(noted, record.channelId, { ...before, early: [...before.early, record] });
  const after = applyRecord(before, record);
  return dropConfirmed(putTimeline(noted, record.channelId, after), record);
}

/** Takes a page of history: the newest one, or the one before what is shown. */
export function withPage(model: Model, channelId: string, page: WirePage): Model {
  const before = timelineOf(model, channelId);
  if (before.loaded) {
    const older = page.posts.filter((post) => post.seq < before.first);
    const joined = {
      ...before,
      posts: [...older, ...before.posts],
      first: Math.min(page.first, before.first),
      more: page.more,
    };
    return putTimeline(model, channelId, joined);
  }
  let timeline: Timeline = {
    posts: page.posts,
    seen: page.head,
    first: page.first,
    more: page.more,
    loaded: true,
    early: [],
  };
  for (const record of before.early) timeline = applyRecord(timeline, record);
  const shown = new Set(timeline.posts.map((post) => post.clientId));
  const outgoing = model.outgoing.filter((item) => item.channelId !== channelId || !shown.has(item.clientId));
  return putTimeline({ ...model, outgoing }, channelId, timeline);
}

/** Takes the server's answer to a sent message, which may come before or after the same post's live record. */
export function withSent(model: Model, clientId: string, post: WirePost): Model {
  const timeline = timelineOf(model, post.channelId);
  if (timeline.loaded && post.seq <= timeline.seen) return withoutOutgoing(model, clientId);
  if (timeline.loaded && post.seq === timeline.seen + 1) return withoutOutgoing(withRecord(model, post), clientId);
  return withOutgoing(model, clientId, { state: "sent" });
}

/** Takes a message off the way. */
export function withoutOutgoing(model: Model, clientId: string): Model {
  return { ...model, outgoing: model.outgoing.filter((item) => item.clientId !== clientId) };
}

/** Changes one message on its way. */
export function withOutgoing(model: Model, clientId: string, change: Partial<Outgoing>): Model {
  const outgoing = model.outgoing.map((item) => (item.clientId === clientId ? { ...item, ...change } : item));
  return { ...model, outgoing };
}

/** Opens a channel: the unread line stands where reading stopped. */
export function withCurrent(model: Model, channelId: string): Model {
  const channel = model.channels.find((one) => one.id === channelId);
  const unreadFrom = channel && channel.unread > 0 ? channel.read : Number.POSITIVE_INFINITY;
  return { ...model, current: channelId, unreadFrom };
}

/** Everything in the channel has been seen. */
export function withRead(model: Model, channelId: string): Model {
  const channels = model.channels.map((channel) =>
    channel.id === channelId ? { ...channel, read: channel.head, unread: 0 } : channel,
  );
  return { ...model, channels };
}

/** Adds a private line below what is shown now. */
export function withAside(model: Model, channelId: string, id: string, text: string): Model {
  const after = timelineOf(model, channelId).seen;
  return { ...model, asides: [...model.asides, { id, channelId, after, text }].slice(-50) };
}

/** Bots at work in a channel, at this moment. */
export function workingIn(model: Model, channelId: string, now: number): readonly WireWorking[] {
  return model.working.filter((item) => item.channelId === channelId && Date.parse(item.until) > now);
}

function applyRecord(timeline: Timeline, record: WireRecord): Timeline {
  if (record.seq <= timeline.seen) return timeline;
  const seen = record.seq;
  switch (record.type) {
    case "post":
      return { ...timeline, seen, posts: [...timeline.posts, record] };
    case "settle":
      return changePost({ ...timeline, seen }, record.target, (post) => ({ ...post, outcome: record.outcome }));
    case "reaction":
      return changePost({ ...timeline, seen }, record.target, (post) => ({
        ...post,
        reactions: [...(post.reactions ?? []), record.reaction],
      }));
    case "workspace":
      return { ...timeline, seen };
  }
}

function changePost(timeline: Timeline, seq: number, change: (post: WirePost) => WirePost): Timeline {
  return { ...timeline, posts: timeline.posts.map((post) => (post.seq === seq ? change(post) : post)) };
}

function putTimeline(model: Model, channelId: string, timeline: Timeline): Model {
  return { ...model, timelines: { ...model.timelines, [channelId]: timeline } };
}

/** A post of one's own that came back is no longer on its way. */
function dropConfirmed(model: Model, record: WireRecord): Model {
  if (record.type !== "post" || record.author.id !== model.me?.id || !record.clientId) return model;
  return withoutOutgoing(model, record.clientId);
}

function countUnread(model: Model, record: WireRecord): Model {
  const channels = model.channels.map((channel) => {
    if (channel.id !== record.channelId || record.seq <= channel.head) return channel;
    const others = record.type === "post" && record.author.id !== model.me?.id;
    return { ...channel, head: record.seq, unread: others ? channel.unread + 1 : channel.unread };
  });
  return { ...model, channels };
}
