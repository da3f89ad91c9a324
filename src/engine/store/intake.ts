/**
 * Intake: what comes in from platforms, each event in one transaction (SPEC T1, T5, T6).
 * Invariant: an event is stored once however many copies arrive and from whom; a card has one winner; nothing of a late click stays.
 * Who is meant and what mail is due is decided before, in routing; counters, addresses and uniqueness are decided here, under lock.
 */
import { randomUUID } from "node:crypto";
import { channelRowId } from "../conversation.ts";
import { botOf, cardOf, channelOf, conversationOf, entryOf, given, installationOf } from "./from-rows.ts";
import type { Database } from "./hot-path.ts";
import type { BotRow, CardRow, ChannelRow, ConversationRow, EntryRow, InstallationRow } from "./rows.ts";
import type { AmendResult, NewEntry, PlaceView, SealedSecret, Store, TakeIn, TakeInResult } from "./store.ts";

type IntakeOperations = Pick<
  Store,
  | "readPlace"
  | "takeIn"
  | "amendMessage"
  | "requestStop"
  | "addContext"
  | "setChannelMembers"
  | "postMail"
  | "postHostCard"
>;

/** The bots are members of the channel with their installation in this workspace, and whoever delivered the event. */
const selectPlace = `
WITH channel AS (SELECT * FROM "Channel" WHERE "id" = $2)
SELECT
  (SELECT to_jsonb(c) FROM "Conversation" c WHERE c."key" = $1) AS conversation,
  (SELECT to_jsonb(channel) FROM channel) AS channel,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('sessionId', s."id", 'botId', s."botId", 'running', EXISTS (
      SELECT FROM "Turn" t WHERE t."sessionId" = s."id" AND t."status" IN ('running', 'settling'))) ORDER BY s."createdAt", s."id"), '[]')
    FROM "Session" s WHERE s."conversationKey" = $1) AS sessions,
  (SELECT coalesce(jsonb_agg(to_jsonb(k) ORDER BY k."createdAt", k."id"), '[]') FROM "Card" k
    WHERE k."conversationKey" = $1 AND k."state" = 'open' AND (k."expiresAt" IS NULL OR k."expiresAt" > now())) AS cards,
  (SELECT coalesce(jsonb_agg(jsonb_build_object('bot', to_jsonb(b), 'installation', to_jsonb(i) || jsonb_build_object(
      'botId', a."botId", 'platform', a."platform", 'appId', a."appId")) ORDER BY b."createdAt", b."id", i."id"), '[]')
    FROM "Installation" i JOIN "Account" a ON a."id" = i."accountId" JOIN "Bot" b ON b."id" = a."botId"
    WHERE b."retiredAt" IS NULL AND (i."id" = $3
      OR (b."id" = ANY ((SELECT "members" FROM channel)::text[]) AND a."platform" = $4 AND i."workspaceId" = $5))) AS bots,
  (SELECT "outcome" FROM "InboundMark" WHERE "key" = $6) AS mark`;

interface PlaceRow {
  conversation: ConversationRow | null;
  channel: ChannelRow | null;
  sessions: PlaceView["sessions"];
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
    sessions: row.sessions,
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

/** The operations of intake. */
export function createIntakeOperations({ query, call }: Database): IntakeOperations {
  return {
    async readPlace({ dedupeKey, conversationKey, ref, installationId }) {
      const values = [conversationKey, channelRowId(ref), installationId, ref.platform, ref.workspaceId, dedupeKey];
      const [row] = await query<PlaceRow>(selectPlace, values);
      return placeOf(row as PlaceRow);
    },
    takeIn: async (input) => takeInResultOf(await call<TakeInRow>("parley_take_in", takeInInput(input))),
    amendMessage: (input) => call<AmendResult>("parley_amend", input),
    requestStop: (input) => call("parley_request_stop", input),
    addContext: async (conversationKey, entries) => {
      await call("parley_add_context", { conversationKey, entries: entries.map(withId) });
    },
    setChannelMembers: async (ref, botIds, defaults) => {
      await call("parley_set_members", { channelRowId: channelRowId(ref), ref, botIds, ...defaults });
    },
    postMail: (input) => call<boolean>("parley_post_mail", input),
    postHostCard: (input) => call<boolean>("parley_post_host_card", input),
  };
}
