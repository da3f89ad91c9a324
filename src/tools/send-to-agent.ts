/**
 * SendToAgent: hands work to another bot (SPEC A1). The call says "queued" at once; an answer arrives later as new mail. The tool reads its input
 * leniently and explains every problem in words, as models fill it in many ways.
 */

import { z } from "zod";
import type { Tool, ToolResult } from "../engine/index.ts";

const MAX_MESSAGE = 8000;
const MAX_IMAGES = 10;

const input = z.object({
  target: z.string().describe("Id or name of the teammate"),
  message: z
    .string()
    .describe(
      `What you want, complete in itself: the teammate does not see your conversation. At most ${MAX_MESSAGE} characters`,
    ),
  images: z
    .array(
      z.object({ url: z.string().describe("file:// inside the workspace, or https://"), alt: z.string().nullish() }),
    )
    .nullish()
    .describe(`Up to ${MAX_IMAGES} pictures`),
  priority: z.boolean().nullish().describe("Let it go before other work of the teammate that no person waits for"),
});

const lenient = z.object({
  target: z.string().trim().min(1),
  message: z.string().trim().min(1).max(MAX_MESSAGE),
  images: z
    .array(
      z.union([
        z.string().transform((url) => ({ url, alt: undefined })),
        z.object({ url: z.string().min(1), alt: z.string().nullish() }),
      ]),
    )
    .max(MAX_IMAGES)
    .nullish(),
  priority: z.union([z.boolean(), z.string(), z.number()]).nullish(),
});

/** Its effect commits with the call, so running it again after a crash is safe. */
export const sendToAgent: Tool<typeof input> = {
  name: "SendToAgent",
  description:
    "Give a teammate (another bot) a piece of work or a question. Returns at once with `queued`; you never wait. The answer, if any, comes later as a new message to you in this conversation and wakes you. Several teammates may work at the same time.",
  input,
  offeredIn: ["main", "member", "room", "peer", "background"],
  repeatable: true,
  checksInput: true,
  timeoutMs: 180_000,
  async execute(given, context) {
    const read = lenient.safeParse(given);
    if (!read.success) return problems(read.error);
    const { target, message, images, priority } = read.data;
    return context.sendToAgent({
      target,
      message,
      images: (images ?? []).map(({ url, alt }) => ({ url, ...(alt ? { alt } : {}) })),
      isUrgent: isUrgent(priority),
    });
  },
};

function isUrgent(priority: string | number | boolean | null | undefined): boolean {
  if (typeof priority === "string") return /^(true|yes|high|higher|highest|urgent|1)$/i.test(priority.trim());
  return typeof priority === "number" ? priority > 0 : priority === true;
}

function problems(error: z.ZodError): ToolResult {
  const lines = error.issues.map(({ path, code, message }) =>
    path[0] === "message" && code === "too_big"
      ? `- message is longer than ${MAX_MESSAGE} characters. Shorten it, or put the long part into a file and name it.`
      : `- ${path.join(".") || "arguments"}: ${message}`,
  );
  return { ok: false, text: `Not sent. Mend this and call SendToAgent again:\n${lines.join("\n")}` };
}
