/**
 * Messages between bots, and bots made at run time (SPEC A). Invariant: each is the effect of one call and commits with its result, so a crash
 * neither loses nor repeats it. Who may write to whom, and what the texts say, is decided in turn/.
 */
import { botOf, given } from "./from-rows.ts";
import type { Database } from "./hot-path.ts";
import type { BotRow } from "./rows.ts";
import type { BotOutcome, PeerOutcome, SessionPlace, Store } from "./store.ts";

type PeerOperations = Pick<
  Store,
  "commitPeer" | "reportPeer" | "reportLostMail" | "readSessionPlace" | "waitingPeople" | "createBot" | "updateBot"
>;

/** A session with its place and the newest person message in its mailbox. */
const sessionPlace = `
SELECT s."id" AS "sessionId", s."botId", b."name" AS "botName", c."key" AS "conversationKey", c."personCount", s."installationId",
  c."platform", c."workspaceId", c."kind", c."channelId", c."threadId",
  (SELECT m."body"->>'nativeReplyTo' FROM "Mail" m WHERE m."sessionId" = s."id" AND m."kind" = 'person' ORDER BY m."seq" DESC LIMIT 1) AS "nativeReplyTo"
FROM "Session" s JOIN "Bot" b ON b."id" = s."botId" JOIN "Conversation" c ON c."key" = s."conversationKey"`;

const waiting = `${sessionPlace}
WHERE c."platform" = ANY ($2::text[]) AND b."retiredAt" IS NULL AND (s."owner" IS NULL OR s."leaseUntil" <= now()) AND EXISTS (
  SELECT 1 FROM "Mail" m WHERE m."sessionId" = s."id" AND m."state" = 'due' AND m."rank" = 0
    AND greatest(m."createdAt", m."dueAt") <= now() - $1 * interval '1 millisecond')
LIMIT 100`;

interface SessionPlaceRow {
  sessionId: string;
  botId: string;
  botName: string;
  conversationKey: string;
  personCount: number;
  installationId: string | null;
  platform: string;
  workspaceId: string;
  kind: SessionPlace["ref"]["kind"];
  channelId: string | null;
  threadId: string | null;
  nativeReplyTo: string | null;
}

type BotOutcomeRow =
  | { status: "done"; result: Extract<BotOutcome, { status: "done" }>["result"]; bot?: BotRow }
  | Exclude<BotOutcome, { status: "done" }>;

function placeOf(row: SessionPlaceRow): SessionPlace {
  const { sessionId, botId, botName, conversationKey, personCount, platform, workspaceId, kind } = row;
  return {
    ...{ sessionId, botId, botName, conversationKey, personCount },
    installationId: row.installationId ?? "",
    ref: {
      ...{ platform, workspaceId, kind },
      channelId: row.channelId ?? "",
      ...(row.threadId === null ? {} : { threadId: row.threadId }),
    },
    nativeReplyTo: given(row.nativeReplyTo),
  };
}

function outcomeOf(row: BotOutcomeRow): BotOutcome {
  if (row.status !== "done") return row;
  return { status: "done", result: row.result, ...(row.bot ? { bot: botOf(row.bot) } : {}) };
}

/** The operations on messages between bots and on bots made at run time. */
export function createPeerOperations({ query, call }: Database): PeerOperations {
  return {
    commitPeer: (claim, ref, input) => call<PeerOutcome>("parley_commit_peer", { claim, ...ref, ...input }),
    reportPeer: (input) => call<string | null>("parley_report_peer", input),
    reportLostMail: async () => {
      const [row] = await query<{ told: readonly string[] }>(`SELECT parley_report_lost_mail() AS told`);
      return row?.told ?? [];
    },
    readSessionPlace: async (sessionId) => {
      const [row] = await query<SessionPlaceRow>(`${sessionPlace} WHERE s."id" = $1`, [sessionId]);
      return row ? placeOf(row) : null;
    },
    waitingPeople: async (waitMs, platforms) =>
      (await query<SessionPlaceRow>(waiting, [waitMs, platforms])).map(placeOf),
    createBot: async (claim, ref, input) =>
      outcomeOf(await call<BotOutcomeRow>("parley_create_bot", { claim, ...ref, ...input })),
    updateBot: async (claim, ref, input) =>
      outcomeOf(await call<BotOutcomeRow>("parley_update_bot", { claim, ...ref, ...input })),
  };
}
