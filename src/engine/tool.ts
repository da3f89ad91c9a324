/**
 * A callable ability of a bot. One tool per file in src/tools; the engine offers, checks, runs and records them.
 */

import type { z } from "zod";
import type { Bot } from "./bot.ts";
import type { Bubble, FileAddress } from "./bubble.ts";
import type { Clock } from "./clock.ts";
import type { FileRef } from "./file-ref.ts";
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

/** What a tool may use while it runs. Effects go through these, so that they commit together with the call's result (SPEC T4). */
export interface ToolContext {
  readonly bot: Bot;
  readonly authority: Authority;
  readonly conversationKey: string;
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
  readonly offeredIn: readonly TurnKind[];
  readonly readOnly?: boolean;
  readonly repeatable?: boolean;
  /** The tool checks its own input and explains problems in its own words: `execute` gets the raw arguments, whatever they are. */
  readonly checksInput?: boolean;
  /** Longest run, ms; default 60,000 (SPEC T9). */
  readonly timeoutMs?: number;
  execute(input: z.infer<Schema>, context: ToolContext): Promise<ToolResult>;
}
