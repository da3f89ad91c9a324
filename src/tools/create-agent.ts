/** CreateAgent: makes a new bot when an administrator asks for one (SPEC A3). */

import { z } from "zod";
import type { Tool } from "../engine/index.ts";

const input = z.object({
  name: z.string().min(1).max(200).describe("Name people and teammates will use; must be free"),
  description: z.string().max(4000).nullish().describe("Duties in a few sentences: they become its identity"),
});

/** Its effect commits with the call, so running it again after a crash is safe. */
export const createAgent: Tool<typeof input> = {
  name: "CreateAgent",
  description:
    "Make a new bot that lives in the playground and works with you. Only when an administrator asks for it.",
  input,
  offeredIn: ["main", "member", "room"],
  repeatable: true,
  execute: ({ name, description }, context) => context.createAgent({ name, description: description ?? "" }),
};
