/**
 * Slack's numbers in one place: sizes of messages, blocks and controls, time limits of calls, pacing. Sizes are JavaScript string lengths, which
 * are never smaller than Slack's own count. Leave margins: Slack measures after its own formatting.
 */

import { mapCode } from "../shared/markdown-code.ts";

/** Characters in the markdown block of one message; Slack's limit is 12,000 over all of them. */
export const MARKDOWN_CHARS = 11_500;
/** Rendered blocks of one message; Slack refuses more than 50. */
export const RENDERED_BLOCKS = 45;
/** Characters of the `text` field: longer ones are cut into several messages by Slack, and chat.update takes 4,000. */
export const FALLBACK_CHARS = 3900;
/** Pieces of one text before it becomes a summary and a file (SPEC M2). */
export const MAX_TEXT_PIECES = 4;

/** Words of a section or any other text object. */
export const SECTION_CHARS = 3000;
/** Words on a button; about 30 are shown. */
export const BUTTON_CHARS = 75;
/** Title and subtitle of a card. */
export const CARD_TITLE_CHARS = 150;
/** Words of one choice in a list or menu. */
export const OPTION_CHARS = 75;
/** Words below a choice. */
export const DESCRIPTION_CHARS = 75;
/** Option values are documented with 150 characters and typed with 75: the smaller number is always safe. */
export const VALUE_CHARS = 75;
/** Title and buttons of a form. */
export const MODAL_TITLE_CHARS = 24;
/** What a person can type into a form's field. */
export const INPUT_CHARS = 3000;
/** Label of a form's field. */
export const LABEL_CHARS = 2000;
/** Choices shown as buttons, as radio buttons or checkboxes, as a menu; more become text. */
export const BUTTON_CHOICES = 5;
/** See `BUTTON_CHOICES`. */
export const RADIO_CHOICES = 10;
/** A label longer than this does not read well on a button. */
export const SHORT_LABEL_CHARS = 30;
/** Files in one share: Slack fails at 15. */
export const SHARE_FILES = 10;

/** One Web API call of a post, ms. */
export const CALL_TIMEOUT_MS = 15_000;
/** One call on the path of a click: a trigger lives 3 s. */
export const FAST_TIMEOUT_MS = 2500;
/** One whole delivery, ms: waiting for its turn, uploads and the share together. Must stay under the sender's lease. */
export const DELIVER_TIMEOUT_MS = 80_000;
/** Uploads of one attempt end after this, ms; what is missing is uploaded by the next attempt. */
export const UPLOAD_BUDGET_MS = 45_000;
/** How long a file share may take to appear in the channel, ms. */
export const SHARE_WAIT_MS = 10_000;

/** Largest file of a person that is fetched, bytes; videos may be larger (SPEC M6). */
export const INBOUND_FILE_BYTES = 25 * 1024 * 1024;
/** See `INBOUND_FILE_BYTES`. */
export const INBOUND_VIDEO_BYTES = 200 * 1024 * 1024;
/** Most files taken from one message; people cannot attach more than ten. */
export const MESSAGE_FILES = 20;
/** One download of a person's file, ms. */
export const DOWNLOAD_TIMEOUT_MS = 50_000;

/** One post a second in a channel, with a short burst (Slack's rule for chat.postMessage). */
export const POST_PACE = { burst: 8, refillMs: 1000 } as const;

/**
 * How many blocks Slack makes of a Markdown text: headings, rules, tables, lists, quotes, fences and paragraphs each count. A little high on
 * purpose, because a message with more than 50 is refused.
 */
export function estimateBlocks(markdown: string): number {
  const withoutFences = mapCode(
    markdown,
    (text) => text,
    (code) => (/^[ \t>]*(`{3}|~{3})/.test(code) ? "\n\nfence\n\n" : "code"),
  );
  let count = 0;
  let current = "";
  for (const line of withoutFences.split("\n")) {
    const kind = lineKind(line);
    if (kind !== "" && (kind !== current || kind === "heading" || kind === "rule")) count += 1;
    current = kind;
  }
  return count;
}

function lineKind(line: string): string {
  if (line.trim() === "") return "";
  if (/^ {0,3}#{1,6}\s/.test(line)) return "heading";
  if (/^ {0,3}([-*_])(\s*\1){2,}\s*$/.test(line)) return "rule";
  if (/^\s*\|/.test(line)) return "table";
  if (/^\s*>/.test(line)) return "quote";
  if (/^\s*([-*+]|\d+[.)])\s/.test(line)) return "list";
  return "paragraph";
}

/** Cuts a one-line label to `limit` characters, whole visible characters only, with an ellipsis when something is missing. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const segments = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text.slice(0, limit + 50))];
  const last = segments.findLast((part) => part.index + part.segment.length <= limit - 1);
  return `${text.slice(0, last ? last.index + last.segment.length : limit - 1)}…`;
}
