/**
 * The life of a turn (SPEC T3, T4): input before the model is asked, its reply before tools run, each result with its effects.
 * Invariant: every write first locks the claimed session and checks the fence, in the same transaction; a lost claim is FenceLostError.
 * What a step means is the turn's business; here it is only kept so that any worker can go on with it.
 */
import { FenceLostError } from "../errors.ts";
import type { Claim } from "../session.ts";
import {
  botOf,
  callOf,
  conversationOf,
  entryOf,
  installationOf,
  mailOf,
  nodeOf,
  sessionOf,
  turnOf,
} from "./from-rows.ts";
import { type Database, toJson } from "./hot-path.ts";
import type {
  BotRow,
  CallRow,
  ConversationRow,
  EntryRow,
  InstallationRow,
  MailRow,
  NodeRow,
  SessionRow,
  TurnRow,
} from "./rows.ts";
import type { SessionView, StateNode, Store } from "./store.ts";

type TurnOperations = Pick<
  Store,
  | "viewSession"
  | "loadState"
  | "beginTurn"
  | "resumeTurn"
  | "commitInput"
  | "commitReply"
  | "startCall"
  | "commitCall"
  | "commitSend"
  | "finishTurn"
>;

/** An author's name as it was when the entry was written, else as it is known now. */
const authorName = `coalesce(e."authorName", p."name", b."name")`;
const mailWithNames = `
  "Mail" m LEFT JOIN "Entry" e ON e."id" = m."entryId" AND e."authorId" = m."authorId"
  LEFT JOIN "Person" p ON p."id" = m."authorId" LEFT JOIN "Bot" b ON b."id" = m."authorId"`;

const selectSession = `
WITH held AS (SELECT * FROM "Session" WHERE "id" = $1 AND "owner" = $2 AND "fence" = $3),
turn AS (
  SELECT t.* FROM "Turn" t JOIN held ON held."id" = t."sessionId" WHERE t."status" IN ('running', 'settling')
  ORDER BY t."startedAt" DESC LIMIT 1),
due AS (
  SELECT m.*, ${authorName} AS "authorName" FROM ${mailWithNames}
  WHERE m."sessionId" = $1 AND m."state" = 'due' AND m."dueAt" <= now() ORDER BY m."rank", m."orderAt", m."seq" LIMIT 50),
taken AS (
  SELECT m.*, ${authorName} AS "authorName" FROM ${mailWithNames}
  WHERE m."turnId" = (SELECT "id" FROM turn) AND m."state" = 'taken')
SELECT to_jsonb(held) AS session, to_jsonb(bot) AS bot,
  to_jsonb(place) || jsonb_build_object('channelName', (SELECT c."name" FROM "Channel" c
    WHERE c."platform" = place."platform" AND c."workspaceId" = place."workspaceId" AND c."channelId" = place."channelId")) AS conversation,
  (SELECT to_jsonb(i) || jsonb_build_object('botId', a."botId", 'platform', a."platform", 'appId', a."appId")
    FROM "Installation" i JOIN "Account" a ON a."id" = i."accountId" WHERE i."id" = held."installationId") AS installation,
  (SELECT to_jsonb(turn) FROM turn) AS turn,
  (SELECT coalesce(jsonb_agg(to_jsonb(c) ORDER BY c."index"), '[]') FROM "ToolCall" c JOIN turn ON turn."id" = c."turnId" AND turn."step" = c."step")
    AS calls,
  (SELECT coalesce(jsonb_agg(to_jsonb(due) ORDER BY due."rank", due."orderAt", due."seq"), '[]') FROM due) AS due,
  (SELECT coalesce(jsonb_agg(to_jsonb(taken) ORDER BY taken."orderAt", taken."seq"), '[]') FROM taken) AS taken
FROM held JOIN "Bot" bot ON bot."id" = held."botId" JOIN "Conversation" place ON place."key" = held."conversationKey"`;

/** From the head back to where the cycle began: the first node, or the summary that replaced what was before it. */
const selectState = `
WITH RECURSIVE chain AS (
  SELECT n.*, 0 AS depth FROM "StateNode" n WHERE n."hash" = $1
  UNION ALL
  SELECT n.*, chain.depth + 1 FROM chain JOIN "StateNode" n ON n."hash" = chain."parent" WHERE chain."kind" <> 'summary'
)
SELECT "hash", "parent", "kind", "body" FROM chain ORDER BY depth DESC`;

interface SessionViewRow {
  session: SessionRow;
  bot: BotRow;
  conversation: ConversationRow;
  installation: InstallationRow | null;
  turn: TurnRow | null;
  calls: CallRow[];
  due: MailRow[];
  taken: MailRow[];
}

async function viewSession({ query }: Database, { sessionId, owner, fence }: Claim): Promise<SessionView> {
  const [row] = await query<SessionViewRow>(selectSession, [sessionId, owner, fence]);
  if (!row) throw new FenceLostError("Another worker holds this session now.");
  return {
    session: sessionOf(row.session),
    bot: botOf(row.bot),
    conversation: conversationOf(row.conversation),
    installation: row.installation === null ? undefined : installationOf(row.installation),
    turn: row.turn === null ? undefined : turnOf(row.turn),
    calls: row.calls.map(callOf),
    due: row.due.map(mailOf),
    taken: row.taken.map(mailOf),
  };
}

/** Messages travel as text inside the JSON, so that they are stored as they are written. */
function nodeInput(node: StateNode): object {
  return { ...node, message: toJson(node.message) };
}

/** The operations of a turn. */
export function createTurnOperations(database: Database): TurnOperations {
  const { query, call } = database;
  return {
    viewSession: (claim) => viewSession(database, claim),
    loadState: async (_sessionId, head) => (await query<NodeRow>(selectState, [head])).map(nodeOf),
    beginTurn: async (claim, input) => turnOf(await call<TurnRow>("parley_begin_turn", { claim, ...input })),
    resumeTurn: (claim, turnId) => call<number>("parley_resume_turn", { claim, turnId }),
    commitInput: async (claim, input) => {
      await call("parley_commit_input", { claim, ...input, nodes: input.nodes.map(nodeInput) });
    },
    commitReply: async (claim, input) => {
      await call("parley_commit_reply", { claim, ...input, node: nodeInput(input.node) });
    },
    startCall: async (claim, ref) => {
      await call("parley_start_call", { claim, ...ref });
    },
    commitCall: async (claim, ref, result, progress) => {
      await call("parley_commit_call", { claim, ...ref, result, progress });
    },
    commitSend: async (claim, ref, delivery, progress) =>
      entryOf(await call<EntryRow>("parley_commit_send", { claim, ...ref, delivery, progress })),
    finishTurn: async (claim, input) => {
      await call("parley_finish_turn", { claim, ...input, nodes: input.nodes.map(nodeInput) });
    },
  };
}
