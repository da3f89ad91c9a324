/** request_human: asks the person to do what a bot cannot (sign in, pay, decide), and ends the turn until they say how it went (SPEC C7). */

import { z } from "zod";
import type { Tool } from "../engine/index.ts";

const input = z.object({
  instruction: z.string().min(1).max(1500).describe("What the person should do, in one or two sentences"),
  reason: z.enum(["auth", "captcha", "payment", "approval", "other"]).nullish().describe("Why a person is needed"),
});

/** Its effect commits with the call, so running it again after a crash is safe. */
export const requestHuman: Tool<typeof input> = {
  name: "request_human",
  description:
    "Hand a step over to the person you serve when you cannot do it yourself: signing in, a captcha, a payment, a decision. Ends your turn; their answer wakes you.",
  input,
  offeredIn: ["main", "member", "room"],
  repeatable: true,
  execute: ({ instruction, reason }, context) => context.handOff(instruction, reason ?? "other"),
};
