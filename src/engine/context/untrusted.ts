/**
 * Text from people, files and other bots on its way into a prompt (SPEC I5). It stays readable, but can no longer pass for the host: reminders,
 * markers and speaker lines written by a person are visibly altered.
 */

const HOST_TAGS = /<(\/?)\s*(system[_\s-]?reminder|host[_\s-]?note|context[_\s-]?before)\b/giu;
const SPEAKER_LINE = /^([ \t]*)\[(t(?:b|\d+)(?:u|[sa]\d+)[^\]\n]{0,20})\]/gmu;

/** Message text, with imitations of host markers defused. Everything else is unchanged. */
export function untrustedText(text: string): string {
  return text.replace(HOST_TAGS, "‹$1$2").replace(SPEAKER_LINE, "$1\\[$2]");
}

/** A display name for a speaker line: one line, no brackets, at most 60 characters. */
export function untrustedName(name: string): string {
  const clean = name
    .replace(/[\p{Cc}\p{Cf}]/gu, " ")
    .replace(/[[\]()<>:]/gu, "")
    .replace(/\s+/gu, " ")
    .trim();
  return clean.slice(0, 60) || "someone";
}
