/**
 * Cards: bubbles and host cards that wait for a person (SPEC C). Pure rules: what a widget is, whether an answer fits, who may give it.
 * State lives in the store; adapters draw.
 */

/** One choice of a widget. `value` is what the model hears; equal to the label unless given. */
export interface WidgetOption {
  readonly label: string;
  readonly value: string;
  readonly description?: string;
  readonly style: "default" | "primary" | "danger";
}

/** A question with choices (SPEC C3). min and max are set only for multiple choice. */
export interface Widget {
  readonly prompt: string;
  readonly helpText?: string;
  readonly options: readonly WidgetOption[];
  readonly multiple?: { readonly min: number; readonly max: number };
  readonly allowCustom: boolean;
  readonly dismissOnMoveOn: boolean;
}

/** What a bot asks to be entrusted with; the value goes to the vault under bot + connector + field. */
export interface SecretRequest {
  readonly label: string;
  readonly description?: string;
  readonly connector: string;
  readonly field: string;
}

/** What a card waits for. */
export type CardKind = "widget" | "secret" | "retry" | "continue" | "handoff" | "approval" | "group" | "connect";
/** open is the only state that can change; the others are final (SPEC C1). */
export type CardState = "open" | "answered" | "dismissed" | "expired";

/** A control of a host card. */
export interface HostControl {
  readonly value: string;
  readonly label: string;
  readonly style: "default" | "primary" | "danger";
}

/** A message of the host itself, posted by the bot it concerns (SPEC C9). Without controls it is a plain notice. */
export interface HostCard {
  readonly kind: "notice" | Exclude<CardKind, "widget" | "secret">;
  readonly text: string;
  readonly controls: readonly HostControl[];
  /** A page to open; shown as a button beside the controls. */
  readonly link?: { readonly label: string; readonly url: string };
}

/** The stored state of a card. */
export interface Card {
  readonly id: string;
  readonly entryId: string;
  readonly botId: string;
  readonly sessionId?: string;
  readonly conversationKey: string;
  readonly turnId?: string;
  readonly kind: CardKind;
  readonly spec: CardSpec;
  /** Person ids that may answer; empty = anybody whom access admits in that conversation. */
  readonly allowed: readonly string[];
  readonly state: CardState;
  readonly skipped: boolean;
  readonly expiresAt?: Date;
  readonly answeredBy?: string;
  readonly answeredByName?: string;
  readonly answer?: CardAnswer;
}

/** What a card asks, and the native message its turn answered (so that the answer's turn replies in the same place). */
export type CardSpec = { readonly nativeReplyTo?: string } & (
  | {
      readonly kind: "widget";
      readonly widget: Widget;
      /** A running tool call asked, not the bot: the answer goes to that call and wakes nobody. */
      readonly askedByCall?: true;
    }
  | { readonly kind: "secret"; readonly secret: SecretRequest }
  | { readonly kind: "host"; readonly host: HostCard; readonly data: Readonly<Record<string, unknown>> }
);

/** A checked answer. Never holds a secret value. */
export interface CardAnswer {
  readonly values: readonly string[];
  readonly labels: readonly string[];
  readonly custom?: string;
}

/** What an adapter needs to redraw a card: how it ended, in words ready to show. */
export interface CardOutcome {
  readonly cardId: string;
  readonly state: CardState;
  readonly answer?: CardAnswer;
  readonly byName?: string;
  readonly byPlatformId?: string;
}

/** A checked answer, or the reason for the person why it does not fit. */
export type AnswerCheck =
  | { readonly ok: true; readonly answer: CardAnswer }
  | { readonly ok: false; readonly reason: string };

const CUSTOM_LIMIT = 3000;

/**
 * Checks choices and free text against a widget's options, min, max and allowCustom (SPEC C3). Free text replaces the choice where only one may be
 * made; where several may, it stands beside them, counts as one of the most, and alone is always enough. The reason is for the person.
 */
export function checkAnswer(widget: Widget, choices: readonly string[], text?: string): AnswerCheck {
  const custom = text?.trim();
  const wrong = custom ? customProblem(widget, custom) : undefined;
  if (wrong) return { ok: false, reason: wrong };
  const unique = custom && !widget.multiple ? [] : [...new Set(choices)];
  const picked = widget.options.filter((option) => unique.includes(option.value));
  if (picked.length !== unique.length) return { ok: false, reason: "That choice is not one of the options." };
  const count = picked.length + (custom ? 1 : 0);
  const min = widget.multiple?.min ?? 1;
  const max = widget.multiple?.max ?? 1;
  if (!custom && count < min) return { ok: false, reason: `Please choose at least ${min}.` };
  if (count > max) return { ok: false, reason: `Please choose at most ${max}.` };
  const answer = { values: picked.map((o) => o.value), labels: picked.map((o) => o.label) };
  return { ok: true, answer: custom ? { ...answer, custom } : answer };
}

function customProblem(widget: Widget, custom: string): string | undefined {
  if (!widget.allowCustom) return "This question takes only the listed options.";
  return custom.length > CUSTOM_LIMIT ? `Please keep your answer under ${CUSTOM_LIMIT} characters.` : undefined;
}

/** What a person types to use the controls of a secret-request (SPEC C4); compared as labels are. */
export const SECRET_WORDS = { enter: "Enter it privately", decline: "Decline" } as const;

/**
 * SPEC C4: the choice a typed text names, by its label or, if no label fits, by its value. Space, case and the form of characters do not matter,
 * anything else does. Where several may be chosen they stand with commas or lines between them. `numbered` = the options were shown with numbers,
 * which then name them too. Undefined when it names none, or too few or too many.
 */
export function choiceFromText(widget: Widget, text: string, numbered = false): CardAnswer | undefined {
  const whole = optionNamed(widget, text, numbered);
  const parts = widget.multiple ? text.split(/[,;\n]/u).filter((part) => part.trim() !== "") : [];
  const picked = whole ? [whole] : parts.map((part) => optionNamed(widget, part, numbered));
  const values = picked.flatMap((option) => option?.value ?? []);
  if (values.length === 0 || values.length < picked.length) return undefined;
  const check = checkAnswer(widget, values);
  return check.ok ? check.answer : undefined;
}

function optionNamed(widget: Widget, text: string, numbered: boolean): WidgetOption | undefined {
  const typed = normalise(text);
  const named = (key: "label" | "value") => widget.options.find((option) => normalise(option[key]) === typed);
  const number = numbered && /^\d{1,2}[.)]?$/u.test(typed) ? Number.parseInt(typed, 10) : 0;
  return named("label") ?? named("value") ?? widget.options[number - 1];
}

/** SPEC C4: what typed text means while a widget is open; undefined = an ordinary message, the card is skipped. `numbered` as above. */
export function answerFromText(widget: Widget, text: string, numbered = false): CardAnswer | undefined {
  const choice = choiceFromText(widget, text, numbered);
  if (choice) return choice;
  const check = text.trim() ? checkAnswer(widget, [], text) : undefined;
  return check?.ok ? check.answer : undefined;
}

/** SPEC C4: the control of a host card whose label was typed. */
export function controlFromText(card: HostCard, text: string): HostControl | undefined {
  return card.controls.find((control) => normalise(control.label) === normalise(text));
}

/** SPEC C4: the control of a secret-request that was typed. Never a value: those are not typed into a conversation. */
export function secretWordFromText(text: string): keyof typeof SECRET_WORDS | undefined {
  const typed = normalise(text);
  if (typed === normalise(SECRET_WORDS.enter)) return "enter";
  return typed === normalise(SECRET_WORDS.decline) ? "decline" : undefined;
}

/** Emoji are typed with and without the sign that asks for colour, apostrophes straight and curly. */
function normalise(text: string): string {
  return text
    .normalize("NFKC")
    .replace(/[\uFE0E\uFE0F]/gu, "")
    .replace(/[\u2018\u2019]/gu, "'")
    .replace(/\s+/gu, " ")
    .trim()
    .replace(/^[“”"](.*)[“”"]$/u, "$1")
    .toLowerCase();
}

/** SPEC C2: whether this person may answer. The reason is for that person. */
export function mayAnswer(card: Pick<Card, "allowed">, personIdOfClick: string): boolean {
  return card.allowed.length === 0 || card.allowed.includes(personIdOfClick);
}
