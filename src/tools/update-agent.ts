/** UpdateAgent: changes a bot's name or duties when an administrator asks for it (SPEC A3). */

import { z } from "zod";
import type { Tool } from "../engine/index.ts";

const input = z.object({
  agent_id: z.string().min(1).max(100).describe("Id of the bot, as search_teammates shows it"),
  name: z.string().min(1).max(200).nullish().describe("New name"),
  description: z.string().max(4000).nullish().describe("New duties, whole"),
});

/** Its effect commits with the call, so running it again after a crash is safe. */
export const updateAgent: Tool<typeof input> = {
  name: "UpdateAgent",
  description: "Change the name or the duties of a bot. Only when an administrator asks for it.",
  input,
  offeredIn: ["main", "member", "room"],
  repeatable: true,
  execute: ({ agent_id, name, description }, context) =>
    context.updateAgent({
      agentId: agent_id,
      ...(name ? { name } : {}),
      ...(description === null || description === undefined ? {} : { description }),
    }),
};
