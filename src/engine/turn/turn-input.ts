/**
 * Builds the user message of a turn's beginning or of mail that joined it, with what was said in the conversation meanwhile, and says what the
 * commit of it must move: cursor, authority, route, counters.
 */

import { buildInput, CONTEXT_LIMIT } from "../context/build-input.ts";
import { GROUP_LIMIT, type GroupPlace } from "../context/group-input.ts";
import type { Conversation, Route } from "../conversation.ts";
import type { Mail } from "../mail.ts";
import type { ModelMessage } from "../model-message.ts";
import type { Authority, TurnProgress } from "../session.ts";
import type { GroupsSettings } from "../settings.ts";
import type { Store } from "../store/store.ts";
import type { Entry } from "../transcript.ts";
import { authorityOf, joinAuthority } from "./take-mail.ts";
import type { TurnParts, TurnRun } from "./turn-run.ts";

/** Mail that joins a turn, and what its commit moves. */
export interface TurnInput {
  readonly message: ModelMessage;
  readonly mail: readonly Mail[];
  readonly mailIds: readonly string[];
  readonly cursor: number;
  readonly authority: Authority;
  readonly route: Route;
  readonly progress: Partial<TurnProgress>;
}

/** How long a turn waits for a file that is still being fetched (SPEC W8). */
const FILE_WAIT_MS = 10_000;

/** Entries of mail, by id, with their files as far as they have arrived. */
export async function entriesOf(
  parts: Pick<TurnParts, "store" | "attachments">,
  mail: readonly Mail[],
  signal: AbortSignal,
): Promise<ReadonlyMap<string, Entry>> {
  const ids = mail.flatMap((item) => item.entryId ?? []);
  const entries = ids.length > 0 ? await parts.store.readEntriesById(ids) : [];
  const settled = entries.map(async (entry) => ({
    ...entry,
    files: await parts.attachments.settled(entry.files, FILE_WAIT_MS, signal),
  }));
  return new Map((await Promise.all(settled)).map((entry) => [entry.id, entry]));
}

/** The user message of this mail. A member's turn in a Group reads the timeline itself; its files are shown as far as they have arrived. */
export function messageOf(
  run: Pick<TurnRun, "bot" | "parts" | "conversation">,
  mail: readonly Mail[],
  entries: ReadonlyMap<string, Entry>,
  before: UnseenEntries,
  steered: boolean,
  notes: readonly string[] = [],
): ModelMessage {
  const { settings } = run.parts;
  const group = groupPlaceOf(mail, settings.groups, steered);
  return buildInput({
    mail,
    entries,
    unseen: before.unseen.map((entry) => entries.get(entry.id) ?? entry),
    omitted: before.omitted,
    botId: run.bot.id,
    guidance: settings.sendMessageGuidance,
    notes,
    reader: run.conversation.kind === "peer" ? "teammate" : "people",
    ...(group ? { group } : {}),
  });
}

/** What was said before this mail, as its turn shows it: context for a person's message, the timeline for a member of a Group (SPEC G6). */
export function unseenFor(
  run: Pick<TurnRun, "bot" | "parts" | "cursor">,
  conversation: Conversation,
  mail: readonly Mail[],
  waiting: readonly Mail[],
): Promise<UnseenEntries> {
  const inGroup = mail.some((item) => item.body.type === "discussion");
  const apart = [...waiting, ...mail].filter((item) => item.body.type !== "discussion");
  const known = new Set(apart.flatMap((item) => item.entryId ?? []));
  const show = inGroup ? { limit: GROUP_LIMIT, own: true } : undefined;
  return unseenBefore(run.parts.store, conversation, run.cursor, run.bot.id, known, show);
}

function groupPlaceOf(mail: readonly Mail[], limits: GroupsSettings, steered: boolean): GroupPlace | undefined {
  const newest = mail.findLast((item) => item.body.type === "discussion");
  if (newest?.body.type !== "discussion") return undefined;
  const { roster, round, named } = newest.body;
  const { maxRounds, maxPerTurn } = limits;
  return { roster, round, named, maxRounds, maxPerTurn, steered, askedBy: newest.authorName ?? "" };
}

/** Mail that joins a running turn: nothing is shown twice, and guidance stands at the end again (SPEC M10). */
export function inputFor(
  run: TurnRun,
  mail: readonly Mail[],
  entries: ReadonlyMap<string, Entry>,
  before: UnseenEntries,
): TurnInput {
  const message = messageOf(run, mail, entries, before, true);
  return {
    message,
    mail,
    mailIds: mail.map((item) => item.id),
    cursor: before.cursor,
    authority: joinAuthority(run.turn.authority, authorityOf(mail)),
    route: routeAfter(run.turn.route, mail),
    progress: afterJoin(newestPersonCount(entries, run.progress.personCount)),
  };
}

/**
 * A new message is owed an answer of its own: it may be the same words as the one before ("Done."), and a turn that spoke earlier may not end
 * without looking at it once more (SPEC M12, M13).
 */
export function afterJoin(personCount: number): Partial<TurnProgress> {
  return {
    personCount,
    said: [],
    refusedInRow: 0,
    callsSinceSend: 0,
    workAfterSend: true,
    reacted: false,
    reminded: [],
    silentTries: 0,
    closingTried: false,
  };
}

/** Entries to show as context, how many more there are, and the cursor after showing them. */
export interface UnseenEntries {
  readonly unseen: readonly Entry[];
  readonly omitted: number;
  readonly cursor: number;
}

/** What was said since the bot last looked, oldest first: the last entries up to the limit, and how many were left out. */
export async function unseenBefore(
  store: Store,
  conversation: Conversation,
  cursor: number,
  botId: string,
  mailEntryIds: ReadonlySet<string>,
  show: { readonly limit: number; readonly own: boolean } = { limit: CONTEXT_LIMIT, own: false },
): Promise<UnseenEntries> {
  const last = conversation.lastSeq;
  const floor = Math.max(cursor, last - SCAN_LIMIT);
  const entries = await store.readEntries({ conversationKey: conversation.key, afterSeq: floor, limit: SCAN_LIMIT });
  const others = entries
    .filter((entry) => !mailEntryIds.has(entry.id) && entry.kind !== "host-card" && entry.kind !== "peer")
    .filter((entry) => show.own || entry.botId !== botId)
    .sort((a, b) => a.at.getTime() - b.at.getTime());
  const newest = entries.reduce((high, entry) => Math.max(high, entry.seq), cursor);
  return {
    unseen: others.slice(-show.limit),
    omitted: Math.max(0, others.length - show.limit) + (floor - cursor),
    cursor: newest,
  };
}

/** Entries looked at for context; older ones are counted as omitted. */
const SCAN_LIMIT = 300;

/** n of the newest person message among the mail (SPEC M8). */
export function newestPersonCount(entries: ReadonlyMap<string, Entry>, before: number): number {
  const counts = [...entries.values()].map((entry) => Number(/^t(\d+)u$/.exec(entry.address ?? "")?.[1] ?? 0));
  return Math.max(before, ...counts);
}

/** The route with the reply place of the newest mail. */
export function routeAfter(route: Route, mail: readonly Mail[]): Route {
  const body = mail.at(-1)?.body;
  if (!body) return route;
  const { nativeReplyTo: _native, replyTo: _reply, ...rest } = route;
  return {
    ...rest,
    ...("nativeReplyTo" in body && body.nativeReplyTo ? { nativeReplyTo: body.nativeReplyTo } : {}),
    ...("replyTo" in body && body.replyTo ? { replyTo: body.replyTo } : {}),
  };
}
