/** search_skills: skills beyond what the prompt lists (SPEC P1). */

import { z } from "zod";
import type { Tool } from "../engine/index.ts";

const input = z.object({
  query: z.string().max(200).nullish().describe("Words of a name, id or description; leave out for the first of all"),
});

/** Only reads. */
export const searchSkills: Tool<typeof input> = {
  name: "search_skills",
  description: "Find skills (written methods) by name or description, for read_skill. Shows up to 30 with their ids.",
  input,
  offeredIn: ["main", "member", "room", "peer", "background"],
  readOnly: true,
  execute: ({ query }, context) => context.findSkills(query ?? ""),
};
