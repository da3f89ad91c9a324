/** search_teammates: the directory of bots beyond what the prompt shows (SPEC A3). */

import { z } from "zod";
import type { Tool } from "../engine/index.ts";

const input = z.object({
  query: z.string().max(200).nullish().describe("Words of a name, id or duties; leave out for the first of all"),
});

/** Only reads. */
export const searchTeammates: Tool<typeof input> = {
  name: "search_teammates",
  description: "Find teammates (other bots) by name or duties, for SendToAgent. Shows up to 40 with their ids.",
  input,
  offeredIn: ["main", "member", "room", "peer", "background"],
  readOnly: true,
  execute: ({ query }, context) => context.findTeammates(query ?? ""),
};
