/** Block Kit's smallest parts, used by everything that draws: literal text and buttons. */

import { BUTTON_CHARS, clip } from "./limits.ts";

/** One Block Kit object. */
export type Block = Readonly<Record<string, unknown>>;

/** A text object whose words stay literal, cut to `limit`. Slack refuses empty ones, so they become a space. */
export function plainText(words: string, limit: number): Block {
  return { type: "plain_text", text: clip(words.trim(), limit) || " ", emoji: false };
}

/** A button. `style` "default" is Slack's plain one. */
export function button(
  label: string,
  actionId: string,
  value: string,
  style: "default" | "primary" | "danger" = "default",
): Block {
  return {
    type: "button",
    text: plainText(label, BUTTON_CHARS),
    action_id: actionId,
    value,
    ...(style === "default" ? {} : { style }),
  };
}
