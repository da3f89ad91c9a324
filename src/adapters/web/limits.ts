/**
 * Limits of the playground: what a person may send and how the page and its server pace themselves.
 * Numbers only. Limits of bubbles are the engine's; this platform shows any length as one message.
 */

/** Largest file a person may upload, bytes (SPEC M6). */
export const MAX_UPLOAD_BYTES = 25 * 1024 * 1024;

/** Most files of one message. */
export const MAX_FILES = 10;

/** Longest message of a person, characters. */
export const MAX_TEXT = 40_000;

/** Longest display name, characters. */
export const MAX_NAME = 40;

/** Longest channel name, characters. */
export const MAX_CHANNEL_NAME = 40;

/** Largest JSON body, bytes: room for MAX_TEXT in any script. */
export const MAX_JSON_BYTES = 256 * 1024;

/** Largest body of the one-time form, bytes. */
export const MAX_FORM_BYTES = 64 * 1024;

/** Posts of one page of history. */
export const PAGE_POSTS = 50;

/** How often other processes' posts are looked for, ms. */
export const POLL_MS = 1000;

/** A beat keeps proxies from closing an idle stream and shows the page that it lives, ms. */
export const HEARTBEAT_MS = 15_000;

/** A working status dies by itself after this long; the engine repeats it every minute. */
export const WORKING_MS = 90_000;

/** Unread chunks after which a stream is closed; the page comes back and resumes where it was. */
export const MAX_BACKLOG = 2000;

/** One write into the timeline takes milliseconds; this is the sender's patience, ms. */
export const DELIVER_TIMEOUT_MS = 10_000;
