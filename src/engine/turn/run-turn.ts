/**
 * One waking of a bot, from claim to end (SPEC T3): begins a turn with the due mail or resumes the unfinished one, runs the loop under a working
 * status, and finishes it. The caller holds the claim and renews its lease.
 */

import type { Adapter } from "../adapter.ts";
import { FenceLostError } from "../errors.ts";
import { newId } from "../ids.ts";
import type { Mail } from "../mail.ts";
import type { Claim, Turn, TurnKind } from "../session.ts";
import { nextNode } from "../state/state-chain.ts";
import { directoryText } from "../state/teammates.ts";
import type { SessionView, StateNode } from "../store/store.ts";
import { finish } from "./endings.ts";
import { firstRoute, loadContext } from "./first-contact.ts";
import { type LoopEnd, runLoop } from "./loop.ts";
import { isPassedBy } from "./member-turn.ts";
import { keepReceipts } from "./receipts.ts";
import { firstSkills, newsOfSkills } from "./skill-calls.ts";
import { authorityOf, firstBatch } from "./take-mail.ts";
import { blockedBy, connectorPlace, readConnectors, type TurnConnectors, tellPeople } from "./turn-connectors.ts";
import { entriesOf, messageOf, newestPersonCount, routeAfter, unseenFor } from "./turn-input.ts";
import {
  applyNodes,
  askOf,
  type MemberTurn,
  memberTurnOf,
  newProgress,
  placeOf,
  type TurnControl,
  type TurnParts,
  type TurnRun,
} from "./turn-run.ts";

/** A turn that was lost this often without getting on is given up with an apology instead of being tried for ever. */
const MAX_ATTEMPTS = 12;
/** A platform's sign that lasts two minutes has to be renewed only every other time. */
const STATUS_EVERY_MS = 45_000;

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
  const directory = view.session.directory ?? (await firstDirectory(parts, claim, view));
  const skills = view.session.skills ?? (await firstSkills(parts, claim, view));
  const place = connectorPlace(view.conversation, view.turn ? view.taken : firstBatch(view.due));
  const connectors = await readConnectors(parts, view.session, place);
  const turnView = { ...view, directory, skills, connectors };
  const run = view.turn
    ? await resume(parts, claim, control, turnView, view.turn, adapter)
    : await begin(parts, claim, control, turnView, adapter);
  const status = keepStatus(run);
  const receipts = keepReceipts(run);
  run.onJoined = receipts.note;
  try {
    await conclude(run, await endOf(run));
  } finally {
    status.stop();
    receipts.end();
  }
  return true;
}

async function endOf(run: TurnRun): Promise<LoopEnd> {
  if (isGivenUp(run)) return { end: "interrupted" };
  // Found after a crash: people stopped it meanwhile, and are told so.
  if (run.turn.stopRequested) return { end: "cancelled" };
  if (await isPassedBy(run)) return { end: "silent" };
  const blocked = await blockedBy(run);
  if (blocked) return { end: "blocked", text: blocked };
  await tellPeople(run);
  return runLoop(run);
}

function isGivenUp({ turn, progress }: TurnRun): boolean {
  return turn.attempts - (progress.attemptsAtReply ?? 0) > MAX_ATTEMPTS;
}

/** The directory as it is now becomes this cycle's (SPEC X4). */
async function firstDirectory(parts: TurnParts, claim: Claim, view: SessionView): Promise<string> {
  const bots = await parts.store.listBots(view.bot.orgId);
  return parts.store.keepDirectory(claim, directoryText(bots, view.bot.id));
}

/** A session's rows with the directory, the skills and the connectors its prompt shows. */
type TurnView = SessionView & {
  readonly directory: string;
  readonly skills: string;
  readonly connectors: TurnConnectors;
};

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

function kindOf(view: SessionView, member: MemberTurn | undefined): TurnKind {
  if (member) return "member";
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
  const member = memberTurnOf(mail);
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
    kind: kindOf(view, member),
    member,
    asked: askOf(view.conversation, mail),
    directory: view.directory,
    skills: view.skills,
    offer: view.connectors.offer,
    messages: [],
    head: view.session.stateHead ?? null,
    cursor: view.session.cursor,
    step: turn.step,
    calls: [],
    progress: turn.progress,
    lostCalls: [],
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
  const news = await newsOfSkills(parts, view, mail);
  const notes = [...(news ? [news.note] : []), ...view.connectors.notes];
  const first = await firstInput(parts, view, mail, entries, notes);
  // The input is committed with the turn: a turn found after a crash always has something to read.
  const turn = await parts.store.beginTurn(claim, {
    turnId: newId("trn"),
    ...groupFacts(view, mail),
    route: routeAfter(firstRoute(view, mail), mail),
    authority: authorityOf(mail),
    progress: newProgress(personCount),
    mailIds: mail.map((item) => item.id),
    nodes: [first.node],
    cursor: first.cursor,
  });
  // After the input that says it: a crash in between tells it twice rather than never.
  if (news) await parts.store.tellSkills(claim, news.told);
  if (view.connectors.notes.length > 0) await parts.offers?.tell(view.session, view.connectors.told);
  const run = baseRun(parts, claim, control, withTeammates(view, mail), turn, adapter, [...mail]);
  run.messages = nodes.map((node) => node.message);
  applyNodes(run, [first.node]);
  run.cursor = first.cursor;
  return run;
}

async function firstInput(
  parts: TurnParts,
  view: TurnView,
  mail: readonly Mail[],
  entries: Awaited<ReturnType<typeof entriesOf>>,
  notes: readonly string[],
): Promise<{ readonly node: StateNode; readonly cursor: number }> {
  const { session, bot, conversation } = view;
  const reader = { parts, bot, conversation, cursor: session.cursor };
  const before = await unseenFor(reader, conversation, mail, view.due);
  const message = messageOf(reader, mail, entries, before, false, notes);
  return { node: nextNode(session.id, session.stateHead ?? null, "input", message), cursor: before.cursor };
}

/** The names that the identity of this cycle tells; fixed with the cycle's first turn (SPEC X4), later changes are told by reminders only. */
function teammatesIn(view: SessionView, mail: readonly Mail[]): readonly string[] | undefined {
  const body = mail[0]?.body;
  if (body?.type !== "discussion" || view.session.stateHead || view.session.teammates) return undefined;
  return body.roster.filter((one) => one.botId !== view.bot.id).map((one) => one.name);
}

function withTeammates(view: TurnView, mail: readonly Mail[]): TurnView {
  const teammates = teammatesIn(view, mail);
  return teammates ? { ...view, session: { ...view.session, teammates } } : view;
}

function groupFacts(view: SessionView, mail: readonly Mail[]) {
  const member = memberTurnOf(mail);
  const teammates = teammatesIn(view, mail);
  return {
    ...(member ? { discussionId: member.discussionId, epoch: member.epoch } : {}),
    ...(teammates ? { teammates } : {}),
  };
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
