/**
 * What Discord refuses in the body of a message: lengths, flags, allowed_mentions, nonce, attachments, embeds, the
 * exclusion of Components V2 and everything older.
 * Invariant: all problems of a form are reported together, at their paths. Components have their own file.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asList, asText, isFields } from "../loopback.ts";
import { checkComponents } from "./component-rules.ts";
import { checkEmbeds } from "./embed-rules.ts";
import { FLAGS } from "./messages.ts";
import type { Channel, SentFile, StoredMessage } from "./model.ts";
import type { Complain } from "./refusal.ts";
import {
  badChoice,
  checkBoolean,
  checkInteger,
  checkList,
  checkSnowflake,
  checkText,
  problemList,
  refuse,
  refuseForm,
} from "./refusal.ts";
import { codePoints } from "./world.ts";

const MEBIBYTE = 1024 * 1024;

/** What the rules need to know beside the body. */
export interface FormPlace {
  readonly channel: Channel;
  readonly files: readonly SentFile[];
  /** The message that is edited. */
  readonly editing?: StoredMessage;
  /** Flags that may be given here. */
  readonly flags: number;
}

/** Flags of Create Message and of interaction answers. */
export const CREATE_FLAGS = FLAGS.suppressEmbeds | FLAGS.suppressNotifications | FLAGS.componentsV2 | FLAGS.voice;
/** Answers to interactions may also be for one person only. */
export const ANSWER_FLAGS = CREATE_FLAGS | FLAGS.ephemeral;
/** Flags of Edit Message. */
export const EDIT_FLAGS = FLAGS.suppressEmbeds | FLAGS.componentsV2;

/** How large one file may be, in bytes; boosts raise it. */
export function fileLimit(channel: Channel): number {
  const tier = channel.guild?.tier ?? 0;
  return (tier >= 3 ? 100 : tier === 2 ? 50 : 10) * MEBIBYTE;
}

/** Refuses a body that no message can have. */
export function checkMessageForm(body: Fields, place: FormPlace): void {
  checkSizes(place);
  const { problems, complain } = problemList();
  const before = place.editing?.body.flags ?? 0;
  const flags = typeof body.flags === "number" ? body.flags : before;
  const v2 = ((flags | before) & FLAGS.componentsV2) !== 0;
  checkText(complain, "content", body.content, { max: 2000 });
  checkBoolean(complain, "tts", body.tts);
  checkFlags(complain, body, place, before);
  checkNonce(complain, body);
  checkAllowedMentions(complain, body.allowed_mentions);
  checkAttachments(complain, body, place);
  checkEmbeds(complain, body.embeds);
  checkList(complain, "sticker_ids", body.sticker_ids, { max: 3 });
  if (v2) checkLegacyFields(complain, body, place);
  const heavy = checkComponents(complain, body.components, { v2, fileNames: fileNames(body, place), modal: false });
  refuseForm(problems);
  if (heavy) refuse(500, 0, "500: Internal Server Error");
}

/** Refuses a message nobody would see anything of (400, 50006). */
export function checkNotEmpty(body: Fields, files: readonly SentFile[]): void {
  const shown =
    asText(body.content).trim() !== "" ||
    [body.embeds, body.components, body.sticker_ids].some((list) => asList(list).length > 0) ||
    files.length > 0 ||
    isFields(body.poll);
  if (!shown) refuse(400, 50006, "Cannot send an empty message");
}

/** One file over the place's limit, or a request over what Discord reads, is 413 with code 40005. */
function checkSizes({ channel, files }: FormPlace): void {
  const limit = fileLimit(channel);
  const total = files.reduce((sum, file) => sum + file.bytes.length, 0);
  const tooLarge = files.some((file) => file.bytes.length > limit) || total > Math.max(25 * MEBIBYTE, limit);
  if (tooLarge) refuse(413, 40005, "Request entity too large");
}

function checkFlags(complain: Complain, body: Fields, place: FormPlace, before: number): void {
  if (!checkInteger(complain, "flags", body.flags, { min: 0 })) return;
  if (body.flags & ~place.flags & ~before) complain("flags", "MESSAGE_FLAGS_INVALID", "Invalid message flags");
  if (before & FLAGS.componentsV2 && !(body.flags & FLAGS.componentsV2))
    complain("flags", "MESSAGE_CANNOT_REMOVE_COMPONENTS_V2_FLAG", "The IS_COMPONENTS_V2 flag cannot be removed");
}

function checkNonce(complain: Complain, body: Fields): void {
  const { nonce } = body;
  checkBoolean(complain, "enforce_nonce", body.enforce_nonce);
  if (nonce === undefined || nonce === null) {
    if (body.enforce_nonce === true) complain("nonce", "BASE_TYPE_REQUIRED", "This field is required");
  } else if (typeof nonce !== "string" && !Number.isInteger(nonce)) {
    complain("nonce", "NONCE_TYPE_INVALID", "Nonce must be a string or an integer.");
  } else if (codePoints(String(nonce)) > 25) {
    complain("nonce", "NONCE_TYPE_TOO_LONG", "Must be 25 or fewer in length.");
  }
}

/** `parse` and ids of the same kind exclude each other; at most 100 ids of a kind. */
export function checkAllowedMentions(complain: Complain, value: unknown): void {
  if (value === undefined || value === null) return;
  if (!isFields(value)) {
    complain("allowed_mentions", "MODEL_TYPE_CONVERT", "Only dictionaries may be used in a ModelType");
    return;
  }
  const kinds = ["users", "roles", "everyone"];
  const parse = checkList(complain, "allowed_mentions.parse", value.parse, { max: 100 });
  for (const [index, kind] of parse.entries()) {
    if (!kinds.includes(asText(kind))) badChoice(complain, `allowed_mentions.parse.${index}`, kinds);
  }
  for (const kind of ["users", "roles"]) {
    const ids = checkList(complain, `allowed_mentions.${kind}`, value[kind], { max: 100 });
    for (const [index, id] of ids.entries()) checkSnowflake(complain, `allowed_mentions.${kind}.${index}`, id);
    if (new Set(ids).size !== ids.length)
      complain(`allowed_mentions.${kind}`, "SET_TYPE_ALREADY_CONTAINS_VALUE", "The set already contains that value");
    if (parse.includes(kind) && ids.length > 0)
      complain(
        "allowed_mentions",
        "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE",
        `parse:["${kind}"] and ${kind}: [ids...] are mutually exclusive.`,
      );
  }
  checkBoolean(complain, "allowed_mentions.replied_user", value.replied_user);
}

function checkAttachments(complain: Complain, body: Fields, { files, editing }: FormPlace): void {
  const entries = checkList(complain, "attachments", body.attachments, { max: 10 });
  if (files.length > 10) complain("attachments", "BASE_TYPE_MAX_LENGTH", "Must be 10 or fewer in length.");
  for (const [index, entry] of entries.entries()) {
    const at = `attachments.${index}`;
    const { id, description, filename } = asFields(entry);
    checkText(complain, `${at}.description`, description, { max: 1024 });
    checkText(complain, `${at}.filename`, filename, { max: 1024 });
    const known =
      files.some((file) => file.key === `files[${String(id)}]`) ||
      editing?.body.attachments.some((attachment) => attachment.id === String(id));
    if (id === undefined) complain(`${at}.id`, "BASE_TYPE_REQUIRED", "This field is required");
    else if (!known) complain(`${at}.id`, "MESSAGE_ATTACHMENT_NOT_FOUND", `Attachment ${String(id)} not found`);
  }
}

/** The names `attachment://` may point to: sent files, and kept ones of the edited message. */
function fileNames(body: Fields, { files, editing }: FormPlace): Map<string, number> {
  const entries = asList(body.attachments).map(asFields);
  const sent = files.map((file) => {
    const entry = entries.find(({ id }) => file.key === `files[${String(id)}]`);
    return [asText(entry?.filename) || file.name, file.bytes.length] as const;
  });
  const kept = (editing?.body.attachments ?? [])
    .filter(({ id }) => body.attachments === undefined || entries.some((entry) => String(entry.id) === id))
    .map(({ filename, size }) => [asText(filename), Number(size)] as const);
  return new Map([...kept, ...sent]);
}

function checkLegacyFields(complain: Complain, body: Fields, { editing }: FormPlace): void {
  const has: Readonly<Record<string, boolean>> = {
    content: asText(body.content === undefined ? editing?.body.content : body.content) !== "",
    embeds: (body.embeds === undefined ? (editing?.body.embeds ?? []) : asList(body.embeds)).length > 0,
    sticker_ids: asList(body.sticker_ids).length > 0,
    poll: isFields(body.poll),
  };
  for (const [field, present] of Object.entries(has)) {
    if (!present) continue;
    const text = `The '${field}' field cannot be used when using MessageFlags.IS_COMPONENTS_V2`;
    complain(field, "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2", text);
  }
}
