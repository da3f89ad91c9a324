/**
 * Skills in a turn (SPEC P1, R2, X4): which ones there are for this bot in this place, the list that the cycle begins with, what changed since, and reading.
 * Invariant: a skill that a bot wrote is listed, found and read only where its audience may hear it, decided anew each time.
 */

import { type ListeningPlace, mayHear } from "../audience.ts";
import type { Bot } from "../bot.ts";
import { searchSkills, skillListText, skillNews, skillPageText, skillPrints } from "../context/skill-list.ts";
import { audienceOf, type ConversationRef } from "../conversation.ts";
import type { Mail } from "../mail.ts";
import type { Claim } from "../session.ts";
import type { Skill, Workflow } from "../skill.ts";
import { pageOf } from "../state/skills.ts";
import type { SessionView } from "../store/store.ts";
import type { ToolResult } from "../tool.ts";
import { authorityOf, firstBatch } from "./take-mail.ts";
import type { TurnParts, TurnRun } from "./turn-run.ts";

/** The list as it is now becomes this cycle's. */
export async function firstSkills(parts: TurnParts, claim: Claim, view: SessionView): Promise<string> {
  const mail = view.turn ? view.taken : firstBatch(view.due);
  const skills = await skillsAt(parts, view.bot, listedPlace(view.conversation, mail));
  return parts.store.keepSkills(claim, { text: skillListText(skills, view.bot.id), told: skillPrints(skills) });
}

/** What has changed since the bot was last told, for the input of a new turn. Mail of the host alone says nothing of who listens, and waits. */
export async function newsOfSkills(
  parts: TurnParts,
  { session, bot, conversation }: SessionView,
  mail: readonly Mail[],
): Promise<{ readonly note: string; readonly told: Readonly<Record<string, string>> } | undefined> {
  if (session.skills === undefined || audienceAmong(mail) === undefined) return undefined;
  const skills = await skillsAt(parts, bot, listedPlace(conversation, mail));
  const note = skillNews(skills, session.skillsTold ?? {}, bot.id);
  return note === undefined ? undefined : { note, told: skillPrints(skills) };
}

/** Result of search_skills. */
export async function findSkills(run: TurnRun, words: string): Promise<ToolResult> {
  const skills = await skillsOf(run);
  const text = searchSkills(skills, words, run.bot.id);
  if (text) return { ok: true, text };
  return { ok: true, text: skills.length > 0 ? "No skill fits these words. Try fewer." : "There are no skills." };
}

/** Result of read_skill. */
export async function readSkill(
  run: TurnRun,
  { id, ...where }: { readonly id: string; readonly file?: string; readonly offset: number },
): Promise<ToolResult> {
  const skills = await skillsOf(run);
  const skill = skillNamed(skills, id);
  if (!skill) return { ok: false, text: unknownSkill(skills, id) };
  const { source } = skill;
  if (source.kind === "written") {
    if (where.file && where.file !== "SKILL.md")
      return { ok: false, text: "A skill written by a bot has no files beside it." };
    const body = await run.parts.store.readWorkflowBody(skill.id);
    if (body === null) return { ok: false, text: unknownSkill([], id) };
    return { ok: true, text: skillPageText(skill, pageOf(body, where.offset), where, run.bot.id) };
  }
  const page = await run.parts.skills.read(run.bot.id, skill.id, where.file, where.offset);
  return page.ok ? { ok: true, text: skillPageText(skill, page, where, run.bot.id) } : { ok: false, text: page.text };
}

/** Who listens where this turn speaks. */
export function listeningPlaceOf(run: TurnRun): ListeningPlace {
  const audience = audienceAmong(run.mail) ?? audienceOf(run.conversation, run.turn.authority.personIds[0]);
  return { audience, role: run.turn.authority.role };
}

/** The skill that a bot wrote, as it is listed. */
export function workflowSkill({ id, name, description, botId, audience }: Workflow): Skill {
  return { id, name, description, source: { kind: "written", botId, audience } };
}

function skillsOf(run: TurnRun): Promise<readonly Skill[]> {
  return skillsAt(run.parts, run.bot, listeningPlaceOf(run));
}

async function skillsAt(parts: TurnParts, bot: Bot, place: ListeningPlace): Promise<readonly Skill[]> {
  const written = await parts.store.listWorkflows(bot.orgId);
  const heard = written.filter((one) => mayHear(one.audience, place) && (one.botId === bot.id || !isPersonal(one)));
  return [...parts.skills.list(bot.id), ...heard.map(workflowSkill)];
}

/** What was written for one person is that bot's alone. */
function isPersonal({ audience }: Workflow): boolean {
  return audience.startsWith("person(");
}

/**
 * The place for lists, which stand for a whole cycle: in a channel who asks changes from turn to turn, and the list may not change with them. Reading checks the
 * people of the turn again.
 */
function listedPlace(conversation: ConversationRef, mail: readonly Mail[]): ListeningPlace {
  const audience = audienceAmong(mail) ?? "";
  return { audience, role: conversation.kind === "direct" ? authorityOf(mail).role : "member" };
}

function audienceAmong(mail: readonly Mail[]): string | undefined {
  return mail.findLast((item) => item.audience !== "host")?.audience;
}

/** By id, or by a name that only one has. */
function skillNamed(skills: readonly Skill[], wanted: string): Skill | undefined {
  const exact = skills.find((skill) => skill.id === wanted);
  if (exact) return exact;
  const named = skills.filter((skill) => skill.name.toLowerCase() === wanted.trim().toLowerCase());
  return named.length === 1 ? named[0] : undefined;
}

function unknownSkill(skills: readonly Skill[], wanted: string): string {
  const words = wanted
    .toLowerCase()
    .split(/[^\p{L}\p{N}]+/u)
    .filter((word) => word.length > 2);
  const near = skills.filter(({ id, name }) => words.some((word) => `${id} ${name}`.toLowerCase().includes(word)));
  const hint =
    near.length > 0
      ? ` Did you mean ${near
          .slice(0, 5)
          .map((one) => one.id)
          .join(", ")}?`
      : " search_skills shows what there is.";
  return `There is no skill ${JSON.stringify(wanted.slice(0, 80))} here.${hint}`;
}
