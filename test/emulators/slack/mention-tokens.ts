/**
 * Who a message would notify, read the way Slack reads it: its own `<…>` tokens in text, mrkdwn and markdown, and
 * explicit mention elements of rich text.
 * Invariant: escaped tokens (`&lt;!here&gt;`) and tokens broken by an invisible character are dead; a token inside a
 * code span or fence is live all the same, because Slack resolves tokens before it looks at formatting (it is marked
 * `inCode`). Literal `plain_text` and rich text `text` elements never notify.
 */
import type { Fields } from "../loopback.ts";
import { asFields, asText } from "../loopback.ts";
import type { StoredMessage } from "./model.ts";
import type { Workspace } from "./workspace.ts";

/** One live mention. `target` is a user id, a user group id, or `channel` | `here` | `everyone`. */
export interface LiveMention {
  readonly kind: "user" | "usergroup" | "broadcast";
  readonly target: string;
  readonly inCode: boolean;
}

const TOKEN = /<(?:@([UW][A-Z0-9]+)|!subteam\^([A-Z0-9]+)|!(channel|here|everyone|group))(?:\|[^>]*)?>/g;

/** Mentions in one string of Slack text or Markdown. */
export function mentionsInText(text: string): LiveMention[] {
  const code = codeRanges(text);
  return [...text.matchAll(TOKEN)].map((match) => {
    const [, user, usergroup, broadcast] = match;
    const inCode = code.some(([start, end]) => match.index >= start && match.index < end);
    if (user) return { kind: "user" as const, target: user, inCode };
    if (usergroup) return { kind: "usergroup" as const, target: usergroup, inCode };
    return { kind: "broadcast" as const, target: broadcast === "group" ? "channel" : (broadcast ?? ""), inCode };
  });
}

function codeRanges(text: string): [number, number][] {
  return [...text.matchAll(/(```|~~~)[\s\S]*?(?:\1|$)|(`+)[^`\n]+?\2/g)].map((match) => [
    match.index,
    match.index + match[0].length,
  ]);
}

/** Mentions in blocks or attachments, however deep. */
export function mentionsInBlocks(value: unknown): LiveMention[] {
  if (Array.isArray(value)) return value.flatMap(mentionsInBlocks);
  if (typeof value !== "object" || value === null) return [];
  const node = asFields(value);
  const own = mentionsOfNode(node);
  return [...own, ...Object.values(node).flatMap((part) => (typeof part === "object" ? mentionsInBlocks(part) : []))];
}

function mentionsOfNode(node: Fields): LiveMention[] {
  switch (node.type) {
    case "mrkdwn":
    case "markdown":
      return mentionsInText(asText(node.text));
    case "user":
      return [{ kind: "user", target: asText(node.user_id), inCode: isCode(node) }];
    case "usergroup":
      return [{ kind: "usergroup", target: asText(node.usergroup_id), inCode: isCode(node) }];
    case "broadcast":
      return [{ kind: "broadcast", target: asText(node.range), inCode: isCode(node) }];
    default:
      return [];
  }
}

function isCode(node: Fields): boolean {
  return asFields(node.style).code === true;
}

/** Everybody a stored message notifies, each once. Attachments' text counts; `@name` words count under `link_names`. */
export function liveMentions(workspace: Workspace, message: StoredMessage): LiveMention[] {
  const { body } = message;
  const attachments = (body.attachments ?? []).flatMap((attachment) =>
    ["text", "pretext", "fallback", "title"].flatMap((key) => mentionsInText(asText(attachment[key]))),
  );
  const named = message.linkNames || message.parse === "full" ? linkedNames(workspace, body.text) : [];
  const all = [
    ...mentionsInText(body.text),
    ...mentionsInBlocks(body.blocks),
    ...attachments,
    ...named,
    ...mentionsInBlocks(body.attachments),
  ];
  const seen = new Map(all.map((mention) => [`${mention.kind}:${mention.target}`, mention]));
  return [...seen.values()];
}

function linkedNames(workspace: Workspace, text: string): LiveMention[] {
  return [...text.matchAll(/@([\w.-]+)/g)].flatMap((match): LiveMention[] => {
    const name = (match[1] ?? "").toLowerCase();
    if (["channel", "here", "everyone"].includes(name)) return [{ kind: "broadcast", target: name, inCode: false }];
    const user = [...workspace.users.values()].find((candidate) => candidate.handle === name);
    if (user) return [{ kind: "user", target: user.id, inCode: false }];
    const group = [...workspace.usergroups.values()].find((candidate) => candidate.handle === name);
    return group ? [{ kind: "usergroup", target: group.id, inCode: false }] : [];
  });
}
