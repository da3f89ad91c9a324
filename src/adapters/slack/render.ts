/**
 * A Delivery as native Slack payloads, in order, one per message. Pure and deterministic: the same delivery gives the same payloads after a
 * restart. Invariant: model text is only ever in markdown blocks after `toSlackMarkdown` or in literal fields; the piece's own id is added when it
 * is posted. Redrawing a settled card uses the same words without the controls.
 */

import type { BubbleContent, CardOutcome, Delivery, FileRef, HostCard, PersonRef } from "../../engine/index.ts";
import { writeControlId } from "../shared/control-id.ts";
import { controlsHint, secretHint, widgetHint } from "../shared/looks.ts";
import { type Block, button, plainText } from "./blocks.ts";
import { splitForSlack, toPlainText, toSlackMarkdown } from "./format.ts";
import { BUTTON_CHARS, CARD_TITLE_CHARS, SECTION_CHARS, SHARE_FILES } from "./limits.ts";
import { secretBlocks, secretWords } from "./secret-form.ts";
import { needsTokens, widgetBlocks, widgetWords } from "./widget.ts";

/** One native message. `isCard` marks the one that carries the controls; `values` are its options' values where controls hold numbers. */
export interface MessageContent {
  readonly kind: "message";
  readonly text: string;
  readonly blocks: readonly Block[];
  readonly isCard?: boolean;
  /** True where words stand for the controls (SPEC M14): what a person types answers it. */
  readonly isWords?: boolean;
  readonly values?: { readonly cardId: string; readonly list: readonly string[] };
  /** The same in plainer blocks, for when Slack does not take the richer ones. */
  readonly simpler?: readonly Block[];
}

/** One share of files; several pictures show as a grid. */
export interface FilesContent {
  readonly kind: "files";
  readonly files: readonly FileRef[];
  /** Plain words shown with the files; already escaped. */
  readonly comment: string;
}

/** What one piece holds; stored as JSON. */
export type SlackContent = MessageContent | FilesContent;

/** The native messages of a delivery; without `cards`, what can be answered by typing has words for its controls (SPEC M14). */
export function renderDelivery(delivery: Delivery, cards = true): readonly SlackContent[] {
  const words = cards ? undefined : renderInWords(delivery);
  if (words) return words;
  if (delivery.kind === "host-card") return renderHostCard(delivery.card, delivery.cardId);
  return renderBubble(delivery.content, delivery.cardId, delivery.mentionable);
}

function renderBubble(
  content: BubbleContent,
  cardId: string | undefined,
  mentionable: readonly PersonRef[],
): readonly SlackContent[] {
  switch (content.type) {
    case "text":
      return [
        ...textMessages(content.content, mentionable),
        ...shares(content.images),
        ...(content.document ? shares([content.document]) : []),
      ];
    case "attachment":
      return [{ kind: "files", files: [content.file], comment: toPlainText(content.file.alt ?? "") }];
    case "widget":
      return cardMessages(
        widgetWords(content.widget, cardId === undefined ? true : undefined),
        cardId === undefined ? [] : widgetBlocks(content.widget, cardId),
        cardId !== undefined && needsTokens(content.widget)
          ? { cardId, list: content.widget.options.map((option) => option.value) }
          : undefined,
      );
    case "cursor-agent":
      return [agentMessage(content.bcId, content.url)];
    case "secret-request":
      return cardMessages(secretWords(content.secret), secretBlocks(content.webForm, cardId));
  }
}

function renderHostCard(card: HostCard, cardId: string | undefined): readonly SlackContent[] {
  if (cardId === undefined || card.controls.length === 0) return textMessages(card.text, []);
  const elements = card.controls.map((control, index) =>
    button(control.label, writeControlId({ verb: "pick", cardId, index }), control.value, control.style),
  );
  const open = card.link ? [linkButton(card.link, cardId)] : [];
  return cardMessages(card.text, [{ type: "actions", block_id: `card:${cardId}`, elements: [...open, ...elements] }]);
}

/** A button that opens a page. Slack tells the app of the press too, which is acknowledged and does nothing. */
function linkButton({ label, url }: NonNullable<HostCard["link"]>, cardId: string): Block {
  const actionId = writeControlId({ verb: "open", cardId });
  return { type: "button", text: plainText(label, BUTTON_CHARS), url, action_id: actionId, style: "primary" };
}

/** Words in place of a card; undefined for what is no card, or has no other way than its controls. */
function renderInWords(delivery: Delivery): readonly SlackContent[] | undefined {
  const { cardId } = delivery;
  if (delivery.kind === "host-card") {
    const { card } = delivery;
    return cardId === undefined || card.controls.length === 0 ? undefined : wordMessages(card.text, controlsHint(card));
  }
  const { content } = delivery;
  if (content.type === "cursor-agent") return textMessages(`${agentWords(content.bcId)}\n<${content.url}>`, []);
  if (cardId === undefined) return undefined;
  if (content.type === "widget") return wordMessages(widgetWords(content.widget, true), widgetHint(content.widget));
  // Without a web form only the button can open Slack's own.
  if (content.type !== "secret-request" || !content.webForm) return undefined;
  return wordMessages(secretWords(content.secret), secretHint());
}

/** A card's words, and below the last of them how to answer. */
function wordMessages(words: string, hint: string): readonly MessageContent[] {
  const note = { type: "context", elements: [plainText(hint, SECTION_CHARS)] };
  return cardMessages(words, [note]).map((piece) => (piece.isCard ? { ...piece, isWords: true } : piece));
}

function agentWords(bcId: string): string {
  return `**Cloud agent** \`${bcId.replaceAll("`", "")}\` is at work.`;
}

/** A card where Slack has them, else words with a button. */
function agentMessage(bcId: string, url: string): MessageContent {
  const actionId = writeControlId({ verb: "open", cardId: bcId.replace(/[:\s]/g, "-").slice(0, 60) });
  const open = { type: "button", text: plainText("Open the agent", BUTTON_CHARS), url, action_id: actionId };
  const title = plainText("Cloud agent at work", CARD_TITLE_CHARS);
  const plain = textMessage(agentWords(bcId), [], []);
  return {
    ...plain,
    blocks: [{ type: "card", title, subtitle: plainText(bcId, CARD_TITLE_CHARS), actions: [open] }],
    simpler: [...plain.blocks, { type: "actions", elements: [open] }],
  };
}

function textMessages(markdown: string, mentionable: readonly PersonRef[]): readonly MessageContent[] {
  return splitForSlack(markdown, mentionable).map((piece) => textMessage(piece, mentionable, []));
}

function textMessage(piece: string, mentionable: readonly PersonRef[], controls: readonly Block[]): MessageContent {
  const markdown = toSlackMarkdown(piece, mentionable);
  return { kind: "message", text: toPlainText(piece), blocks: [{ type: "markdown", text: markdown }, ...controls] };
}

/** A card's words, split if they must be; the last message carries the controls. */
function cardMessages(
  words: string,
  controls: readonly Block[],
  values?: MessageContent["values"],
): readonly MessageContent[] {
  const pieces = splitForSlack(words);
  return pieces.map((piece, index) =>
    index < pieces.length - 1
      ? textMessage(piece, [], [])
      : { ...textMessage(piece, [], controls), isCard: true, ...(values ? { values } : {}) },
  );
}

function shares(files: readonly FileRef[]): readonly FilesContent[] {
  const groups: FilesContent[] = [];
  for (let at = 0; at < files.length; at += SHARE_FILES) {
    groups.push({ kind: "files", files: files.slice(at, at + SHARE_FILES), comment: "" });
  }
  return groups;
}

/** The card's message as it stays: its words, how it ended and who did it, no controls (SPEC C3). */
export function renderSettled(card: MessageContent, delivery: Delivery, outcome: CardOutcome): MessageContent {
  const kept = card.blocks.filter((block) => block.type === "markdown");
  const line = outcomeLine(delivery, outcome);
  return {
    kind: "message",
    text: toPlainText(line),
    blocks: [...kept, { type: "context", elements: [plainText(line, 2000)] }],
  };
}

function outcomeLine(delivery: Delivery, outcome: CardOutcome): string {
  const who = outcome.byName === undefined ? "" : ` by ${outcome.byName}`;
  const isSecret = delivery.kind === "bubble" && delivery.content.type === "secret-request";
  switch (outcome.state) {
    case "answered": {
      if (isSecret) return `✓ Secret received${outcome.byName === undefined ? "" : ` from ${outcome.byName}`}`;
      const answer = outcome.answer?.custom ?? outcome.answer?.labels.join(", ") ?? "";
      if (answer === "") return `✓ Answered${who}`;
      return `${isNo(delivery, outcome) ? "✗" : "✓"} ${answer} (answered${who})`;
    }
    case "dismissed":
      return isSecret ? `✗ Declined${who}` : `✗ Closed${who}`;
    case "expired":
      return "This has expired.";
    case "open":
      return "";
  }
}

/** The answer of a hand-off or an approval that nothing comes of. */
function isNo(delivery: Delivery, outcome: CardOutcome): boolean {
  if (delivery.kind !== "host-card") return false;
  const [value] = outcome.answer?.values ?? [];
  const control = delivery.card.controls.find((one) => one.value === value);
  return value === "cannot" || value === "deny" || control?.style === "danger";
}
