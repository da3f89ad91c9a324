/**
 * A member's turn in a Group's discussion (SPEC G3, G12): each bubble is counted in the transaction that says it, and the end of the turn hands over to
 * the next speaker in the transaction that ends it. A turn that tells an answer there, of a teammate (SPEC A1) or of a person to a card (SPEC G8), is
 * counted too, beside the round. Decided from the discussion as it was read; when somebody moved it meanwhile, read and decided again.
 */

import type { HostCard } from "../card.ts";
import { channelRowId } from "../conversation.ts";
import type { Discussion, DiscussionMove, DiscussionState } from "../discussion.ts";
import { afterAnswerTurn, afterAsk, afterTold, afterUntold } from "../group/asked.ts";
import { afterBubble, afterLostBubble, afterTurn } from "../group/discussion.ts";
import { continueCard, moveTo, wakeCurrent } from "../group/discussion-mail.ts";
import { mayAsk, mayBubble, mayTell } from "../group/group-limits.ts";
import { repeated } from "../group/repeated.ts";
import { codeRanges, namedInText, quoteRanges } from "../handles.ts";
import type { DiscussionAsk } from "../mail.ts";
import type { Wake } from "../store/store.ts";
import type { TurnRun } from "./turn-run.ts";

/** What a refused member is told, as text for the model; undefined when it may speak now. */
export async function refusalOf(run: TurnRun): Promise<string | undefined> {
  const discussion = await discussionOf(run);
  return discussion ? refusal(run, discussion) : undefined;
}

function refusal(run: TurnRun, discussion: Discussion): string | undefined {
  const { groups } = run.parts.settings;
  const decision = run.asked
    ? mayTell(discussion.state, run.asked.key, run.progress.bubbles, groups)
    : mayBubble(discussion.state, run.bot.id, groups);
  if (decision.open) return undefined;
  run.isSilenced = true;
  return decision.text;
}

/** Says a bubble and counts it, or returns why not. `text` is what the bubble says; teammates mentioned in it are called (SPEC G4). */
export async function sayInGroup<Said>(
  run: TurnRun,
  text: string,
  say: (move?: DiscussionMove) => Promise<Said>,
): Promise<{ readonly ok: true; readonly said: Said } | { readonly ok: false; readonly text: string }> {
  return repeated(async () => {
    const discussion = await discussionOf(run);
    if (!discussion) return { ok: true, said: await say() };
    const refused = refusal(run, discussion);
    if (refused) return { ok: false, text: refused };
    const { roster } = discussion.frame;
    const unsaid = [...codeRanges(text), ...quoteRanges(text)];
    const calls = namedInText(text, unsaid, roster).map((named) => named.botId);
    const botId = run.bot.id;
    const state = run.asked
      ? afterTold(discussion.state, run.asked.key, botId, calls, roster)
      : afterBubble(discussion.state, botId, calls, roster);
    const restartsWait = !run.asked && state.current === botId;
    return { ok: true, said: await say(moveTo(discussion, state, { restartsWait })) };
  });
}

/** Whether a bubble in this conversation counts in the discussion: it is the place it is held in, or another one of the same native channel. */
export function countsInGroup(run: TurnRun, conversationKey: string): boolean {
  const { key, kind } = run.conversation;
  if (key === conversationKey) return true;
  const channel = channelRowId(run.conversation);
  const isRoom = kind === "channel" || kind === "thread";
  return isRoom && (conversationKey === channel || conversationKey.startsWith(`${channel}:`));
}

/** A bubble that the platform did not take uses up nothing: given back in the commit that tells the member so, hence once. */
export async function takeBackBubble(run: TurnRun, commit: (move?: DiscussionMove) => Promise<void>): Promise<void> {
  await repeated(async () => {
    const discussion = await discussionOf(run);
    if (!discussion || (discussion.state.endReason && !run.asked)) return commit();
    const { state } = discussion;
    const botId = run.bot.id;
    return commit(
      moveTo(discussion, run.asked ? afterUntold(state, run.asked.key, botId) : afterLostBubble(state, botId)),
    );
  });
}

/** A question to a teammate, with what its discussion keeps for the answer; or why there may be none. Outside a discussion it is only committed. */
export async function askFromGroup<Asked>(
  run: TurnRun,
  key: string,
  commit: (ask?: DiscussionAsk, move?: DiscussionMove) => Promise<Asked>,
): Promise<{ readonly ok: true; readonly asked: Asked } | { readonly ok: false; readonly text: string }> {
  return repeated(async () => {
    const discussion = await discussionOf(run);
    if (!discussion) return { ok: true, asked: await commit() };
    const decision = mayAsk(discussion.state, run.asked?.key, run.parts.settings.groups);
    if (!decision.open) return { ok: false, text: decision.text };
    const move = moveTo(discussion, afterAsk(discussion.state, key, run.bot.id));
    return { ok: true, asked: await commit({ discussionId: discussion.id, key }, move) };
  });
}

/** How the end of a turn moves its discussion: the move, the next speaker's mail, and the card when a limit cut it short. */
export interface Handover {
  readonly move: DiscussionMove;
  readonly wake: readonly Wake[];
  readonly card?: HostCard;
}

/** Undefined when the discussion is not waiting for this turn: it has gone on, has ended, or a newer message for this member waits (SPEC G7). */
export async function handoverOf(run: TurnRun, outcome: "done" | "failed"): Promise<Handover | undefined> {
  const discussion = await discussionOf(run);
  const botId = run.bot.id;
  if (discussion && run.asked) return answerOver(run, discussion, run.asked.key);
  if (!discussion || discussion.state.endReason) return undefined;
  const { current, epoch, apart } = discussion.state;
  if (current !== botId && apart[botId] === undefined) return undefined;
  if (current === botId && epoch !== run.member?.epoch) return undefined;
  const { groups } = run.parts.settings;
  const state = afterTurn(discussion.state, botId, outcome, groups, discussion.frame.roster);
  return handover(run, discussion, state, current === botId);
}

/** The turn that told an answer frees what was kept for it; it hands over only when nobody has the turn. */
function answerOver(run: TurnRun, discussion: Discussion, ask: string): Handover | undefined {
  const { state, frame } = discussion;
  const isOpen = state.endReason === null;
  const isKept = state.asked[ask] !== undefined || state.answering[ask] !== undefined;
  if (!isKept && !(isOpen && state.current === null)) return undefined;
  return handover(run, discussion, afterAnswerTurn(state, ask, run.parts.settings.groups, frame.roster), false);
}

/** Wakes the next speaker when this turn had the round's turn or nobody had it, and offers to go on when a limit ended the discussion by this. */
function handover(run: TurnRun, discussion: Discussion, state: DiscussionState, hadTurn: boolean): Handover {
  const move = moveTo(discussion, state);
  const wake = hadTurn || discussion.state.current === null ? wakeCurrent(move, run.parts.clock.now()) : [];
  const card = discussion.state.endReason === null ? continueCard(move) : undefined;
  return { move, wake, ...(card ? { card } : {}) };
}

/** True when the discussion no longer waits for this member: a person's newer message chose others while its mail was on the way. */
export async function isPassedBy(run: TurnRun): Promise<boolean> {
  if (!run.member || run.step > 0 || run.mail.some(({ body }) => body.type !== "discussion")) return false;
  const discussion = await discussionOf(run);
  if (!discussion) return true;
  const { current, endReason, apart } = discussion.state;
  return endReason !== null || (current !== run.bot.id && apart[run.bot.id] === undefined);
}

async function discussionOf(run: TurnRun): Promise<Discussion | null> {
  const id = run.member?.discussionId ?? run.asked?.discussionId;
  return id === undefined ? null : run.parts.store.readDiscussion(id);
}
