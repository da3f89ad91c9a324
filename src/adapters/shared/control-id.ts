/**
 * Ids of buttons, menus and modals. An id says which card it belongs to and what it does, so that any process can handle a click after any
 * restart. Invariant: it carries no right and no secret; who may do what is checked when the event is received (SPEC C2).
 */

/**
 * pick: one choice by a button · menu: a list of choices, one answer per selection · tick: a list whose selection waits for submit ·
 * submit: hands in the ticked choices · other: opens a field for free text · typed: that field's form · decline: dismisses the card ·
 * secret-link: asks for the one-time link · secret-form: opens the platform's own form · secret: that form · open: a link, nothing to do.
 */
export const CONTROL_VERBS = [
  "pick",
  "menu",
  "tick",
  "submit",
  "other",
  "typed",
  "decline",
  "secret-link",
  "secret-form",
  "secret",
  "open",
] as const;

/** One of the verbs. */
export type ControlVerb = (typeof CONTROL_VERBS)[number];

/** What a control id says. `index` is the option's position for `pick`. */
export interface ControlRef {
  readonly verb: ControlVerb;
  readonly cardId: string;
  readonly index?: number;
}

/** Longest id any platform here accepts, characters (Discord 100, Slack 255). */
export const MAX_CONTROL_ID = 100;

/** Writes an id. Throws a RangeError for a card id that would not fit. */
export function writeControlId(ref: ControlRef): string {
  const id = `p1:${ref.verb}:${ref.cardId}${ref.index === undefined ? "" : `:${ref.index}`}`;
  if (id.length > MAX_CONTROL_ID || /[:\s]/.test(ref.cardId)) {
    throw new RangeError("This card id does not fit into a control id.");
  }
  return id;
}

/** Reads an id; undefined for controls that are not ours. */
export function readControlId(id: string): ControlRef | undefined {
  const match = /^p1:([a-z-]+):([^:\s]+)(?::(\d{1,3}))?$/.exec(id);
  const verb = CONTROL_VERBS.find((known) => known === match?.[1]);
  const cardId = match?.[2];
  if (!verb || cardId === undefined) return undefined;
  return match?.[3] === undefined ? { verb, cardId } : { verb, cardId, index: Number(match[3]) };
}
