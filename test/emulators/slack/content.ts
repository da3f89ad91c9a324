/**
 * Checks what a message is made of: text, blocks, attachments, metadata, as `chat.postMessage` and `chat.update` do.
 * Invariant: `readContent` returns only what Slack would store. Where it goes is decided by the method.
 */
import type { Fields } from "../loopback.ts";
import { asFields, isFields } from "../loopback.ts";
import { checkBlocks } from "./block-rules.ts";
import { blocksLength } from "./block-text.ts";
import { withBlockIds } from "./messages.ts";
import { refuse, refuseArguments, refuseProblems } from "./refusal.ts";

/** Parts of a message; `undefined` = the call did not mention it. */
export interface Content {
  readonly text: string | undefined;
  readonly blocks: Fields[] | undefined;
  readonly attachments: Fields[] | undefined;
  readonly metadata: Fields | undefined;
}

/** Characters of text over all blocks of one message. */
const MAX_BLOCKS_LENGTH = 13_200;
const MAX_TEXT = 40_000;
const MAX_UPDATE_TEXT = 4000;
const MAX_METADATA = 8000;

/** Reads and checks a message's parts. */
export function readContent(args: Fields, use: "post" | "update"): Content {
  const { text } = args;
  if (text !== undefined && typeof text !== "string") return refuseArguments("text must be a string");
  if (args.markdown_text !== undefined) return readMarkdown(args);
  const blocks = readBlocks(args.blocks);
  const attachments = readAttachments(args.attachments);
  const metadata = readMetadata(args.metadata);
  const nothing = !text && !blocks?.length && !attachments?.length;
  if (nothing && !(use === "update" && (args.file_ids !== undefined || blocks || attachments))) refuse("no_text");
  if ((text?.length ?? 0) > (use === "update" ? MAX_UPDATE_TEXT : MAX_TEXT)) refuse("msg_too_long");
  return { text, blocks, attachments, metadata };
}

function readMarkdown(args: Fields): Content {
  if (args.text !== undefined || args.blocks !== undefined) refuse("markdown_text_conflict");
  const text = String(args.markdown_text);
  if (text === "") refuse("no_text");
  if (text.length > 12_000) refuse("msg_too_long");
  const blocks = readBlocks([{ type: "markdown", text }]);
  return { text: "", blocks, attachments: readAttachments(args.attachments), metadata: readMetadata(args.metadata) };
}

/** Checks blocks; a text that was not JSON is `invalid_blocks_format`. */
export function readBlocks(value: unknown): Fields[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value)) return refuse("invalid_blocks_format");
  const problems = checkBlocks(value);
  if (problems.length > 0) refuseProblems("invalid_blocks", problems);
  if (blocksLength(value) > MAX_BLOCKS_LENGTH) refuse("msg_blocks_too_long");
  return withBlockIds(value.map(asFields));
}

function readAttachments(value: unknown): Fields[] | undefined {
  if (value === undefined || value === null) return undefined;
  if (!Array.isArray(value) || !value.every(isFields)) return refuse("invalid_attachments");
  if (value.length > 100) refuse("too_many_attachments");
  value.forEach((attachment, index) => {
    if (attachment.blocks === undefined) return;
    const problems = checkBlocks(attachment.blocks, "message", `/attachments/${index}/blocks`);
    if (problems.length > 0) refuseProblems("invalid_blocks", problems);
  });
  return value;
}

function readMetadata(value: unknown): Fields | undefined {
  if (value === undefined || value === null || value === "") return undefined;
  const metadata = asFields(value);
  const named = typeof metadata.event_type === "string" && /^[\w.:-]{1,255}$/.test(metadata.event_type);
  if (!named || !isFields(metadata.event_payload)) refuse("invalid_metadata_format");
  if (!Object.values(asFields(metadata.event_payload)).every(isFlat)) refuse("invalid_metadata_schema");
  if (JSON.stringify(metadata.event_payload).length > MAX_METADATA) refuse("metadata_too_large");
  return metadata;
}

/** Payload values are text, numbers, booleans, lists of those, or one level of objects. */
function isFlat(value: unknown): boolean {
  const isLeaf = (leaf: unknown) => ["string", "number", "boolean"].includes(typeof leaf);
  if (Array.isArray(value)) return value.every((item) => isLeaf(item) || isFields(item));
  return (
    isLeaf(value) || (isFields(value) && Object.values(value).every((leaf) => isLeaf(leaf) || Array.isArray(leaf)))
  );
}
