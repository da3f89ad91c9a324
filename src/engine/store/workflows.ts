/**
 * Written skills, and what a session's prompt has told of skills (SPEC W6, X4). Invariant: a change of a skill is the effect of one call and commits
 * with its result. Who may read or change one is decided in turn/.
 */
import { FenceLostError } from "../errors.ts";
import type { Workflow } from "../skill.ts";
import { type Database, toJson } from "./hot-path.ts";
import type { SkillStore, WorkflowOutcome } from "./store.ts";

const keepSkills = `
UPDATE "Session" SET "skillsTold" = CASE WHEN "skills" IS NULL THEN $5::jsonb ELSE "skillsTold" END, "skills" = coalesce("skills", $4)
WHERE "id" = $1 AND "owner" = $2 AND "fence" = $3 RETURNING "skills"`;

const tellSkills = `UPDATE "Session" SET "skillsTold" = $4::jsonb WHERE "id" = $1 AND "owner" = $2 AND "fence" = $3 RETURNING "id"`;

const listWorkflows = `
SELECT "id", "botId", "name", "description", "audience", "version" FROM "Workflow" WHERE "orgId" = $1 ORDER BY "id" COLLATE "C"`;

/** The operations on skills. */
export function createWorkflowOperations({ query, call }: Database): SkillStore {
  return {
    async keepSkills({ sessionId, owner, fence }, { text, told }) {
      const [row] = await query<{ skills: string }>(keepSkills, [sessionId, owner, fence, text, toJson(told)]);
      if (!row) throw new FenceLostError("Another worker holds this claim now.");
      return row.skills;
    },
    async tellSkills({ sessionId, owner, fence }, told) {
      const [row] = await query(tellSkills, [sessionId, owner, fence, toJson(told)]);
      if (!row) throw new FenceLostError("Another worker holds this claim now.");
    },
    listWorkflows: (orgId) => query<Workflow & Record<string, unknown>>(listWorkflows, [orgId]),
    async readWorkflowBody(id) {
      return (await query<{ body: string }>(`SELECT "body" FROM "Workflow" WHERE "id" = $1`, [id]))[0]?.body ?? null;
    },
    commitWorkflow: (claim, ref, input) => call<WorkflowOutcome>("parley_commit_workflow", { claim, ...ref, ...input }),
  };
}
