/**
 * When a channel is a Group, who is in it, and how it listens (SPEC G1). Pure: the channel's stored members and settings on one side, the settings
 * of the operator on the other.
 */

import type { HostCard } from "../card.ts";
import type { ChannelSettings } from "../conversation.ts";
import type { GroupsSettings } from "../settings.ts";
import { listOf } from "./discussion-mail.ts";
import type { Activation } from "./speakers.ts";

/** A channel's Group; `members` are those asked for and then the first that joined, up to the limit; `beyond` are here but take no part. */
export interface Group {
  readonly members: readonly string[];
  readonly beyond: readonly string[];
  readonly activation: Activation;
}

/**
 * The Group of a channel, or undefined. `joined` are its bots in the order they came. Where a platform shows every channel to every bot
 * (`onRequest`), somebody must have asked for it.
 */
export function groupOf(
  joined: readonly string[],
  channel: { readonly channelId: string; readonly settings?: ChannelSettings | undefined },
  groups: GroupsSettings,
  onRequest: boolean,
): Group | undefined {
  if (joined.length < 2 || !isWanted(channel, groups, onRequest)) return undefined;
  const asked = joined.filter((botId) => channel.settings?.asked?.includes(botId));
  const ranked = [...new Set([...asked, ...joined])];
  return {
    members: ranked.slice(0, groups.maxMembers),
    beyond: ranked.slice(groups.maxMembers),
    activation: channel.settings?.activation ?? groups.activation,
  };
}

function isWanted(
  { channelId, settings }: { readonly channelId: string; readonly settings?: ChannelSettings | undefined },
  { channels }: GroupsSettings,
  onRequest: boolean,
): boolean {
  if (settings?.group !== undefined) return settings.group;
  return !onRequest || channels === "all" || channels.includes(channelId);
}

/** The card that tells people what this Group is, with its two controls. `names` in configured order. */
export function groupCard(names: readonly string[], group: Group, maxMembers: number): HostCard {
  return {
    kind: "group",
    text: [
      `**${listOf(names)} are a Group in this channel.**`,
      `Mention one of them (\`@${names[0] ?? ""}\`) and that one answers; \`@everyone\` asks all.`,
      group.activation === "all"
        ? "A message that names nobody is for all of them: they take turns, and whoever has nothing to add stays silent."
        : "A message that names nobody is not for them.",
      group.beyond.length > 0 ? `A Group has at most ${maxMembers} members; further bots here take no part.` : "",
      "`!group` shows this again, `!stop` ends a discussion.",
    ]
      .filter(Boolean)
      .join("\n"),
    controls: [
      { value: "mention", label: "Only when mentioned", style: "default" },
      { value: "all", label: "Answer everything", style: "default" },
    ],
  };
}
