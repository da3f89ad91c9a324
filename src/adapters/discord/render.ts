/**
 * A Delivery as native Discord messages, in order. Pure and deterministic: the same delivery gives the same messages after a restart. What is only
 * known when it is posted (nonce, reply, file bytes) is added then.
 * Invariant: model text is only ever Markdown after `toDiscordMarkdown` or in literal labels; a card's text stays within the size Discord can show,
 * and what is longer goes before it as plain messages. Redrawing a settled card uses the same words without the controls.
 */

import type { BubbleContent, CardOutcome, Delivery, FileRef, HostCard, PersonRef } from "../../engine/index.ts";
import { isImage } from "../../engine/index.ts";
import { writeControlId } from "../shared/control-id.ts";
import { controlsHint, secretHint, widgetHint } from "../shared/looks.ts";
import { button, type Component, container, linkButton, rows, section, textDisplay } from "./components.ts";
import { escapeWords, splitForDiscord, toDiscordMarkdown } from "./format.ts";
import {
  CARD_BYTES,
  CARD_CODE_POINTS,
  CONTENT_CODE_POINTS,
  clip,
  codePoints,
  GALLERY_ITEMS,
  REQUEST_BYTES,
  utf8Bytes,
} from "./limits.ts";
import { secretControls, secretWords } from "./secret-form.ts";
import { needsValues, widgetControls, widgetWords } from "./widget.ts";

/** A plain message; `users` are the people it pings. */
export interface TextContent {
  readonly kind: "text";
  readonly content: string;
  readonly users: readonly string[];
  /** Set where words stand for a card's controls (SPEC M14): the words that stay when it is answered. */
  readonly kept?: string;
}

/** A message of components. `words` are its text alone; `values` are its options' values where controls say only numbers. */
export interface CardContent {
  readonly kind: "card";
  readonly words: string;
  readonly components: readonly Component[];
  readonly values?: { readonly cardId: string; readonly list: readonly string[] };
}

/** Pictures or videos shown together. */
export interface GalleryContent {
  readonly kind: "gallery";
  readonly files: readonly FileRef[];
}

/** One file to keep, with a caption. */
export interface FileContent {
  readonly kind: "file";
  readonly file: FileRef;
  readonly caption: string;
}

/** What one piece holds; stored as JSON. */
export type DiscordContent = TextContent | CardContent | GalleryContent | FileContent;

const OUTCOME_CHARS = 300;
const CAPTION_CHARS = 1000;
/** Room for the line that says how to answer, or how it ended. */
const OUTCOME_ROOM = 700;

/** The native messages of a delivery; without `cards`, what can be answered by typing has words for its controls (SPEC M14). */
export function renderDelivery(delivery: Delivery, cards = true): readonly DiscordContent[] {
  const words = cards ? undefined : renderInWords(delivery);
  if (words) return words;
  if (delivery.kind === "host-card") return renderHostCard(delivery.card, delivery.cardId);
  return renderBubble(delivery.content, delivery.cardId, delivery.mentionable);
}

function renderBubble(
  content: BubbleContent,
  cardId: string | undefined,
  mentionable: readonly PersonRef[],
): readonly DiscordContent[] {
  switch (content.type) {
    case "text":
      return [
        ...texts(content.content, mentionable),
        ...galleries(content.images),
        ...(content.document ? [fileMessage(content.document)] : []),
      ];
    case "attachment":
      return isVisual(content.file) ? galleries([content.file]) : [fileMessage(content.file)];
    case "widget": {
      const { widget } = content;
      if (cardId === undefined) return texts(widgetWords(widget, true), []);
      const values = needsValues(widget) ? { cardId, list: widget.options.map((one) => one.value) } : undefined;
      return card(widgetWords(widget), widgetControls(widget, cardId), values);
    }
    case "cursor-agent": {
      const words = `**Cloud agent** \`${content.bcId}\` is at work.`;
      const link = linkButton("Open the agent", content.url);
      return [{ kind: "card", words: `${words}\n${content.url}`, components: [container([section(words, link)])] }];
    }
    case "secret-request":
      return card(secretWords(content.secret), secretControls(content.webForm, cardId));
  }
}

/** Words in place of a card; undefined for what is no card, or has no other way than its controls. */
function renderInWords(delivery: Delivery): readonly DiscordContent[] | undefined {
  const { cardId } = delivery;
  if (delivery.kind === "host-card") {
    const { card } = delivery;
    return cardId === undefined || card.controls.length === 0 ? undefined : wordMessages(card.text, controlsHint(card));
  }
  const { content } = delivery;
  if (content.type === "cursor-agent")
    return texts(`**Cloud agent** \`${content.bcId}\` is at work.\n${content.url}`, []);
  if (cardId === undefined) return undefined;
  if (content.type === "widget") return wordMessages(widgetWords(content.widget, true), widgetHint(content.widget));
  // Without a web form only the button can open Discord's own.
  if (content.type !== "secret-request" || !content.webForm) return undefined;
  return wordMessages(secretWords(content.secret), secretHint());
}

/** A card's words, and below the last of them how to answer; in a message of its own where it does not fit, or how it ended would not. */
function wordMessages(markdown: string, hint: string): readonly TextContent[] {
  const pieces = texts(markdown, []);
  const note = `-# ${escapeWords(hint)}`;
  const last = pieces.at(-1);
  if (last === undefined || codePoints(last.content) > CONTENT_CODE_POINTS - OUTCOME_ROOM)
    return [...pieces, { kind: "text", content: note, users: [], kept: "" }];
  return [...pieces.slice(0, -1), { ...last, content: `${last.content}\n${note}`, kept: last.content }];
}

function renderHostCard(host: HostCard, cardId: string | undefined): readonly DiscordContent[] {
  if (cardId === undefined || host.controls.length === 0) return texts(host.text, []);
  const buttons = host.controls.map((control, index) =>
    button(control.label, writeControlId({ verb: "pick", cardId, index }), control.style),
  );
  const open = host.link ? [linkButton(host.link.label, host.link.url)] : [];
  return card(host.text, rows([...open, ...buttons]), { cardId, list: host.controls.map((control) => control.value) });
}

function texts(markdown: string, mentionable: readonly PersonRef[]): readonly TextContent[] {
  return splitForDiscord(markdown, mentionable).map((piece) => {
    const { text, users } = toDiscordMarkdown(piece, mentionable);
    return { kind: "text", content: text, users };
  });
}

/** Words with controls below. Words that a frame cannot hold are said before it. */
function card(
  markdown: string,
  controls: readonly Component[],
  values?: CardContent["values"],
): readonly DiscordContent[] {
  const whole = toDiscordMarkdown(markdown).text;
  const pieces = fitsFrame(whole) ? [whole] : texts(markdown, []).map((piece) => piece.content);
  const last = pieces.at(-1) ?? "";
  return [
    ...pieces.slice(0, -1).map((content) => ({ kind: "text" as const, content, users: [] })),
    {
      kind: "card",
      words: last,
      components: [container([textDisplay(last), ...controls])],
      ...(values === undefined ? {} : { values }),
    },
  ];
}

/** Discord answers with an internal error when the text is within its own limit but long in bytes. */
function fitsFrame(text: string): boolean {
  return codePoints(text) <= CARD_CODE_POINTS && utf8Bytes(text) <= CARD_BYTES;
}

function isVisual(file: FileRef): boolean {
  return isImage(file) || /^video\/(?:mp4|webm|quicktime)$/.test(file.mediaType);
}

/** Pictures in groups that one message and one request can hold. */
function galleries(files: readonly FileRef[]): readonly GalleryContent[] {
  const groups: FileRef[][] = [];
  let bytes = 0;
  for (const file of files) {
    const current = groups.at(-1);
    bytes += file.size;
    if (current && current.length < GALLERY_ITEMS && bytes <= REQUEST_BYTES) current.push(file);
    else {
      groups.push([file]);
      bytes = file.size;
    }
  }
  return groups.map((group) => ({ kind: "gallery", files: group }));
}

/** Only pictures have descriptions on Discord; another file's description is its caption. */
function fileMessage(file: FileRef): FileContent {
  return { kind: "file", file, caption: clip(escapeWords(file.alt ?? ""), CAPTION_CHARS) };
}

/** The same where words stood for the controls. */
export function settledWords(kept: string, delivery: Delivery, outcome: CardOutcome): string {
  const line = clip(`-# ${outcomeLine(delivery, outcome).replaceAll("\n", " ")}`, OUTCOME_ROOM - 1);
  return kept === "" ? line : `${kept}\n${line}`;
}

/** The card's message as it stays: its words, how it ended and who did it, no controls (SPEC C3). */
export function renderSettled(content: CardContent, delivery: Delivery, outcome: CardOutcome): CardContent {
  const line = `-# ${outcomeLine(delivery, outcome).replaceAll("\n", " ")}`;
  return {
    kind: "card",
    words: `${content.words}\n${line}`,
    components: [container([textDisplay(content.words), textDisplay(line)])],
  };
}

function outcomeLine(delivery: Delivery, outcome: CardOutcome): string {
  const name = outcome.byName === undefined ? undefined : escapeWords(outcome.byName);
  const who = name === undefined ? "" : ` by ${name}`;
  const isSecret = delivery.kind === "bubble" && delivery.content.type === "secret-request";
  switch (outcome.state) {
    case "answered": {
      if (isSecret) return `✓ Secret received${name === undefined ? "" : ` from ${name}`}`;
      const chosen = [
        ...(outcome.answer?.labels ?? []),
        ...(outcome.answer?.custom === undefined ? [] : [outcome.answer.custom]),
      ];
      const answer = escapeWords(clip(chosen.join(", "), OUTCOME_CHARS));
      return answer === "" ? `✓ Answered${who}` : `✓ ${answer} (answered${who})`;
    }
    case "dismissed":
      return isSecret ? `✗ Declined${who}` : `✗ Closed${who}`;
    case "expired":
      return "This has expired.";
    case "open":
      return "";
  }
}
