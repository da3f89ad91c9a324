/**
 * Skills that a bot writes for itself (SPEC W6, R2): made, changed and deleted when people ask for it. Invariant: who hears of one follows from where it was
 * written; only an administrator widens that to the workspace; a bot changes only its own, and only where it may be heard.
 */

import { audienceInWords, mayHear, publicAudience } from "../audience.ts";
import { newId } from "../ids.ts";
import { isAtLeast } from "../person.ts";
import { MAX_WORKFLOWS, SKILL_DESCRIPTION_CHARS, SKILL_NAME_CHARS, WORKFLOW_CHARS, type Workflow } from "../skill.ts";
import type { CommitWorkflow, WorkflowOutcome } from "../store/store.ts";
import type { ToolResult, WorkflowWish } from "../tool.ts";
import { listeningPlaceOf } from "./skill-calls.ts";
import type { TurnRun } from "./turn-run.ts";

/** Result of `update_state` with the target `workflow`. */
export async function updateWorkflow(run: TurnRun, index: number, wish: WorkflowWish): Promise<ToolResult> {
  const prepared = wish.action === "create" ? prepareNew(run, wish) : await prepareChange(run, wish);
  if ("problem" in prepared) return { ok: false, text: `Nothing changed: ${prepared.problem}` };
  const call = { turnId: run.turn.id, step: run.step, index };
  const outcome = await run.parts.store.commitWorkflow(run.claim, call, prepared);
  return outcome.status === "done" ? outcome.result : { ok: false, text: `Nothing changed: ${reasonOf(outcome)}` };
}

type Prepared = CommitWorkflow | { readonly problem: string };

function prepareNew(run: TurnRun, wish: Extract<WorkflowWish, { action: "create" }>): Prepared {
  const place = listeningPlaceOf(run);
  const audience = wish.audience === "workspace" ? publicAudience(place.audience) : place.audience;
  const texts = cleanTexts(run, wish);
  const problem = mayNot(run, audience) ?? textProblem(texts);
  const { name, description, body } = texts;
  if (problem || !audience || !name || !description || !body)
    return { problem: problem ?? "name, description and content are needed." };
  const [authorId] = run.turn.authority.personIds;
  const id = newId("wfl");
  return {
    action: "create",
    workflow: {
      ...{ id, botId: run.bot.id, orgId: run.bot.orgId, name, description, body, audience },
      ...(authorId === undefined ? {} : { authorId }),
    },
    limit: MAX_WORKFLOWS,
    result: {
      ok: true,
      text: `created: skill ${id} (${name}), for ${audienceInWords(audience)}. read_skill shows it.`,
    },
  };
}

async function prepareChange(run: TurnRun, wish: Exclude<WorkflowWish, { action: "create" }>): Promise<Prepared> {
  const kept = await findOwn(run, wish.id);
  if (typeof kept === "string") return { problem: kept };
  const { id, botId, version } = kept;
  const may = mayNot(run, kept.audience);
  if (may) return { problem: may };
  if (wish.action === "delete")
    return {
      action: "delete",
      workflow: { id, botId, version },
      result: { ok: true, text: `deleted: skill ${id} (${kept.name}).` },
    };
  const place = listeningPlaceOf(run);
  const audience = wish.audience === "workspace" ? publicAudience(place.audience) : wish.audience && place.audience;
  const texts = cleanTexts(run, wish);
  const problem = (audience ? mayNot(run, audience) : undefined) ?? textProblem(texts);
  if (problem) return { problem };
  if (!audience && Object.keys(texts).length === 0)
    return { problem: "give a new name, description, content or audience." };
  const [authorId] = run.turn.authority.personIds;
  return {
    action: "edit",
    workflow: {
      id,
      botId,
      version,
      ...texts,
      ...(audience ? { audience } : {}),
      ...(authorId === undefined ? {} : { authorId }),
    },
    result: {
      ok: true,
      text: `changed: skill ${id} (${texts.name ?? kept.name}), for ${audienceInWords(audience ?? kept.audience)}.`,
    },
  };
}

/** The bot's own skill with this id or name that may be heard here, or why there is none. */
async function findOwn(run: TurnRun, wanted: string): Promise<Workflow | string> {
  const place = listeningPlaceOf(run);
  const all = await run.parts.store.listWorkflows(run.bot.orgId);
  const heard = all.filter((one) => mayHear(one.audience, place));
  const named = (one: Workflow) => one.name.toLowerCase() === wanted.trim().toLowerCase() && one.botId === run.bot.id;
  const found = heard.find((one) => one.id === wanted) ?? heard.find(named);
  if (found && found.botId !== run.bot.id)
    return `skill ${found.id} was written by your teammate ${found.botId}, who alone can change it.`;
  if (found) return found;
  if (run.parts.skills.list(run.bot.id).some((skill) => skill.id === wanted))
    return `skill ${wanted} comes from a folder or plugin and is read-only. Make one of your own with the action create.`;
  return `there is no skill ${JSON.stringify(wanted.slice(0, 80))} of yours here. search_skills shows what there is.`;
}

/** SPEC G11, R2: in a channel a guest changes nothing for the others, and only an administrator speaks for the workspace. */
function mayNot(run: TurnRun, audience: string | undefined): string | undefined {
  const { role, personIds } = run.turn.authority;
  if (personIds.length === 0) return "nobody has asked for it in this turn. Wait until a person does.";
  if (audience === undefined || audience === "")
    return "this conversation belongs to no workspace. Ask for it in a channel of the workspace.";
  if (audience.startsWith("public(") && !isAtLeast(role, "admin"))
    return "only an administrator (access.admins in the settings) may make, change or delete a skill for the whole workspace.";
  if (audience.startsWith("channel(") && !isAtLeast(role, "member"))
    return "guests may not change skills of a channel.";
  return undefined;
}

type Texts = { readonly name?: string; readonly description?: string; readonly body?: string };

/** Texts as they are kept: names and descriptions in one line, secrets masked. */
function cleanTexts(
  run: TurnRun,
  { name, description, content }: { readonly name?: string; readonly description?: string; readonly content?: string },
): Texts {
  const line = (text: string) =>
    run.parts
      .mask(text)
      .replace(/[\s\p{Cc}]+/gu, " ")
      .trim();
  return {
    ...(name === undefined ? {} : { name: line(name) }),
    ...(description === undefined ? {} : { description: line(description) }),
    ...(content === undefined ? {} : { body: run.parts.mask(content).trim() }),
  };
}

function textProblem({ name, description, body }: Texts): string | undefined {
  const checks = [
    ["name", name, SKILL_NAME_CHARS],
    ["description", description, SKILL_DESCRIPTION_CHARS],
    ["content", body, WORKFLOW_CHARS],
  ] as const;
  const problems = checks.flatMap(([field, text, limit]) => {
    if (text === undefined) return [];
    if (text === "") return [`${field} is empty.`];
    return text.length > limit ? [`${field} has ${text.length} characters, more than the ${limit} allowed.`] : [];
  });
  return problems.length > 0 ? problems.join(" ") : undefined;
}

function reasonOf({ status }: Exclude<WorkflowOutcome, { status: "done" }>): string {
  switch (status) {
    case "taken":
      return "you have a skill of that name for the same people already. Edit that one, or choose another name.";
    case "limit":
      return `you have ${MAX_WORKFLOWS} skills of your own already. Delete one that is not needed.`;
    case "unknown":
      return "the skill is gone.";
    case "changed":
      return "the skill was changed meanwhile. Read it again with read_skill, then decide.";
  }
}
