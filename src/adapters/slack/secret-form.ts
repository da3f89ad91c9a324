/**
 * How a secret is asked for in Slack (SPEC C5). Slack cannot mask what is typed, so the one-time link to the masked web form comes first and
 * Slack's own form, which says so, second.
 * Invariant: a value goes from the submitted form into a SecretValue and nowhere else; no id, metadata, notice or error holds it.
 */

import { type SecretRequest, SecretValue } from "../../engine/index.ts";
import { writeControlId } from "../shared/control-id.ts";
import { type Fields, toFields, toText } from "../shared/fields.ts";
import { type Block, button, plainText } from "./blocks.ts";
import { BUTTON_CHARS, INPUT_CHARS, LABEL_CHARS, MODAL_TITLE_CHARS } from "./limits.ts";

/** Where a form was opened from; travels in the form, so that its answer finds back. */
export interface FormOrigin {
  readonly channelId: string;
  readonly messageTs: string;
  readonly threadTs?: string | undefined;
}

const INPUT_BLOCK = "field";

/** The words of a secret-request: what is wanted, for what, where it will be kept. */
export function secretWords(secret: SecretRequest): string {
  const use = secret.description === undefined ? "" : `\n${secret.description}`;
  return `**${secret.label}**${use}\n\nIt is stored encrypted for **${secret.connector}** (field ${secret.field}) and is never shown in a conversation. Please do not write it here.`;
}

/** The request's buttons. Without a card nobody could answer, so there are none. */
export function secretBlocks(webForm: boolean, cardId: string | undefined): readonly Block[] {
  if (cardId === undefined) return [];
  const verb = webForm ? "secret-link" : "secret-form";
  const elements = [
    button("Enter it privately", writeControlId({ verb, cardId }), "enter", "primary"),
    button("Decline", writeControlId({ verb: "decline", cardId }), "decline"),
  ];
  return [{ type: "actions", block_id: `card:${cardId}`, elements }];
}

/** The private message with the one-time link. */
export function linkNotice(
  link: string,
  cardId: string,
): { readonly words: string; readonly blocks: readonly Block[] } {
  const words = "Here is your one-time link. It opens a masked form, works once, and only you can see it.";
  const open = {
    type: "button",
    text: plainText("Open the form", BUTTON_CHARS),
    url: link,
    style: "primary",
    action_id: writeControlId({ verb: "open", cardId }),
  };
  const elements = [
    open,
    button("Type it in Slack instead", writeControlId({ verb: "secret-form", cardId }), "form"),
    button("Decline", writeControlId({ verb: "decline", cardId }), "decline"),
  ];
  return {
    words,
    blocks: [
      { type: "section", text: plainText(words, INPUT_CHARS) },
      { type: "actions", block_id: `link:${cardId}`, elements },
    ],
  };
}

/** The same where cards are off: a link, and no controls. */
export function linkWords(link: string): { readonly words: string; readonly blocks: readonly Block[] } {
  const words = "Here is your one-time link. It opens a masked form, works once, and only you can see it:";
  return {
    words: `${words} ${link}`,
    blocks: [{ type: "section", text: { type: "mrkdwn", text: `${words}\n<${link}>` } }],
  };
}

/** Slack's own form for a secret; Slack shows what is typed, and the form says so. */
export function secretModal(cardId: string, origin: FormOrigin): Block {
  return modal("Enter privately", "secret", cardId, origin, [
    {
      type: "section",
      text: plainText(
        "Slack shows what you type here on your screen and carries it to us. It is then stored encrypted and never shown again.",
        INPUT_CHARS,
      ),
    },
    input("Secret", false),
  ]);
}

/** The form behind "Other…". */
export function answerModal(cardId: string, origin: FormOrigin): Block {
  return modal("Your answer", "typed", cardId, origin, [input("Answer", true)]);
}

function modal(
  title: string,
  verb: "secret" | "typed",
  cardId: string,
  origin: FormOrigin,
  blocks: readonly Block[],
): Block {
  return {
    type: "modal",
    callback_id: writeControlId({ verb, cardId }),
    private_metadata: JSON.stringify({ c: origin.channelId, m: origin.messageTs, t: origin.threadTs }),
    title: plainText(title, MODAL_TITLE_CHARS),
    submit: plainText("Send", MODAL_TITLE_CHARS),
    close: plainText("Cancel", MODAL_TITLE_CHARS),
    blocks,
  };
}

function input(label: string, multiline: boolean): Block {
  return {
    type: "input",
    block_id: INPUT_BLOCK,
    label: plainText(label, LABEL_CHARS),
    element: { type: "plain_text_input", action_id: "value", multiline, max_length: INPUT_CHARS },
  };
}

/** Where a submitted form came from. */
export function readOrigin(view: Fields): FormOrigin | undefined {
  const metadata = toText(view.private_metadata);
  const fields = metadata === undefined ? {} : parseOrigin(metadata);
  const channelId = toText(fields.c);
  const messageTs = toText(fields.m);
  return channelId === undefined || messageTs === undefined
    ? undefined
    : { channelId, messageTs, threadTs: toText(fields.t) };
}

function parseOrigin(metadata: string): Fields {
  try {
    return toFields(JSON.parse(metadata));
  } catch {
    // Not a form of ours; the caller refuses it.
    return {};
  }
}

/** The words typed into a form. */
export function readTyped(view: Fields): string {
  const field = toFields(toFields(toFields(toFields(view.state).values)[INPUT_BLOCK]).value);
  return toText(field.value) ?? "";
}

/** The secret typed into a form. */
export function readSecret(view: Fields): SecretValue {
  return new SecretValue(readTyped(view).trim());
}

/** Shows a reason at the form's field. */
export function formError(reason: string): object {
  return { response_action: "errors", errors: { [INPUT_BLOCK]: reason } };
}
