/**
 * Text in both directions. In: who is mentioned in what a person typed, and which stretches are code or quotation. Out: stored records become
 * what the page shows, with Markdown rendered and files named by their address on this server.
 * Pure. Rendering happens when a record is read, so old posts profit from a better renderer.
 */

import { type BubbleContent, type FileRef, isImage, type Mention } from "../../engine/index.ts";
import type { RenderMarkdown } from "../shared/markdown-html.ts";
import type { Numbered, Overlay, StoredContent, StoredPost } from "./timeline.ts";
import type { WireContent, WireFile, WirePost, WireRecord } from "./wire.ts";

/** Somebody who can be named with "@". */
export interface Named {
  readonly id: string;
  readonly name: string;
}

/** A stretch of a text. */
export interface Range {
  readonly start: number;
  readonly end: number;
}

/** Stretches of code (fenced, indented by a fence, inline) and quoted lines, in order. */
export function quotedRanges(text: string): readonly Range[] {
  const ranges: Range[] = [];
  const pattern = /^(```|~~~)[^\n]*\n[\s\S]*?(?:^\1[^\n]*$|$(?![\s\S]))|^[ \t]*>[^\n]*$|(`+)(?!`)[\s\S]*?[^`]\2(?!`)/gm;
  for (const match of text.matchAll(pattern)) ranges.push({ start: match.index, end: match.index + match[0].length });
  return ranges;
}

/** "@Name" of bots and people, longest name first, outside code and quotation, at word boundaries of any script. */
export function findMentions(text: string, named: readonly Named[]): readonly Mention[] {
  const quoted = quotedRanges(text);
  const byLength = [...named].sort((a, b) => b.name.length - a.name.length);
  const found: Mention[] = [];
  for (const at of text.matchAll(/(?<![\p{L}\p{N}_.@/])@/gu)) {
    if (quoted.some((range) => at.index >= range.start && at.index < range.end)) continue;
    const rest = text.slice(at.index + 1);
    const hit = byLength.find((one) => startsWithName(rest, one.name));
    if (hit) found.push({ platformId: hit.id, start: at.index, end: at.index + 1 + hit.name.length });
  }
  return found;
}

/** A mass ping outside code and quotation. */
export function namesEveryone(text: string): boolean {
  const quoted = quotedRanges(text);
  return [...text.matchAll(/(?<![\p{L}\p{N}_.@/])@(?:everyone|all|channel|here)(?![\p{L}\p{N}_])/giu)].some(
    (match) => !quoted.some((range) => match.index >= range.start && match.index < range.end),
  );
}

function startsWithName(rest: string, name: string): boolean {
  if (rest.slice(0, name.length).toLocaleLowerCase() !== name.toLocaleLowerCase()) return false;
  return !/^[\p{L}\p{N}_]/u.test(rest.slice(name.length));
}

/** A stored record as the page reads it. */
export function toWireRecord(channelId: string, item: Numbered, markdown: RenderMarkdown): WireRecord {
  const { seq, record } = item;
  if (record.type === "post") return toWirePost(channelId, seq, record, markdown);
  if (record.type === "settle") {
    return { type: "settle", channelId, seq, target: record.target, outcome: record.outcome };
  }
  if (record.type === "reaction") {
    return { type: "reaction", channelId, seq, target: record.target, reaction: record.reaction };
  }
  return { type: "workspace", channelId, seq };
}

/** A stored post, with what happened to it later, as the page shows it. */
export function toWirePost(
  channelId: string,
  seq: number,
  post: StoredPost,
  markdown: RenderMarkdown,
  later?: Overlay,
): WirePost {
  return {
    type: "post",
    channelId,
    seq,
    at: post.at,
    author: post.author,
    content: toWireContent(post.content, markdown),
    ...(post.cardId ? { cardId: post.cardId } : {}),
    ...(post.replyTo ? { replyTo: post.replyTo } : {}),
    ...(post.clientId ? { clientId: post.clientId } : {}),
    ...(later?.outcome ? { outcome: later.outcome } : {}),
    ...(later?.reactions.length ? { reactions: later.reactions } : {}),
  };
}

function toWireContent(content: StoredContent, markdown: RenderMarkdown): WireContent {
  if (content.type === "message") {
    const html = markdown(content.text, { breaks: true });
    return { type: "message", text: content.text, html, files: content.files.map(toWireFile) };
  }
  if (content.type === "host-card") {
    const { text, controls, link } = content.card;
    const open = link && /^https?:\/\//.test(link.url) ? { link } : {};
    return { type: "host-card", html: markdown(text, { breaks: true }), controls, ...open };
  }
  return toWireBubble(content, markdown);
}

function toWireBubble(content: BubbleContent, markdown: RenderMarkdown): WireContent {
  switch (content.type) {
    case "text":
      return {
        type: "text",
        html: markdown(content.content, { breaks: true }),
        images: content.images.map(toWireFile),
        ...(content.document ? { document: toWireFile(content.document) } : {}),
      };
    case "attachment":
      return { type: "attachment", file: toWireFile(content.file) };
    case "widget":
      return {
        type: "widget",
        widget: content.widget,
        promptHtml: markdown(content.widget.prompt, { breaks: true }),
        ...(content.widget.helpText ? { helpHtml: markdown(content.widget.helpText, { breaks: true }) } : {}),
      };
    case "cursor-agent":
      return { type: "cursor-agent", bcId: content.bcId, url: content.url };
    case "secret-request":
      return { type: "secret-request", secret: content.secret };
  }
}

/** Files of a stored post, for the list of files this server may hand out. */
export function filesOf(content: StoredContent): readonly FileRef[] {
  if (content.type === "message") return content.files;
  if (content.type === "attachment") return [content.file];
  if (content.type === "text") return content.document ? [...content.images, content.document] : content.images;
  return [];
}

/** The words of a post, for history on first contact. */
export function textOf(content: StoredContent): string {
  switch (content.type) {
    case "message":
      return [content.text, ...content.files.map((file) => `[file: ${file.name}]`)].filter(Boolean).join("\n");
    case "text":
      return content.content;
    case "attachment":
      return `[file: ${content.file.name}]`;
    case "widget":
      return content.widget.prompt;
    case "cursor-agent":
      return `[coding agent: ${content.url}]`;
    case "secret-request":
      return `[asked for a secret: ${content.secret.label}]`;
    case "host-card":
      return content.card.text;
  }
}

function toWireFile(file: FileRef): WireFile {
  const kind = isImage(file) ? "" : `?as=${encodeURIComponent(file.name)}`;
  return {
    url: `/files/${file.sha256}.${file.ext}${kind}`,
    name: file.name,
    mediaType: file.mediaType,
    size: file.size,
    ...(file.alt ? { alt: file.alt } : {}),
  };
}
