/**
 * A member's turn in a Group's discussion (SPEC G3, G12): each bubble is counted in the transaction that says it, and the end of the turn hands over to
 * the next speaker in the transaction that ends it. Decided from the discussion as it was read; when somebody moved it meanwhile, read and decided again.
 */

import type { HostCard } from "../card.ts";
import type { Discussion, DiscussionMove } from "../discussion.ts";
import { afterBubble, afterLostBubble, afterTurn } from "../group/discussion.ts";
import { continueCard, moveTo, wakeCurrent } from "../group/discussion-mail.ts";
import { mayBubble } from "../group/group-limits.ts";
import { repeated } from "../group/repeated.ts";
import { codeRanges, namedInText } from "../handles.ts";
import type { Wake } from "../store/store.ts";
import type { TurnRun } from "./turn-run.ts";

/** What a refused member is told, as text for the model; undefined when it may speak now. */
export async function refusalOf(run: TurnRun): Promise<string | undefined> {
  const discussion = await discussionOf(run);
  return discussion ? refusal(run, discussion) : undefined;
}

function refusal(run: TurnRun, discussion: Discussion): string | undefined {
  const decision = mayBubble(discussion.state, run.bot.id, run.parts.settings.groups);
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
    const calls = namedInText(text, codeRanges(text), roster).map((named) => named.botId);
    const state = afterBubble(discussion.state, run.bot.id, calls, roster);
    const restartsWait = state.current === run.bot.id;
    return { ok: true, said: await say(moveTo(discussion, state, { restartsWait })) };
  });
}

/** A bubble that the platform did not take uses up nothing. */
export async function takeBackBubble(run: TurnRun): Promise<void> {
  await repeated(async () => {
    const discussion = await discussionOf(run);
    if (!discussion || discussion.state.endReason) return;
    const move = moveTo(discussion, afterLostBubble(discussion.state, run.bot.id));
    await run.parts.store.stepDiscussion({ move, wake: [], hostCards: [] });
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
  if (!discussion || discussion.state.endReason) return undefined;
  const { current, epoch, apart } = discussion.state;
  if (current !== botId && apart[botId] === undefined) return undefined;
  if (current === botId && epoch !== run.member?.epoch) return undefined;
  const { groups } = run.parts.settings;
  const move = moveTo(discussion, afterTurn(discussion.state, botId, outcome, groups, discussion.frame.roster));
  const wake = current === botId ? wakeCurrent(move, run.parts.clock.now()) : [];
  const card = continueCard(move);
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
  return run.member ? run.parts.store.readDiscussion(run.member.discussionId) : null;
}
