/**
 * The life of a turn (SPEC T3, T4): input before the model is asked, its reply before tools run, each result with its effects.
 * Invariant: every write first locks the claimed session and checks the fence, in the same transaction; a lost claim is FenceLostError.
 * What a step means is the turn's business; here it is only kept so that any worker can go on with it.
 */
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

/** From the head back to where the cycle began: the first node, or the summary that replaced what was before it. */
const selectState = `
WITH RECURSIVE chain AS (
  SELECT n.*, 0 AS depth FROM "StateNode" n WHERE n."hash" = $1
  UNION ALL
  SELECT n.*, chain.depth + 1 FROM chain JOIN "StateNode" n ON n."hash" = chain."parent" WHERE chain."kind" <> 'summary'
)
SELECT "hash", "parent", "kind", "body" FROM chain ORDER BY depth DESC`;

type Woken = Awaited<ReturnType<Store["finishTurn"]>>;

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

function viewOf(row: SessionViewRow): SessionView {
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
export function createTurnOperations({ query, call }: Database): TurnOperations {
  return {
    viewSession: async (claim) => viewOf(await call<SessionViewRow>("parley_view_session", { claim })),
    loadState: async (_sessionId, head) => (await query<NodeRow>(selectState, [head])).map(nodeOf),
    beginTurn: async (claim, input) => {
      const nodes = input.nodes?.map(nodeInput);
      return turnOf(await call<TurnRow>("parley_begin_turn", { claim, ...input, nodes }));
    },
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
    commitCall: async (claim, ref, result, progress, discussion) => {
      await call("parley_commit_call", { claim, ...ref, result, progress, discussion });
    },
    commitSend: async (claim, ref, delivery, progress, discussion) =>
      entryOf(await call<EntryRow>("parley_commit_send", { claim, ...ref, delivery, progress, discussion })),
    finishTurn: (claim, input) =>
      call<Woken>("parley_finish_turn", { claim, ...input, nodes: input.nodes.map(nodeInput) }),
  };
}
