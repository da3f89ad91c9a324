/** read_skill: the text of a skill, or of a file beside it, in pages (SPEC P1). */

import { z } from "zod";
import type { Tool } from "../engine/index.ts";

const input = z.object({
  id: z.string().min(1).max(300).describe("Id as the list of skills shows it"),
  file: z
    .string()
    .max(500)
    .nullish()
    .describe("A file beside SKILL.md, as the skill lists it; leave out for the skill itself"),
  offset: z.number().int().min(0).nullish().describe("Where to go on in a long text"),
});

/** Only reads. */
export const readSkill: Tool<typeof input> = {
  name: "read_skill",
  description: "Read a skill before you do a task that it fits. Also reads the files beside it.",
  input,
  offeredIn: ["main", "member", "room", "peer", "background"],
  readOnly: true,
  timeoutMs: 15_000,
  execute: ({ id, file, offset }, context) => context.readSkill({ id, ...(file ? { file } : {}), offset: offset ?? 0 }),
};
