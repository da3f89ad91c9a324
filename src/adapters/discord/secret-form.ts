/**
 * How a secret is asked for on Discord (SPEC C5): a form of Discord's own, which says that Discord cannot hide what is typed, and where it can be
 * offered the one-time link to a masked web form.
 * Invariant: a value goes from the submitted form into a SecretValue and nowhere else; no id, notice or error holds it.
 */

import { type SecretRequest, SecretValue } from "../../engine/index.ts";
import { writeControlId } from "../shared/control-id.ts";
import { type Fields, toFields, toList, toText } from "../shared/fields.ts";
import { button, type Component, field, linkButton, row, rows, textDisplay } from "./components.ts";
import { clip, INPUT_CHARS, MODAL_TITLE_CHARS } from "./limits.ts";

const INPUT_ID = "value";

/** The words of a secret-request: what is wanted, for what, where it will be kept. */
export function secretWords(secret: SecretRequest): string {
  const use = secret.description === undefined ? "" : `\n${secret.description}`;
  return `**${secret.label}**${use}\n\nIt is stored encrypted for **${secret.connector}** (field ${secret.field}) and is never shown in a conversation. Please do not write it here.`;
}

/** The request's buttons. Without a card nobody could answer, so there are none. */
export function secretControls(webForm: boolean, cardId: string | undefined): readonly Component[] {
  if (cardId === undefined) return [];
  return rows([
    button("Enter it privately", writeControlId({ verb: "secret-form", cardId }), "primary"),
    ...(webForm ? [button("Use a one-time web form", writeControlId({ verb: "secret-link", cardId }))] : []),
    button("Decline", writeControlId({ verb: "decline", cardId })),
  ]);
}

/** The private message with the one-time link. */
export function linkNotice(link: string): { readonly words: string; readonly components: readonly Component[] } {
  return {
    words: "Here is your one-time link. It opens a masked form, works once, and only you can see it.",
    components: [row([linkButton("Open the form", link)])],
  };
}

/** Discord's own form for a secret. */
export function secretForm(cardId: string): Component {
  return form("Enter it privately", writeControlId({ verb: "secret", cardId }), [
    textDisplay(
      "Discord cannot hide what you type here and carries it to us. It is then stored encrypted and never shown again.",
    ),
    field("Secret", undefined, input(1)),
  ]);
}

/** The form behind "Other…". */
export function answerForm(cardId: string): Component {
  return form("Your answer", writeControlId({ verb: "typed", cardId }), [field("Answer", undefined, input(2))]);
}

function form(title: string, customId: string, components: readonly Component[]): Component {
  return { title: clip(title, MODAL_TITLE_CHARS), custom_id: customId, components };
}

function input(style: 1 | 2): Component {
  return { type: 4, custom_id: INPUT_ID, style, min_length: 1, max_length: INPUT_CHARS, required: true };
}

/** The words typed into a form, wherever Discord put the field. */
export function readTyped(data: Fields): string {
  for (const item of toList(data.components)) {
    for (const one of [toFields(item.component), ...toList(item.components), item]) {
      if (one.custom_id === INPUT_ID) return toText(one.value) ?? "";
    }
  }
  return "";
}

/** The secret typed into a form. */
export function readSecret(data: Fields): SecretValue {
  return new SecretValue(readTyped(data).trim());
}
