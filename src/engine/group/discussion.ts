/**
 * The rules of a discussion (SPEC G2–G4, G7–G9): who is next, what a bubble changes, when it ends and why. Pure functions from state to state; the
 * caller stores the result under the row's revision, so that of two moves made from the same state only one counts.
 * Invariants: every turn either says something that is counted, or brings the round nearer to its end; so it always ends. It does not end before those who
 * are at work beside the round and may still say something: then nobody has the turn (`current` is null) until they have.
 */

import type { DiscussionState, EndReason, GroupMember } from "../discussion.ts";
import { type GroupLimits, hasFreeBubble, keptBeside, keptFor, keptForAnswers } from "./group-limits.ts";
import type { Speakers } from "./speakers.ts";

/** Everybody who may be called in, in configured order. */
export type Roster = readonly Pick<GroupMember, "botId">[];

/** A new discussion with its first speaker. `first` go before the others in round 1, as after Continue (SPEC G9). */
export function beginDiscussion(
  speakers: Speakers,
  roster: Roster,
  epoch = 1,
  first: readonly string[] = [],
): DiscussionState {
  const members = inOrder(roster, speakers.selected);
  const order = [...members.filter((id) => first.includes(id)), ...members.filter((id) => !first.includes(id))];
  return giveTurn(
    {
      epoch,
      round: 1,
      members,
      named: speakers.named,
      order,
      current: null,
      heard: [],
      served: [],
      out: [],
      called: [],
      apart: {},
      asked: {},
      answering: {},
      total: 0,
      inRound: 0,
      inTurn: 0,
      endReason: null,
      owed: [],
    },
    order[0] ?? "",
    roster,
  );
}

/** After a bubble of this member that calls these teammates by name (SPEC G4: calls add speakers, never silence those the person chose). */
export function afterBubble(
  state: DiscussionState,
  botId: string,
  calls: readonly string[],
  roster: Roster,
): DiscussionState {
  const called = inOrder(roster, calls).filter((id) => id !== botId && id !== state.current);
  const isCurrent = state.current === botId;
  return {
    ...state,
    heard: add(state.heard, botId),
    called: [...new Set([...state.called, ...called])],
    apart: isCurrent ? state.apart : { ...state.apart, [botId]: Math.max(0, (state.apart[botId] ?? 0) - 1) },
    asked: isCurrent ? state.asked : without(state.asked, keptBeside(botId)),
    total: state.total + 1,
    inRound: state.inRound + 1,
    inTurn: isCurrent ? state.inTurn + 1 : state.inTurn,
  };
}

/** A bubble that the platform did not take counts for nothing. */
export function afterLostBubble(state: DiscussionState, botId: string): DiscussionState {
  const isCurrent = state.current === botId;
  const beside = state.apart[botId];
  return {
    ...state,
    ...(isCurrent && state.round === 1 && state.inTurn <= 1 ? { heard: state.heard.filter((id) => id !== botId) } : {}),
    ...(isCurrent || beside === undefined
      ? {}
      : { apart: { ...state.apart, [botId]: beside + 1 }, asked: { ...state.asked, [keptBeside(botId)]: botId } }),
    total: Math.max(0, state.total - 1),
    inRound: Math.max(0, state.inRound - 1),
    inTurn: isCurrent ? Math.max(0, state.inTurn - 1) : state.inTurn,
  };
}

/**
 * After a member's turn. A member that failed is passed by until a person writes again (SPEC G8). The end of a turn beside the round moves it only when
 * nobody else has the turn.
 */
export function afterTurn(
  state: DiscussionState,
  botId: string,
  outcome: "done" | "failed",
  limits: GroupLimits,
  roster: Roster,
): DiscussionState {
  const rest = { ...state, apart: without(state.apart, botId), asked: without(state.asked, keptBeside(botId)) };
  if (state.current !== botId) return goOn(rest, limits, roster);
  const out = outcome === "failed" ? add(state.out, botId) : state.out;
  return advance({ ...rest, out, served: add(state.served, botId) }, limits, roster);
}

/** Nobody has the turn, and somebody beside the round has ended: the rounds go on with what came of it, or the discussion ends. */
export function goOn(state: DiscussionState, limits: GroupLimits, roster: Roster): DiscussionState {
  return state.endReason === null && state.current === null ? advance(state, limits, roster) : state;
}

/**
 * The current member shows nothing: the round goes on without it, and it may still say its bubbles beside it (SPEC G8). One of them stays kept for it, so
 * that talkative teammates do not take away what it was asked for.
 */
export function afterLate(state: DiscussionState, limits: GroupLimits, roster: Roster): DiscussionState {
  const { current } = state;
  if (current === null) return state;
  const left = Math.max(0, limits.maxPerTurn - state.inTurn);
  return advance(beside({ ...state, out: add(state.out, current) }, current, left, limits), limits, roster);
}

/** This member is at work beside the round with so many bubbles, the first of them kept if there is one to keep. */
function beside(state: DiscussionState, botId: string, bubbles: number, limits: GroupLimits): DiscussionState {
  const isKept = bubbles > 0 && hasFreeBubble(state, limits);
  return {
    ...state,
    apart: { ...state.apart, [botId]: bubbles },
    asked: isKept ? { ...state.asked, [keptBeside(botId)]: botId } : state.asked,
  };
}

/** Somebody left the Group. */
export function afterLeaving(
  state: DiscussionState,
  botId: string,
  limits: GroupLimits,
  roster: Roster,
): DiscussionState {
  const others = (ids: readonly string[]) => ids.filter((id) => id !== botId);
  const ofOthers = (kept: Readonly<Record<string, string>>) =>
    Object.fromEntries(Object.entries(kept).filter(([, member]) => member !== botId));
  const rest = {
    ...state,
    apart: without(state.apart, botId),
    asked: ofOthers(state.asked),
    answering: ofOthers(state.answering),
    members: others(state.members),
    named: others(state.named),
    order: others(state.order),
    called: others(state.called),
  };
  return state.current === botId ? advance(rest, limits, roster) : goOn(rest, limits, roster);
}

/** A person's new message in a running discussion. */
export interface NewWords {
  readonly speakers: Speakers;
  /** It is of the same person as the message before (SPEC G7). */
  readonly samePerson: boolean;
  /** Bots that are at work on a turn of this discussion. */
  readonly running: readonly string[];
}

/**
 * SPEC G7: the epoch rises and the limits begin anew. The same person's selection replaces the old one, another's is united with those not yet
 * heard. A running member that is selected again stays at turn and reads the message; every other member at work, also one from an older epoch, may say
 * one more bubble beside the round.
 */
export function afterPerson(
  state: DiscussionState,
  words: NewWords,
  limits: GroupLimits,
  roster: Roster,
): DiscussionState {
  const { current, apart } = state;
  const atWork = inOrder(roster, [...(current === null ? [] : [current]), ...Object.keys(apart)]).filter((id) =>
    words.running.includes(id),
  );
  // Late, and not even begun: its mail of the older epoch is dropped, so it waits like those behind it.
  const isOwed = (id: string) => !state.out.includes(id) || (apart[id] !== undefined && !atWork.includes(id));
  const waiting = state.members.filter((id) => !state.heard.includes(id) && isOwed(id));
  const kept = words.samePerson ? [] : waiting;
  const speakers: Speakers = {
    selected: inOrder(roster, [...words.speakers.selected, ...kept]),
    named: [...new Set([...words.speakers.named, ...state.named.filter((id) => kept.includes(id))])],
  };
  const chosen = atWork.filter((id) => speakers.selected.includes(id));
  const first = chosen.filter((id) => id === current);
  const begun = beginDiscussion(speakers, roster, state.epoch + 1, first.length > 0 ? first : chosen);
  const asked = Object.entries(state.asked).filter(([key, member]) => key !== keptBeside(member));
  const fresh = { ...begun, asked: Object.fromEntries(asked), answering: state.answering };
  // Who has said its last bubble beside the round already may say no further one.
  const besides = atWork.filter((id) => id !== fresh.current && (id === current || (apart[id] ?? 0) > 0));
  return besides.reduce((next, id) => beside(next, id, 1, limits), fresh);
}

/** Ended by a person (SPEC T5). */
export function afterStop(state: DiscussionState): DiscussionState {
  return state.endReason === null ? { ...end(state, "stopped", []), asked: {}, answering: {} } : state;
}

/** Members of the roster among these ids, in configured order, each once. */
export function inOrder(roster: Roster, ids: readonly string[]): readonly string[] {
  return roster.map((member) => member.botId).filter((id) => ids.includes(id));
}

/** The next turn, or the end; neither, as long as somebody beside the round may still say something. */
function advance(state: DiscussionState, limits: GroupLimits, roster: Roster): DiscussionState {
  const order = state.order.filter((id) => !state.out.includes(id) && mayAddSomething(state, id));
  const called = state.called.filter((id) => !state.out.includes(id));
  const next = called.find((id) => !state.heard.includes(id) && canBeAdmitted(state, id, limits)) ?? order[0];
  const owed = inOrder(roster, [...called, ...order]);
  const waits: DiscussionState = { ...state, current: null, order };
  const isAwaited = state.total < limits.maxBubbles && isAtWork(state);
  if (isSpent(state, limits)) return isAwaited ? waits : end(state, "limit", owed);
  if (next !== undefined) return giveTurn({ ...state, order }, next, roster);
  if (state.inRound === 0) return isAwaited ? waits : end(state, reasonOf(state), []);
  if (state.round >= limits.maxRounds) return isAwaited ? waits : end(state, "limit", owed);
  const further = { ...state, round: state.round + 1, inRound: 0, order: rotated(state.members, state.round) };
  return advance(further, limits, roster);
}

/** Somebody beside the round who may still say something. */
function isAtWork({ apart, answering }: DiscussionState): boolean {
  return Object.values(apart).some((bubbles) => bubbles > 0) || Object.keys(answering).length > 0;
}

/** What is left to say is kept for answers of teammates, and those are told in turns of their own. */
function isSpent(state: DiscussionState, limits: GroupLimits): boolean {
  const left = limits.maxBubbles - state.total;
  return left <= 0 || (left <= keptForAnswers(state) && keptFor(state, "").length === 0);
}

/** Alone among itself a member has nothing new to read after its turn, and would only go on talking. */
function mayAddSomething(state: DiscussionState, botId: string): boolean {
  return !state.served.includes(botId) || state.called.includes(botId) || state.members.length > 1;
}

/** A teammate that was called in must not take what is kept for those the person chose (SPEC G4). */
function canBeAdmitted(state: DiscussionState, botId: string, limits: GroupLimits): boolean {
  return (
    state.members.includes(botId) ||
    limits.maxBubbles - state.total > keptFor(state, botId).length + keptForAnswers(state)
  );
}

function reasonOf({ heard, members, out }: DiscussionState): EndReason {
  return heard.length === 0 && members.every((id) => out.includes(id)) ? "failed" : "passed";
}

function giveTurn(state: DiscussionState, botId: string, roster: Roster): DiscussionState {
  return {
    ...state,
    members: inOrder(roster, [...state.members, botId]),
    current: botId,
    order: state.order.filter((id) => id !== botId),
    called: state.called.filter((id) => id !== botId),
    inTurn: 0,
  };
}

function end(state: DiscussionState, endReason: EndReason, owed: readonly string[]): DiscussionState {
  return { ...state, current: null, order: [], apart: {}, endReason, owed };
}

/** The configured order, beginning one further on with each round (SPEC G4). */
function rotated(members: readonly string[], by: number): readonly string[] {
  const at = members.length > 0 ? by % members.length : 0;
  return [...members.slice(at), ...members.slice(0, at)];
}

function without<Value>(record: Readonly<Record<string, Value>>, key: string): Readonly<Record<string, Value>> {
  const { [key]: _gone, ...rest } = record;
  return rest;
}

function add(ids: readonly string[], id: string): readonly string[] {
  return ids.includes(id) ? ids : [...ids, id];
}
