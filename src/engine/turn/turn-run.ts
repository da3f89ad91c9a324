/**
 * One turn in memory: what was read when it was claimed, and what changed since. Nothing here is truth: every change is committed by a store
 * operation first, so a worker that dies leaves the same state behind.
 */

import type { Adapter, Place } from "../adapter.ts";
import type { Bot } from "../bot.ts";
import type { Clock } from "../clock.ts";
import type { ConnectorOffer, Connectors } from "../connector.ts";
import type { Conversation } from "../conversation.ts";
import type { DeliverParts } from "../delivery/deliver-bubble.ts";
import type { Outbox } from "../delivery/outbox.ts";
import type { AdapterLookup } from "../delivery/render-delivery.ts";
import type { Log, Metrics } from "../log.ts";
import type { DiscussionAsk, Mail } from "../mail.ts";
import type { Model } from "../model/model.ts";
import type { ModelMessage } from "../model-message.ts";
import type { RunQueue } from "../queue/run-queue.ts";
import type { Claim, Session, Turn, TurnKind, TurnProgress } from "../session.ts";
import type { EngineSettings } from "../settings.ts";
import type { SkillLibrary } from "../skill.ts";
import type { Attachments } from "../state/attachments.ts";
import type { KeptOffers } from "../state/kept-offers.ts";
import type { Blobs } from "../store/blobs.ts";
import type { StateNode, Store, StoredCall } from "../store/store.ts";
import type { Tool } from "../tool.ts";
import { toolsFor } from "./tool-set.ts";

/** What turns are given by createEngine. */
export interface TurnParts {
  readonly store: Store;
  readonly adapters: AdapterLookup;
  readonly outbox: Outbox;
  readonly deliver: DeliverParts;
  /** Rings whoever is next in a Group. */
  readonly queue: Pick<RunQueue, "ring">;
  readonly attachments: Attachments;
  readonly blobs: Blobs;
  readonly tools: readonly Tool[];
  /** Skills that lie in folders. */
  readonly skills: SkillLibrary;
  /** MCP servers, where there are any; `offers` keeps what a cycle began with. */
  readonly connectors?: Connectors | undefined;
  readonly offers?: KeptOffers | undefined;
  /** The model of a bot with retries and fallbacks behind it. */
  readonly modelOf: (bot: Bot) => Model;
  readonly settings: EngineSettings;
  readonly mask: (text: string) => string;
  /** Wakes a session of another bot. */
  readonly ring: (sessionId: string, rank: number) => void;
  /** A bot was made or changed at run time. */
  readonly onBotChanged: (bot: Bot) => void;
  readonly clock: Clock;
  readonly log: Log;
  readonly metrics: Metrics;
}

/** How the outside reaches a running turn. Aborting `cancel` ends model call and tools; the reason is in `why`. */
export interface TurnControl {
  readonly cancel: AbortSignal;
  /** stop: a person said so · yield: this process is going away, leave the turn for another · lost: the claim passed to somebody else. */
  why(): "stop" | "yield" | "lost" | undefined;
  /** Called with a function that is told when new mail may be due; returns the unsubscribe. */
  onSteer(listener: () => void): () => void;
}

/** A member's turn in a Group's discussion (SPEC G). */
export interface MemberTurn {
  readonly discussionId: string;
  /** The newest epoch it has read. */
  readonly epoch: number;
  /** Named by the person: it owes an answer. */
  readonly named: boolean;
}

/** The member's turn that this mail makes, if any. */
export function memberTurnOf(mail: readonly Mail[]): MemberTurn | undefined {
  const bodies = mail.flatMap(({ body }) => (body.type === "discussion" ? [body] : []));
  const newest = bodies.at(-1);
  return newest && { discussionId: newest.discussionId, epoch: newest.epoch, named: newest.named };
}

/** The question of a discussion whose answer, a teammate's or a person's, this mail brings to the one that asked, if any (SPEC A1, G8). */
export function askOf(conversation: Conversation, mail: readonly Mail[]): DiscussionAsk | undefined {
  if (conversation.kind === "peer" || memberTurnOf(mail)) return undefined;
  return mail.flatMap(({ body }) => ("ask" in body && body.ask ? [body.ask] : [])).at(-1);
}

/** A turn in memory. */
export interface TurnRun {
  readonly parts: TurnParts;
  readonly claim: Claim;
  readonly control: TurnControl;
  readonly bot: Bot;
  readonly conversation: Conversation;
  readonly session: Session;
  readonly adapter: Adapter;
  readonly kind: TurnKind;
  /** Set in a member's turn; moves with mail that joins. */
  member: MemberTurn | undefined;
  /** Set in a turn that tells an answer of a teammate, or of a person to its card, in the discussion where that counts. */
  readonly asked: DiscussionAsk | undefined;
  /** The discussion lets this member say nothing more, so it owes nothing more. */
  isSilenced?: boolean;
  /** The directory of teammates, the same for the whole cycle (SPEC X4). */
  readonly directory: string;
  /** The list of skills, the same for the whole cycle (SPEC X4). */
  readonly skills: string;
  /** Tools of connectors, the same for the whole cycle (SPEC X2). */
  readonly offer: ConnectorOffer;
  turn: Turn;
  /** Mail this turn serves. */
  mail: Mail[];
  messages: ModelMessage[];
  head: string | null;
  cursor: number;
  step: number;
  calls: StoredCall[];
  progress: TurnProgress;
  /** The step whose model call was already cut short once for new mail. */
  steeredStep?: number;
  /** Told of mail that joined the turn. */
  onJoined?: (mail: readonly Mail[]) => void;
  /** Calls of this step whose bubble the platform did not take; given back with their results. */
  lostCalls: number[];
  /** Bubbles whose pieces were still on their way when their call returned. */
  openSends: string[];
}

/** Remembers committed nodes. */
export function applyNodes(run: TurnRun, nodes: readonly StateNode[]): void {
  for (const node of nodes) {
    run.messages.push(node.message);
    run.head = node.hash;
  }
}

/** A turn owes a person an answer when any of its mail is a person's. Members of a Group may pass unless they were named (SPEC M12). */
export function owesAnswer(run: TurnRun): boolean {
  if (!run.member) return run.mail.some((mail) => mail.kind === "person");
  if (run.isSilenced) return false;
  const asks = run.mail.filter(({ body }) => body.type !== "discussion" && body.type !== "steering");
  return run.member.named || asks.some((mail) => mail.kind === "person");
}

/**
 * A turn that brings people what a teammate answered (SPEC A1). It may end without a message, as when other answers are still to come, but never
 * because the model failed or wrote its words where nobody reads them: then the teammate's work would be lost unnoticed.
 */
export function bringsAnswer(run: TurnRun): boolean {
  if (run.conversation.kind === "peer" || run.conversation.kind === "background" || run.isSilenced) return false;
  return run.mail.some(({ body }) => body.type === "peer" && body.direction !== "ask");
}

/** Counters of a fresh turn. */
export function newProgress(personCount: number): TurnProgress {
  return {
    bubbles: 0,
    said: [],
    refusedInRow: 0,
    callsSinceSend: 0,
    workAfterSend: false,
    reacted: false,
    silentTries: 0,
    closingTried: false,
    reminded: [],
    personCount,
  };
}

/** Where the turn speaks now; it follows the newest mail of the turn. */
export function placeOf(run: TurnRun): Place {
  const { installationId, ref, nativeReplyTo } = run.turn.route;
  return { installationId, ref, ...(nativeReplyTo ? { nativeReplyTo } : {}) };
}

/** Tools this turn may use. */
export function toolsOf(run: TurnRun): readonly Tool[] {
  const { connectors, tools, settings } = run.parts;
  const offered = connectors ? run.offer.tools.map((tool) => connectors.toolOf(tool)) : [];
  const own = run.offer.capabilities === "" ? tools.filter((tool) => !tool.needsConnectors) : tools;
  return toolsFor([...own, ...offered], run.kind, settings.sendMessageGuidance);
}
