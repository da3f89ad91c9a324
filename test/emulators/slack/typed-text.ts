/**
 * What Slack makes of the words a person types: escaped `text` with tokens, and the matching rich_text block.
 * Invariant: a mention typed inside code stays plain text in both; links become link elements. This is only for
 * people; apps send what they send.
 */
import type { Fields } from "../loopback.ts";
import { escapeText, readableText } from "./block-text.ts";

/** The two forms of one typed message. */
export interface TypedText {
  readonly text: string;
  readonly blocks: Fields[];
}

const SPLIT = /(```[\s\S]*?```|`[^`\n]+`|<[@!#][^>]+>|https?:\/\/[^\s<>|]+)/;

/** Reads typed text; `<@U…>`, `<!channel>`, `<#C…>` outside code are mentions. */
export function readTyped(typed: string): TypedText {
  const parts = typed.split(SPLIT).filter((part) => part !== "");
  const blocks = parts.length === 0 ? [] : [{ type: "rich_text", elements: toSections(parts) }];
  return { text: parts.map(toToken).join(""), blocks };
}

function toToken(part: string): string {
  if (part.startsWith("`")) return escapeText(part);
  if (/^<[@!#][^>]+>$/.test(part)) return part;
  return /^https?:\/\/\S+$/.test(part) ? `<${escapeText(part)}>` : escapeText(part);
}

function toSections(parts: string[]): Fields[] {
  const sections: Fields[] = [];
  let inline: Fields[] = [];
  const flush = () => {
    if (inline.length > 0) sections.push({ type: "rich_text_section", elements: inline });
    inline = [];
  };
  for (const part of parts) {
    if (!part.startsWith("```")) {
      inline.push(toInline(part));
      continue;
    }
    flush();
    const text = part.slice(3, -3).replace(/^\n|\n$/g, "");
    sections.push({ type: "rich_text_preformatted", elements: [{ type: "text", text }], border: 0 });
  }
  flush();
  return sections;
}

function toInline(part: string): Fields {
  if (part.startsWith("`") && part.length > 1) return { type: "text", text: part.slice(1, -1), style: { code: true } };
  const user = /^<@([UW][A-Z0-9]+)/.exec(part)?.[1];
  if (user) return { type: "user", user_id: user };
  const group = /^<!subteam\^([A-Z0-9]+)/.exec(part)?.[1];
  if (group) return { type: "usergroup", usergroup_id: group };
  const range = /^<!(channel|here|everyone)/.exec(part)?.[1];
  if (range) return { type: "broadcast", range };
  const channel = /^<#([CG][A-Z0-9]+)/.exec(part)?.[1];
  if (channel) return { type: "channel", channel_id: channel };
  return /^https?:\/\//.test(part) ? { type: "link", url: readableText(part) } : { type: "text", text: part };
}
