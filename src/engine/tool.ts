/**
 * A callable ability of a bot. One tool per file in src/tools; the engine offers, checks, runs and records them.
 */

import type { z } from "zod";
import type { Bot } from "./bot.ts";
import type { Bubble, FileAddress } from "./bubble.ts";
import type { CardAnswer, Widget } from "./card.ts";
import type { Clock } from "./clock.ts";
import type { ConversationRef } from "./conversation.ts";
import type { FileRef } from "./file-ref.ts";
import type { PersonRef } from "./person.ts";
import type { Authority, TurnKind } from "./session.ts";

/** `text` is written for the model: what happened, and on failure what to do next. */
export interface ToolResult {
  readonly ok: boolean;
  readonly text: string;
  readonly files?: readonly FileRef[];
}

/** Why a person is needed (SPEC C7). */
export type HandOffReason = "auth" | "captcha" | "payment" | "approval" | "other";

/** A message to another bot (SPEC A1). `target` is an id or a name. */
export interface PeerMessage {
  readonly target: string;
  readonly message: string;
  readonly images: readonly FileAddress[];
  /** Goes before other work that no person waits for. */
  readonly isUrgent: boolean;
}

/** A page a person should open, and why. `label` stands on the button. */
export interface PersonLink {
  readonly text: string;
  readonly label: string;
  readonly url: string;
}

/** The card of a page, with all that is needed to answer it for the person when they come back. */
export interface ShownLink {
  readonly cardId: string;
  readonly installationId: string;
  readonly conversation: ConversationRef;
  readonly person: PersonRef;
}

/** How a person answered a question asked in the middle of a call; `cancelled`: not in time, or nobody can be asked here. */
export type PersonReply =
  | { readonly outcome: "answered"; readonly answer: CardAnswer }
  | { readonly outcome: "declined" | "cancelled" };

/** A stored file's name in the store. */
export interface StoredFileId {
  readonly sha256: string;
  readonly ext: string;
}

/** What a tool may use while it runs. Effects go through these, so that they commit together with the call's result (SPEC T4). */
export interface ToolContext {
  readonly bot: Bot;
  readonly authority: Authority;
  readonly conversationKey: string;
  readonly sessionId: string;
  readonly kind: TurnKind;
  /** The person of a direct conversation; absent where several people read (SPEC G11). */
  readonly directPersonId?: string;
  /** True when the host runs this call because the person approved exactly it (SPEC C8). */
  readonly isApproved: boolean;
  readonly clock: Clock;
  /** Aborted when the turn is stopped or the tool's time is over. */
  readonly signal: AbortSignal;
  /** The only voice (SPEC M). Contract: resolves to the result text for the model; commits the call itself. */
  send(bubble: Bubble): Promise<ToolResult>;
  /** Reacts to an entry of this conversation (SPEC W7). */
  react(address: string, emoji: string): Promise<ToolResult>;
  /** Asks the person served to do something, and ends the turn until they answer (SPEC C7). */
  handOff(instruction: string, reason: HandOffReason): Promise<ToolResult>;
  /** Puts a message into another bot's mailbox and returns at once; commits the call itself (SPEC A1). */
  sendToAgent(message: PeerMessage): Promise<ToolResult>;
  /** Teammates whose name, id or duties fit the words; without words, the first of all (SPEC A3). */
  findTeammates(words: string): Promise<ToolResult>;
  /** Makes a bot that lives in the playground and among its teammates; for administrators' turns, commits the call itself (SPEC A3). */
  createAgent(wanted: { readonly name: string; readonly description: string }): Promise<ToolResult>;
  /** Changes a bot's name or duties; for administrators' turns, commits the call itself (SPEC A3). */
  updateAgent(wanted: {
    readonly agentId: string;
    readonly name?: string;
    readonly description?: string;
  }): Promise<ToolResult>;
  /** A page of a skill, or of a file beside it (SPEC P1). `offset` counts characters. */
  readSkill(wanted: { readonly id: string; readonly file?: string; readonly offset: number }): Promise<ToolResult>;
  /** Skills whose id, name or description hold the words; without words, the first of all. */
  findSkills(words: string): Promise<ToolResult>;
  /** Makes, changes or deletes a skill that this bot wrote; commits the call itself (SPEC W6). */
  updateWorkflow(wanted: WorkflowWish): Promise<ToolResult>;
  /** Shows how far the call is in the status line; best effort, no more than one a second is shown. */
  showProgress(text: string): void;
  /** Stores bytes as an attachment that SendMessage can send by `attachmentUrl` (SPEC M6). `text` is for the model. */
  keepFile(
    source: AsyncIterable<Uint8Array>,
    facts: { readonly name: string; readonly mediaType?: string },
  ): Promise<{ readonly ok: true; readonly file: FileRef } | { readonly ok: false; readonly text: string }>;
  /** Bytes of a stored file, both ends included; null when there is none. */
  openFile(
    id: StoredFileId,
    range: { readonly start: number; readonly end: number },
  ): Promise<{ readonly size: number; readonly stream: AsyncIterable<Uint8Array> } | null>;
  /** Asks the person served whether this very call may run, and ends the turn; when they agree the host runs it (SPEC C8). `about` names it. */
  askApproval(about: string): Promise<ToolResult>;
  /** Asks the person served in the middle of a call and waits for the answer, at most five minutes. Wakes nobody. */
  askPerson(question: Widget | PersonLink): Promise<PersonReply>;
  /** Shows the person of a direct conversation a page to open, beside the turn; null where that is not possible. Whoever answers the card wakes the bot. */
  showLink(link: PersonLink): Promise<ShownLink | null>;
}

/** What a bot wants to do with a skill of its own. `here`: whoever reads this conversation · `workspace`: everybody in it (SPEC R2). */
export type WorkflowWish =
  | {
      readonly action: "create";
      readonly name: string;
      readonly description: string;
      readonly content: string;
      readonly audience: "here" | "workspace";
    }
  | {
      readonly action: "edit";
      readonly id: string;
      readonly name?: string;
      readonly description?: string;
      readonly content?: string;
      readonly audience?: "here" | "workspace";
    }
  | { readonly action: "delete"; readonly id: string };

/**
 * Contract: `execute` throws only for programming errors; everything the model can mend is a ToolResult.
 * `readOnly` calls of one step may run together; `repeatable` calls may run again after a crash, others get "unknown, may have happened".
 */
export interface Tool<Schema extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly description: string;
  readonly input: Schema;
  /** The JSON Schema shown to the model instead of one made from `input`; then the tool reads raw arguments. */
  readonly schema?: Readonly<Record<string, unknown>>;
  readonly offeredIn: readonly TurnKind[];
  /** Offered only where there are connectors. */
  readonly needsConnectors?: boolean;
  readonly readOnly?: boolean;
  readonly repeatable?: boolean;
  /** The tool checks its own input and explains problems in its own words: `execute` gets the raw arguments, whatever they are. */
  readonly checksInput?: boolean;
  /** Longest run, ms; default 60,000 (SPEC T9). */
  readonly timeoutMs?: number;
  execute(input: z.infer<Schema>, context: ToolContext): Promise<ToolResult>;
}
