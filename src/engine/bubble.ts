/**
 * SendMessage, the only voice (SPEC M). The model fills one flat object; `toBubble` (bubble-check.ts) turns it into the checked
 * union below. Types, limits and the schema shown to the model; nothing is fetched or sent here.
 */

import { z } from "zod";
import type { SecretRequest, Widget } from "./card.ts";
import type { FileRef } from "./file-ref.ts";

/** The types of SendMessage, in the order they are explained (SPEC M3). */
export const BUBBLE_TYPES = ["text", "attachment", "widget", "cursor-agent", "secret-request"] as const;
/** One type of SendMessage. */
export type BubbleType = (typeof BUBBLE_TYPES)[number];

/** Pictures in one text bubble. */
export const MAX_IMAGES = 10;
/** Choices of one widget. */
export const MAX_OPTIONS = 25;
/** Characters of one text bubble; longer texts belong into a file. */
export const MAX_CONTENT = 100_000;
/** Characters of an option's label, value or description. */
export const MAX_LABEL = 300;
/** Characters of a widget's question. */
export const MAX_PROMPT = 3000;

/** A picture or file as the model names it. */
export interface FileAddress {
  readonly url: string;
  readonly alt?: string;
}

/** Where a bubble goes beyond its default place. */
export interface BubbleTarget {
  /** Entry address to reply to. */
  readonly replyTo?: string;
  /** Another conversation: "#name", "@person" or a platform id (text and attachment only). */
  readonly channel?: string;
}

/** A checked SendMessage call. */
export type Bubble = BubbleTarget &
  (
    | { readonly type: "text"; readonly content: string; readonly images: readonly FileAddress[] }
    | { readonly type: "attachment"; readonly file: FileAddress }
    | { readonly type: "widget"; readonly widget: Widget }
    | { readonly type: "cursor-agent"; readonly bcId: string }
    | { readonly type: "secret-request"; readonly secret: SecretRequest }
  );

/** What adapters render: a bubble whose files are stored bytes. Stored in the entry's body. */
export type BubbleContent =
  | {
      readonly type: "text";
      readonly content: string;
      readonly images: readonly FileRef[];
      /** The whole text as a file, when `content` is only its beginning (SPEC M2). */
      readonly document?: FileRef;
    }
  | { readonly type: "attachment"; readonly file: FileRef }
  | { readonly type: "widget"; readonly widget: Widget }
  | { readonly type: "cursor-agent"; readonly bcId: string; readonly url: string }
  | {
      readonly type: "secret-request";
      readonly secret: SecretRequest;
      /** True when the one-time web form can be offered (SPEC C5). */
      readonly webForm: boolean;
    };

const fileAddressSchema = z.object({
  url: z.string().describe("file:// inside the workspace, or https:// on a public host"),
  alt: z.string().nullish().describe("Short description for people who cannot see it"),
});

/** The schema shown to the model. Deliberately flat and lenient: toBubble explains what is wrong better than a schema error would. */
export const sendMessageSchema = z.object({
  type: z.enum(BUBBLE_TYPES).describe("What kind of message this is; fill only the fields of that type"),
  content: z.string().nullish().describe("text: the words, Markdown"),
  images: z.array(fileAddressSchema).nullish().describe(`text: up to ${MAX_IMAGES} pictures shown with the words`),
  url: z.string().nullish().describe("attachment: the file to send"),
  alt: z.string().nullish().describe("attachment: short description of the file"),
  widget: z
    .object({
      prompt: z.string().describe("The question"),
      helpText: z.string().nullish(),
      options: z
        .array(
          z.object({
            label: z.string(),
            value: z.string().nullish(),
            description: z.string().nullish(),
            style: z.enum(["default", "primary", "danger"]).nullish(),
          }),
        )
        .describe(`1 to ${MAX_OPTIONS} choices`),
      multiple: z.object({ min: z.number().int().nullish(), max: z.number().int().nullish() }).nullish(),
      allowCustom: z.boolean().nullish().describe("Whether the person may type another answer"),
      dismissOnMoveOn: z.boolean().nullish().describe("Close the question when the person talks about something else"),
    })
    .nullish()
    .describe("widget: a question with choices; ends your turn until it is answered"),
  bcId: z.string().nullish().describe("cursor-agent: id of the cloud coding agent"),
  secret: z
    .object({ label: z.string(), description: z.string().nullish(), connector: z.string(), field: z.string() })
    .nullish()
    .describe("secret-request: what to ask for and where it will be stored; ends your turn"),
  reply_to: z.string().nullish().describe("Address of the entry to reply to, for example t3u"),
  channel: z
    .string()
    .nullish()
    .describe('Another conversation: "#name", "@person" or an id (text and attachment only)'),
});

/** A SendMessage call as the model fills it, before toBubble has looked at it. */
export type SendMessageInput = z.infer<typeof sendMessageSchema>;
