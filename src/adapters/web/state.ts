/**
 * What a page reads when it opens: who is there, which places exist, what is unread, and pages of older posts.
 * Invariant: the cursor of the state is read before its contents, so live updates that continue from it miss nothing.
 */

import { announceMembership } from "./actions.ts";
import { checkChannelName, directId } from "./channels.ts";
import { toWirePost } from "./format.ts";
import { HttpProblem, json } from "./http.ts";
import type { Hub, RunningBot } from "./hub.ts";
import { PAGE_POSTS } from "./limits.ts";
import { formatCursor } from "./live.ts";
import { placeFor, readKey } from "./person-requests.ts";
import { WORKSPACE_LOG } from "./timeline.ts";
import type { WireBot, WireChannel, WirePage, WirePerson, WirePost, WireState } from "./wire.ts";

/** GET /api/state. Without a name only the bots are shown. */
export async function readState(hub: Hub, person: WirePerson | null): Promise<WireState> {
  const bots = [...hub.bots.values()].map(toWireBot);
  if (!person) return { me: null, bots, people: [], channels: [], working: [], cursor: "" };
  const workspaceHead = await hub.timeline.head(WORKSPACE_LOG);
  const places = await visibleChannels(hub, person);
  const channels: WireChannel[] = [];
  for (const place of places) channels.push(await withPositions(hub, person, place));
  const cursor = new Map([[WORKSPACE_LOG, workspaceHead], ...channels.map((one) => [one.id, one.head] as const)]);
  const ids = new Set(places.map((place) => place.id));
  return {
    me: person,
    bots,
    people: await hub.people.list(),
    channels,
    working: (await hub.working()).filter((item) => ids.has(item.channelId)),
    cursor: formatCursor(cursor),
  };
}

/** The ids a person's page listens to. */
export async function watchedIds(hub: Hub, person: WirePerson): Promise<readonly string[]> {
  const channels = await hub.channels.list();
  const direct = [...hub.bots.keys()].map((botId) => directId(botId, person.id));
  return [WORKSPACE_LOG, ...channels.map((channel) => channel.id), ...direct];
}

/** GET /api/channels/<id>/posts?before=<seq> */
export async function readPage(
  hub: Hub,
  person: WirePerson,
  channelId: string,
  before: string | null,
): Promise<WirePage> {
  const place = await placeFor(hub, person, channelId);
  const head = await hub.timeline.head(place.id);
  let first = Math.min(head, before === null ? head : Number(before) - 1) + 1;
  if (!Number.isSafeInteger(first)) throw new HttpProblem(400, '"before" must be the number of a post.');
  const end = first - 1;
  const posts: WirePost[] = [];
  while (first > 1 && posts.length < PAGE_POSTS) {
    const start = Math.max(0, first - 1 - PAGE_POSTS);
    const items = await hub.timeline.after(place.id, start, first - 1 - start);
    const found = items.flatMap(({ seq, record }) =>
      record.type === "post" ? [toWirePost(place.id, seq, record, hub.markdown)] : [],
    );
    posts.unshift(...found);
    first = start + 1;
  }
  const later = await hub.timeline.overlays(place.id, first, end);
  const complete = posts.map((post) => {
    const overlay = later.get(post.seq);
    const outcome = overlay?.outcome ? { outcome: overlay.outcome } : {};
    return overlay ? { ...post, ...outcome, reactions: overlay.reactions } : post;
  });
  return { posts: complete, head, first, more: first > 1 };
}

/** POST /api/channels {name, bots: [id]} */
export async function createChannel(
  hub: Hub,
  person: WirePerson,
  body: Readonly<Record<string, unknown>>,
): Promise<Response> {
  const checked = checkChannelName(body.name);
  if ("error" in checked) throw new HttpProblem(422, checked.error);
  const channel = { id: checked.id, name: checked.id, bots: chosenBots(hub, body.bots) };
  if (!(await hub.channels.create(channel))) throw new HttpProblem(409, `There is a channel #${channel.name} already.`);
  await announceMembership(hub, { kind: "channel", ...channel }, channel.bots, "joined");
  await announceChange(hub, channel.id);
  return json(await withPositions(hub, person, { ...channel, kind: "channel" }), 201);
}

/** POST /api/channels/<id>/bots {bots: [id]} */
export async function setChannelBots(
  hub: Hub,
  person: WirePerson,
  channelId: string,
  body: Readonly<Record<string, unknown>>,
): Promise<Response> {
  const place = await placeFor(hub, person, channelId);
  if (place.kind !== "channel") throw new HttpProblem(422, "A direct conversation always has its one bot.");
  const bots = chosenBots(hub, body.bots);
  const changed = await hub.channels.setBots(place, bots);
  const left = place.bots.filter((id) => !bots.includes(id));
  const joined = bots.filter((id) => !place.bots.includes(id));
  await announceMembership(hub, place, left, "left");
  await announceMembership(hub, { kind: "channel", ...changed }, joined, "joined");
  await announceChange(hub, place.id);
  return json(await withPositions(hub, person, { ...changed, kind: "channel" }));
}

/** Makes open pages read the channel list again. */
export async function announceChange(hub: Hub, channelId: string): Promise<void> {
  await hub.timeline.append(WORKSPACE_LOG, { type: "workspace", once: `channel/${channelId}/${hub.clock.now()}` });
}

function chosenBots(hub: Hub, value: unknown): readonly string[] {
  const bots = Array.isArray(value) ? [...new Set(value)] : [];
  if (bots.length === 0) throw new HttpProblem(422, "Choose at least one bot for the channel.");
  if (!bots.every((id) => typeof id === "string" && hub.bots.has(id)))
    throw new HttpProblem(422, "There is no such bot here.");
  return bots as string[];
}

type Visible = Pick<WireChannel, "id" | "kind" | "name" | "bots">;

async function visibleChannels(hub: Hub, person: WirePerson): Promise<readonly Visible[]> {
  const direct = [...hub.bots.values()].map(
    ({ account }): Visible => ({
      id: directId(account.botId, person.id),
      kind: "direct",
      name: account.name,
      bots: [account.botId],
    }),
  );
  const channels = await hub.channels.list();
  return [...direct, ...channels.map((channel): Visible => ({ ...channel, kind: "channel" }))];
}

async function withPositions(hub: Hub, person: WirePerson, place: Visible): Promise<WireChannel> {
  const bots = place.bots.filter((id) => hub.bots.has(id));
  const seen = await hub.kv.get(readKey(person.id, place.id));
  const head = await hub.timeline.head(place.id);
  const read = Number(seen ?? 0);
  const unread = read < head ? await countUnread(hub, person, place.id, read) : 0;
  return { id: place.id, kind: place.kind, name: place.name, bots, head, read, unread };
}

async function countUnread(hub: Hub, person: WirePerson, channelId: string, read: number): Promise<number> {
  const items = await hub.timeline.after(channelId, read);
  const others = items.filter(({ record }) => record.type === "post" && record.author.id !== person.id);
  return Math.min(others.length, 99);
}

function toWireBot(bot: RunningBot): WireBot {
  const { botId, name, role, model } = bot.account;
  return { id: botId, name, role, demo: model === "demo" || model?.startsWith("demo/") === true };
}
