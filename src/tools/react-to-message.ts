/** ReactToMessage: an emoji on a message of this conversation; counts as an answer (SPEC W7, M12). */

import { z } from "zod";
import type { Tool } from "../engine/index.ts";

const input = z.object({
  message_address: z.string().describe("Address of the message in brackets, for example t3u"),
  emoji: z.string().min(1).max(60).describe("Emoji or its short name, for example thumbsup"),
});

/** Adding the same reaction twice counts as success, so a repeat after a crash is safe. */
export const reactToMessage: Tool<typeof input> = {
  name: "ReactToMessage",
  description: "Put an emoji on a message, when a word would be too much: seen, thanks, done.",
  input,
  offeredIn: ["main", "member", "room"],
  repeatable: true,
  timeoutMs: 15_000,
  execute: ({ message_address, emoji }, context) => context.react(message_address, emoji),
};
