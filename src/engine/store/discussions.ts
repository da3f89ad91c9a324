/**
 * Groups in the database: which bots are in a channel and what people chose for it (SPEC G1), and discussions outside intake and turns (SPEC G8).
 * Invariant: a discussion moves only under the revision it was read with; of two moves from the same state one is refused and changes nothing.
 */
import { type ConversationRef, channelRowId } from "../conversation.ts";
import { channelOf, discussionOf } from "./from-rows.ts";
import { type Database, toJson } from "./hot-path.ts";
import type { ChannelRow, DiscussionRow } from "./rows.ts";
import type { Store } from "./store.ts";

type DiscussionOperations = Pick<
  Store,
  | "syncMemberships"
  | "addMembers"
  | "removeMember"
  | "readChannel"
  | "setChannelSettings"
  | "readDiscussion"
  | "openDiscussions"
  | "hasJoined"
  | "lateDiscussions"
  | "restartWaits"
  | "stepDiscussion"
>;

type Woken = Awaited<ReturnType<Store["stepDiscussion"]>>;

const selectLate = `
SELECT * FROM "Discussion" WHERE "endReason" IS NULL AND "current" IS NOT NULL AND "waitingSince" <= now() - $1 * interval '1 millisecond' ORDER BY "waitingSince" LIMIT 50`;

const selectJoined = `
SELECT EXISTS (
  SELECT 1 FROM "Turn" t JOIN "Discussion" d ON d."id" = t."discussionId"
  JOIN "Entry" e ON e."conversationKey" = d."threadKey" AND e."authorKind" = 'person' AND e."authorId" = $2
  WHERE t."id" = $1) AS "joined"`;

/** The operations of Groups. */
export function createDiscussionOperations({ query, call }: Database): DiscussionOperations {
  const discussions = async (text: string, values: readonly unknown[]) =>
    (await query<DiscussionRow>(text, values)).map(discussionOf);
  return {
    syncMemberships: async (input) => (await call<ChannelRow[]>("parley_sync_memberships", input)).map(channelOf),
    async addMembers(ref, members, defaults) {
      await call("parley_meet", { channelRowId: channelRowId(ref), ref, channel: { members, ...defaults } });
    },
    async removeMember(rowId, botId) {
      await query(`UPDATE "Channel" SET "members" = array_remove("members", $2) WHERE "id" = $1`, [rowId, botId]);
    },
    async readChannel(ref: Pick<ConversationRef, "platform" | "workspaceId" | "channelId">) {
      const [row] = await query<ChannelRow>(`SELECT * FROM "Channel" WHERE "id" = $1`, [channelRowId(ref)]);
      return row ? channelOf(row) : null;
    },
    async setChannelSettings(rowId, settings) {
      const values = [rowId, toJson(settings)];
      await query(`UPDATE "Channel" SET "settings" = "settings" || $2::jsonb WHERE "id" = $1`, values);
    },
    async readDiscussion(id) {
      return (await discussions(`SELECT * FROM "Discussion" WHERE "id" = $1`, [id]))[0] ?? null;
    },
    openDiscussions: (rowId) =>
      discussions(`SELECT * FROM "Discussion" WHERE "channelId" = $1 AND "endReason" IS NULL`, [rowId]),
    async hasJoined(turnId, personId) {
      return (await query<{ joined: boolean }>(selectJoined, [turnId, personId]))[0]?.joined === true;
    },
    lateDiscussions: (patienceMs) => discussions(selectLate, [patienceMs]),
    async restartWaits() {
      await query(
        `UPDATE "Discussion" SET "waitingSince" = now() WHERE "endReason" IS NULL AND "waitingSince" IS NOT NULL`,
      );
    },
    stepDiscussion: (input) => call<Woken>("parley_step_discussion", input),
  };
}
