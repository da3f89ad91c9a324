/**
 * What a connector's call returned, as text for the model (SPEC P2, M6): texts as they are, pictures and other bytes as attachments the bot can send,
 * long output cut with the whole kept beside it. Invariant: everything a server wrote stands inside one fence and cannot leave it.
 */

import { attachmentUrl, type FileRef, type ToolContext, type ToolResult, untrustedText } from "../../engine/index.ts";
import type { RawResult } from "./opened-client.ts";

/** Characters of output shown at once. */
export const PAGE_CHARS = 16_000;
const MAX_BLOCKS = 60;

/** Where a result came from. */
export interface ResultSource {
  readonly connector: string;
  /** The server's own name of the tool, or the resource's address. */
  readonly what: string;
}

type Fields = Readonly<Record<string, unknown>>;

interface Parts {
  readonly texts: string[];
  readonly files: FileRef[];
}

/** The result of a tool call. */
export async function toToolResult(result: RawResult, source: ResultSource, context: ToolContext): Promise<ToolResult> {
  const parts: Parts = { texts: [], files: [] };
  const blocks = Array.isArray(result.content) ? result.content : [];
  for (const block of blocks.slice(0, MAX_BLOCKS)) await addBlock(parts, fieldsOf(block), source, context);
  if (blocks.length > MAX_BLOCKS) parts.texts.push(`(${blocks.length - MAX_BLOCKS} more parts are left out.)`);
  addStructured(parts, result.structuredContent);
  const isError = result.isError === true;
  const text = parts.texts.join("\n").trim() || "(nothing)";
  return {
    ok: !isError,
    text: `${isError ? "The connector reports an error:\n" : ""}${await fenced(text, source, context)}`,
    ...(parts.files.length > 0 ? { files: parts.files } : {}),
  };
}

/** The contents of a resource. */
export async function toResourceResult(
  result: RawResult,
  source: ResultSource,
  context: ToolContext,
): Promise<ToolResult> {
  const contents = Array.isArray(result.contents) ? result.contents : [];
  const content = contents.map((resource: unknown) => ({ type: "resource", resource }));
  return toToolResult({ content }, source, context);
}

async function addBlock(parts: Parts, block: Fields, source: ResultSource, context: ToolContext): Promise<void> {
  switch (block.type) {
    case "text":
      parts.texts.push(textOf(block.text));
      return;
    case "image":
    case "audio":
      await addBytes(parts, block, `${source.what}.${extensionOf(block.mimeType)}`, context);
      return;
    case "resource_link":
      parts.texts.push(
        `(resource ${JSON.stringify(textOf(block.name))}: ${textOf(block.uri)}; read it with read_output, connector ${source.connector}, this address)`,
      );
      return;
    case "resource":
      await addResource(parts, fieldsOf(block.resource), context);
      return;
    default:
      parts.texts.push("(a part of a kind that is not known here)");
  }
}

async function addResource(parts: Parts, resource: Fields, context: ToolContext): Promise<void> {
  const uri = textOf(resource.uri);
  if (typeof resource.text === "string") {
    parts.texts.push(`(resource ${uri})\n${resource.text}`);
    return;
  }
  const name = uri.split(/[?#]/)[0]?.split("/").pop() || "resource";
  await addBytes(parts, { data: resource.blob, mimeType: resource.mimeType }, name, context);
}

async function addBytes(parts: Parts, block: Fields, name: string, context: ToolContext): Promise<void> {
  const bytes = Buffer.from(textOf(block.data), "base64");
  const mediaType = /^[\w.+-]+\/[\w.+-]+$/.exec(textOf(block.mimeType))?.[0] ?? "application/octet-stream";
  const kept = await context.keepFile(once(bytes), { name, mediaType });
  if (!kept.ok) {
    parts.texts.push(`(a file of type ${mediaType} that could not be kept: ${kept.text})`);
    return;
  }
  parts.files.push(kept.file);
  const kind = kept.file.mediaType.startsWith("image/") ? "picture" : "file";
  const size = `${Math.max(1, Math.round(kept.file.size / 1024))} kB`;
  parts.texts.push(
    `(${kind}, ${kept.file.mediaType}, ${size}; to send it: attachment with url ${attachmentUrl(kept.file)})`,
  );
}

/** Structured content is shown unless a text said the same already, as servers should do for older clients. */
function addStructured(parts: Parts, structured: unknown): void {
  if (typeof structured !== "object" || structured === null) return;
  const written = jsonOf(structured);
  const isSaid = parts.texts.some((text) => sameJson(text, written));
  if (!isSaid) parts.texts.push(written);
}

/** As JSON; what is nested deeper than can be written is named instead. */
function jsonOf(value: object): string {
  try {
    return JSON.stringify(value);
  } catch {
    // The only thing that fails for parsed JSON is its depth.
    return "(structured content that is nested too deeply to show)";
  }
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}

function sameJson(text: string, written: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    return JSON.stringify(JSON.parse(text)) === written;
  } catch {
    // Not JSON: then it says something else.
    return false;
  }
}

/** The first page, with a way to the rest. */
async function fenced(text: string, source: ResultSource, context: ToolContext): Promise<string> {
  const shown = inFence(text.slice(0, PAGE_CHARS), source);
  if (text.length <= PAGE_CHARS) return shown;
  const kept = await context.keepFile(once(new TextEncoder().encode(text)), {
    name: "output.txt",
    mediaType: "text/plain",
  });
  const more = `${text.length - PAGE_CHARS} more characters`;
  if (!kept.ok) return `${shown}\n(${more} could not be kept: ${kept.text})`;
  const url = attachmentUrl(kept.file);
  return `${shown}\n(${more}. Read on with read_output, address ${url}, offset ${PAGE_CHARS}; or send the whole as attachment with that url.)`;
}

/** Text of a server inside its fence. */
export function inFence(text: string, { connector, what }: ResultSource): string {
  const label = `connector="${attribute(connector)}" from="${attribute(what)}"`;
  return `<connector_output ${label}>\n${untrustedText(text)}\n</connector_output>`;
}

function attribute(text: string): string {
  return text.replace(/[^\p{L}\p{N}_.:/@ -]/gu, "").slice(0, 80);
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}

function extensionOf(mediaType: unknown): string {
  return /^[a-z]+\/([a-z0-9]+)/i.exec(textOf(mediaType))?.[1]?.toLowerCase() ?? "bin";
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}
