/**
 * One waking of a bot, from claim to end (SPEC T3): begins a turn with the due mail or resumes the unfinished one, runs the loop under a working
 * status, and finishes it. The caller holds the claim and renews its lease.
 */

import type { Adapter } from "../adapter.ts";
import { buildInput } from "../context/build-input.ts";
import type { Route } from "../conversation.ts";
import { FenceLostError } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Mail } from "../mail.ts";
import type { Claim, Turn, TurnKind } from "../session.ts";
import { nextNode } from "../state/state-chain.ts";
import { directoryText } from "../state/teammates.ts";
import type { NewEntry, SessionView, StateNode } from "../store/store.ts";
import { finish } from "./endings.ts";
import { type LoopEnd, runLoop } from "./loop.ts";
import { authorityOf, firstBatch } from "./take-mail.ts";
import { entriesOf, newestPersonCount, routeAfter, unseenBefore } from "./turn-input.ts";
import { applyNodes, newProgress, placeOf, type TurnControl, type TurnParts, type TurnRun } from "./turn-run.ts";

/** A turn that was lost this often without getting on is given up with an apology instead of being tried for ever. */
const MAX_ATTEMPTS = 12;
const HISTORY_LIMIT = 30;
const HISTORY_MS = 8000;
const STATUS_EVERY_MS = 60_000;

/** Runs one turn of a claimed session. Returns false when there was nothing to do; always gives the claim back or loses it. */
export async function runTurn(parts: TurnParts, claim: Claim, control: TurnControl): Promise<boolean> {
  const view = await parts.store.viewSession(claim);
  if (!view.turn && view.due.length === 0) {
    await parts.store.release(claim);
    return false;
  }
  const adapter = parts.adapters(view.conversation.platform);
  if (!adapter) {
    parts.log.debug(
      { sessionId: claim.sessionId, platform: view.conversation.platform },
      "platform not running; mail waits",
    );
    await parts.store.release(claim);
    return false;
  }
  const teammates = view.session.teammates ?? (await firstDirectory(parts, claim, view));
  const run = view.turn
    ? await resume(parts, claim, control, { ...view, teammates }, view.turn, adapter)
    : await begin(parts, claim, control, { ...view, teammates }, adapter);
  const status = keepStatus(run);
  try {
    const end = isGivenUp(run) ? ({ end: "interrupted" } as const) : await runLoop(run);
    await conclude(run, end);
  } finally {
    status.stop();
  }
  return true;
}

function isGivenUp({ turn, progress }: TurnRun): boolean {
  return turn.attempts - (progress.attemptsAtReply ?? 0) > MAX_ATTEMPTS;
}

/** The directory as it is now becomes this cycle's (SPEC X4). */
async function firstDirectory(parts: TurnParts, claim: Claim, view: SessionView): Promise<string> {
  const bots = await parts.store.listBots(view.bot.orgId);
  return parts.store.keepTeammates(claim, directoryText(bots, view.bot.id));
}

/** A session's rows with the directory its prompt shows. */
type TurnView = SessionView & { readonly teammates: string };

async function conclude(run: TurnRun, end: LoopEnd): Promise<void> {
  const why = run.control.why();
  if (why === "lost") throw new FenceLostError("the claim passed to another worker");
  if (end.end === "cancelled" && why === "yield") {
    // Going away: the turn stays running and another process, or this one after its restart, takes it up.
    await run.parts.store.release(run.claim);
    return;
  }
  if (end.end === "failed") {
    const { problem, text, model } = end.reply;
    run.parts.log.error(
      { turnId: run.turn.id, botId: run.bot.id, model, problem, text: run.parts.mask(text) },
      "model failed",
    );
  }
  if (end.end === "interrupted") {
    run.parts.log.error({ turnId: run.turn.id, botId: run.bot.id, attempts: run.turn.attempts }, "turn given up");
  }
  await settleSends(run);
  await finish(run, end);
}

const SETTLE_MS = 10_000;

/** A turn settles when its sends have closed (SPEC M7); what takes longer is the outbox's, and a late failure comes back as mail. */
async function settleSends(run: TurnRun): Promise<void> {
  if (run.control.cancel.aborted) return;
  for (const entryId of run.openSends) await run.parts.outbox.waitClosed(entryId, SETTLE_MS, run.control.cancel);
}

function kindOf(view: SessionView): TurnKind {
  switch (view.conversation.kind) {
    case "direct":
      return "main";
    case "peer":
    case "background":
      return view.conversation.kind;
    default:
      return "room";
  }
}

async function resume(
  parts: TurnParts,
  claim: Claim,
  control: TurnControl,
  view: TurnView,
  turn: Turn,
  adapter: Adapter,
): Promise<TurnRun> {
  const attempts = await parts.store.resumeTurn(claim, turn.id);
  parts.log.warn({ turnId: turn.id, botId: view.bot.id, attempts }, "turn taken up again");
  const nodes = await stateOf(parts, view);
  const run = baseRun(parts, claim, control, view, { ...turn, attempts }, adapter, [...view.taken]);
  return {
    ...run,
    messages: nodes.map((node) => node.message),
    head: view.session.stateHead ?? null,
    calls: [...view.calls],
  };
}

/** What the model has seen and said so far in this cycle. */
async function stateOf(parts: TurnParts, { session }: SessionView): Promise<readonly StateNode[]> {
  return session.stateHead ? parts.store.loadState(session.id, session.stateHead) : [];
}

function baseRun(
  parts: TurnParts,
  claim: Claim,
  control: TurnControl,
  view: TurnView,
  turn: Turn,
  adapter: Adapter,
  mail: Mail[],
): TurnRun {
  return {
    parts,
    claim,
    control,
    adapter,
    turn,
    mail,
    bot: view.bot,
    conversation: view.conversation,
    session: view.session,
    kind: kindOf(view),
    teammates: view.teammates,
    messages: [],
    head: view.session.stateHead ?? null,
    cursor: view.session.cursor,
    step: turn.step,
    calls: [],
    progress: turn.progress,
    openSends: [],
  };
}

async function begin(
  parts: TurnParts,
  claim: Claim,
  control: TurnControl,
  view: TurnView,
  adapter: Adapter,
): Promise<TurnRun> {
  const mail = firstBatch(view.due);
  await loadContext(parts, view, adapter, mail);
  const [entries, nodes] = await Promise.all([entriesOf(parts, mail, control.cancel), stateOf(parts, view)]);
  const personCount = newestPersonCount(entries, view.conversation.personCount);
  const first = await firstInput(parts, view, mail, entries);
  // The input is committed with the turn: a turn found after a crash always has something to read.
  const turn = await parts.store.beginTurn(claim, {
    turnId: newId("trn"),
    route: routeAfter(firstRoute(view, mail), mail),
    authority: authorityOf(mail),
    progress: newProgress(personCount),
    mailIds: mail.map((item) => item.id),
    nodes: [first.node],
    cursor: first.cursor,
  });
  const run = baseRun(parts, claim, control, view, turn, adapter, [...mail]);
  run.messages = nodes.map((node) => node.message);
  applyNodes(run, [first.node]);
  run.cursor = first.cursor;
  return run;
}

async function firstInput(
  parts: TurnParts,
  view: SessionView,
  mail: readonly Mail[],
  entries: Awaited<ReturnType<typeof entriesOf>>,
): Promise<{ readonly node: StateNode; readonly cursor: number }> {
  const { session, bot, conversation } = view;
  const waiting = new Set(view.due.flatMap((item) => item.entryId ?? []));
  const before = await unseenBefore(parts.store, conversation, session.cursor, bot.id, waiting);
  const message = buildInput({
    mail,
    entries,
    unseen: before.unseen,
    omitted: before.omitted,
    botId: bot.id,
    guidance: parts.settings.sendMessageGuidance,
    reader: conversation.kind === "peer" ? "teammate" : "people",
  });
  return { node: nextNode(session.id, session.stateHead ?? null, "input", message), cursor: before.cursor };
}

function firstRoute(view: SessionView, mail: readonly Mail[]): Route {
  const named = mail[0]?.route.split("|")[1];
  const installationId = named ?? view.installation?.id ?? view.session.installationId ?? "";
  const { platform, workspaceId, kind, channelId, threadId, channelName } = view.conversation;
  const ref = {
    platform,
    workspaceId,
    kind,
    channelId,
    ...(threadId ? { threadId } : {}),
    ...(channelName ? { channelName } : {}),
  };
  return { conversationKey: view.conversation.key, ref, installationId };
}

/** First contact in an existing thread: its root and newest replies become context entries, once (SPEC I4). */
async function loadContext(
  parts: TurnParts,
  view: SessionView,
  adapter: Adapter,
  mail: readonly Mail[],
): Promise<void> {
  const { conversation } = view;
  if (conversation.kind !== "thread" || conversation.contextLoaded) return;
  const route = firstRoute(view, mail);
  const late = new AbortController();
  const timeout = parts.clock.delay(HISTORY_MS, late.signal).then(() => []);
  const history = adapter.history(route.installationId, route.ref, HISTORY_LIMIT).catch((error: unknown) => {
    parts.log.warn(
      { conversationKey: conversation.key, error: String(error) },
      "earlier messages of the thread could not be read",
    );
    return [];
  });
  const found = await Promise.race([history, timeout]).finally(() => late.abort());
  const entries = found.map(
    (item): NewEntry => ({
      author: { kind: item.from.kind === "bot" ? "bot" : "person", id: item.from.id, name: item.from.name },
      kind: "context",
      platformId: item.platformId,
      at: item.at,
      text: item.text,
      body: {},
      files: [],
    }),
  );
  await parts.store.addContext(conversation.key, entries);
}

/** Shows that the bot works, again and again while it does; never lets that disturb the turn. */
function keepStatus(run: TurnRun): { stop(): void } {
  const ended = new AbortController();
  const show = (working: boolean) =>
    run.adapter.showWorking?.(placeOf(run), working).catch((error: unknown) => {
      run.parts.log.debug({ turnId: run.turn.id, error: String(error) }, "working status not shown");
    });
  const loop = async () => {
    while (!ended.signal.aborted) {
      void show(true);
      await run.parts.clock.delay(STATUS_EVERY_MS, ended.signal);
    }
  };
  void loop();
  return {
    stop() {
      ended.abort();
      void show(false);
    },
  };
}
