/**
 * Bots made or changed by a bot (SPEC A3), on behalf of administrators only. They live in the playground and among their teammates at once; what is
 * changed here is never overwritten by the settings file.
 */

import { isAtLeast } from "../person.ts";
import type { ToolResult } from "../tool.ts";
import type { TurnRun } from "./turn-run.ts";

const NAME_CHARS = 60;
const DUTIES_CHARS = 2000;
/** Bots made at run time that one org may have. */
const MAX_RUNTIME_BOTS = 100;

/** Makes a bot with the maker's model. */
export async function createAgent(
  run: TurnRun,
  index: number,
  wanted: { readonly name: string; readonly description: string },
): Promise<ToolResult> {
  const name = cleanName(wanted.name);
  const problem = mayNot(run) ?? nameProblem(name);
  if (problem) return { ok: false, text: `Not created: ${problem}` };
  const { bot } = run;
  const outcome = await run.parts.store.createBot(
    run.claim,
    { turnId: run.turn.id, step: run.step, index },
    {
      bot: {
        id: idFor(name),
        orgId: bot.orgId,
        name,
        role: wanted.description.trim().slice(0, DUTIES_CHARS),
        model: bot.model,
        lanes: bot.lanes,
      },
      limit: MAX_RUNTIME_BOTS,
      result: {
        ok: true,
        text: `created: ${name}, id {id}. People find it in the playground, and teammates reach it with SendToAgent. It has no Slack or Discord account.`,
      },
    },
  );
  switch (outcome.status) {
    case "done":
      if (outcome.bot) run.parts.onBotChanged(outcome.bot);
      return outcome.result;
    case "taken":
      return { ok: false, text: `Not created: there is a bot called ${name} already. Choose another name.` };
    default:
      return { ok: false, text: `Not created: there are ${MAX_RUNTIME_BOTS} bots of this kind already.` };
  }
}

/** Changes name or duties of any bot of the org. */
export async function updateAgent(
  run: TurnRun,
  index: number,
  wanted: { readonly agentId: string; readonly name?: string; readonly description?: string },
): Promise<ToolResult> {
  const name = wanted.name === undefined ? undefined : cleanName(wanted.name);
  const nothing =
    name === undefined && wanted.description === undefined ? "give a new name or description." : undefined;
  const problem = mayNot(run) ?? nothing ?? (name === undefined ? undefined : nameProblem(name));
  if (problem) return { ok: false, text: `Not changed: ${problem}` };
  const outcome = await run.parts.store.updateBot(
    run.claim,
    { turnId: run.turn.id, step: run.step, index },
    {
      bot: {
        id: wanted.agentId,
        orgId: run.bot.orgId,
        ...(name === undefined ? {} : { name }),
        ...(wanted.description === undefined ? {} : { role: wanted.description.trim().slice(0, DUTIES_CHARS) }),
      },
      result: { ok: true, text: `changed: ${wanted.agentId}. The settings file no longer decides about this bot.` },
    },
  );
  switch (outcome.status) {
    case "done":
      if (outcome.bot) run.parts.onBotChanged(outcome.bot);
      return outcome.result;
    case "taken":
      return { ok: false, text: `Not changed: there is another bot called ${name}. Choose another name.` };
    default:
      return {
        ok: false,
        text: `Not changed: there is no bot with the id ${JSON.stringify(wanted.agentId.slice(0, 80))}. search_teammates shows ids.`,
      };
  }
}

/** Turns that serve nobody, or anybody below an administrator, may not. */
function mayNot(run: TurnRun): string | undefined {
  const { role, personIds } = run.turn.authority;
  if (run.kind !== "peer" && personIds.length > 0 && isAtLeast(role, "admin")) return undefined;
  return "only administrators may make or change bots, and you are not serving one now. An administrator (access.admins in the settings) can ask you for it.";
}

function cleanName(name: string): string {
  return name
    .normalize("NFKC")
    .replace(/[\p{Cc}\p{Cf}<>@:()[\]{}]/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();
}

function nameProblem(name: string): string | undefined {
  if (!/[\p{L}\p{N}]/u.test(name)) return "the name needs at least one letter or digit.";
  return [...name].length > NAME_CHARS ? `the name is longer than ${NAME_CHARS} characters.` : undefined;
}

function idFor(name: string): string {
  const plain = name
    .normalize("NFKD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-+|-+$/g, "");
  return plain.slice(0, 40) || "bot";
}
