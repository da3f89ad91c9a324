/**
 * What a turn says to other bots (SPEC A1, A2): SendToAgent to a teammate, and, in a conversation between two bots, the answer to the one that asked.
 * A message is committed with its call's result and never waits for an answer. Loops are refused in words, and shown once where people can see it.
 */

import type { Bubble, FileAddress } from "../bubble.ts";
import { askerOf, audienceOf, conversationKey, peerRef } from "../conversation.ts";
import { nativeChannelOf, renderHostCard } from "../delivery/render-delivery.ts";
import { resolveContent } from "../delivery/resolve-files.ts";
import type { DiscussionMove } from "../discussion.ts";
import type { FileRef } from "../file-ref.ts";
import { newId } from "../ids.ts";
import { type DiscussionAsk, MAIL_RANK, type Mail } from "../mail.ts";
import type { TurnProgress } from "../session.ts";
import { findTeammate, nearestTeammates, searchTeammates, type Teammate } from "../state/teammates.ts";
import type { CommitPeer } from "../store/store.ts";
import type { PeerMessage, ToolResult } from "../tool.ts";
import { afterSend, decideSend } from "./gate.ts";
import { askFromGroup } from "./member-turn.ts";
import type { TurnRun } from "./turn-run.ts";

/** Characters of one message to a teammate. */
export const MAX_PEER_MESSAGE = 8000;
/** Messages between bots since a person last wrote; the next one would be one too many (SPEC I7). */
const MAX_HOPS = 24;
const PAIR_TURNS = 20;
const PAIR_WINDOW_MS = 60_000;
const REST_MS = 60_000;

/** SendToAgent. To the bot that asked in this conversation it is the answer; to anybody else, mail in a conversation of its own. */
export async function sendToTeammate(
  run: TurnRun,
  index: number,
  wanted: PeerMessage,
  signal: AbortSignal,
): Promise<ToolResult> {
  const { parts, bot, turn } = run;
  if (turn.authority.role === "guest") {
    return refused("the people you are serving are guests here, and nothing may be passed on to teammates for them.");
  }
  const bots = await parts.store.listBots(bot.orgId);
  const target = findTeammate(bots, wanted.target);
  if (!target) return unknownTarget(bots, bot.id, wanted.target);
  if (target.id === bot.id) return refused("that is you. Do the work yourself, or choose a teammate.");
  const files = await filesOf(run, wanted.images, signal);
  if (!files.ok) return refused(files.text);
  const asker = askerOf(run.conversation);
  const answers = asker?.botId === target.id ? asker : undefined;
  return commit(run, index, {
    target,
    to: answers ? { sessionId: answers.sessionId } : placeWith(run, target),
    direction: answers ? "reply" : "ask",
    text: wanted.message,
    files: files.files,
    urgent: wanted.isUrgent,
    progress: run.progress,
    result: answers
      ? `queued: {address}. ${target.name} gets this as the answer to what it asked you.`
      : `queued: {address}. ${target.name} works on it now or soon; its answer comes later as a new message to you here. Do not wait for it and do not send this again.`,
  });
}

/** SendMessage in a conversation between two bots: it goes back to the one that asked, and to nobody else. */
export async function answerTeammate(
  run: TurnRun,
  index: number,
  bubble: Bubble,
  signal: AbortSignal,
): Promise<ToolResult> {
  const asker = askerOf(run.conversation);
  const name = asker ? await nameOf(run, asker.botId) : "the teammate who asked";
  const unfit = unfitForPeer(bubble, name);
  if (unfit || !asker) return refused(unfit ?? "nobody has asked anything here.");
  const decision = decideSend(run.progress, bubble, run.parts.settings.limits);
  if (!decision.open) {
    run.progress = { ...run.progress, refusedInRow: run.progress.refusedInRow + 1 };
    return { ok: false, text: decision.text };
  }
  const content = await textOf(run, bubble, signal);
  if (!content.ok) return refused(content.text);
  return commit(run, index, {
    target: { id: asker.botId, name, role: "" },
    to: { sessionId: asker.sessionId },
    direction: "reply",
    text: content.text,
    files: content.files,
    urgent: false,
    progress: afterSend(run.progress, decision.print),
    result: `delivered: {address}. ${name} has it.`,
  });
}

/** Teammates that fit some words, or a text that says there are none. */
export async function listTeammates(run: TurnRun, words: string): Promise<ToolResult> {
  const bots = await run.parts.store.listBots(run.bot.orgId);
  const found = searchTeammates(bots, run.bot.id, words);
  return { ok: true, text: found || "No teammate fits these words." };
}

interface Outgoing {
  readonly target: Teammate;
  readonly to: CommitPeer["to"];
  readonly direction: "ask" | "reply";
  readonly text: string;
  readonly files: readonly FileRef[];
  readonly urgent: boolean;
  readonly progress: TurnProgress;
  readonly result: string;
}

async function commit(run: TurnRun, index: number, out: Outgoing): Promise<ToolResult> {
  const { parts, bot, conversation } = run;
  const chain = chainOf(run);
  const call = { turnId: run.turn.id, step: run.step, index };
  const send = (ask?: DiscussionAsk, discussion?: DiscussionMove) =>
    parts.store.commitPeer(run.claim, call, {
      from: {
        botId: bot.id,
        botName: bot.name,
        conversationKey: conversation.key,
        ref: run.turn.route.ref,
        personCount: run.progress.personCount,
      },
      to: out.to,
      text: parts.deliver.maskDeep(out.text),
      files: out.files,
      mail: { type: "peer", direction: out.direction, ...chain.mail, ...(ask ? { ask } : {}) },
      ...(discussion ? { discussion } : {}),
      audience: chain.audience,
      hops: chain.hops,
      urgent: out.urgent,
      result: { ok: true, text: out.result },
      progress: out.progress,
      limits: {
        mailPerSession: parts.settings.limits.mailPerSession,
        maxHops: MAX_HOPS,
        pairTurns: PAIR_TURNS,
        pairWindowMs: PAIR_WINDOW_MS,
        restMs: REST_MS,
      },
    });
  const asking = await askFromGroup(run, `${call.turnId}:${call.step}:${call.index}`, send);
  if (!asking.ok) return asking;
  const outcome = asking.asked;
  parts.metrics.count("parley_peer_messages_total", {
    outcome: outcome.status === "refused" ? outcome.reason : outcome.status,
  });
  if (outcome.status === "refused") return refusedOutcome(run, out.target, outcome.reason, chain.mail.root);
  if (outcome.status === "queued") {
    run.progress = out.progress;
    parts.ring(outcome.sessionId, MAIL_RANK.bot);
  }
  return outcome.result;
}

/** Where this turn's messages belong: how far from the last person, on whose behalf, and from which session it all began. */
function chainOf(run: TurnRun) {
  const peers = run.mail.flatMap(({ body }) => (body.type === "peer" ? [body] : []));
  const last = peers.at(-1);
  const isPeer = run.conversation.kind === "peer";
  const ask = isPeer ? last?.ask : undefined;
  const { nativeReplyTo } = run.turn.route;
  return {
    hops: Math.max(0, ...run.mail.map((mail) => mail.hops)) + 1,
    audience: audienceAmong(run.mail) ?? audienceOf(run.turn.route.ref),
    mail: {
      root: (isPeer ? last?.root : undefined) ?? run.session.id,
      serves: last?.serves ?? run.turn.authority,
      ...(nativeReplyTo ? { nativeReplyTo } : {}),
      ...(ask ? { ask } : {}),
    },
  };
}

function audienceAmong(mail: readonly Mail[]): string | undefined {
  return mail.findLast((item) => item.audience !== "host")?.audience;
}

function placeWith(run: TurnRun, target: Teammate): CommitPeer["to"] {
  const { bot, session } = run;
  const ref = peerRef({ orgId: bot.orgId, botId: bot.id, sessionId: session.id, receiverId: target.id });
  return { botId: target.id, conversationKey: conversationKey(ref), ref };
}

async function refusedOutcome(
  run: TurnRun,
  target: Teammate,
  reason: "hops" | "pair" | "full" | "gone" | "stopped",
  root: string,
): Promise<ToolResult> {
  switch (reason) {
    case "gone":
      return refused(`${target.name} is no longer here.`);
    case "stopped":
      return refused("a person has stopped this work. End your turn now.");
    case "full":
      return refused(`${target.name} has too many messages from you waiting. Try again after it has answered some.`);
    case "hops":
      await showLoop(run, target, root);
      return refused(
        `this has gone to and fro between bots ${MAX_HOPS} times since a person last wrote, which looks like a loop. Stop writing to teammates about it; tell the people where things stand, or end your turn.`,
      );
    case "pair":
      await showLoop(run, target, root);
      return refused(
        `you and ${target.name} have written to each other ${PAIR_TURNS} times within a minute, which looks like a loop. You two rest for a minute. Do not try again now; end your turn.`,
      );
  }
}

/** One notice for each pair and person message, in the conversation in which the chain began (SPEC A2: visibly). */
async function showLoop(run: TurnRun, target: Teammate, root: string): Promise<void> {
  const { parts, bot } = run;
  const place = await parts.store.readSessionPlace(root);
  const adapter = place && parts.adapters(place.ref.platform);
  if (!place || !adapter) return;
  const { ref, installationId, nativeReplyTo } = place;
  const where = { ref, installationId, ...(nativeReplyTo ? { nativeReplyTo } : {}) };
  const names = [bot.name, target.name].sort((a, b) => a.localeCompare(b, "en"));
  const delivery = renderHostCard(adapter, {
    entryId: newId("ent"),
    conversationKey: place.conversationKey,
    botId: place.botId,
    botName: place.botName,
    place: where,
    card: {
      kind: "notice",
      text: `${names.join(" and ")} kept writing to each other without coming to an end, so they were paused. Write here to go on.`,
      controls: [],
    },
    allowed: [],
    data: {},
  });
  const dedupeKey = `peer-loop:${root}:${names.join("|")}:${place.personCount}`;
  if (await parts.store.postHostCard({ dedupeKey, delivery })) parts.outbox.nudge(nativeChannelOf(where));
}

function unknownTarget(bots: readonly Teammate[], selfId: string, target: string): ToolResult {
  const near = nearestTeammates(bots, selfId, target);
  const advice =
    near.length > 0 ? `Nearest: ${near.join(", ")}. search_teammates finds more.` : "You have no teammates here.";
  return refused(`there is no teammate called ${JSON.stringify(target.slice(0, 80))}. ${advice}`);
}

/** Only words and files reach a bot; cards are for people. */
function unfitForPeer(bubble: Bubble, asker: string): string | undefined {
  if (bubble.channel) return `in this conversation you speak to ${asker} only. Leave channel out.`;
  if (bubble.type === "widget" || bubble.type === "secret-request") {
    return `a ${bubble.type} needs a person, and only ${asker}, a bot, reads this. Ask in a text, or let ${asker} ask the person.`;
  }
  return undefined;
}

async function textOf(
  run: TurnRun,
  bubble: Bubble,
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly text: string; readonly files: readonly FileRef[] } | Failed> {
  if (bubble.type === "cursor-agent") {
    return { ok: true, text: `https://cursor.com/agents?id=${encodeURIComponent(bubble.bcId)}`, files: [] };
  }
  if (bubble.type !== "text" && bubble.type !== "attachment")
    return { ok: false, text: "only text and files can be sent here." };
  const found = await resolveContent(run.parts.deliver.files, bubble, signal);
  if (!found.ok) return found;
  const { content } = found;
  if (content.type === "attachment")
    return { ok: true, text: content.file.alt ?? content.file.name, files: [content.file] };
  return content.type === "text"
    ? { ok: true, text: content.content, files: content.images }
    : { ok: false, text: "only text and files can be sent here." };
}

interface Failed {
  readonly ok: false;
  readonly text: string;
}

async function filesOf(
  run: TurnRun,
  images: readonly FileAddress[],
  signal: AbortSignal,
): Promise<{ readonly ok: true; readonly files: readonly FileRef[] } | Failed> {
  if (images.length === 0) return { ok: true, files: [] };
  const found = await resolveContent(run.parts.deliver.files, { type: "text", content: "", images }, signal);
  if (!found.ok) return found;
  return { ok: true, files: found.content.type === "text" ? found.content.images : [] };
}

async function nameOf(run: TurnRun, botId: string): Promise<string> {
  return (await run.parts.store.readBot(botId))?.name ?? botId;
}

function refused(why: string): ToolResult {
  return { ok: false, text: `Not sent: ${why}` };
}
