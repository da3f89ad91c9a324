/**
 * Intake: what comes in from platforms, each event in one transaction (SPEC T1, T5, T6).
 * Invariant: an event is stored once however many copies arrive and from whom; a card has one winner; nothing of a late click stays.
 * Who is meant and what mail is due is decided before, in routing; counters, addresses and uniqueness are decided here, under lock.
 */
import { randomUUID } from "node:crypto";
import { channelRowId } from "../conversation.ts";
import { botOf, cardOf, channelOf, conversationOf, discussionOf, entryOf, given, installationOf } from "./from-rows.ts";
import type { Database } from "./hot-path.ts";
import type { BotRow, CardRow, ChannelRow, ConversationRow, DiscussionRow, EntryRow, InstallationRow } from "./rows.ts";
import type {
  AmendResult,
  NewEntry,
  PlaceSession,
  PlaceView,
  SealedSecret,
  StopOutcome,
  Store,
  TakeIn,
  TakeInResult,
} from "./store.ts";
import type { ForeignTraffic } from "./store-intake.ts";

type IntakeOperations = Pick<
  Store,
  | "readPlace"
  | "takeIn"
  | "foreignTraffic"
  | "broadcast"
  | "amendMessage"
  | "requestStop"
  | "addContext"
  | "postMail"
  | "postHostCard"
>;

interface PlaceRow {
  conversation: ConversationRow | null;
  channel: ChannelRow | null;
  discussion: DiscussionRow | null;
  sessions: (Omit<PlaceSession, "discussionId"> & { discussionId: string | null })[];
  cards: CardRow[];
  bots: { bot: BotRow; installation: InstallationRow }[];
  mark: "stored" | "ignored" | null;
}

type TakeInRow =
  | { status: "stored"; entry: EntryRow | null; woken: { sessionId: string; rank: number }[]; full: string[] }
  | { status: "ignored" | "duplicate" }
  | { status: "late"; card: CardRow | null };

function placeOf(row: PlaceRow): PlaceView {
  return {
    conversation: row.conversation === null ? undefined : conversationOf(row.conversation),
    channel: row.channel === null ? undefined : channelOf(row.channel),
    ...(row.discussion === null ? {} : { discussion: discussionOf(row.discussion) }),
    sessions: row.sessions.map(({ discussionId, ...session }) => ({
      ...session,
      ...(discussionId === null ? {} : { discussionId }),
    })),
    openCards: row.cards.map(cardOf),
    bots: row.bots.map(({ bot, installation }) => ({ bot: botOf(bot), installation: installationOf(installation) })),
    mark: given(row.mark),
  };
}

function takeInResultOf(row: TakeInRow): TakeInResult {
  if (row.status === "late") return { status: "late", card: row.card === null ? undefined : cardOf(row.card) };
  if (row.status !== "stored") return { status: row.status };
  const { entry, woken, full } = row;
  return { status: "stored", entry: entry === null ? undefined : entryOf(entry), woken, full };
}

function withId(entry: NewEntry): object {
  return { ...entry, id: randomUUID() };
}

function base64Of(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString("base64");
}

function secretInput(secret: SealedSecret): object {
  const { nonce, ciphertext, tag } = secret;
  return { ...secret, nonce: base64Of(nonce), ciphertext: base64Of(ciphertext), tag: base64Of(tag) };
}

function takeInInput(input: TakeIn): object {
  const { entry, card } = input;
  return {
    ...input,
    channelRowId: channelRowId(input.ref),
    entry: entry && withId(entry),
    card: card && { ...card, secret: card.secret && secretInput(card.secret) },
  };
}

const foreignTraffic = `
WITH said AS (
  SELECT e."createdAt" AS "at", e."authorId", p."kind"
  FROM "Entry" e JOIN "Conversation" c ON c."key" = e."conversationKey" LEFT JOIN "Person" p ON p."id" = e."authorId"
  WHERE c."platform" = $1 AND c."workspaceId" = $2 AND c."channelId" = $3 AND e."authorKind" = 'person'
    AND e."createdAt" > now() - interval '1 hour'
)
SELECT count(*) FILTER (WHERE "authorId" = $4 AND "at" > now() - $5 * interval '1 millisecond')::int AS "recent",
  count(*) FILTER (WHERE "kind" = 'bot' AND "at" > coalesce(
    (SELECT max("at") FROM said WHERE "kind" IS DISTINCT FROM 'bot'), '-infinity'))::int AS "sincePerson"
FROM said`;

/** The operations of intake. */
export function createIntakeOperations({ call, query }: Database): IntakeOperations {
  return {
    readPlace: async (query) =>
      placeOf(await call<PlaceRow>("parley_read_place", { ...query, channelRowId: channelRowId(query.ref) })),
    takeIn: async (input) => takeInResultOf(await call<TakeInRow>("parley_take_in", takeInInput(input))),
    foreignTraffic: async ({ platform, workspaceId, channelId }, personId, pairMs) => {
      const [row] = await query<ForeignTraffic>(foreignTraffic, [platform, workspaceId, channelId, personId, pairMs]);
      return row ?? { recent: 0, sincePerson: 0 };
    },
    async broadcast({ intake, ...input }) {
      const taking = { ...input, intake: takeInInput(intake) };
      const { sessionIds, skipped, ...row } = await call<TakeInRow & { sessionIds: string[]; skipped: string[] }>(
        "parley_broadcast",
        taking,
      );
      return { ...takeInResultOf(row as TakeInRow), sessionIds, skipped };
    },
    amendMessage: (input) => call<AmendResult>("parley_amend", input),
    requestStop: (input) => call<StopOutcome>("parley_request_stop", input),
    addContext: async (conversationKey, entries) => {
      await call("parley_add_context", { conversationKey, entries: entries.map(withId) });
    },
    postMail: (input) => call<boolean>("parley_post_mail", input),
    postHostCard: (input) => call<boolean>("parley_post_host_card", input),
  };
}
