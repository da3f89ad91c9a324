/**
 * Text typed while a card is open (SPEC C4): the words of one of its controls do what the control does, whether it is shown or not. Anything else is an
 * ordinary message. Decides what is meant; answers.ts commits it.
 * Invariant: only a person who may use the control is understood this way, and a secret's value is never taken from a message.
 */

import {
  answerFromText,
  type Card,
  type CardAnswer,
  choiceFromText,
  controlFromText,
  mayAnswer,
  secretWordFromText,
} from "../card.ts";
import { withoutOpeningName } from "../handles.ts";
import type { Reception } from "../inbound-event.ts";
import { addressingOf, findAddressed } from "./addressing.ts";
import { typedAnswer, typedControl, typedDecline, typedLinkRequest } from "./answers.ts";
import type { MessageCase } from "./message-case.ts";
import type { RouterParts } from "./router-parts.ts";

/** Takes the message in as the use of a card's control. Undefined: it is none, or the card was closed a moment ago. */
export async function takeTypedAnswer(
  parts: RouterParts,
  item: MessageCase,
  woken: readonly string[],
): Promise<Reception | undefined> {
  if (item.event.files.length > 0 || item.onlyBot) return undefined;
  for (const card of [...item.view.openCards].reverse()) {
    const use = mayAnswer(card, item.event.from.id) ? useOf(parts, item, card, woken) : undefined;
    if (!use) continue;
    switch (use.kind) {
      case "answer":
        return typedAnswer(parts, item, card, use.answer);
      case "control":
        return typedControl(parts, item, card, use.value);
      case "decline":
        return typedDecline(parts, item, card);
      case "enter":
        return typedLinkRequest(parts, item, card);
    }
  }
  return undefined;
}

type Use =
  | { readonly kind: "answer"; readonly answer: CardAnswer }
  | { readonly kind: "control"; readonly value: string }
  | { readonly kind: "enter" | "decline" };

function useOf(parts: RouterParts, item: MessageCase, card: Card, woken: readonly string[]): Use | undefined {
  const words = plainWords(parts, item, card.botId);
  switch (card.spec.kind) {
    case "widget": {
      if (card.allowed.length === 0) return undefined;
      const { widget } = card.spec;
      const numbered = parts.adapters(item.ref.platform)?.numbersChoices === true;
      // In own words, where they are allowed, only when said to nobody but the bot that asked.
      const isAlone = woken.length === 1 && woken[0] === card.botId;
      const answer = (isAlone ? answerFromText : choiceFromText)(widget, words, numbered);
      return answer && { kind: "answer", answer };
    }
    case "secret": {
      const kind = card.allowed.length > 0 ? secretWordFromText(words) : undefined;
      return kind && { kind };
    }
    case "host": {
      // What anybody may use is for people: another bot's chance words use nothing.
      const isForAll = card.allowed.length === 0;
      if (isForAll && item.event.from.kind === "bot") return undefined;
      const control = controlFromText(card.spec.host, words);
      return control && { kind: "control", value: control.value };
    }
  }
}

/** The typed words without the name of the bot that asked: "@Ada yes" answers as "yes" does. Empty when anybody else is addressed. */
function plainWords(parts: RouterParts, item: MessageCase, botId: string): string {
  const bot = item.bots.find((candidate) => candidate.botId === botId);
  const named = findAddressed(addressingOf(parts, item)).named;
  if (named.some((id) => id !== botId)) return "";
  let { text } = item.event;
  for (const mention of [...item.event.mentions].sort((a, b) => b.start - a.start)) {
    if (!bot?.platformIds.includes(mention.platformId)) return "";
    text = text.slice(0, mention.start) + text.slice(mention.end);
  }
  return bot ? withoutOpeningName(text, bot) : text;
}
