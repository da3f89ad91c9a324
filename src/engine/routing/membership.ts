/**
 * Which bots are in which channel, and when that makes a Group (SPEC G1): from the platform's events, from its lists at start and now and then, and
 * from the first message of a channel nobody knows yet. When a Group begins its card is posted once; a bot beyond the limit is told why.
 */

import type { Adapter } from "../adapter.ts";
import type { Installation } from "../bot.ts";
import type { Clock } from "../clock.ts";
import { audienceOf, type Channel, type ConversationRef, channelRowId, conversationKey } from "../conversation.ts";
import type { AdapterLookup } from "../delivery/render-delivery.ts";
import { afterLeaving } from "../group/discussion.ts";
import { moveTo, wakeCurrent } from "../group/discussion-mail.ts";
import { type Group, groupCard, groupOf } from "../group/group-settings.ts";
import { repeated } from "../group/repeated.ts";
import type { MembershipEvent, Reception } from "../inbound-event.ts";
import type { Log } from "../log.ts";
import type { RunQueue } from "../queue/run-queue.ts";
import type { EngineSettings } from "../settings.ts";
import type { Store } from "../store/store.ts";
import type { HostCards } from "./host-cards.ts";
import type { Installations } from "./installations.ts";

/** What membership needs. */
export interface MembershipParts {
  readonly store: Store;
  readonly queue: Pick<RunQueue, "ring">;
  readonly adapters: AdapterLookup;
  readonly installations: Installations;
  readonly hostCards: Pick<HostCards, "group" | "groupFull">;
  readonly settings: EngineSettings;
  readonly clock: Clock;
  readonly log: Log;
}

/** Membership of this process's bots. */
export interface Membership {
  /** A bot joined or left. */
  note(event: MembershipEvent): Promise<Reception>;
  /** Learns who is in the channel of a message before it is decided about; returns at the latest after LOOK_MS. */
  look(ref: ConversationRef, installation: Installation): Promise<void>;
  /** Reads the lists of every connected account. */
  syncAll(): Promise<void>;
  sync(adapter: Adapter, installation: Installation): Promise<void>;
  /** Tells people of Groups that have begun, once their members have stopped changing. */
  announce(): Promise<void>;
  groupOf(ref: ConversationRef, joined: readonly string[], channel: Channel | undefined): Group | undefined;
  /** The Group of this place as it is stored now; undefined when it is none (any more). */
  groupNow(ref: ConversationRef): Promise<Group | undefined>;
  /** True where several bots in a channel are a Group only when somebody says so. */
  isOnRequest(platform: string): boolean;
  /** The channel's card or members may be due. */
  touch(ref: ConversationRef): void;
  /** A message was heard in a Group; where bots see every channel, that is when people are told of it. */
  heard(ref: ConversationRef, channel: Channel | undefined): void;
}

/** A channel whose Group may have begun or changed; `begins` = people may be told that it is one. */
interface Touched {
  readonly ref: ConversationRef;
  readonly at: number;
  readonly begins: boolean;
}

/** How long a message may wait for the list of its channel's members. */
const LOOK_MS = 1500;
/** Members that join together are told of in one card. */
const SETTLE_MS = 800;

/** Channels to look at once their members have stopped changing. */
function createNews(clock: Clock) {
  const touched = new Map<string, Touched>();
  return {
    add(ref: ConversationRef, begins: boolean): void {
      const { threadId: _thread, ...place } = ref;
      const rowId = channelRowId(ref);
      const before = touched.get(rowId)?.begins ?? false;
      touched.set(rowId, { ref: { ...place, kind: "channel" }, at: clock.now(), begins: begins || before });
    },
    begins: (ref: ConversationRef) => touched.get(channelRowId(ref))?.begins ?? false,
    /** Those that are due; each is given out once. */
    *settled(): Generator<Touched> {
      const due = [...touched].filter(([, { at }]) => clock.now() - at >= SETTLE_MS);
      for (const [rowId, one] of due) {
        touched.delete(rowId);
        yield one;
      }
    },
  };
}

/** One per process. */
export function createMembership(parts: MembershipParts): Membership {
  const { store, installations, settings, clock } = parts;
  const known = new Set<string>();
  const isOnRequest = (platform: string) => parts.adapters(platform)?.groupsOnRequest ?? false;
  const news = createNews(clock);
  const touch = (ref: ConversationRef) => news.add(ref, true);
  // Where every bot sees every channel, being there is no beginning: else a server would get a card in each of its channels.
  const moved = (ref: ConversationRef) => news.add(ref, !isOnRequest(ref.platform));
  const group = (ref: ConversationRef, joined: readonly string[], channel: Channel | undefined) =>
    groupOf(
      joined,
      { channelId: ref.channelId, settings: channel?.settings },
      settings.groups,
      isOnRequest(ref.platform),
    );
  const sync = async (adapter: Adapter, installation: Installation) => {
    for (const channel of await syncLists(parts, adapter, installation, known)) moved(refOf(channel));
  };
  const look = async (ref: ConversationRef, installation: Installation) => {
    const rowId = channelRowId(ref);
    if (ref.kind === "direct" || known.has(rowId) || installations.beside(installation).length < 2) return;
    const found = await membersNow(parts, ref, installation);
    if (!found) return;
    known.add(rowId);
    await store.addMembers(ref, found, defaultsOf(settings, ref));
    touch(ref);
  };
  return {
    look,
    isOnRequest,
    touch,
    heard(ref, channel) {
      if (isOnRequest(ref.platform) && channel?.settings.told !== true && !news.begins(ref)) touch(ref);
    },
    groupOf: group,
    async groupNow(ref) {
      const channel = ref.kind === "direct" ? null : await store.readChannel(ref);
      return channel ? group(ref, membersOf(parts, channel), channel) : undefined;
    },
    sync,
    syncAll: () => syncEach(parts, sync),
    async note(event) {
      const installation = installations.get(event.installationId);
      const botIds = installation ? installations.botsOfPlatformId(event.platformId, installation) : [];
      if (!installation || botIds.length === 0) return { status: "ignored" };
      const ref = event.conversation;
      // Where it sees many channels at once, the others are looked for with the first message.
      if (event.change === "joined" && !isOnRequest(ref.platform)) await look(ref, installation);
      if (event.change === "joined") await store.addMembers(ref, botIds, defaultsOf(settings, ref));
      else for (const botId of botIds) await leave(parts, ref, botId, group);
      moved(ref);
      return { status: "accepted" };
    },
    async announce() {
      for (const { ref, begins } of news.settled()) await tell(parts, ref, group, begins);
    },
  };
}

async function syncEach(parts: MembershipParts, sync: Membership["sync"]): Promise<void> {
  for (const installation of parts.installations.all()) {
    const adapter = parts.adapters(installation.platform);
    if (adapter) await sync(adapter, installation).catch((error: unknown) => logFailure(parts, installation, error));
  }
}

/** Writes what the platform lists for one account; returns the channels whose Group may have changed. */
async function syncLists(
  parts: MembershipParts,
  adapter: Adapter,
  installation: Installation,
  known: Set<string>,
): Promise<readonly Channel[]> {
  const channels = await adapter.channels?.(installation.id);
  if (!channels) return [];
  const { platform, workspaceId, botId } = installation;
  const replyMode = parts.settings.replies[platform] ?? "channel";
  const order = parts.installations.order();
  const changed = await parts.store.syncMemberships({ platform, workspaceId, botId, channels, replyMode, order });
  for (const channel of channels) known.add(channelRowId({ platform, workspaceId, channelId: channel.channelId }));
  return changed;
}

function defaultsOf(settings: EngineSettings, ref: ConversationRef) {
  return { replyMode: settings.replies[ref.platform] ?? ("channel" as const), audience: audienceOf(ref) };
}

function refOf(channel: Channel): ConversationRef {
  const { platform, workspaceId, channelId, name } = channel;
  return { platform, workspaceId, kind: "channel", channelId, ...(name ? { channelName: name } : {}) };
}

function logFailure(parts: MembershipParts, installation: Installation, error: unknown): void {
  const { botId, platform } = installation;
  parts.log.debug(
    { botId, platform, error: String(error) },
    "the list of channels could not be read; it is read again",
  );
}

/** Our bots in the channel as the platform says now; undefined when it does not say in time. */
async function membersNow(
  parts: MembershipParts,
  ref: ConversationRef,
  installation: Installation,
): Promise<readonly string[] | undefined> {
  const adapter = parts.adapters(ref.platform);
  if (!adapter) return undefined;
  const over = new AbortController();
  const late = parts.clock.delay(LOOK_MS, over.signal).then(() => undefined);
  const asked = adapter.members(installation.id, ref.channelId).catch((error: unknown) => {
    logFailure(parts, installation, error);
    return undefined;
  });
  const ids = await Promise.race([asked, late]).finally(() => over.abort());
  const found = ids?.flatMap((id) => parts.installations.botsOfPlatformId(id, installation));
  return found && parts.installations.inOrder(found);
}

/** Its discussions here go on without it. */
async function leave(
  parts: MembershipParts,
  ref: ConversationRef,
  botId: string,
  find: Membership["groupOf"],
): Promise<void> {
  const rowId = channelRowId(ref);
  await parts.store.removeMember(rowId, botId);
  const channel = await parts.store.readChannel(ref);
  // Noted at once: a Group that begins anew a moment later is told of again.
  if (channel?.settings.told && !find(ref, membersOf(parts, channel), channel))
    await parts.store.setChannelSettings(rowId, { told: false });
  await repeated(async () => {
    for (const discussion of await parts.store.openDiscussions(rowId)) {
      const { roster: before } = discussion.frame;
      const roster = before.filter((member) => member.botId !== botId);
      // Whoever is on the roster could be called in by a teammate, though the person did not choose it.
      if (roster.length === before.length) continue;
      const state = afterLeaving(discussion.state, botId, parts.settings.groups, roster);
      const move = moveTo(discussion, state, { frame: { ...discussion.frame, roster } });
      const goesOn = state.current !== null && state.current !== discussion.state.current;
      const wake = goesOn ? wakeCurrent(move, parts.clock.now()) : [];
      const woken = await parts.store.stepDiscussion({ move, wake, hostCards: [] });
      for (const { sessionId, rank } of woken) parts.queue.ring(sessionId, rank);
    }
  });
}

function membersOf({ installations }: MembershipParts, channel: Channel): readonly string[] {
  const known = channel.members.filter((botId) => installations.ofBot(botId, channel));
  return installations.withPersonas(known, channel);
}

/**
 * Posts first and notes it then: after a crash between the two the same card is not posted again. Without `begins` only what changed in a Group that
 * people know of is told.
 */
async function tell(
  parts: MembershipParts,
  ref: ConversationRef,
  find: Membership["groupOf"],
  begins: boolean,
): Promise<void> {
  const { store, installations, hostCards, settings } = parts;
  const rowId = channelRowId(ref);
  const channel = await store.readChannel(ref);
  if (!channel) return;
  const group = find(ref, membersOf(parts, channel), channel);
  const { told = false, begun = 0 } = channel.settings;
  if (!group) {
    if (told) await store.setChannelSettings(rowId, { told: false });
    return;
  }
  if (!told && !begins) return;
  const members = installations.inOrder(group.members);
  const time = told ? begun : begun + 1;
  const where = { ref, key: conversationKey(ref) };
  if (!told) {
    const names = members.map(installations.botName);
    const card = groupCard(names, group, settings.groups.maxMembers);
    await hostCards.group(where, members[0] ?? "", card, `group:${rowId}:${time}`);
    await store.setChannelSettings(rowId, { told: true, begun: time });
  }
  for (const botId of group.beyond) await hostCards.groupFull(where, botId, `group-full:${rowId}:${time}:${botId}`);
}
