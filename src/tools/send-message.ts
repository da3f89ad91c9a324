/**
 * SendMessage: the only way a bot is heard (SPEC M). One call, one visible message. The tool checks its own input, because its answers must name
 * every problem at once in words a model can act on (M4).
 */

import { type SendMessageInput, sendMessageSchema, type Tool, toBubble } from "../engine/index.ts";

/** Effects commit with the call, so running it again after a crash is safe. */
export const sendMessage: Tool<typeof sendMessageSchema> = {
  name: "SendMessage",
  description:
    "Say something to the people in this conversation. One call is one message; it is the only thing they see. Fill only the fields of the chosen type.",
  input: sendMessageSchema,
  offeredIn: ["main", "member", "room", "peer", "background"],
  repeatable: true,
  checksInput: true,
  timeoutMs: 180_000,
  async execute(input: SendMessageInput, context) {
    const check = toBubble(input);
    return check.ok ? context.send(check.bubble) : { ok: false, text: check.text };
  },
};
