/**
 * update_state: changes what a bot keeps beyond a conversation, by target and action (SPEC W6). Every wrong pair and missing field is answered with what is
 * possible. Each target's rules are the engine's.
 */

import { z } from "zod";
import type { Tool, ToolContext, ToolResult } from "../engine/index.ts";

const input = z.object({
  target: z.enum(["workflow"]).describe("workflow: a skill of your own"),
  action: z.enum(["create", "edit", "delete"]),
  id: z.string().nullish().describe("Which one; for edit and delete"),
  name: z.string().nullish().describe("workflow: short name"),
  description: z.string().nullish().describe("workflow: what it is for and when to use it, in a sentence or two"),
  content: z.string().nullish().describe("workflow: the method itself, in Markdown, whole"),
  audience: z
    .enum(["here", "workspace"])
    .nullish()
    .describe(
      "workflow: here = only who reads this conversation (default); workspace = everybody, when an administrator asks",
    ),
});

type Fields = Readonly<Record<string, string>>;
type Handler = (fields: Fields, context: ToolContext) => Promise<ToolResult>;

/** What one action needs, what it may have besides, and who does it. */
interface Action {
  readonly needs: readonly string[];
  readonly may: readonly string[];
  readonly run: Handler;
}

const optional = (fields: Fields, ...names: readonly string[]) =>
  Object.fromEntries(names.flatMap((name) => (fields[name] === undefined ? [] : [[name, fields[name]]])));
const audienceOf = (fields: Fields) => (fields.audience === "workspace" ? ("workspace" as const) : ("here" as const));
const text = (fields: Fields, name: string) => fields[name] ?? "";

const WORKFLOW: Readonly<Record<string, Action>> = {
  create: {
    needs: ["name", "description", "content"],
    may: ["audience"],
    run: (fields, context) =>
      context.updateWorkflow({
        action: "create",
        name: text(fields, "name"),
        description: text(fields, "description"),
        content: text(fields, "content"),
        audience: audienceOf(fields),
      }),
  },
  edit: {
    needs: ["id"],
    may: ["name", "description", "content", "audience"],
    run: (fields, context) =>
      context.updateWorkflow({
        action: "edit",
        id: text(fields, "id"),
        ...optional(fields, "name", "description", "content"),
        ...(fields.audience === undefined ? {} : { audience: audienceOf(fields) }),
      }),
  },
  delete: {
    needs: ["id"],
    may: [],
    run: (fields, context) => context.updateWorkflow({ action: "delete", id: text(fields, "id") }),
  },
};

const TARGETS: Readonly<Record<string, Readonly<Record<string, Action>>>> = { workflow: WORKFLOW };

/** Its effect commits with the call, so running it again after a crash is safe. */
export const updateState: Tool<typeof input> = {
  name: "update_state",
  description:
    "Keep something beyond this conversation. Target workflow: write down how to do a kind of task as a skill of your own (create), improve it (edit) or remove it (delete), when people ask for it or agree.",
  input,
  offeredIn: ["main", "member", "room"],
  repeatable: true,
  checksInput: true,
  async execute(given, context) {
    const fields = fieldsOf(given);
    const actions = Object.hasOwn(TARGETS, text(fields, "target")) ? TARGETS[text(fields, "target")] : undefined;
    const action =
      actions && Object.hasOwn(actions, text(fields, "action")) ? actions[text(fields, "action")] : undefined;
    const problem = action ? fieldProblem(fields, action) : `There is no ${actionName(fields)}.`;
    return action && problem === undefined ? action.run(fields, context) : refuse(problem ?? "");
  },
};

/** Given = not null and not empty (SPEC M4). Values of another kind than text are told as missing or wrong below. */
function fieldsOf(given: unknown): Fields {
  if (typeof given !== "object" || given === null) return {};
  const pairs = Object.entries(given).flatMap(([name, value]): [string, string][] =>
    typeof value === "string" && value.trim() !== "" ? [[name, value]] : [],
  );
  return Object.fromEntries(pairs);
}

function fieldProblem(fields: Fields, { needs, may }: Action): string | undefined {
  const missing = needs.filter((name) => fields[name] === undefined);
  const foreign = Object.keys(fields).filter((name) => !["target", "action", ...needs, ...may].includes(name));
  const audience = fields.audience !== undefined && !/^(here|workspace)$/.test(fields.audience);
  const problems = [
    ...(missing.length > 0 ? [`${actionName(fields)} needs ${missing.join(", ")} as text.`] : []),
    ...(foreign.length > 0 ? [`${actionName(fields)} does not take ${foreign.join(", ")}.`] : []),
    ...(audience ? ["audience is here or workspace."] : []),
  ];
  return problems.length > 0 ? problems.join(" ") : undefined;
}

function actionName(fields: Fields): string {
  return `${(fields.target ?? "target").slice(0, 40)} ${(fields.action ?? "without an action").slice(0, 40)}`;
}

function refuse(problem: string): ToolResult {
  const possible = Object.entries(TARGETS).flatMap(([target, actions]) =>
    Object.entries(actions).map(([name, { needs, may }]) => {
      const extra = may.length > 0 ? `, optional ${may.join(", ")}` : "";
      return `- target ${target}, action ${name}: ${needs.join(", ")}${extra}`;
    }),
  );
  return { ok: false, text: `Nothing changed: ${problem} Possible:\n${possible.join("\n")}` };
}
