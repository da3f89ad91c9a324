/**
 * How a platform shows what bots say and do (SPEC M14), and the words that stand in for controls where cards are off. Pure.
 * Invariant: looks decide only what people see; what a model may call, and what the transcript holds, never depends on them. Words here are literal
 * text: each platform escapes them in its own way.
 */

import { type HostCard, SECRET_WORDS, type Widget } from "../../engine/index.ts";

/** The platform's block of the settings file, as far as it is about looks. */
export interface Looks {
  /** False: questions and host cards are written out without controls and answered by typing. */
  readonly cards: boolean;
  /** The platform's own sign that a bot works, or none. */
  readonly status: "native" | "off";
  /** True: a bot puts 👀 on a message it has taken, until its turn has ended. */
  readonly receipts: boolean;
}

/** What is used when nothing is set. */
export const DEFAULT_LOOKS: Looks = { cards: true, status: "native", receipts: false };

/** The sign of a receipt. */
export const RECEIPT_EMOJI = "👀";

/** How to answer a question by typing; its options stand above, numbered. */
export function widgetHint({ multiple, allowCustom, options }: Widget): string {
  const own = allowCustom ? " Your own words are an answer too." : "";
  if (!multiple) return `To answer, write the number or the words of one choice.${own}`;
  const most = Math.min(multiple.max, options.length);
  const least = Math.min(multiple.min, most);
  const count = least === most ? `${most}` : `${least} to ${most}`;
  return `To answer, write the numbers or the words of ${count} of the choices, with commas between them.${own}`;
}

/** How to answer a host card by typing. What a Group listens to is changed by its command, which works everywhere in the channel. */
export function controlsHint({ kind, controls }: HostCard): string {
  const words = controls.map((one) => (kind === "group" ? `!group ${one.value} (${one.label})` : `“${one.label}”`));
  const last = words.at(-1) ?? "";
  const rest = words.slice(0, -1).join(", ");
  const all = rest === "" ? last : `${rest} or ${last}`;
  return kind === "group" ? `To change that, write ${all}.` : `To answer, write ${all}.`;
}

/** How to answer a secret-request without its buttons: the link comes privately, because whoever has it may use it. */
export function secretHint(): string {
  return `Write “${SECRET_WORDS.enter}” to get a one-time link that only you can see, or “${SECRET_WORDS.decline}”.`;
}
