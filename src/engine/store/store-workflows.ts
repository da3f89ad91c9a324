/** What the operations on written skills take and give (SPEC W6): part of the store contract. */

import type { Claim } from "../session.ts";
import type { Workflow } from "../skill.ts";
import type { ToolResult } from "../tool.ts";
import type { CallRef } from "./store-turns.ts";

/** A change of one written skill, with the result of the call that makes it. */
export type CommitWorkflow = { readonly result: ToolResult } & (
  | {
      readonly action: "create";
      readonly workflow: Omit<Workflow, "version"> & {
        readonly orgId: string;
        readonly body: string;
        /** The person it is written for. */
        readonly authorId?: string;
      };
      /** Written skills the bot may have. */
      readonly limit: number;
    }
  | {
      readonly action: "edit";
      /** `version` is the one that was looked at; what is left out stays. */
      readonly workflow: Pick<Workflow, "id" | "botId" | "version"> &
        Partial<Pick<Workflow, "name" | "description" | "audience">> & {
          readonly body?: string;
          readonly authorId?: string;
        };
    }
  | { readonly action: "delete"; readonly workflow: Pick<Workflow, "id" | "botId" | "version"> }
);

/** taken: the bot has another of that name there · limit: too many · unknown: gone · changed: somebody changed it meanwhile. */
export type WorkflowOutcome =
  | { readonly status: "done"; readonly result: ToolResult }
  | { readonly status: "taken" | "limit" | "unknown" | "changed" };

/** The operations on written skills, and on what a session's prompt has told of skills; a part of the store. */
export interface SkillStore {
  /** The list of skills this cycle shows: the given one when it has none yet, and then `told` is what the bot knows (SPEC X4). */
  keepSkills(
    claim: Claim,
    first: { readonly text: string; readonly told: Readonly<Record<string, string>> },
  ): Promise<string>;
  /** The bot has been told of these. */
  tellSkills(claim: Claim, told: Readonly<Record<string, string>>): Promise<void>;
  /** Skills that the bots of an org wrote, in order of their ids. */
  listWorkflows(orgId: string): Promise<readonly Workflow[]>;
  /** The text of one; null when it is gone. */
  readWorkflowBody(id: string): Promise<string | null>;
  /** Makes, changes or deletes a written skill as the effect of a call, with the call's result (SPEC W6). Once. */
  commitWorkflow(claim: Claim, call: CallRef, input: CommitWorkflow): Promise<WorkflowOutcome>;
}
