/**
 * Discord's numbers in one place: sizes of texts, components and files, time limits of calls, pacing. Discord counts code points in `content` and
 * bytes where it does not say so: both are measured here. Margins are left where Discord measures after its own formatting.
 */

/** Code points of one plain message; Discord's limit is 2,000. */
export const CONTENT_CODE_POINTS = 1950;
/** Pieces of one text before it becomes a summary and a file (SPEC M2). */
export const MAX_TEXT_PIECES = 6;
/** Code points of a card's words. Discord's limit is 4,000 for all text of a message, and the line that says how a card ended needs room. */
export const CARD_CODE_POINTS = 3300;
/** UTF-8 bytes of the same: a little over 10,000 make Discord fail with status 500. */
export const CARD_BYTES = 8000;

/** Words on a button; about 34 are shown. */
export const BUTTON_CHARS = 80;
/** A label longer than this does not read well on a button. */
export const SHORT_LABEL_CHARS = 34;
/** Buttons in one row, and rows of buttons in one message. */
export const ROW_BUTTONS = 5;
/** Label, value and description of one choice in a menu. */
export const OPTION_CHARS = 100;
/** Words shown in a menu before something is chosen. */
export const PLACEHOLDER_CHARS = 150;
/** Title of a form. */
export const MODAL_TITLE_CHARS = 45;
/** What a person can type into a form's field. */
export const INPUT_CHARS = 4000;
/** Label above a form's field. */
export const LABEL_CHARS = 45;
/** Address of a link button. */
export const LINK_CHARS = 512;
/** Description of a picture. */
export const ALT_CHARS = 1024;
/** Name of a thread. */
export const THREAD_NAME_CHARS = 100;

/** Pictures in one gallery, and files in one message. */
export const GALLERY_ITEMS = 10;
/** Bytes of one request with files; Discord takes 25 MiB. */
export const REQUEST_BYTES = 24 * 1024 * 1024;
const MIB = 1024 * 1024;

/** Largest file a server takes, bytes, by its boost tier; direct messages have none. */
export function fileLimit(tier: number): number {
  if (tier >= 3) return 100 * MIB;
  return tier === 2 ? 50 * MIB : 10 * MIB;
}

/** One REST call, ms; uploads included. */
export const CALL_TIMEOUT_MS = 15_000;
/** One call that carries files, ms. */
export const UPLOAD_TIMEOUT_MS = 60_000;
/** One call on the path of a click: Discord waits 3 s for the first answer. */
export const FAST_TIMEOUT_MS = 2500;
/** One whole delivery, ms: creating a thread, the upload and a simpler second form together. Shorter than a take-over of the sender waits. */
export const DELIVER_TIMEOUT_MS = 80_000;

/** Posts to one channel by all our bots: Discord allows about five in five seconds. */
export const POST_PACE = { burst: 5, refillMs: 1000 } as const;

/** Answers 401, 403 and 429 in ten minutes at which we stop calling: Discord shuts out the whole address at 10,000. */
export const INVALID_REQUESTS = 2000;
/** The window of that count, ms. */
export const INVALID_WINDOW_MS = 10 * 60_000;

/** Length as Discord counts it. */
export function codePoints(text: string): number {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
}

/** Length in UTF-8. */
export function utf8Bytes(text: string): number {
  return Buffer.byteLength(text, "utf8");
}

/** Cuts a one-line label to `limit` characters, whole visible characters only, with an ellipsis when something is missing. */
export function clip(text: string, limit: number): string {
  if (text.length <= limit) return text;
  const segments = [...new Intl.Segmenter(undefined, { granularity: "grapheme" }).segment(text.slice(0, limit + 50))];
  const last = segments.findLast((part) => part.index + part.segment.length <= limit - 1);
  return `${text.slice(0, last ? last.index + last.segment.length : 0)}…`;
}
